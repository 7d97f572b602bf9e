package journaltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/tradingapi/trading-go"
)

// ownMemory changes what the journal was given, and what it gave.
func ownMemory(t tester, j trading.Journal) {
	given, want := filled[trading.Intent](0), filled[trading.Intent](0)
	begin(t, j, given)
	scribbleIntent(&given)
	wantSame(t, "the intent after its giver wrote to it", pending(t, j)[0], want)

	got := pending(t, j)[0]
	scribbleIntent(&got)
	wantSame(t, "the intent after its reader wrote to it", pending(t, j)[0], want)

	s, settled := filled[trading.Settlement](0), filled[trading.Settlement](0)
	settle(t, j, want.ID, s)
	clear(s.Answer)
	entries := []trading.Entry{{Intent: want, Settlement: trading.Some(settled)}}
	wantSame(t, "the entry after its giver wrote to it", decision(t, j, want.Decision), entries)
	for _, entry := range decision(t, j, want.Decision) {
		scribbleIntent(&entry.Intent)
		s, _ := entry.Settlement.Get()
		clear(s.Answer)
	}
	wantSame(t, "the entry after its reader wrote to it", decision(t, j, want.Decision), entries)
}

func scribbleIntent(in *trading.Intent) {
	clear(in.Body)
	baseline, _ := in.Baseline.Get()
	lists := reflect.ValueOf(baseline)
	for i := range lists.NumField() {
		if list := lists.Field(i); list.Kind() == reflect.Slice {
			list.Clear()
		}
	}
}

func endedContext(t tester, j trading.Journal) {
	begin(t, j, intent("a", "one", 0))
	over := ended(t)
	wantEnded := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s once the context has ended: %v, want its error", what, err)
		}
	}
	wantEnded("Begin", j.Begin(over, intent("b", "one", 1)))
	wantEnded("Settle", j.Settle(over, "a", settledAt(1)))
	_, err := j.Decision(over, "one")
	wantEnded("Decision", err)
	yields := 0
	for in, err := range j.Pending(over) {
		yields++
		wantEnded("Pending", err)
		wantSame(t, "the intent beside an error", in, trading.Intent{})
	}
	if yields != 1 {
		t.Errorf("Pending yields %d times once the context has ended, want its error alone", yields)
	}
	wantPending(t, j, "a")
	wantDecision(t, j, "one", "a")
}

func endedIteration(t tester, j trading.Journal) {
	for i := range 3 {
		begin(t, j, intent(fmt.Sprint("i", i), "", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var yields []error
	for _, err := range j.Pending(ctx) {
		yields = append(yields, err)
		cancel()
	}
	if len(yields) != 2 || yields[0] != nil || !errors.Is(yields[1], context.Canceled) {
		t.Errorf("an iteration whose context ends at the first intent yields the errors %v, want none and the context's", yields)
	}
}

func brokenIteration(t tester, j trading.Journal) {
	for i := range 3 {
		begin(t, j, intent(fmt.Sprint("i", i), "", i))
	}
	again := j.Pending(t.Context())
	for range 2 {
		for in, err := range again {
			if err != nil || in.ID != "i0" {
				t.Errorf("the first of three is %q, %v, want i0", in.ID, err)
			}
			break
		}
	}
	settle(t, j, "i1", settledAt(5))
	wantPending(t, j, "i0", "i2")
}

// writingIteration is a recovery: it settles what it finds, and begins what
// follows. It must see all that was pending when it started, once, and end.
func writingIteration(t tester, j trading.Journal) {
	const count = 100
	for i := range count {
		begin(t, j, intent(fmt.Sprint("i", i), "", i))
	}
	seen := map[trading.IntentID]int{}
	for in, err := range j.Pending(t.Context()) {
		if err != nil {
			t.Fatalf("Pending: %v", err)
		}
		if seen[in.ID]++; len(seen) > 2*count {
			t.Fatalf("an iteration that begins an intent for each that it sees does not end")
		}
		settle(t, j, in.ID, settledAt(count))
		begin(t, j, intent("after "+string(in.ID), "", count))
	}
	for i := range count {
		if n := seen[trading.IntentID(fmt.Sprint("i", i))]; n != 1 {
			t.Errorf("intent i%d was seen %d times by an iteration that writes, want once", i, n)
		}
	}
}

func nestedIteration(t tester, j trading.Journal) {
	begin(t, j, intent("a", "one", 0))
	begin(t, j, intent("b", "one", 1))
	for _, err := range j.Pending(t.Context()) {
		if err != nil {
			t.Fatalf("Pending: %v", err)
		}
		wantPending(t, j, "a", "b")
		wantDecision(t, j, "one", "a", "b")
	}
}
