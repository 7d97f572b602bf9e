package trial

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Account is the live account of every scenario.
const Account = "acc_1"

// Program is a bot that a scenario starts and kills.
type Program interface {
	// Start starts it, also anew after its end.
	Start() error
	// Kill ends it as by SIGKILL, with everything that it has started, and returns when
	// nothing of it runs any more.
	Kill() error
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

// Quiet is the scenario without a fault, which comes first.
const Quiet = "quiet"

// scenarios are all, in their order, with what plays them.
var scenarios = []struct {
	name string
	play func(*play)
}{
	{Quiet, func(p *play) { p.hold(max(p.periods(12), 6*time.Second), true) }},
	{"lost reply", func(p *play) { p.lose(tradingsim.DropResponse(), 4) }},
	{"lost request", func(p *play) { p.lose(tradingsim.DropRequest(), 4) }},
	{"cut reply", func(p *play) { p.lose(tradingsim.TruncateResponse(), 4) }},
	{"page of a gateway", func(p *play) { p.lose(tradingsim.GatewayErrorAfter(502), 4) }},
	{"failure after the work", func(p *play) { p.lose(tradingsim.FailAfter(500, "internal_error"), 1) }},
	{"service dies", func(p *play) { p.lose(tradingsim.CrashAfter(), 1) }},
	{"limit of orders", func(p *play) { p.limit(isEntry) }},
	{"limit of the key", func(p *play) {
		p.limit(func(operation string) bool { return operation != "GET /health" && operation != "GET /openapi.json" })
	}},
	{"unhealthy", (*play).makeUnhealthy},
	{"locked", (*play).lock},
	{"no price", (*play).takePrice},
	{"killed while open", func(p *play) {
		if p.reaches(func() bool { return p.entered() && p.holds() }) {
			p.hold(time.Duration(p.random.Int64N(int64(p.periods(1)))), false)
			p.kill()
		}
	}},
	{"killed in a reply", func(p *play) { p.killIn(tradingsim.DelayResponse(time.Hour)) }},
	{"killed in an order", func(p *play) { p.killIn(tradingsim.Delay(p.periods(1) / 2)) }},
	{"lost stop", (*play).loseStop},
}

// Scenarios are the names of all, in their order; [Quiet] is the first.
func Scenarios() (names []string) {
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return names
}

// NewSim makes the simulation of a scene. The events go to see, from the beginning.
func NewSim(s Scene, see func(tradingsim.Event), opts ...tradingsim.Option) *tradingsim.Sim {
	opts = append([]tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: Account}), tradingsim.WithLag(time.Duration(s.Manifest.Lag))}, opts...)
	for symbol, m := range s.Manifest.Markets {
		opts = append(opts, tradingsim.WithMark(symbol, m.Price.String()))
	}
	if s.Speed > 1 {
		opts = append(opts, tradingsim.WithSpeed(s.Speed))
	}
	sim := tradingsim.New(opts...)
	sim.Watch(see)
	return sim
}

// Play plays a scene with a program on the simulation that [NewSim] has made, and returns what
// the program did. The program is dead when it returns. An error is of the harness.
func Play(ctx context.Context, s Scene, sim *tradingsim.Sim, program Program) (c Counts, err error) {
	if s.Manifest, err = s.Manifest.complete(); err != nil {
		return c, err
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(s.Scenario))
	p := &play{
		ctx: ctx, Scene: s, sim: sim, program: program,
		random: rand.New(rand.NewPCG(s.Seed, name.Sum64())), prices: map[string]string{},
		symbols: slices.Sorted(maps.Keys(s.Manifest.Markets)),
		due:     map[string]time.Time{},
	}
	p.Speed = max(1, p.Speed)
	p.nth = 1 + p.random.IntN(max(1, min(s.Quiet.Entries, 3)))
	for _, one := range scenarios {
		if one.name != s.Scenario {
			continue
		}
		sim.FaultEach(p.fault)
		one.play(p)
		sim.FaultEach(func(string) tradingsim.Fault { return nil })
		if p.alive {
			p.err = errors.Join(p.err, program.Kill())
		}
		return p.counts(), p.err
	}
	return c, fmt.Errorf("there is no scenario %q", s.Scenario)
}

