package protect

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

const acc = trading.AccountID("acc_1")

// rig is a simulated service, a protection that runs, and a bot's client that carries it.
type rig struct {
	t      *testing.T
	sim    *tradingsim.Sim
	dir    string
	p      *Protection
	client *trading.Client // of the protection
	bot    *trading.Client
	acc    *trading.Account // of the bot
	mu     sync.Mutex
	events []Event
	cancel context.CancelFunc
	ended  chan error
}

func dec(s string) decimal.Decimal { return trading.Dec(s) }

func connect(t *testing.T, sim *tradingsim.Sim, opts ...trading.Option) *trading.Client {
	t.Helper()
	client, err := trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.NewSandboxKey()), trading.WithLiveKey(sim.NewLiveKey()), trading.WithTransport(sim.Transport()),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// newRig starts a service and a protection. Its marks change by a cent each second, or
// the feed would be taken for dead.
func newRig(t *testing.T, change func(*Options), sim ...tradingsim.Option) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	r.sim = tradingsim.New(append([]tradingsim.Option{
		tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC"}), tradingsim.WithMarket(tradingsim.Market{Symbol: "ETH"}),
		tradingsim.WithFeed("BTC", breathing{dec("50000")}), tradingsim.WithFeed("ETH", breathing{dec("2000")}),
	}, sim...)...)
	t.Cleanup(func() { _ = r.sim.Close() })
	r.client = connect(t, r.sim)
	r.start(change)
	r.bot = r.carry()
	r.acc = r.bot.Live.Account(acc)
	return r
}

// bubble runs a test with a rig, in virtual time.
func bubble(t *testing.T, change func(*Options), test func(*testing.T, *rig), sim ...tradingsim.Option) {
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t, change, sim...)) })
}

// breathing is a price that changes by a cent or some each second.
type breathing struct{ price decimal.Decimal }

func (b breathing) At(t time.Time) (decimal.Decimal, bool) {
	return b.price.Add(decimal.New(t.Unix()%7, -2)), true
}

// carry is a client with the guard and the hooks.
func (r *rig) carry(opts ...trading.Option) *trading.Client {
	return connect(r.t, r.sim, append([]trading.Option{trading.WithGuard(r.p.Guard()), trading.WithHooks(r.p.Hooks())}, opts...)...)
}

// start opens a protection on the rig's folder and lets it run.
func (r *rig) start(change func(*Options)) {
	r.t.Helper()
	o := Options{Client: r.client, Accounts: []trading.AccountID{acc}, Dir: r.dir}
	if change != nil {
		change(&o)
	}
	p, err := New(o)
	require.NoError(r.t, err)
	r.p = p
	ctx, cancel := context.WithCancel(r.t.Context())
	r.cancel, r.ended = cancel, make(chan error, 1)
	told := make(chan struct{})
	events := p.Events(ctx)
	go func() {
		defer close(told)
		for e := range events {
			r.mu.Lock()
			r.events = append(r.events, e)
			r.mu.Unlock()
		}
	}()
	go func() {
		err := p.Run(ctx)
		<-told
		r.ended <- err
	}()
	r.t.Cleanup(r.stop)
	r.wait(time.Second)
}

// stop ends the protection, and gives its folder free.
func (r *rig) stop() {
	if r.cancel == nil {
		return
	}
	r.cancel()
	require.NoError(r.t, <-r.ended)
	r.cancel = nil
	require.NoError(r.t, r.p.Close())
}

// wait lets time pass.
func (r *rig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *rig) state() Status {
	r.t.Helper()
	s, err := r.p.State(acc)
	require.NoError(r.t, err)
	return s
}

func order(side trading.Side, size, symbol string) trading.Order {
	return trading.Order{Symbol: symbol, Side: side, Size: dec(size), Leverage: dec("5")}
}

// buy places an order of the bot.
func (r *rig) buy(size string) error {
	_, err := r.acc.PlaceOrder(r.t.Context(), order(trading.Long, size, "BTC"))
	return err
}

// bid is a limit below the mark.
func bid(size, price string) trading.Order {
	o := order(trading.Long, size, "BTC")
	o.LimitPrice = trading.At(dec(price))
	return o
}

// close closes what the account has in BTC.
func (r *rig) close() {
	r.t.Helper()
	_, err := r.acc.ClosePosition(r.t.Context(), "BTC", trading.All)
	require.NoError(r.t, err)
}

// set moves BTC, and lets it breathe there.
func (r *rig) set(price string) { r.sim.SetMark("BTC", price) }

func (r *rig) flat() bool {
	return r.sim.Position("acc_1", "BTC").IsZero() && r.sim.Position("acc_1", "ETH").IsZero()
}

// kinds are the events of a kind.
func (r *rig) kinds(kind EventKind) (found []Event) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

func itoa(n int) string { return decimal.NewFromInt(int64(n)).String() }
