package journaltest

import (
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
)

// retention counts from the settlement: an intent may have been pending for
// longer than anything is kept.
func (s *suite) retention(t tester, j trading.Journal) {
	keep := int(s.keep / time.Second)
	begin(t, j, intent("open", "open", -3*keep))
	begin(t, j, intent("old", "old", -3*keep))
	settle(t, j, "old", settledAt(0))
	begin(t, j, intent("timeless", "timeless", 0))
	settle(t, j, "timeless", trading.Settlement{Outcome: trading.Applied}) // counts from its intent
	for i := range 50 {
		id := fmt.Sprint("i", i)
		begin(t, j, intent(id, id, keep-1))
		settle(t, j, trading.IntentID(id), settledAt(keep-1))
	}
	wantPending(t, j, "open")
	wantDecision(t, j, "open", "open")
	wantDecision(t, j, "old", "old")
	wantDecision(t, j, "timeless", "timeless")
}

// forgetting has an intent that stays pending before all others.
func (s *suite) forgetting(t tester, j trading.Journal) {
	keep := int(s.keep / time.Second)
	begin(t, j, intent("open", "open", 0))
	const old = 50
	for i := range old {
		id := fmt.Sprint("old", i)
		begin(t, j, intent(id, id, i))
		settle(t, j, trading.IntentID(id), settledAt(i))
	}
	for i := range old {
		id := fmt.Sprint("new", i)
		begin(t, j, intent(id, id, keep+old+i))
		settle(t, j, trading.IntentID(id), settledAt(keep+old+i))
	}
	for i := range old {
		wantDecision(t, j, fmt.Sprint("old", i))
		id := fmt.Sprint("new", i)
		wantDecision(t, j, id, trading.IntentID(id))
	}
	wantPending(t, j, "open")
	wantDecision(t, j, "open", "open")
}
