package trial

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// play is a scene while it is played. Its time is the service's.
type play struct {
	Scene
	ctx     context.Context
	sim     *tradingsim.Sim
	program Program
	random  *rand.Rand
	nth     int  // the entry that something happens to
	alive   bool // it has been started
	ends    int
	symbols []string

	still    bool                   // marks do not move
	flat     bool                   // whatever is held is closed at once
	prices   map[string]string      // the present marks
	since    map[slot]time.Time     // since when something has been held, or waits
	patience map[slot]time.Duration // how long it is left
	driven   string                 // the market whose mark is at a resting limit
	back     time.Time              // when it goes back

	mu       sync.Mutex
	entries  int
	levels   int
	requests int
	chosen   func(operation string) bool // which requests the planned fault is for
	seen     int                         // of them
	first    int                         // the first that it happens to
	times    int
	planned  tradingsim.Fault
	hits     int
	limited  func(operation string) bool // the scope of a limit
	wait     time.Duration
	began    time.Time // of the limit
}

func (p *play) periods(n int) time.Duration {
	return time.Duration(n) * time.Duration(p.Manifest.Period)
}

// reach is how long a scenario waits for the bot to come to the point.
func (p *play) reach() time.Duration { return max(p.periods(25), 10*time.Second) }

func (p *play) counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Counts{p.entries, p.levels, p.requests, p.ends}
}

// plan plans a fault for some requests of a kind, from the n-th on.
func (p *play) plan(f tradingsim.Fault, of func(string) bool, n, times int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.planned, p.chosen, p.first, p.times = f, of, n, times
	p.seen, p.hits = 0, 0
}

func (p *play) hit() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hits > 0
}

// over reports whether the limit has begun, and is over by d.
func (p *play) over(d time.Duration) bool {
	now := p.sim.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.began.IsZero() && now.Sub(p.began) >= d
}

// fault counts a request, and chooses what happens to it.
func (p *play) fault(operation string) tradingsim.Fault {
	now := p.sim.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	if isEntry(operation) {
		p.entries++
	}
	if isLevels(operation) {
		p.levels++
	}
	hit := false
	if p.chosen != nil && p.chosen(operation) {
		p.seen++
		hit = p.seen >= p.first && p.seen < p.first+p.times
	}
	if hit {
		p.hits++
		if p.limited != nil && p.began.IsZero() {
			p.began = now
		}
	}
	left := p.wait - now.Sub(p.began)
	switch {
	case p.limited != nil && !p.began.IsZero() && left > 0 && p.limited(operation):
		return tradingsim.RateLimit(left)
	case hit && p.planned != nil:
		return p.planned
	}
	return nil
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
func (p *play) hold(d time.Duration, room bool) error {
	_, err := p.until(func() bool { return false }, d, room)
	return err
}

// settle lets time pass without room: a bot that has something to read, to protect or to close
// has the time for it, and a bot that does not do so shows it.
func (p *play) settle() error {
	most := max(time.Duration(p.Manifest.StopWithin), time.Duration(p.Manifest.FlatWithin), p.periods(2), time.Second)
	return p.hold(most+max(p.periods(2), 2*time.Second), false)
}

// until lets time pass until a condition is met, and reports whether it was.
func (p *play) until(met func() bool, most time.Duration, room bool) (bool, error) {
	if !p.alive { // what is planned for its first requests is planned by now
		p.alive = true
		if err := p.start("started"); err != nil {
			return false, err
		}
	}
	for end := p.sim.Now().Add(most); ; {
		if met() {
			return true, nil
		}
		now := p.sim.Now()
		if err := p.ctx.Err(); err != nil || !now.Before(end) {
			return false, err
		}
		p.sleep(min(p.step(), end.Sub(now)))
		select {
		case <-p.program.Ended():
			if err := p.restart(); err != nil {
				return false, err
			}
		default:
		}
		p.wobble()
		if room {
			p.makeRoom()
		}
	}
}

// start starts the bot. From then on the scenario acts a little after each round moment of the
// bot: in virtual time chance would choose which of two is first that act at one moment.
func (p *play) start(text string) error {
	p.sim.Note(tradingsim.EventStart, text)
	if err := p.program.Start(); err != nil {
		return err
	}
	p.sleep(137 * time.Microsecond)
	return nil
}

// restart starts a bot again that has ended by itself, as its supervisor would: each time later.
func (p *play) restart() error {
	how := p.program.How()
	p.sim.Note(tradingsim.EventKill, "it ended by itself: "+how)
	p.sleep(max(p.periods(1), 500*time.Millisecond) << min(p.ends, 3))
	p.ends++
	return p.start("started again after its own end")
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
// the price through limits that rest.
func (p *play) makeRoom() {
	if p.flat {
		p.clear()
		return
	}
	a := p.account()
	now := p.sim.Now()
	waits := map[slot]bool{}
	due := func(s slot) bool {
		waits[s] = true
		if _, known := p.since[s]; !known {
			p.since[s], p.patience[s] = now, p.periods(1)+time.Duration(p.random.Int64N(int64(p.periods(1))))
		}
		return now.Sub(p.since[s]) >= p.patience[s]
	}
	for _, held := range a.Positions {
		if due(slot{a.ID, held.Symbol}) {
			p.close(held.Symbol)
			delete(p.since, slot{a.ID, held.Symbol})
		}
	}
	if len(a.Orders) > 0 && len(a.Positions) == 0 && due(slot{a.ID, "resting"}) && now.After(p.back) {
		p.drive(a.Orders[p.random.IntN(len(a.Orders))])
	}
	for s := range p.since {
		if !waits[s] {
			delete(p.since, s)
		}
	}
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
