package backtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Run makes a run in a test, in a bubble of testing/synctest of its own: it cannot be
// called inside another. What is wrong with the config, and a result that does not add up,
// end the test. That the bot stopped before its time is in the result, and no failure. The run ends
// half a second before its last whole second.
//
// The bot is called several times in one process. So that no call knows what another has seen,
// the beginning of the last run is made before all others, too, a tenth of it or as much as the bot
// takes to its first order: if the bot then sends something else, it keeps what it knows from run to
// run, and that ends the test. A [Runner] makes each
// run in a process of its own.
//
// A bot that leaves a goroutine behind ends the test with a panic of testing/synctest.
func Run(t *testing.T, bot Bot, c Config) *Result {
	t.Helper()
	r, err := run(t, bot, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func run(t *testing.T, bot Bot, c Config) (*Result, error) {
	p, err := c.plan()
	if err != nil {
		return nil, err
	}
	return p.assemble(p.here(t, bot))
}

// raw is what a bubble leaves.
type raw struct {
	report  tradingsim.Report
	ledger  []tradingsim.Execution
	stopped error     // why the bot ended
	ended   time.Time // when it ended, if that was before its time
	guarded *Protection
	pending int                  // writes whose outcome nobody knows
	drawn   map[string]drawnRows // by symbol
}

// inBubble lets the bot trade on virtual time. The client goes through the recorder, if
// there is one.
func (p plan) inBubble(t *testing.T, bot Bot, r *recorder) (got raw, err error) {
	err = errNoBubble
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(p.begins())) // the bot's dates are the recording's
		got, err = p.trade(t.Context(), bot, r)
	})
	return got, err
}

// errNoBubble is what a run has come to before it has run.
var errNoBubble = errors.New("backtest: the run did not begin")

func (p plan) trade(ctx context.Context, bot Bot, r *recorder) (got raw, err error) {
	feeds := make([]*feed, len(p.Data.series))
	for i, s := range p.Data.series {
		feeds[i] = s.feed(p.in, time.Now)
	}
	p.limitAges(feeds)
	sim := p.simulation(feeds)
	defer func() { _ = sim.Close() }() // it has no connection that could fail
	client, guard, err := p.connect(sim, r)
	if guard != nil {
		defer func() {
			var failed error
			got.guarded, failed = guard.end()
			err = errors.Join(err, failed)
		}()
	}
	if err != nil {
		return got, err
	}
	end := p.To.Add(-endsBefore)
	p.tell("running")
	defer p.tell("closing")
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	if !p.cancelAt.IsZero() {
		defer time.AfterFunc(time.Until(p.cancelAt), cancel).Stop()
		end = earlier(end, p.cancelAt)
	}
	got.stopped = bot(ctx, client)
	if early := time.Now(); early.Before(end) {
		got.ended = early
		time.Sleep(time.Until(end)) // what rests at the service goes on
	}
	var left *trading.PendingError
	if err := client.Close(); errors.As(err, &left) {
		got.pending = len(left.IDs)
	}
	if errors.Is(got.stopped, context.DeadlineExceeded) && got.ended.IsZero() {
		got.stopped = nil // as its context asked
	}
	got.report, got.ledger, got.drawn = sim.Report(), sim.Ledger(), map[string]drawnRows{}
	for _, f := range feeds {
		got.drawn[f.symbol] = f.looked
		if f.ahead {
			return got, fmt.Errorf("backtest: the simulation asked for a price of %s past its clock; Config.Simulation must not set the clock", f.symbol)
		}
	}
	return got, nil
}

// connect makes the bot's client, and the protection that it runs under.
func (p plan) connect(sim *tradingsim.Sim, r *recorder) (client *trading.Client, guard *guarded, err error) {
	transport, writes := p.network(sim), journal.NewMemory()
	if r != nil {
		r.next, transport = transport, r
	}
	opts := append(slices.Clip(p.Client), trading.WithJournal(writes))
	if p.WarmUp > 0 {
		opts = append(opts, trading.WithGuard(p.warmingUp))
	}
	if p.Protect != nil {
		if guard, err = p.protection(sim, writes); err != nil {
			return nil, nil, err
		}
		opts = append(opts, trading.WithGuard(guard.Guard()), trading.WithHooks(guard.Hooks()))
		guard.ready(p.To.Add(-endsBefore))
	}
	client, err = trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(transport),
	}, opts...)...)
	if err != nil {
		return nil, guard, fmt.Errorf("backtest: Config.Client: %w", err)
	}
	return client, guard, nil
}

// network is the way to the service.
func (p plan) network(sim *tradingsim.Sim) http.RoundTripper {
	if p.Frictions.Latency > 0 {
		return late{sim.Transport(), p.Frictions.Latency}
	}
	return sim.Transport()
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
