package watch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

// market moves prices, trades and breaks reads, all by one seed.
type market struct {
	rig
	*rand.Rand
	price map[string]decimal.Decimal
}

func (m *market) one(choices ...string) string { return choices[m.IntN(len(choices))] }

// step does one thing that can happen to a paper account.
func (m *market) step() {
	ctx := m.t.Context()
	symbol := m.one("BTC", "ETH")
	switch n := m.IntN(100); {
	case n < 30: // the price moves, seldom far
		bps := m.IntN(61) - 30
		if m.IntN(20) == 0 {
			bps *= 20
		}
		m.price[symbol] = m.price[symbol].Mul(decimal.NewFromInt(int64(10000 + bps))).Shift(-4).Round(4)
		m.sim.SetMark(symbol, m.price[symbol].String())
	case n < 33:
		m.sim.SetMark(symbol, "")
	case n < 60:
		o := trading.Order{Symbol: symbol, Side: trading.Side(m.one("long", "short")), Leverage: dec("2"), Size: dec(m.one("0.1", "0.2", "0.7"))}
		_, _ = m.Sandbox.PlaceOrder(ctx, o)
	case n < 78:
		_, _ = m.Sandbox.ClosePosition(ctx, symbol, trading.Percent(dec(m.one("10", "50", "100"))))
	case n < 88:
		near := m.price[symbol].Mul(dec(m.one("0.999", "1.001", "0.99", "1.01")))
		levels := trading.TPSL{StopLoss: trading.At(near)}
		if m.IntN(2) == 0 {
			levels = trading.TPSL{TakeProfit: trading.At(near), ClosePct: trading.Some(dec(m.one("30", "100")))}
		}
		_, _ = m.Sandbox.SetTPSL(ctx, symbol, levels)
	case n < 90:
		_, _ = m.Sandbox.Reset(ctx)
	default:
		m.fault()
	}
}

func (m *market) fault() {
	op := m.one("GET /sandbox/account", "GET /sandbox/positions", "GET /sandbox/trades")
	switch m.IntN(6) {
	case 0:
		m.sim.Fault(op, tradingsim.RateLimit(time.Duration(1+m.IntN(90))*time.Second))
	case 1:
		m.sim.Fault(op, tradingsim.Delay(time.Duration(m.IntN(7000))*time.Millisecond))
	case 2:
		m.sim.Fault(op, tradingsim.Raw(200, nil, `{"ok":true,"trades":[{}],"positions":[{}],"account":{}}`))
	default: // more often than the client tries
		broken := []tradingsim.Fault{tradingsim.Fail(500, "internal_error"), tradingsim.DropResponse(), tradingsim.GatewayError(502), tradingsim.TruncateResponse()}
		f := broken[m.IntN(len(broken))]
		m.sim.Fault(op, f, f, f, f, f)
	}
}

// follower is a loop that folds what it is told.
type follower struct {
	mu       sync.Mutex
	view     watch.View
	told     []trading.Trade
	gaps     int
	replaced int
	errs     int
	over     chan struct{}
}

func follow(ctx context.Context, w watch.Watch, pause func() time.Duration) *follower {
	f := &follower{over: make(chan struct{})}
	go func() {
		defer close(f.over)
		for ev, err := range watch.Events(ctx, w) {
			if d := pause(); d > 0 {
				time.Sleep(d)
			}
			f.take(ev, err)
		}
	}()
	return f
}

func (f *follower) take(ev watch.Event, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.errs++
		return
	}
	f.view.Apply(ev)
	switch ev := ev.(type) {
	case watch.TradeClosed:
		f.told = append(f.told, ev.Trade)
	case watch.Gap:
		f.gaps++
	case watch.AccountReplaced:
		f.replaced++
	}
}

