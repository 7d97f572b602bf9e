package journaltest

import (
	"context"
	"fmt"
	"strings"

	"github.com/tradingapi/trading-go/journal"
)

func pendingUntilFinal(t tester, s journal.Store) {
	wantPending(t, s)
	a, b, c := record("a", "n", "1"), record("a", "n", "2"), record("b", "", "3")
	put(t, s, a)
	wantPending(t, s, history(a))
	wantNamed(t, s, "n", history(a))
	put(t, s, b, c)
	wantPending(t, s, history(a, b), history(c))
	end := final("a", "n", "4")
	put(t, s, end)
	wantPending(t, s, history(c))
	wantNamed(t, s, "n", history(a, b, end))
	put(t, s, final("b", "", "5"))
	wantPending(t, s)
	wantNamed(t, s, "n", history(a, b, end))
}

func finalAtOnce(t tester, s journal.Store) {
	put(t, s, final("a", "n", "1"))
	wantPending(t, s)
	wantNamed(t, s, "n", history(final("a", "n", "1")))
}

func exactData(t tester, s journal.Store) {
	texts := []string{"", "\x00", "\xff\xfe'\"\\%s\n", "a\x00", "a", strings.Repeat("\x00long", 50_000), "ä{} "}
	var want []journal.History
	for i, text := range texts {
		r := record(fmt.Sprintf("intent %d: %.20s", i, text), "n\x00\xff'", text)
		put(t, s, r)
		want = append(want, history(r))
	}
	wantPending(t, s, want...)
	wantNamed(t, s, "n\x00\xff'", want...)
}

func resolved(t tester, s journal.Store) {
	put(t, s, record("a", "n", "1"), final("a", "n", "2"))
	for _, r := range []journal.Record{record("a", "n", "3"), final("a", "n", "4")} {
		for _, durable := range []bool{true, false} {
			wantError(t, "Append to a resolved intent", s.Append(t.Context(), durable, r), journal.ErrResolved)
		}
	}
	err := s.Append(t.Context(), true, final("b", "", "5"), record("b", "", "6"))
	wantError(t, "Append of a Final record and another", err, journal.ErrResolved)
	wantPending(t, s)
	wantNamed(t, s, "n", history(record("a", "n", "1"), final("a", "n", "2")))
}

func unnamed(t tester, s journal.Store) {
	wantError(t, "Append without an Intent", s.Append(t.Context(), true, record("", "n", "1")), journal.ErrInvalid)
	wantPending(t, s)
	wantNamed(t, s, "n")
}

func nameStays(t tester, s journal.Store) {
	put(t, s, record("a", "n", "1"), record("b", "", "2"))
	for _, r := range []journal.Record{record("a", "other", "3"), final("a", "", "4"), record("b", "n", "5")} {
		wantError(t, "Append with another Name", s.Append(t.Context(), true, r), journal.ErrInvalid)
	}
	err := s.Append(t.Context(), true, record("c", "n", "6"), record("c", "other", "7"))
	wantError(t, "Append with two Names", err, journal.ErrInvalid)
	wantPending(t, s, history(record("a", "n", "1")), history(record("b", "", "2")))
	wantNamed(t, s, "n", history(record("a", "n", "1")))
	wantNamed(t, s, "other")
}

func allOrNothing(t tester, s journal.Store) {
	put(t, s, record("a", "n", "1"), final("b", "n", "2"))
	for what, bad := range map[string]struct {
		record journal.Record
		err    error
	}{
		"resolved":  {record("b", "n", "3"), journal.ErrResolved},
		"no Intent": {record("", "n", "4"), journal.ErrInvalid},
	} {
		err := s.Append(t.Context(), true, record("a", "n", "5"), final("a", "n", "6"), record("c", "n", "7"), bad.record)
		wantError(t, "Append that ends with a bad record: "+what, err, bad.err)
	}
	wantPending(t, s, history(record("a", "n", "1")))
	wantNamed(t, s, "n", history(record("a", "n", "1")), history(final("b", "n", "2")))
}

