package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Account is the live account of every scenario.
const Account = "acc_1"

// Program is a bot that a scenario starts and kills.
type Program interface {
	// Start starts it, also anew after its end.
	Start() error
	// Kill ends it as by SIGKILL, with everything that it has started, and returns when that
	// runs no more. A part that lives on by intent, such as a sidecar, may send requests.
	Kill() (part bool, err error)
	// Ended is closed once the present life has ended, and How says how.
	Ended() <-chan struct{}
	How() string
}

// Counts are what a bot did in a quiet run, from which the faults of other runs are drawn.
type Counts struct {
	Entries  int `json:"entries"`  // requests that can add exposure
	Levels   int `json:"levels"`   // requests that set levels
	Requests int `json:"requests"` // all
	Ends     int `json:"ends"`     // how often it ended by itself
}

// Scene is one run of one scenario.
type Scene struct {
	Scenario string   // one of [Scenarios]
	Seed     uint64   // what is drawn follows from it
	Manifest Manifest // of the bot
	Quiet    Counts   // of the quiet run; of no meaning to that run itself
	Speed    float64  // how many times faster than the machine the service's clock runs; 1 unless set
}

// play is a scene while it is played. Its time is the service's. After an error nothing more happens.
type play struct {
	Scene
	ctx     context.Context
	sim     *tradingsim.Sim
	program Program
	random  *rand.Rand
	symbols []string
	err     error
	nth     int64         // the entry that something happens to
	entries atomic.Int64  // so far
	hits    atomic.Int64  // how often something happened
	alive   bool          // the bot has been started
	ends    int           // how often it ended by itself
	late    time.Duration // by how much a wait was too long, at the most, by the machine's clock

	still  bool                 // marks do not move
	flat   bool                 // whatever is held is closed at once
	due    map[string]time.Time // when what is held, or rests, is closed or filled
	driven string               // the market whose mark is at a resting limit
	back   time.Time            // when it goes back
}

// Play plays a scene with the program that launch makes for its simulation, and judges it by what the
// simulation saw. The program is dead when Play returns. An error is of the harness.
func Play(ctx context.Context, s Scene, launch func(*tradingsim.Sim) (Program, error), opts ...tradingsim.Option) (o Outcome, events []tradingsim.Event, err error) {
	if s.Manifest, err = s.Manifest.filled().complete(); err != nil {
		return o, nil, err
	}
	s.Speed = max(1, s.Speed)
	opts = append(opts, tradingsim.WithAccount(tradingsim.Account{ID: Account}), tradingsim.WithLag(time.Duration(s.Manifest.lag())))
	for symbol, m := range s.Manifest.Markets {
		opts = append(opts, tradingsim.WithMark(symbol, m.Price.String()))
	}
	if s.Speed > 1 {
		opts = append(opts, tradingsim.WithSpeed(s.Speed))
	}
	i := slices.Index(Scenarios(), s.Scenario)
	if i < 0 {
		return o, nil, fmt.Errorf("there is no scenario %q", s.Scenario)
	}
	sim := tradingsim.New(opts...)
	defer func() { err = errors.Join(err, sim.Close()) }()
	stop := sim.Watch(func(e tradingsim.Event) { events = append(events, e) })
	name := fnv.New64a()
	_, _ = name.Write([]byte(s.Scenario)) // never fails
	p := &play{
		ctx: ctx, Scene: s, sim: sim, due: map[string]time.Time{}, random: rand.New(rand.NewPCG(s.Seed, name.Sum64())),
		symbols: slices.Sorted(maps.Keys(s.Manifest.Markets)),
	}
	if p.program, err = launch(sim); err == nil {
		err = p.through(scenarios[i].play)
	}
	stop() // exchanges that a kill has broken may end later
	if err != nil {
		return o, events, err
	}
	o, err = Judge(s.Manifest, events)
	o.Scenario, o.Seed, o.Counts.Ends = s.Scenario, s.Seed, p.ends
	return o, events, err
}