// lose loses what becomes of the n-th entry, and of up to most-1 that follow at once: transports
// send again by themselves.
func (p *play) lose(f tradingsim.Fault, most int) {
	p.plan(f, isEntry, p.nth, 1+p.random.IntN(most))
	if p.reaches(p.hit) {
		p.settle()
		p.goOn()
	}
}

// limit answers what is in a scope 429 from the n-th entry on, for as long as its answer says.
func (p *play) limit(scope func(string) bool) {
	wait := min(max(p.periods(5), 5*time.Second), time.Minute).Round(time.Second)
	var end time.Time
	p.choose(func(operation string, now time.Time) tradingsim.Fault {
		if end.IsZero() && isEntry(operation) && p.did.Entries == p.nth {
			end = now.Add(wait)
			p.hits++
		}
		if scope(operation) && now.Before(end) {
			return tradingsim.RateLimit(end.Sub(now))
		}
		return nil
	})
	if p.reaches(p.hit) {
		p.hold(wait, true)
		p.goOn()
	}
}

// makeUnhealthy makes the service unhealthy while the bot is flat and wants to enter, and then
// healthy again.
func (p *play) makeUnhealthy() {
	p.nth = 1
	if !p.reaches(p.entered) {
		return
	}
	status := [][2]string{{"degraded", "stale"}, {"unavailable", "unknown"}}[p.random.IntN(2)]
	p.sim.SetHealth(status[0], status[1])
	p.flat = true
	p.hold(healthCache+time.Duration(p.Manifest.HealthAge)+max(p.periods(2), 2*time.Second), true)
	p.sim.SetHealth("healthy", "live")
	p.again(healthCache)
}

// again waits until the bot enters once more.
func (p *play) again(more time.Duration) {
	before := p.counts().Entries
	p.until(func() bool { return p.counts().Entries > before }, more+max(p.periods(5), 3*time.Second), true)
}

// lock makes the account refuse new exposure while the bot is flat.
func (p *play) lock() {
	p.nth = 1
	if !p.reaches(p.entered) {
		return
	}
	live := p.Manifest.Environment == "live"
	p.flat = true
	if live {
		p.clear()
		p.sim.SetStatus(Account, "PASSED")
	} else {
		p.plan(tradingsim.Fail(403, "account_locked"), isEntry, 1, 1<<30)
	}
	p.hold(max(p.periods(8), 4*time.Second), true)
	p.choose(nil)
	if live {
		p.sim.SetStatus(Account, "ACTIVE")
	}
	p.again(0)
}

// takePrice takes all marks away while the bot is flat.
func (p *play) takePrice() {
	p.nth = 1
	if !p.reaches(p.entered) {
		return
	}
	p.still = true
	for range 5 { // it may enter in between
		p.clear()
		p.unpriced()
		if !p.holds() {
			break
		}
		p.wobble()
	}
	p.hold(max(p.periods(5), 2*time.Second), false)
	p.still = false
	p.wobble()
	p.again(0)
}

// killIn kills the bot while its n-th entry is under way or its reply is.
func (p *play) killIn(f tradingsim.Fault) {
	p.plan(f, isEntry, p.nth, 1)
	if p.reaches(p.hit) {
		p.kill()
	}
}

func (p *play) kill() {
	if p.err = p.program.Kill(); p.err != nil {
		return
	}
	p.sleep(time.Duration(250*p.Speed) * time.Millisecond) // what is in the socket arrives
	p.sim.Note(tradingsim.EventKill, "killed by the scenario")
	p.sleep(max(p.periods(1), 500*time.Millisecond))
	p.start("started again")
	p.settle()
	p.goOn()
}

// loseStop loses a request that sets levels.
func (p *play) loseStop() {
	if p.Quiet.Levels == 0 {
		return // nothing to lose
	}
	p.plan(tradingsim.DropRequest(), isLevels, 1+p.random.IntN(min(p.Quiet.Levels, 3)), 1+p.random.IntN(4))
	if p.reaches(p.hit) {
		p.settle()
	}
}
