package journaltest

import (
	"fmt"
	"sync"

	"github.com/tradingapi/trading-go"
)

// concurrentUse has some that write, each its own intents, and some that read.
func concurrentUse(t tester, j trading.Journal) {
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				id := trading.IntentID(fmt.Sprintf("w%d-%d", w, i))
				in := intent(string(id), fmt.Sprint("by ", w), i)
				if err := j.Begin(t.Context(), in); err != nil {
					t.Errorf("Begin(%s): %v", id, err)
				}
				if i%2 == 0 {
					continue
				}
				if err := j.Settle(t.Context(), id, settledAt(i)); err != nil {
					t.Errorf("Settle(%s): %v", id, err)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for range each {
				for in, err := range j.Pending(t.Context()) {
					if err != nil || in.ID == "" {
						t.Errorf("Pending yields %q, %v", in.ID, err)
					}
				}
				if _, err := j.Decision(t.Context(), "by 0"); err != nil {
					t.Errorf("Decision: %v", err)
				}
			}
		})
	}
	wg.Wait()

	if got := len(pending(t, j)); got != writers*each/2 {
		t.Errorf("%d intents are pending, want %d", got, writers*each/2)
	}
	for w := range writers {
		entries := decision(t, j, fmt.Sprint("by ", w))
		if len(entries) != each {
			t.Errorf("writer %d has %d entries, want %d", w, len(entries), each)
			continue
		}
		for i, entry := range entries {
			want := intent(fmt.Sprintf("w%d-%d", w, i), fmt.Sprint("by ", w), i)
			wantSame(t, "an intent among others", entry.Intent, want)
			if _, settled := entry.Settlement.Get(); settled != (i%2 == 1) {
				t.Errorf("%s is settled: %t, want %t", entry.Intent.ID, settled, i%2 == 1)
			}
		}
	}
}

// concurrentSettlement is the late answer that meets somebody who looks for it.
func concurrentSettlement(t tester, j trading.Journal) {
	begin(t, j, intent("a", "one", 0))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s := settledAt(i)
			s.Note, s.Answer = fmt.Sprint(i), fmt.Append(nil, i)
			if err := j.Settle(t.Context(), "a", s); err != nil {
				t.Errorf("Settle: %v", err)
			}
		})
	}
	wg.Wait()
	first := wantDecision(t, j, "one", "a")
	s, ok := first[0].Settlement.Get()
	if !ok || s.Note != string(s.Answer) {
		t.Errorf("after eight settlements there is %+v, want one of them", s)
	}
	settle(t, j, "a", settledAt(100))
	wantSame(t, "settled once more", decision(t, j, "one"), first)
}
