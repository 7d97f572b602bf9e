package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

// readings decide when the service itself judges an account; 0 is none of them.
var readings = []int{0, 17, 18, 20, 38}

// scenario is one run.
type scenario struct {
	Strategy, Market, Jump, Fault int // of their lists
	Seed                          uint64
	Mode                          mode
	local                         local // of a sidecar
}

// mode is what protects the account.
type mode int

const (
	nothing mode = iota
	// guardAlone judges the bot's entries and closes nothing.
	guardAlone
	// loopAlone flattens. The bot takes no entries while it halts, and nobody judges them.
	loopAlone
	// loopUnaware flattens beside a bot that does not know of it, and trades on.
	loopUnaware
	loopAndGuard
	// halfReserve and quarterReserve are loop and guard, which assume and keep less room.
	halfReserve
	quarterReserve
	// behindSidecar is loop and guard in a sidecar. The bot knows of neither: it is refused.
	behindSidecar
)

var modes = []string{"nothing", "guard alone", "loop alone", "loop, bot unaware", "loop and guard", "half the reserve", "a quarter of it", "behind a sidecar"}

// experiment is what is compared.
type experiment struct {
	modes      []mode // nothing is the first
	strategies int    // so many of the list
	shown      mode   // whose figures the tables by property have
}

var (
	// parts compares a protection with parts of it, and with smaller reserves.
	parts = experiment{[]mode{nothing, guardAlone, loopAlone, loopUnaware, loopAndGuard, halfReserve, quarterReserve}, 7, loopAndGuard}
	// unaware compares what protects a bot that knows of no protection.
	unaware = experiment{[]mode{nothing, loopUnaware, behindSidecar}, len(strategies), behindSidecar}
)

// reserve is how much of the shock, the gap and what is kept by default a protection reserves, in
// percent.
func (m mode) reserve() int64 {
	switch m {
	case halfReserve:
		return 50
	case quarterReserve:
		return 25
	}
	return 100
}

func (m mode) String() string { return modes[m] }

// number is the scenario's place among those of its seed, the same in each mode.
func (s scenario) number() int {
	return ((s.Strategy*len(kinds)+s.Market)*len(jumps)+s.Jump)*len(faults) + s.Fault
}

func (s scenario) reading() int { return readings[(s.number()+int(s.Seed))%len(readings)] }

// result is what a run came to.
type result struct {
	scenario
	fate
	Reading  int
	State    protect.State // of the protection, at the end
	Why      string        // the state's reason
	Refused  int           // entries
	Service  string        // the account's status
	Balanced bool          // the ledger here and the service's balance agree to the cent
	Err      string
}

// account is the account that bots trade.
const account = "acc_1"

// clockAt is when a run begins: it crosses the end of a UTC day.
const clockAt = 23*time.Hour + 30*time.Minute

// run makes one run. It is called in a bubble of virtual time, which it leaves as it was.
func (s scenario) run(length int) (r result) {
	r = result{scenario: s, Reading: s.reading()}
	time.Sleep(clockAt)
	if s.Mode == behindSidecar { // its bot has traded behind it for longer than the service keeps a key
		dir, err := os.MkdirTemp("", "survival")
		if err != nil {
			r.Err = err.Error()
			return r
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if s.local, err = introduce(dir); err != nil {
			r.Err = err.Error()
			return r
		}
		time.Sleep(48 * time.Hour)
	}
	rng := rand.New(rand.NewPCG(s.Seed, uint64(s.number())))
	p := draw(rng, kinds[s.Market], jumps[s.Jump], time.Now(), length)
	sim := s.service(p, length)
	defer func() { _ = sim.Close() }()
	if err := s.trade(sim, p, length, &r); err != nil {
		r.Err = err.Error()
	}
	executed := sim.Ledger()
	r.fate = judge(p, executed, r.Reading == 20)
	report, _ := sim.Report().Account(account)
	r.Service, r.Balanced = report.Status, balanced(executed, report.Balance)
	return r
}

// balanced compares the balance that follows from the executions with the service's.
func balanced(executed []tradingsim.Execution, balance decimal.Decimal) bool {
	l := &ledger{balance: opening, held: map[string]*holding{}}
	for _, e := range executed {
		if e.Filled && e.Account != "" {
			l.fill(e)
		}
	}
	return l.balance.Sub(balance).Abs().LessThan(decimal.New(1, -2))
}

func (s scenario) service(p *path, length int) *tradingsim.Sim {
	options := []tradingsim.Option{
		tradingsim.WithLag(lagOf(faults[s.Fault])), tradingsim.WithRequestLog(1), tradingsim.WithSampling(time.Hour),
	}
	for _, m := range symbols {
		options = append(options,
			tradingsim.WithMarket(tradingsim.Market{Symbol: m.name}),
			tradingsim.WithFeed(m.name, feed{p, m.name, nulls(faults[s.Fault], length)}))
	}
	if n := s.reading(); n != 0 {
		options = append(options, tradingsim.WithInterpretation(n))
	}
	sim := tradingsim.New(options...)
	t := &trouble{kind: faults[s.Fault], seed: s.Seed, path: p, now: time.Now, calls: map[string]int{}}
	sim.FaultEach(t.choose)
	return sim
}

// connect makes a client with keys of its own. Retries wait no random time, so that the
// same seed is the same run.
func connect(sim *tradingsim.Sim, more ...trading.Option) (*trading.Client, error) {
	return trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.NewSandboxKey()), trading.WithLiveKey(sim.NewLiveKey()), trading.WithTransport(sim.Transport()),
		trading.WithRetry(trading.Retry{MinWait: 1, MaxWait: 1}),
	}, more...)...)
}

