package journal

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGrowth writes much of which little stays: so does the file, and what is
// written to rewrite it is in proportion.
func TestGrowth(t *testing.T) {
	for _, count := range []int{2_000, 20_000} {
		d := newSimDisk()
		l := openSim(t, d, sizes{growth: 100 << 10, chunk: 4 << 10})
		rewrites, largest := 0, int64(0)
		d.after = func(step string) {
			if step == "rename" {
				rewrites++
			}
		}
		for i := range count {
			r := Record{Intent: fmt.Sprint(i), Data: make([]byte, 100)}
			for range 2 {
				require.NoError(t, l.Append(t.Context(), false, r))
				r.Final = true
			}
			l.work.Wait()
			largest = max(largest, l.room)
			for _, f := range d.names {
				f.writes = nil
			}
		}
		assert.LessOrEqual(t, largest, int64(100<<10+framesAt+10<<10), "bytes after %d intents", count)
		assert.LessOrEqual(t, rewrites, count*2*160/(80<<10), "rewrites of %d intents", count)
		assert.Zero(t, len(l.state.intents)+len(l.state.pending)+len(l.state.names), "resolved intents without a name")
		assert.Zero(t, l.state.size)
		assert.LessOrEqual(t, len(l.state.recent.order)+len(l.state.recent.known), 2*recentMost)
	}
}

// TestKept rewrites a journal: it keeps what it must, and no more.
func TestKept(t *testing.T) {
	d := newSimDisk()
	l := openSim(t, d, small)
	rec := func(intent, name string, final bool) Record {
		return Record{Intent: intent, Name: name, Final: final, Data: fmt.Appendf(nil, "%s %t", intent, final)}
	}
	require.NoError(t, l.Append(t.Context(), true, rec("resolved", "n", false), rec("pending", "", false), rec("dropped", "", false), rec("forgotten", "f", true)))
	require.NoError(t, l.Append(t.Context(), true, rec("pending", "", false), rec("dropped", "", true), rec("resolved", "n", true)))
	require.NoError(t, l.Forget(t.Context(), "f"))
	for _, intent := range []string{"resolved", "dropped", "forgotten"} {
		assert.ErrorIs(t, l.state.check([]Record{rec(intent, "", false)}), ErrResolved, "a late record of %s", intent)
	}
	want := `"resolved" "n" true ["resolved true"]
"pending" "" false ["pending false" "pending false"]
pending "pending"
named 1
`
	for _, how := range []string{"as written", "reopened", "rewritten", "rewritten and reopened"} {
		if how == "rewritten" {
			require.NoError(t, l.rewrite())
		}
		if how == "reopened" || how == "rewritten and reopened" {
			require.NoError(t, l.Close())
			l = openSim(t, d, small)
		}
		assert.Equal(t, want, dump(l.state), how)
		resolved := l.state.intents["resolved"]
		assert.Equal(t, resolved.recordSize(resolved.Records[0])+2*l.state.pending[0].recordSize([]byte("pending false")), l.state.size, how)
	}
	for _, intent := range []string{"dropped", "forgotten"} {
		fresh := openSim(t, d.killed(), small)
		assert.NoError(t, fresh.Append(t.Context(), true, rec(intent, "", false)), "nothing is kept of %s", intent)
	}
}

// TestRewriteOfMuch rewrites more than one frame can have.
func TestRewriteOfMuch(t *testing.T) {
	d := newSimDisk()
	l := openSim(t, d, small)
	for i := range 30 {
		require.NoError(t, l.Append(t.Context(), true, Record{Intent: fmt.Sprint(i), Data: make([]byte, frameMost/20)}))
	}
	want := dump(l.state)
	require.NoError(t, l.rewrite())
	l = openSim(t, d.killed(), small)
	assert.Equal(t, want, dump(l.state))
}

// TestRewriteOfTheLargest rewrites the largest record that an append takes, behind which comes what says the last.
func TestRewriteOfTheLargest(t *testing.T) {
	d := newSimDisk()
	l := openSim(t, d, usual)
	largest := Record{Intent: "1", Data: make([]byte, frameMost-len("r1")-len("\x01\x00")-3)}
	require.NoError(t, l.Append(t.Context(), true, largest))
	require.NoError(t, l.Append(t.Context(), true, Record{Intent: "2", Final: true, Data: make([]byte, lastMost)}))
	want := dump(l.state)
	require.NoError(t, l.rewrite())
	l = openSim(t, d.killed(), usual)
	assert.Equal(t, want, dump(l.state))
	largest.Data = append(largest.Data, 0)
	require.ErrorIs(t, l.Append(t.Context(), true, largest), ErrInvalid, "it is the largest")
}

// TestConcurrent rewrites and closes a log under many writers.
func TestConcurrent(t *testing.T) {
	d := newSimDisk()
	l := openSim(t, d, small)
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
					assert.NoError(t, l.Close())
				}
			}
		})
	}
	wg.Wait()
	l = openSim(t, d.killed(), small)
	for w, count := range durable {
		named, err := l.Named(t.Context(), fmt.Sprint(w))
		require.NoError(t, err)
		assert.GreaterOrEqual(t, len(named), count, "of writer %d", w)
	}
}

// TestQuietAfterRewrite has what a file that was written anew says of the last record, which
// may be an older one that came to stand last; and one that is too long to be kept.
func TestQuietAfterRewrite(t *testing.T) {
	final := func(id, name string, data string) Record {
		return Record{Intent: id, Name: name, Final: true, Data: []byte(data)}
	}
	for name, row := range map[string]struct {
		records []Record
		want    string
	}{
		"the last has no name":     {[]Record{final("1", "a", "one"), final("2", "", "two")}, "two"},
		"the last was begun first": {[]Record{{Intent: "1", Name: "a"}, final("2", "b", "two"), final("1", "a", "one")}, "one"},
		"the last is too long":     {[]Record{final("1", "a", "one"), final("long", "", strings.Repeat("x", lastMost+1))}, ""},
	} {
		d := newSimDisk()
		l := openSim(t, d, usual)
		require.NoError(t, l.Append(t.Context(), false, row.records...))
		for range 3 {
			require.NoError(t, l.Close())
			l = openSim(t, d, usual)
			assert.Equal(t, row.want, string(l.Quiet()), name)
			l.step(l.rewrite)
		}
		require.NoError(t, l.Close())
	}
}

// TestRecent: of the intents that were dropped the last ones are remembered, as many as are kept, and each once.
func TestRecent(t *testing.T) {
	var r recent
	const count = 2*recentMost + 10
	for i := range count {
		r.add(fmt.Sprint(i))
	}
	for i := range count {
		require.Equal(t, i >= count-recentMost, r.has(fmt.Sprint(i)), "%d of %d", i, count)
	}
}
