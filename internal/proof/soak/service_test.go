package soak

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var symbols = []string{"BTC", "ETH", "SOL", "GOLD"}

var prices = map[string]int{"BTC": 64000, "ETH": 3200, "SOL": 150, "GOLD": 2400}

// service is the simulation of one round. Each round has one of its own, so that it
// can be let go before the heap is measured.
type service struct {
	sim      *tradingsim.Sim
	accounts []trading.AccountID

	mu     sync.Mutex
	met    map[string]int  // faults, by name
	lost   map[string]bool // keys under which a 5xx was not heard
	copied bool            // copies of requests arrive: see [tally.check]
}

// accountsPerRound are traded one half as much as the other: on the busiest nothing
// can be told from readings, on the quietest nearly everything.
const accountsPerRound = 8

func accountID(round, i int) trading.AccountID {
	return trading.AccountID(fmt.Sprintf("acc_%d_%d", round, i))
}

// newService makes the simulation of a round. Its accounts are no other round's, so
// that nothing that the client remembers of one is taken for the other's.
func newService(round int, m mix, d *dice, opts ...tradingsim.Option) *service {
	s := &service{met: map[string]int{}, lost: map[string]bool{}, copied: m.copies}
	wide := tradingsim.Account{DailyLossFloor: "-1e9", GlobalLossFloor: "-1e9", ProfitTarget: "1e9"}
	for i := range accountsPerRound {
		a := wide
		a.ID = string(accountID(round, i))
		s.accounts = append(s.accounts, accountID(round, i))
		opts = append(opts, tradingsim.WithAccount(a))
	}
	for symbol, price := range prices {
		opts = append(opts, tradingsim.WithMark(symbol, fmt.Sprint(price)))
	}
	opts = append(opts, tradingsim.WithRequestLog(16), tradingsim.WithTradeRows(50), tradingsim.WithAuthLimit(1_000_000),
		tradingsim.WithSandbox(tradingsim.Sandbox{DailyLossFloor: "-1e9", GlobalLossFloor: "-1e9", ProfitTarget: "1e9"}))
	s.sim = tradingsim.New(opts...)
	s.sim.FaultEach(func(operation string) tradingsim.Fault {
		name, f := m.faultOf(d, operation)
		if f != nil {
			s.mu.Lock()
			s.met[name]++
			s.mu.Unlock()
		}
		return f
	})
	return s
}

// disturb changes the world: marks, books, health, access, the account. What it
// breaks it mends after a while.
func (s *service) disturb(d *dice, after func(func())) {
	sim, symbol := s.sim, symbols[d.intN(len(symbols))]
	account := string(s.accounts[d.intN(len(s.accounts))])
	price := fmt.Sprintf("%d.%02d", prices[symbol]*(90+d.intN(20))/100, d.intN(100))
	market := tradingsim.Market{Symbol: symbol}
	switch d.intN(14) {
	case 0:
		sim.SetHealth("degraded", "stale")
		after(func() { sim.SetHealth("healthy", "live") })
	case 1:
		sim.SetMark(symbol, "")
		after(func() { sim.SetMark(symbol, price) })
	case 2:
		sim.SetFillError(symbol, []string{"STALE_PRICE", "NO_PRICE"}[d.intN(2)])
		after(func() { sim.SetFillError(symbol, "") })
	case 3:
		sim.SetAccess(false)
		after(func() { sim.SetAccess(true) })
	case 4:
		sim.SetStatus(account, []string{"PASSED", "FAILED", "EXPIRED"}[d.intN(3)])
		after(func() { sim.SetStatus(account, "ACTIVE") })
	case 5:
		market.Paused, market.Disabled = d.intN(2) == 0, d.intN(2) == 0
		sim.SetMarket(market)
		after(func() { sim.SetMarket(tradingsim.Market{Symbol: symbol}) })
	case 6:
		market.Book.Levels = []tradingsim.BookLevel{{Bps: "500", Size: "0.004"}}
		sim.SetMarket(market)
		after(func() { sim.SetMarket(tradingsim.Market{Symbol: symbol}) })
	case 7:
		sim.PayFunding(account, symbol, fmt.Sprintf("-0.%02d", d.intN(100)))
	default:
		sim.SetMark(symbol, price)
	}
}

// disturbed disturbs the world until calm is called, which waits until nothing is under way.
func (s *service) disturbed(d *dice) (calm func()) {
	var chaos sync.WaitGroup
	var over atomic.Bool
	chaos.Go(func() {
		for !over.Load() {
			s.disturb(d, func(mend func()) {
				time.Sleep(time.Duration(1+d.intN(8)) * time.Second)
				mend()
			})
			time.Sleep(time.Duration(d.intN(30)) * time.Second)
		}
	})
	return func() {
		over.Store(true)
		chaos.Wait()
		time.Sleep(settling)
	}
}

// link is the client's way to the simulation of the present round.
type link struct {
	to atomic.Pointer[http.RoundTripper]
}

func (l *link) connect(rt http.RoundTripper) { l.to.Store(&rt) }

func (l *link) RoundTrip(r *http.Request) (*http.Response, error) { return (*l.to.Load()).RoundTrip(r) }

// sizes gives every order a size that no other has, by which the ledger tells what
// became of it, whatever key it was sent under.
type sizes struct{ n atomic.Int64 }

func (s *sizes) next(d *dice, symbol string) decimal.Decimal {
	dollars := int64(20 + d.intN(400))
	size := decimal.New(dollars*1000/int64(prices[symbol]), -3)
	if size.IsZero() {
		size = decimal.New(1, -3)
	}
	return size.Add(decimal.New(s.n.Add(1), -10))
}

// pick chooses an account, each half as often as the one before it.
func (s *service) pick(d *dice) trading.AccountID {
	i := 0
	for i < len(s.accounts)-1 && d.intN(2) == 0 {
		i++
	}
	return s.accounts[i]
}

// settling is longer than anything that is still under way when a round ends.
const settling = 10 * time.Minute

// isOrder reports whether an operation is an order: something with a size of its own.
func isOrder(op trading.Operation) bool {
	return strings.Contains(string(op), "/orders") && op != trading.OpCancelOrder
}
