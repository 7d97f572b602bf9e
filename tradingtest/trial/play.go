package trial

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// play is a scene while it is played. Its time is the service's. After an error nothing more happens.
type play struct {
	Scene
	ctx     context.Context
	sim     *tradingsim.Sim
	program Program
	random  *rand.Rand
	symbols []string
	err     error
	nth     int  // the entry that something happens to
	alive   bool // it has been started

	still  bool                 // marks do not move
	flat   bool                 // whatever is held is closed at once
	prices map[string]string    // the present marks
	due    map[string]time.Time // when what is held, or rests, is closed or filled
	driven string               // the market whose mark is at a resting limit
	back   time.Time            // when it goes back

	mu     sync.Mutex
	did    Counts
	chosen func(operation string, now time.Time) tradingsim.Fault // what happens to a request
	hits   int                                                    // how often something did
}

func (p *play) periods(n int) time.Duration {
	return time.Duration(n) * time.Duration(p.Manifest.Period)
}

func (p *play) counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.did
}

// choose sets what chooses the faults from now on.
func (p *play) choose(chosen func(operation string, now time.Time) tradingsim.Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chosen, p.hits = chosen, 0
}

// plan plans a fault for some requests of a kind, from the n-th on.
func (p *play) plan(f tradingsim.Fault, of func(string) bool, n, times int) {
	seen := 0
	p.choose(func(operation string, _ time.Time) tradingsim.Fault {
		if !of(operation) {
			return nil
		}
		if seen++; seen < n || seen >= n+times {
			return nil
		}
		p.hits++
		return f
	})
}

func (p *play) hit() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hits > 0
}

// fault counts a request, and chooses what happens to it.
func (p *play) fault(operation string) tradingsim.Fault {
	now := p.sim.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.did.Requests++
	if isEntry(operation) {
		p.did.Entries++
	}
	if isLevels(operation) {
		p.did.Levels++
	}
	if p.chosen == nil {
		return nil
	}
	return p.chosen(operation, now)
}

// entered reports whether the entry that something happens to has been sent.
func (p *play) entered() bool { return p.counts().Entries >= p.nth }

// sleep lets time of the service pass.
func (p *play) sleep(d time.Duration) {
	timer := time.NewTimer(time.Duration(float64(d) / p.Speed))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.ctx.Done():
	}
}

// step is how often a scenario looks: not so often that it takes the machine from the bots.
func (p *play) step() time.Duration {
	return max(min(p.periods(1)/5, time.Minute), time.Duration(20*p.Speed)*time.Millisecond)
}

// hold lets time pass. With room the bot is brought to enter again and again.
func (p *play) hold(d time.Duration, room bool) {
	p.until(func() bool { return false }, d, room)
}

// settle lets time pass without room: a bot that has something to read, to protect or to close
// has the time for it, and a bot that does not do so shows it.
func (p *play) settle() {
	most := max(time.Duration(p.Manifest.StopWithin), time.Duration(p.Manifest.FlatWithin), p.periods(2), time.Second)
	p.hold(most+max(p.periods(1), time.Second), false)
}

// goOn lets the bot go on for a while.
func (p *play) goOn() { p.hold(max(p.periods(2), 2*time.Second), true) }

// reaches waits for the bot to come to a point, and reports whether it does.
func (p *play) reaches(met func() bool) bool {
	return p.until(met, max(p.periods(25), 10*time.Second), true)
}

// until lets time pass until a condition is met, and reports whether it was.
func (p *play) until(met func() bool, most time.Duration, room bool) bool {
	if !p.alive { // what is planned for its first requests is planned by now
		p.alive = true
		p.start("started")
	}
	for end := p.sim.Now().Add(most); ; {
		if p.err = cmp.Or(p.err, p.ctx.Err()); p.err != nil {
			return false
		}
		if met() {
			return true
		}
		now := p.sim.Now()
		if !now.Before(end) {
			return false
		}
		p.sleep(min(p.step(), end.Sub(now)))
		select {
		case <-p.program.Ended():
			p.restart()
		default:
		}
		p.wobble()
		p.makeRoom(room)
	}
}