// limits are what the protection reserves.
func (s scenario) limits() protect.Limits {
	part := func(of string) decimal.Decimal { return trading.Dec(of).Mul(decimal.New(s.Mode.reserve(), -2)) }
	return protect.Limits{Shock: part("0.025"), Gap: part("0.10"), Keep: part("0.005")}
}

// trade lets the bot trade for the length of the run.
func (s scenario) trade(sim *tradingsim.Sim, p *path, length int, r *result) error {
	var options []trading.Option
	stop := func() error { return nil }
	connect := connect
	switch s.Mode {
	case nothing:
	case behindSidecar:
		beside, err := s.local.start(sim, s.limits())
		if err != nil {
			return err
		}
		connect = beside.connect
		stop = func() error {
			status, err := beside.close()
			r.State, r.Why = status.State, status.Reason
			return err
		}
	default:
		dir, err := os.MkdirTemp("", "survival")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		protection, end, err := protected(sim, protect.Options{Dir: dir, WithoutFlatten: s.Mode == guardAlone, Limits: s.limits()})
		if err != nil {
			return err
		}
		switch s.Mode {
		case loopUnaware:
		case loopAlone:
			options = append(options, trading.WithGuard(protect.Follow(dir)))
		default:
			options = append(options, trading.WithGuard(protection.Guard()), trading.WithHooks(protection.Hooks()))
		}
		stop = func() error {
			status, err := protection.State(account)
			r.State, r.Why = status.State, status.Reason
			return errors.Join(err, end())
		}
	}
	time.Sleep(time.Second * 3 / 10) // the bot's turns and the protection's never coincide
	client, err := connect(sim, options...)
	if err != nil {
		return errors.Join(err, stop())
	}
	ctx, cancel := context.WithDeadline(context.Background(), p.start.Add(time.Duration(length)*time.Second-time.Second/10))
	defer cancel()
	b := &bot{ctx: ctx, account: client.Live.Account(account), market: client.Sandbox.MarketData}
	b.play(strategies[s.Strategy].turn)
	r.Refused = b.refused
	closed := client.Close()
	var pending *trading.PendingError
	if errors.As(closed, &pending) {
		closed = nil
	}
	return errors.Join(closed, stop())
}

// protected starts a protection with a client of its own.
func protected(sim *tradingsim.Sim, o protect.Options) (p *protect.Protection, end func() error, err error) {
	client, err := connect(sim, trading.WithTransport(distance{sim.Transport()}))
	if err != nil {
		return nil, nil, err
	}
	o.Client, o.Accounts = client, []trading.AccountID{account}
	p, err = protect.New(o)
	if err != nil {
		return nil, nil, errors.Join(err, client.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return p, func() error {
		cancel()
		err := errors.Join(<-ended, p.Close())
		_ = client.Close() // a close in doubt is what the run is about
		return err
	}, nil
}

func (s scenario) String() string {
	return strings.Join([]string{
		s.Mode.String(), strategies[s.Strategy].name, kinds[s.Market].name, fmt.Sprint(jumps[s.Jump], " bps"), faults[s.Fault],
	}, ", ")
}
