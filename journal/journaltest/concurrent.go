package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tradingapi/trading-go/journal"
)

func ownMemory(t tester, s journal.Store) {
	given := record("a", "n", "1")
	put(t, s, given)
	given.Data[0] = 'x'
	want := history(record("a", "n", "1"))
	spoil := func(h journal.History) {
		h.Records[0][0] = 'x'
		h.Records[0] = nil
	}
	for h, err := range s.Pending(t.Context()) {
		noError(t, err)
		wantHistories(t, "Pending after the caller changed the bytes", []journal.History{h}, []journal.History{want})
		spoil(h)
	}
	wantPending(t, s, want)
	named, err := s.Named(t.Context(), "n")
	if err != nil || len(named) != 1 {
		t.Fatalf("Named returns %d intents, %v", len(named), err)
	}
	spoil(named[0])
	wantNamed(t, s, "n", want)
}

// wantIteration wants so many intents, each of which is followed by what each does,
// and then the error of the context.
func wantIteration(ctx context.Context, t tester, s journal.Store, count int, each func()) {
	t.Helper()
	got, errs := 0, 0
	for h, err := range s.Pending(ctx) {
		if errs > 0 {
			t.Errorf("Pending goes on after its error")
		}
		if err != nil {
			errs++
			wantError(t, "Pending", err, context.Canceled)
			if h.Intent != "" {
				t.Errorf("Pending yields an error with intent %q", h.Intent)
			}
			continue
		}
		got++
		each()
	}
	if got != count || errs != 1 {
		t.Errorf("Pending yields %d intents and %d errors, want %d and 1", got, errs, count)
	}
}

func endedIteration(t tester, s journal.Store) {
	put(t, s, record("a", "", "1"), record("b", "", "2"))
	ctx, cancel := context.WithCancel(t.Context())
	wantIteration(ctx, t, s, 1, cancel)
}

func leftIteration(t tester, s journal.Store) {
	put(t, s, record("a", "", "1"), record("b", "", "2"))
	for _, err := range s.Pending(t.Context()) {
		noError(t, err)
		break
	}
	put(t, s, final("a", "", "3"))
	wantPending(t, s, history(record("b", "", "2")))
}

func writingIteration(t tester, s journal.Store) {
	put(t, s, record("a", "", "1"), record("b", "", "2"))
	var seen []journal.History
	for h, err := range s.Pending(t.Context()) {
		if err != nil {
			t.Fatalf("unexpected: %v", err)
		}
		if seen = append(seen, h); len(seen) > 2 {
			break
		}
		put(t, s, final(h.Intent, "", "3"), record("after "+h.Intent, "", "4"))
	}
	wantHistories(t, "Pending in a loop that writes", seen, []journal.History{history(record("a", "", "1")), history(record("b", "", "2"))})
	wantPending(t, s, history(record("after a", "", "4")), history(record("after b", "", "4")))
}

func nestedIteration(t tester, s journal.Store) {
	want := []journal.History{history(record("a", "n", "1")), history(record("b", "n", "2"))}
	put(t, s, record("a", "n", "1"), record("b", "n", "2"))
	sequence := s.Pending(t.Context())
	for range 2 {
		var seen []journal.History
		for h, err := range sequence {
			noError(t, err)
			seen = append(seen, h)
			wantPending(t, s, want...)
			wantNamed(t, s, "n", want...)
		}
		wantHistories(t, "Pending", seen, want)
	}
}

func sharedValue(t tester, s journal.Store) {
	if first, again := s.Shared(), s.Shared(); first == nil || first != again {
		t.Fatalf("Shared returns %p and %p, want the same pointer", first, again)
	}
	var made atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if v := s.Shared().Value(func() any { return made.Add(1) }); v != int32(1) {
				t.Errorf("Value returns %v, want what was made first", v)
			}
		})
	}
	wg.Wait()
}

func concurrentUse(t tester, s journal.Store) {
	const writers, each = 8, 20
	var wg sync.WaitGroup
	intent := func(w, i int) (journal.Record, journal.Record) {
		id, name := fmt.Sprintf("%d-%d", w, i), fmt.Sprint("by ", w)
		return record(id, name, "begun "+id), final(id, name, "done "+id)
	}
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				begun, done := intent(w, i)
				err := s.Append(t.Context(), w%2 == 0, begun)
				if i%2 == 1 && err == nil {
					err = s.Append(t.Context(), true, done)
				}
				if err != nil {
					t.Errorf("Append(%s): %v", begun.Intent, err)
				}
				if _, err := s.Named(t.Context(), "by 0"); err != nil {
					t.Errorf("Named: %v", err)
				}
			}
		})
	}
	wg.Go(func() {
		for range each {
			for h, err := range s.Pending(t.Context()) {
				if err != nil || len(h.Records) != 1 {
					t.Errorf("Pending yields %.200q, %v", h, err)
				}
			}
		}
	})
	wg.Wait()
	for w := range writers {
		var want []journal.History
		for i := range each {
			begun, done := intent(w, i)
			if i%2 == 0 {
				want = append(want, history(begun))
			} else {
				want = append(want, history(begun, done))
			}
		}
		wantNamed(t, s, fmt.Sprint("by ", w), want...)
	}
}

func concurrentFinal(t tester, s journal.Store) {
	put(t, s, record("a", "n", "1"))
	var taken atomic.Value
	var count atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			r := final("a", "n", fmt.Sprint(i))
			err := s.Append(t.Context(), true, r)
			if err == nil {
				count.Add(1)
				taken.Store(r)
			} else if !errors.Is(err, journal.ErrResolved) {
				t.Errorf("Append: %v, want ErrResolved", err)
			}
		})
	}
	wg.Wait()
	if count.Load() != 1 {
		t.Fatalf("%d Final records were taken, want 1", count.Load())
	}
	wantNamed(t, s, "n", history(record("a", "n", "1"), taken.Load().(journal.Record)))
}

func noError(t tester, err error) {
	if err != nil {
		t.Fatalf("unexpected: %v", err)
	}
}