// check compares what was folded with what was read last.
func (f *follower) check(t *testing.T, where string, s *spy) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	state, positions, trades := s.state, s.positions, s.trades
	require.True(t, f.view.State.Equal(*state), "%s: state\n%+v\n%+v", where, f.view.State, *state)
	require.True(t, samePositions(f.view.Positions, positions), "%s: positions\n%+v\n%+v", where, f.view.Positions, positions)
	listed := slices.Clone(trades)
	slices.Reverse(listed)
	require.GreaterOrEqual(t, len(f.view.Trades), len(listed), where)
	tail := f.view.Trades[len(f.view.Trades)-len(listed):]
	require.True(t, slices.EqualFunc(tail, listed, trading.Trade.Equal), "%s: trades\n%+v\n%+v", where, tail, listed)
}

// once wants no trade twice: each closed at a time and price of its own.
func (f *follower) once(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for _, trade := range f.told {
		key := fmt.Sprint(trade.Symbol, trade.Side, trade.Size, trade.EntryPrice, trade.ExitPrice, trade.OpenedAt.UnixNano(), trade.ClosedAt.UnixNano())
		require.False(t, seen[key], "told twice: %s", key)
		seen[key] = true
	}
}

// Folding the events over the first look gives the last one, at every step of random
// histories, whatever happens to the reads, for a loop that keeps up; and in the end
// for one that does not.
func TestFoldOfTheEventsIsTheLastLook(t *testing.T) {
	steps, seeds := 500, 2
	if testing.Short() {
		steps, seeds = 300, 1
	}
	for seed := range uint64(seeds) {
		for name, opts := range map[string][]tradingsim.Option{
			"plain":   nil,
			"lagging": {tradingsim.WithLag(4 * time.Second)},
			"cut":     {tradingsim.WithTradeRows(4)},
			"on":      {tradingsim.WithInterpretation(19)}, // a passed account trades on
		} {
			t.Run(fmt.Sprintf("%s-%d", name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { foldHistory(t, seed, steps, opts) })
			})
		}
	}
}

func foldHistory(t *testing.T, seed uint64, steps int, opts []tradingsim.Option) {
	r := newRig(t, append(opts, tradingsim.WithKeyLimit(100000))...)
	m := &market{
		rig: r, Rand: rand.New(rand.NewPCG(seed, 7)),
		price: map[string]decimal.Decimal{"BTC": dec("64000"), "ETH": dec("3200")},
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &spy{Trader: r.Sandbox}
	shared := watch.Account(s).WithInterval(time.Second).WithSnapshot().Seed(seed).Shared()
	quick := follow(ctx, shared, func() time.Duration { return 0 })
	slowly := rand.New(rand.NewPCG(seed, 8))
	slow := follow(ctx, shared, func() time.Duration {
		if slowly.IntN(10) > 0 {
			return 0
		}
		return time.Duration(slowly.IntN(20000)) * time.Millisecond
	})

	defer func() {
		cancel()
		<-quick.over
		<-slow.over
	}()

	checked := 0
	for step := range steps {
		time.Sleep(time.Duration(m.IntN(1500)) * time.Millisecond)
		m.step()
		synctest.Wait()
		s.mu.Lock()
		idle := s.reading == 0 && s.got == 3 // and not in the middle of a look, or after one of which a part failed
		s.mu.Unlock()
		if idle {
			checked++
			quick.check(t, fmt.Sprintf("step %d", step), s)
		}
	}
	r.sim.ClearFaults()
	time.Sleep(5 * time.Minute) // limits and pauses are over
	synctest.Wait()
	quick.check(t, "in the end", s)
	slow.check(t, "in the end, slowly", s)
	quick.once(t)
	slow.once(t)
	quick.mu.Lock()
	defer quick.mu.Unlock()
	slow.mu.Lock()
	defer slow.mu.Unlock()
	assert.Greater(t, checked, steps/2)
	assert.Positive(t, quick.errs)
	assert.Positive(t, quick.gaps)
	assert.Positive(t, quick.replaced)
	assert.Equal(t, len(quick.told), len(slow.told), "a slow loop is told every trade too")
	t.Logf("%d looks, %d checks, %d trades, %d gaps, %d errors, replaced %d times",
		s.looks, checked, len(quick.told), quick.gaps, quick.errs, quick.replaced)
}
