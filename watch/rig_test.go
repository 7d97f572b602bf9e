package watch_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

// rig is a simulated service and a client of it, joined in process.
type rig struct {
	*trading.Client
	t   testing.TB
	sim *tradingsim.Sim
}

// newRig has BTC at 64000 and ETH at 3200 among others.
func newRig(t testing.TB, simOpts ...tradingsim.Option) rig {
	t.Helper()
	sim := tradingsim.New(simOpts...)
	client, err := trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return rig{client, t, sim}
}

// bubble runs a test with a rig, in virtual time.
func bubble(t *testing.T, test func(*testing.T, rig), simOpts ...tradingsim.Option) {
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t, simOpts...)) })
}

func (r rig) account() *trading.Account { return r.Live.Account("acc_1") }

// sent counts the requests of an operation that the service has seen.
func (r rig) sent(op trading.Operation) int { return r.sim.Report().Requests[string(op)] }

func order(side trading.Side, size string) trading.Order {
	return trading.Order{Symbol: "BTC", Side: side, Size: dec(size), Leverage: dec("2")}
}

func (r rig) buy(size string) {
	r.t.Helper()
	_, err := r.Sandbox.PlaceOrder(r.t.Context(), order(trading.Long, size))
	require.NoError(r.t, err)
}

func (r rig) sell(size string) {
	r.t.Helper()
	_, err := r.Sandbox.PlaceOrder(r.t.Context(), order(trading.Short, size))
	require.NoError(r.t, err)
}

func (r rig) close(pct string) {
	r.t.Helper()
	_, err := r.Sandbox.ClosePosition(r.t.Context(), "BTC", trading.Percent(dec(pct)))
	require.NoError(r.t, err)
}

func (r rig) reset() {
	r.t.Helper()
	_, err := r.Sandbox.Reset(r.t.Context())
	require.NoError(r.t, err)
}

// told is what a loop has yielded.
type told struct {
	mu     sync.Mutex
	events []watch.Event
	errs   []error
}

func (got *told) take(ev watch.Event, err error) {
	got.mu.Lock()
	defer got.mu.Unlock()
	if err != nil {
		got.errs = append(got.errs, err)
		return
	}
	got.events = append(got.events, ev)
}

// listen runs a loop until it is told to leave.
func listen(t testing.TB, watches ...watch.Watch) (got *told, leave func()) {
	ctx, cancel := context.WithCancel(t.Context())
	got, over := &told{}, make(chan struct{})
	go func() {
		defer close(over)
		for ev, err := range watch.Events(ctx, watches...) {
			got.take(ev, err)
		}
	}()
	return got, func() { cancel(); <-over }
}

// during runs act beside a loop, from a look to some seconds after it. It has to run
// in a bubble.
func during(t testing.TB, act func(), watches ...watch.Watch) *told {
	t.Helper()
	got, leave := listen(t, watches...)
	time.Sleep(time.Second)
	act()
	time.Sleep(4 * time.Second)
	leave()
	return got
}

// names are the types of the events, without those that only follow prices.
func (got *told) names() (names []string) {
	for _, ev := range got.events {
		switch ev.(type) {
		case watch.AccountChanged, watch.PositionMarked:
		default:
			names = append(names, fmt.Sprintf("%T", ev)[len("watch."):])
		}
	}
	return names
}

// of returns the events of one type.
func of[E watch.Event](got *told) (events []E) {
	for _, ev := range got.events {
		if ev, ok := ev.(E); ok {
			events = append(events, ev)
		}
	}
	return events
}

// spy is a Trader that notes what was read through it.
type spy struct {
	trading.Trader
	mu        sync.Mutex
	reading   int
	looks     int
	state     *trading.AccountState
	positions trading.Positions
	trades    []trading.Trade
	got       int // how many of the three the last look has read
}

func (s *spy) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading++
}

func (s *spy) end(err error, first bool, note func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading--
	if first {
		s.looks++
		s.got = 0
	}
	if err == nil {
		s.got++
		note()
	}
}

func (s *spy) State(ctx context.Context, opts ...trading.CallOption) (*trading.AccountState, error) {
	s.begin()
	state, err := s.Trader.State(ctx, opts...)
	s.end(err, true, func() { s.state = state })
	return state, err
}

func (s *spy) Positions(ctx context.Context, opts ...trading.CallOption) (trading.Positions, error) {
	s.begin()
	positions, err := s.Trader.Positions(ctx, opts...)
	s.end(err, false, func() { s.positions = positions })
	return positions, err
}

func (s *spy) Trades(ctx context.Context, opts ...trading.CallOption) ([]trading.Trade, error) {
	s.begin()
	trades, err := s.Trader.Trades(ctx, opts...)
	s.end(err, false, func() { s.trades = trades })
	return trades, err
}

// samePositions compares what is open, in whatever order.
func samePositions(a, b trading.Positions) bool {
	byMarket := func(ps trading.Positions) trading.Positions {
		ps = slices.Clone(ps)
		slices.SortFunc(ps, func(p, q trading.Position) int {
			if p.Symbol < q.Symbol {
				return -1
			}
			return 1
		})
		return ps
	}
	return slices.EqualFunc(byMarket(a), byMarket(b), trading.Position.Equal)
}

func dec(text string) decimal.Decimal { return trading.Dec(text) }
