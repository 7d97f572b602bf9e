package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Orders that nobody finds out about, before the write: each stays unknown, and its market is open
// again. The program is killed later, and its journal must say all that it knew.

// givenUp are such orders.
type givenUp struct {
	faults []fault // of each
	size   string
	rests  bool          // a limit of their size rests beside them, and is cancelled then
	cold   bool          // they go before anything was read
	after  time.Duration // until the write
}

// unheard are faults of which no stored answer says what became of the order.
var unheard = []fault{
	{Name: "died before", Fault: tradingsim.Crash()},
	{Name: "died after", Fault: tradingsim.CrashAfter()},
	{Name: "died after", Fault: tradingsim.CrashAfter()},
	{Name: "500 before", Fault: tradingsim.Fail(500, "internal_error")},
	{Name: "500 after", Fault: tradingsim.FailAfter(500, "internal_error"), Worked: true},
	{Name: "500 after", Fault: tradingsim.FailAfter(500, "internal_error"), Worked: true},
}

// givesUp has a schedule begin with such orders, on a declared account, and be killed after them.
func (s *schedule) givesUp(r *rand.Rand) {
	if s.kind == paper || s.kind == twoFiles { // nobody declares these accounts
		return
	}
	s.exclusive, s.person = true, none
	s.kill1 = 1 - r.Float64()/2
	g := &s.givenUp
	for more := true; more && len(g.faults) < 3; more = r.IntN(2) == 0 {
		g.faults = append(g.faults, pick(r, unheard...))
	}
	g.size, g.after = pick(r, "0.05", "0.05", "0.03"), pick(r, 0, 6*time.Second, 20*time.Second)
	g.rests, g.cold = r.IntN(3) == 0, r.IntN(3) == 0
	if s.op != closing && r.IntN(2) == 0 { // what is lost later has its evidence
		s.op, s.tries, s.ttl = market, []fault{pick(r, unheard...)}, 0
	}
}

// givenUpFault is what happens to the next of these orders. The lock is held.
func (w *world) givenUpFault(op string) tradingsim.Fault {
	n := w.planned["given up"]
	if op != string(trading.OpOrder) || n >= len(w.givenUp.faults) {
		return nil
	}
	w.planned["given up"]++
	f := w.givenUp.faults[n]
	w.noteLocked("    meets: %s", f.Name)
	return f.Fault
}

// theGivenUp is one of these orders.
func (w *world) theGivenUp() trading.Order {
	o := theOrder()
	o.Size = trading.Dec(w.givenUp.size)
	return o
}

const idOfGivenUp = "given up "

func (w *world) givenUpID(n int) trading.CallOption {
	return trading.WithClientOrderID(fmt.Sprint(idOfGivenUp, n), w.used()...)
}

func isGivenUp(in *written) bool { return strings.HasPrefix(in.ClientOrderID, idOfGivenUp) }

// givesUp places the orders, and waits until their market is open.
func (p *program) givesUp() {
	w := p.world
	if len(w.givenUp.faults) == 0 {
		return
	}
	w.setPacing(true)
	defer w.setPacing(false)
	a := p.client.Live.Account(account)
	if w.givenUp.rests {
		o := w.theGivenUp()
		o.LimitPrice = trading.At(trading.Dec("60000"))
		if rests, err := a.PlaceLimit(p.ctx, o); err == nil {
			defer func() { _, _ = a.CancelOrder(p.ctx, rests.Order.ID) }()
		}
	}
	for i := range w.givenUp.faults {
		_, _ = a.PlaceOrder(p.ctx, w.theGivenUp(), w.givenUpID(i), trading.WithSendTTL(0), trading.WithResolveTimeout(0), trading.AllowPending())
	}
	for range 100 {
		pending, _ := p.client.Pending(p.ctx)
		if !slices.ContainsFunc(pending, func(w trading.PendingWrite) bool { return !w.MarketOpen }) || !rig.Pause(p.ctx, 30*time.Second) {
			break
		}
	}
	if pending, _ := p.client.Pending(p.ctx); !p.isDead() {
		for _, left := range pending {
			w.note("given up: %s, its market open %t", left.ID, left.MarketOpen)
			if left.MarketOpen {
				w.given[left.ID] = "pending"
			}
		}
	}
	rig.Pause(p.ctx, w.givenUp.after)
}

// learns notes what became of an order that was given up.
func (w *world) learns(r trading.Resolution) {
	if _, was := w.given[r.Intent.ID]; was {
		w.given[r.Intent.ID] = r.Outcome.String()
	}
}

// takesAgain places the orders once more, as a bot does that decides the same after a restart.
func (p *program) takesAgain() {
	w := p.world
	w.setPacing(true)
	defer w.setPacing(false)
	for i := range w.givenUp.faults {
		if p.isDead() {
			return
		}
		_, _ = p.client.Live.Account(account).PlaceOrder(p.ctx, w.theGivenUp(), w.givenUpID(i), trading.WithResolveTimeout(0), trading.AllowPending())
	}
}
