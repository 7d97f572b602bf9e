package journal

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// TestGrowth writes much of which little stays: so does the file, and what is
// written to rewrite it is in proportion.
func TestGrowth(t *testing.T) {
	for _, count := range []int{2_000, 20_000} {
		d := newSimDisk()
		l, err := openLog(d, simPath, sizes{growth: 100 << 10, chunk: 4 << 10})
		if err != nil {
			t.Fatal(err)
		}
		rewrites, largest := 0, int64(0)
		d.after = func(step string) {
			if step == "rename" {
				rewrites++
			}
		}
		for i := range count {
			r := Record{Intent: fmt.Sprint(i), Data: make([]byte, 100)}
			for range 2 {
				if err := l.Append(t.Context(), false, r); err != nil {
					t.Fatal(err)
				}
				r.Final = true
			}
			l.work.Wait()
			largest = max(largest, l.room)
			for _, f := range d.names {
				f.writes = nil
			}
		}
		if largest > 100<<10+framesAt+10<<10 {
			t.Errorf("after %d intents the file has had %d bytes", count, largest)
		}
		if want := count * 2 * 160 / (80 << 10); rewrites > want {
			t.Errorf("%d intents have taken %d rewrites, want %d at most", count, rewrites, want)
		}
		if got := len(l.state.intents) + len(l.state.pending) + len(l.state.names); got != 0 || l.state.size != 0 {
			t.Errorf("%d things of %d bytes are kept of resolved intents without a name", got, l.state.size)
		}
		if got := len(l.state.recent.order) + len(l.state.recent.known); got > 2*recentMost {
			t.Errorf("%d resolved intents are remembered", got)
		}
	}
}

// TestKept rewrites a journal: it keeps what it must, and no more.
func TestKept(t *testing.T) {
	d := newSimDisk()
	l, err := openLog(d, simPath, small)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rec := func(intent, name string, final bool) Record {
		return Record{Intent: intent, Name: name, Final: final, Data: fmt.Appendf(nil, "%s %t", intent, final)}
	}
	must(l.Append(t.Context(), true, rec("resolved", "n", false), rec("pending", "", false), rec("dropped", "", false), rec("forgotten", "f", true)))
	must(l.Append(t.Context(), true, rec("pending", "", false), rec("dropped", "", true), rec("resolved", "n", true)))
	must(l.Forget(t.Context(), "f"))
	for _, intent := range []string{"resolved", "dropped", "forgotten"} {
		if err := l.state.check([]Record{rec(intent, "", false)}); !errors.Is(err, ErrResolved) {
			t.Errorf("a late record of %s: %v, want ErrResolved", intent, err)
		}
	}
	want := `"resolved" "n" true ["resolved true"]
"pending" "" false ["pending false" "pending false"]
pending "pending"
named 1
`
	for _, how := range []string{"as written", "reopened", "rewritten", "rewritten and reopened"} {
		if how == "rewritten" {
			must(l.rewrite())
		}
		if how == "reopened" || how == "rewritten and reopened" {
			must(l.Close())
			l, err = openLog(d, simPath, small)
			must(err)
		}
		if got := dump(l.state); got != want {
			t.Errorf("%s it holds\n%s want\n%s", how, got, want)
		}
		if got, _ := l.state.intents["resolved"]; l.state.size != got.recordSize(got.Records[0])+2*l.state.pending[0].recordSize([]byte("pending false")) {
			t.Errorf("%s it counts %d bytes", how, l.state.size)
		}
	}
	for _, intent := range []string{"dropped", "forgotten"} {
		fresh, err := openLog(d.killed(), simPath, small)
		must(err)
		if err := fresh.Append(t.Context(), true, rec(intent, "", false)); err != nil {
			t.Errorf("nothing is kept of %s: %v", intent, err)
		}
	}
}

// TestConcurrent rewrites and closes a log under many writers.
func TestConcurrent(t *testing.T) {
	d := newSimDisk()
	l, err := openLog(d, simPath, small)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	durable := make([]int, 16)
	for w := range durable {
		wg.Go(func() {
			for i := 0; ; i++ {
				r := Record{Intent: fmt.Sprintf("%d-%d", w, i), Name: fmt.Sprint(w), Data: make([]byte, 200)}
				if l.Append(t.Context(), true, r) != nil {
					return
				}
				if i%2 == 0 {
					r.Final = true
					if l.Append(t.Context(), true, r) != nil || l.Forget(t.Context(), r.Name) == nil && i > 0 {
						return
					}
				}
				durable[w] = i
				if w == 0 && i == 60 {
					if err := l.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	l, err = openLog(d.killed(), simPath, small)
	if err != nil {
		t.Fatal(err)
	}
	for w, count := range durable {
		named, err := l.Named(t.Context(), fmt.Sprint(w))
		if err != nil || len(named) < count {
			t.Errorf("of writer %d there are %d intents, %v, want %d", w, len(named), err, count)
		}
	}
}

// TestQuiet opens journals anew: a last record that resolved its intent is known, in a file that
// was written anew too, if nothing is pending and it is not an older one that came to stand last.
func TestQuiet(t *testing.T) {
	pending := func(id string) Record { return Record{Intent: id, Data: []byte("begin " + id)} }
	final := func(id, name string) Record {
		return Record{Intent: id, Name: name, Final: true, Data: []byte("end " + id)}
	}
	long := Record{Intent: "long", Final: true, Data: make([]byte, lastMost+1)}
	for name, row := range map[string]struct {
		records []Record
		want    string
	}{
		"nothing":                   {nil, ""},
		"one that ended":            {[]Record{pending("1"), final("1", "")}, "end 1"},
		"one with a name":           {[]Record{final("1", "a")}, "end 1"},
		"one that is pending":       {[]Record{final("1", "a"), pending("2")}, ""},
		"one that was begun before": {[]Record{pending("2"), final("1", "a")}, ""},
		"the last has no name":      {[]Record{final("1", "a"), final("2", "")}, "end 2"},
		"the last was begun first":  {[]Record{{Intent: "1", Name: "a", Data: []byte("begin 1")}, final("2", "b"), final("1", "a")}, "end 1"},
		"the last is too long":      {[]Record{final("1", "a"), long}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newSimDisk()
			l, err := openLog(d, simPath, usual)
			if err != nil {
				t.Fatal(err)
			}
			if l.Quiet() != nil {
				t.Error("a new journal has had no record")
			}
			for _, r := range row.records {
				if err := l.Append(t.Context(), false, r); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				if l, err = openLog(d, simPath, usual); err != nil {
					t.Fatal(err)
				}
				if got := string(l.Quiet()); got != row.want {
					t.Errorf("opened: %q, want %q", got, row.want)
				}
				l.step(l.rewrite)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