// start starts the bot. From then on the scenario acts a little after each round moment of the
// bot: in virtual time chance would choose which of two is first that act at one moment.
func (p *play) start(text string) {
	p.sim.Note(tradingsim.EventStart, text)
	p.err = p.program.Start()
	p.sleep(137 * time.Microsecond)
}

// restart starts a bot again that has ended by itself, as its supervisor would: each time later.
func (p *play) restart() {
	p.sim.Note(tradingsim.EventKill, "it ended by itself: "+p.program.How())
	p.sleep(max(p.periods(1), 500*time.Millisecond) << min(p.counts().Ends, 3))
	p.mu.Lock()
	p.did.Ends++
	p.mu.Unlock()
	p.start("started again after its own end")
}

// wobble moves all marks a little around where they began.
func (p *play) wobble() {
	if p.still {
		return
	}
	for _, symbol := range p.symbols {
		if symbol == p.driven && p.sim.Now().Before(p.back) {
			continue
		}
		p.mark(symbol, p.Manifest.Markets[symbol].Price.Mul(decimal.New(1_000_000+p.random.Int64N(400)-200, -6)))
	}
}

// mark sets a mark, with as many digits as prices have.
func (p *play) mark(symbol string, price decimal.Decimal) {
	text := price.Round(int32(7 - price.NumDigits() - int(price.Exponent()))).String()
	if text != p.prices[symbol] {
		p.prices[symbol] = text
		p.sim.SetMark(symbol, text)
	}
}

func (p *play) unpriced() {
	for _, symbol := range p.symbols {
		p.prices[symbol] = ""
		p.sim.SetMark(symbol, "")
	}
}

// account is what the bot trades; of the sandbox, empty before the first request.
func (p *play) account() tradingsim.AccountState {
	for _, a := range p.sim.State().Accounts {
		if a.ID == p.Manifest.account() {
			return a
		}
	}
	return tradingsim.AccountState{}
}

func (p *play) holds() bool {
	return len(p.account().Positions) > 0
}

// makeRoom brings the bot to enter again: it closes what has been open for a while, and moves
// the price through limits that rest. While it must not act it notes what has been open for how long.
func (p *play) makeRoom(act bool) {
	if p.flat && act {
		p.clear()
		return
	}
	a := p.account()
	now := p.sim.Now()
	waits := map[string]bool{}
	due := func(what string) bool {
		waits[what] = true
		if p.due[what].IsZero() {
			p.due[what] = now.Add(p.periods(1) + time.Duration(p.random.Int64N(int64(p.periods(1)))))
		}
		return act && !now.Before(p.due[what])
	}
	for _, held := range a.Positions {
		if due(held.Symbol) {
			p.close(held.Symbol)
			delete(p.due, held.Symbol)
		}
	}
	if len(a.Orders) > 0 && len(a.Positions) == 0 && due("what rests") && now.After(p.back) {
		p.drive(a.Orders[p.random.IntN(len(a.Orders))])
	}
	maps.DeleteFunc(p.due, func(what string, _ time.Time) bool { return !waits[what] })
}

// drive moves a mark through a limit for as long as the engine needs to see it.
func (p *play) drive(o tradingsim.OrderState) {
	beyond := decimal.New(9995, -4)
	if o.Side == "short" {
		beyond = decimal.New(10005, -4)
	}
	p.driven, p.back = o.Symbol, p.sim.Now().Add(2*time.Second)
	p.mark(o.Symbol, o.LimitPrice.Mul(beyond))
}

// clear closes everything, and cancels what rests.
func (p *play) clear() {
	a := p.account()
	for _, o := range a.Orders {
		_, _ = p.sim.Terminal("POST /orders/cancel", fmt.Sprintf(`{"accountId":%q,"orderId":%q}`, Account, o.ID))
	}
	for _, held := range a.Positions {
		p.close(held.Symbol)
	}
}

// close closes a position. Where it is gone already there is nothing to do.
func (p *play) close(symbol string) {
	if p.Manifest.Environment == "sandbox" {
		_, _ = p.sim.Terminal("POST /sandbox/positions/close", fmt.Sprintf(`{"symbol":%q}`, symbol))
		return
	}
	_, _ = p.sim.Terminal("POST /positions/close", fmt.Sprintf(`{"accountId":%q,"symbol":%q}`, Account, symbol))
}