// through plays a scenario from the bot's first start to its death.
func (p *play) through(scenario func(*play)) error {
	p.nth = 1 + p.random.Int64N(int64(max(1, min(p.Quiet.Entries, 3))))
	p.choose(noFault)
	scenario(p)
	p.sim.FaultEach(nil)
	if p.alive {
		_, err := p.program.Kill()
		p.err = errors.Join(p.err, err)
	}
	if late := p.slack(0); late > 0 {
		p.sim.Note(tradingsim.EventLate, late.String())
	}
	return p.err
}

func (p *play) sandbox() bool { return p.Manifest.Environment == "sandbox" }

// draw is a time below another.
func (p *play) draw(below time.Duration) time.Duration {
	return time.Duration(p.random.Int64N(int64(below)))
}

// choose sets what chooses the faults from now on.
func (p *play) choose(chosen func(operation string) tradingsim.Fault) {
	p.hits.Store(0)
	p.sim.FaultEach(func(operation string) tradingsim.Fault {
		if isEntry(operation) {
			p.entries.Add(1)
		}
		return chosen(operation)
	})
}

func noFault(string) tradingsim.Fault { return nil }

// plan plans a fault for some requests of a kind, from the n-th on.
func (p *play) plan(f tradingsim.Fault, of func(string) bool, n, times int64) {
	p.choose(p.planned(f, of, n, times))
}

// planned chooses a fault for some requests of a kind.
func (p *play) planned(f tradingsim.Fault, of func(string) bool, n, times int64) func(operation string) tradingsim.Fault {
	seen := int64(0)
	return func(operation string) tradingsim.Fault {
		if !of(operation) {
			return nil
		}
		if seen++; seen < n || seen >= n+times {
			return nil
		}
		p.hits.Add(1)
		return f
	}
}

func (p *play) hit() bool { return p.hits.Load() > 0 }

// entered reports whether the entry that something happens to has been sent.
func (p *play) entered() bool { return p.entries.Load() >= p.nth }

// sleep lets time of the service pass.
func (p *play) sleep(d time.Duration) {
	began, wait := time.Now(), time.Duration(float64(d)/p.Speed)
	select {
	case <-time.After(wait):
		p.late = max(p.late, time.Since(began)-wait)
	case <-p.ctx.Done():
	}
}

// slack is what the machine may take for something, in time of the service: a look of a bot is some
// requests, and each may be as late as a wait was.
func (p *play) slack(more time.Duration) time.Duration {
	return time.Duration(float64(more+5*p.late) * p.Speed)
}

// hold lets time pass. With room the bot is brought to enter again and again.
func (p *play) hold(d time.Duration, room bool) {
	p.until(func() bool { return false }, d, room)
}

// settle lets time pass without room: a bot that has something to read, to protect or to close
// has the time for it, and a bot that does not do so shows it.
func (p *play) settle() {
	most := max(time.Duration(p.Manifest.StopWithin), time.Duration(p.Manifest.FlatWithin), p.Manifest.periods(2), time.Second)
	p.hold(most+max(p.Manifest.periods(1), time.Second), false)
}

// goOn lets the bot go on for a while.
func (p *play) goOn() { p.hold(max(p.Manifest.periods(2), 2*time.Second), true) }

// reaches waits for the bot to come to a point, and reports whether it does.
func (p *play) reaches(met func() bool) bool {
	return p.until(met, max(p.Manifest.periods(25), 10*time.Second), true)
}

