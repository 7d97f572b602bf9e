package soak

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// mix is which faults a soak may meet.
type mix struct {
	// copies: requests arrive late, and a second time.
	copies bool
	// failsAfterWork: 5xx of what was executed, which are not stored.
	failsAfterWork bool
	// beside are more, of live writes.
	beside []rig.Fault
}

// share of the calls that meet a fault, in percent.
const share = 8

// dice are shared by goroutines.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newDice(seed, stream uint64) *dice { return &dice{r: rand.New(rand.NewPCG(seed, stream))} }

func (d *dice) intN(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

// faultOf chooses what happens to a call; nil is nothing.
func (m mix) faultOf(d *dice, operation string) (string, tradingsim.Fault) {
	if d.intN(100) >= share {
		return "", nil
	}
	write := strings.HasPrefix(operation, "POST ")
	live := write && !strings.HasPrefix(operation, "POST /sandbox/")
	list := slices.Clone(always)
	with := func(does bool, more []rig.Fault) {
		if does {
			list = append(list, more...)
		}
	}
	with(write, ofWrites)
	with(!write, ofReads)
	with(write && m.failsAfterWork, afterWork)
	with(write && m.copies, arrivals)
	with(live, ofKeys)
	with(live && m.copies, repeats)
	with(live, m.beside)
	f := list[d.intN(len(list))]
	return f.Name, f.Fault
}

var (
	always = rig.Faults("no connection", "request lost", "reply lost", "reply cut short", "works for 1s", "reply takes 1s",
		"500 before", "503 before", "418 TEAPOT", "a page", "a page, 403", "a page, 200", "an empty object", "an empty answer", "a page after",
		"a redirect", "nothing", "works for 8s", "reply takes 8s", "rate limit 2s", "rate limit of no time")
	// A write is not told that it was executed in a shape of no use: whether it was,
	// such an answer would decide, and not the service.
	ofReads   = rig.Faults("an answer of another shape")
	ofWrites  = rig.Faults("stale price", "no_price", "cap", "refused, lost", "500 before, lost")
	afterWork = rig.Faults("500 after", "503 after")
	arrivals  = rig.Faults("arrives 3s late", "arrives 30s late")
	ofKeys    = rig.Faults("died before", "died after", "in flight", "idempotency_unavailable", "equity_unavailable")
	repeats   = rig.Faults("sent twice by a proxy", "a copy 20s later")
)
