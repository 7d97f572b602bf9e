package journaltest

import (
	"io"
	"strings"

	"github.com/tradingapi/trading-go/journal"
)

// What holds for a store that outlives its process, as far as it has the method that a rule is about.

func isNewOnce(t tester, store journal.Store) {
	s := store.(*reopened)
	for i := range 3 {
		if n, ok := s.Store.(interface{ New() bool }); ok && n.New() != (i == 0) {
			t.Errorf("New is %t the %d. time", n.New(), i+1)
		}
		s.again()
	}
}

func gapStays(t tester, store journal.Store) {
	s := store.(*reopened)
	for _, missing := range []bool{false, true, true, false} {
		g, ok := s.Store.(journal.Gapper)
		if !ok {
			return
		}
		for range 2 {
			noError(t, g.SetGap(missing))
		}
		for range 2 { // to read it changes nothing
			if got, err := s.Store.(journal.Gapper).Gap(); err != nil || got != missing {
				t.Errorf("Gap is %t, %v, want %t", got, err, missing)
			}
			s.again()
		}
	}
}

func closedSaysSo(t tester, store journal.Store) {
	s := store.(*reopened)
	c, ok := s.Store.(io.Closer)
	if !ok {
		return
	}
	put(t, s.Store, record("a", "n", "1"))
	for range 2 {
		noError(t, c.Close())
	}
	for _, durable := range []bool{true, false} {
		wantError(t, "Append", s.Append(t.Context(), durable, record("b", "", "2")), journal.ErrClosed)
	}
	wantError(t, "Forget", s.Forget(t.Context(), "n"), journal.ErrClosed)
	_, err := s.Store.Named(t.Context(), "n")
	wantError(t, "Named", err, journal.ErrClosed)
	yielded := 0
	for _, err := range s.Store.Pending(t.Context()) {
		yielded++
		wantError(t, "Pending", err, journal.ErrClosed)
	}
	if yielded != 1 {
		t.Errorf("Pending of a closed store yields %d times, want its error once", yielded)
	}
	wantPending(t, s, history(record("a", "n", "1")))
}

// lastIsKnown appends, and opens the store again after each step. What was last counts by its place in
// the journal and not by its intent's, and only where nothing is pending.
func lastIsKnown(t tester, store journal.Store) {
	s := store.(*reopened)
	for _, step := range []struct {
		records []journal.Record
		want    string
	}{
		{nil, ""},
		{[]journal.Record{record("a", "", "1"), final("a", "", "a")}, "a"},
		{nil, "a"},
		{[]journal.Record{final("b", "n", "b")}, "b"},
		{[]journal.Record{record("c", "n", "1")}, ""},
		{[]journal.Record{record("d", "", "1"), final("d", "", "d")}, ""},
		{[]journal.Record{final("c", "n", "c")}, "c"},
		{[]journal.Record{record("e", "n", "1"), final("f", "m", "f"), final("e", "n", "e")}, "e"},
		{[]journal.Record{final("g", "", "g")}, "g"},
	} {
		put(t, s.Store, step.records...)
		s.again()
		if q, ok := s.Store.(interface{ Quiet() []byte }); ok && string(q.Quiet()) != step.want {
			t.Errorf("Quiet is %q after %q, want %q", q.Quiet(), step.records, step.want)
		}
	}
}

// tooLarge appends more than some stores take. One that does not goes on all the same.
func tooLarge(t tester, s journal.Store) {
	large := record("large", "n", strings.Repeat("x", 5<<20))
	want := []journal.History{history(large)}
	if err := s.Append(t.Context(), true, large); err != nil {
		wantError(t, "Append of 5 MiB", err, journal.ErrInvalid)
		want = nil
	}
	put(t, s, record("a", "", "1"))
	wantPending(t, s, append(want, history(record("a", "", "1")))...)
}