// until lets time pass until a condition is met, and reports whether it was.
func (p *play) until(met func() bool, most time.Duration, room bool) bool {
	if !p.alive { // what is planned for its first requests is planned by now
		p.alive = true
		p.start("started")
	}
	// It looks not so often that it takes the machine from the bots.
	step := max(min(p.Manifest.periods(1)/5, time.Minute), time.Duration(20*p.Speed)*time.Millisecond)
	for end := p.sim.Now().Add(most); ; {
		if p.err = cmp.Or(p.err, p.ctx.Err()); p.err != nil {
			return false
		}
		if met() {
			return true
		}
		left := end.Sub(p.sim.Now())
		if left <= 0 {
			return false
		}
		p.sleep(min(step, left))
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
	p.sleep(max(p.Manifest.periods(1), 500*time.Millisecond) << min(p.ends, 3))
	p.ends++
	p.start("started again after its own end")
}

// killedInPart is noted where something of a bot that was killed lives on by intent.
const killedInPart = "killed by the scenario, in part"

// kill kills the bot, and starts it again.
func (p *play) kill() {
	part, err := p.program.Kill()
	if p.err = err; err != nil {
		return
	}
	p.sleep(p.slack(250 * time.Millisecond)) // what is in the socket arrives
	p.choose(noFault)
	how := "killed by the scenario"
	if part {
		how = killedInPart
	}
	p.sim.Note(tradingsim.EventKill, how)
	p.sleep(max(p.Manifest.periods(1), 500*time.Millisecond))
	p.start("started again")
	p.settle()
	p.goOn()
}

// wobble moves all marks a little around where they began.
func (p *play) wobble() {
	for _, symbol := range p.symbols {
		if !p.still && (symbol != p.driven || !p.sim.Now().Before(p.back)) {
			p.mark(symbol, p.Manifest.Markets[symbol].Price, 1_000_000+p.random.Int64N(400)-200)
		}
	}
}

// mark sets a mark to some millionths of a price, with as many digits as prices have.
func (p *play) mark(symbol string, price decimal.Decimal, millionths int64) {
	price = price.Mul(decimal.New(millionths, -6))
	p.sim.SetMark(symbol, price.Round(int32(7-price.NumDigits()-int(price.Exponent()))).String())
}

// account is what the bot trades; of the sandbox, empty before the first request.
func (p *play) account() tradingsim.AccountState {
	for _, a := range p.sim.State().Accounts {
		if (a.ID == "") == p.sandbox() {
			return a
		}
	}
	return tradingsim.AccountState{}
}

func (p *play) holds() bool { return len(p.account().Positions) > 0 }

// makeRoom brings the bot to enter again: it closes what has been open for a while, and moves
// the price through limits that rest, for as long as the engine needs to see it. While it must not
// act it notes what has been open for how long.
func (p *play) makeRoom(act bool) {
	if p.flat && act {
		p.clear()
		return
	}
	a, now := p.account(), p.sim.Now()
	waits := map[string]bool{}
	due := func(what string) bool {
		waits[what] = true
		if p.due[what].IsZero() {
			p.due[what] = now.Add(p.Manifest.periods(1) + p.draw(p.Manifest.periods(1)))
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

// drive moves the price through a limit that rests.
func (p *play) drive(o tradingsim.OrderState) {
	beyond := int64(999_500)
	if o.Side == "short" {
		beyond = 1_000_500
	}
	p.driven, p.back = o.Symbol, p.sim.Now().Add(2*time.Second)
	p.mark(o.Symbol, o.LimitPrice, beyond)
}

// fill moves it through all that rest, for as long as the engine needs to see it.
func (p *play) fill() {
	for _, o := range p.account().Orders {
		p.drive(o)
		p.sleep(2 * time.Second)
	}
}

// clear closes everything, and cancels what rests.
func (p *play) clear() {
	a := p.account()
	for _, o := range a.Orders {
		p.terminal("POST /orders/cancel", "orderId", o.ID)
	}
	for _, held := range a.Positions {
		p.close(held.Symbol)
	}
}

func (p *play) close(symbol string) { p.terminal("POST /positions/close", "symbol", symbol) }

// terminal does what a person in the terminal would. Where it is done already there is nothing to do.
func (p *play) terminal(operation, name, value string) {
	if p.sandbox() {
		_, _ = p.sim.Terminal("POST /sandbox/positions/close", fmt.Sprintf(`{%q:%q}`, name, value))
		return
	}
	_, _ = p.sim.Terminal(operation, fmt.Sprintf(`{"accountId":%q,%q:%q}`, Account, name, value))
}