func manyIntents(t tester, s journal.Store) {
	records := []journal.Record{record("c", "n", "1"), record("a", "", "2"), record("c", "n", "3"), record("b", "n", "4"), final("b", "n", "5")}
	if err := s.Append(t.Context(), true, records...); err != nil {
		t.Fatalf("Append: %v", err)
	}
	wantPending(t, s, history(records[0], records[2]), history(records[1]))
	wantNamed(t, s, "n", history(records[0], records[2]), history(records[3], records[4]))
}

func pendingOrder(t tester, s journal.Store) {
	const count = 150
	var want []journal.History
	for i := range count {
		r := record(fmt.Sprint((i*37)%count), "", fmt.Sprint(i))
		put(t, s, r)
		want = append(want, history(r))
	}
	more := record(want[3].Intent, "", "more")
	put(t, s, more, final(want[7].Intent, "", "done"))
	want[3].Records = append(want[3].Records, more.Data)
	wantPending(t, s, append(want[:7:7], want[8:]...)...)
}

func namedOrder(t tester, s journal.Store) {
	a, b, c := record("z", "n", "1"), record("y", "n", "2"), record("x", "n", "3")
	last, first := final("x", "n", "4"), final("z", "n", "5")
	put(t, s, a, b, c, last, first)
	wantNamed(t, s, "n", history(a, first), history(b), history(c, last))
}

func names(t tester, s journal.Store) {
	records := []journal.Record{record("a", "n", "1"), record("b", "N", "2"), record("c", "n ", "3"), record("d", "nn", "4"), record("e", "", "5")}
	put(t, s, records...)
	for _, r := range records[:4] {
		wantNamed(t, s, r.Name, history(r))
	}
	wantNamed(t, s, "")
	wantNamed(t, s, "%")
}

func forget(t tester, s journal.Store) {
	other := []journal.Record{final("c", "nn", "1"), record("d", "", "2")}
	put(t, s, record("a", "n", "3"), final("a", "n", "4"), final("b", "n", "5"), other[0], other[1])
	for _, name := range []string{"n", "n", "unknown", ""} {
		if err := s.Forget(t.Context(), name); err != nil {
			t.Errorf("Forget(%q): %v", name, err)
		}
		wantNamed(t, s, "n")
	}
	wantNamed(t, s, "nn", history(other[0]))
	wantPending(t, s, history(other[1]))
	put(t, s, record("e", "n", "6"))
	wantNamed(t, s, "n", history(record("e", "n", "6")))
}

func forgetPending(t tester, s journal.Store) {
	put(t, s, final("a", "n", "1"), record("b", "n", "2"), final("c", "n", "3"))
	wantError(t, "Forget", s.Forget(t.Context(), "n"), journal.ErrPending)
	wantNamed(t, s, "n", history(final("a", "n", "1")), history(record("b", "n", "2")), history(final("c", "n", "3")))
	wantPending(t, s, history(record("b", "n", "2")))
}

func nothingToAppend(t tester, s journal.Store) {
	put(t, s, record("a", "n", "1"))
	for _, durable := range []bool{true, false} {
		if err := s.Append(t.Context(), durable); err != nil {
			t.Errorf("Append without records: %v", err)
		}
	}
	wantPending(t, s, history(record("a", "n", "1")))
}

func endedContext(t tester, s journal.Store) {
	put(t, s, record("a", "n", "1"), final("b", "nn", "2"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, durable := range []bool{true, false} {
		wantError(t, "Append", s.Append(ctx, durable, record("c", "n", "3")), context.Canceled)
	}
	wantError(t, "Forget", s.Forget(ctx, "nn"), context.Canceled)
	histories, err := s.Named(ctx, "n")
	wantError(t, "Named", err, context.Canceled)
	if len(histories) > 0 {
		t.Errorf("Named returns %d intents and an error", len(histories))
	}
	wantIteration(ctx, t, s, 0, func() {})
	wantPending(t, s, history(record("a", "n", "1")))
	wantNamed(t, s, "nn", history(final("b", "nn", "2")))
}
