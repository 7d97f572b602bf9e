package watch_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
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

func (r rig) limit(side trading.Side, size, price string) trading.OrderID {
	r.t.Helper()
	o := order(side, size)
	o.LimitPrice = trading.At(dec(price))
	result, err := r.account().PlaceLimit(r.t.Context(), o)
	require.NoError(r.t, err)
	return result.Order.ID
}

func (r rig) cancel(id trading.OrderID) {
	r.t.Helper()
	_, err := r.account().CancelOrder(r.t.Context(), id)
	require.NoError(r.t, err)
}

func (r rig) market(side trading.Side, size string) {
	r.t.Helper()
	_, err := r.account().PlaceOrder(r.t.Context(), order(side, size))
	require.NoError(r.t, err)
}

// ends are what Fills says, as lines.
func ends(got *told) (lines []string) {
	text := func(n trading.Opt[decimal.Decimal]) string {
		if d, ok := n.Get(); ok {
			return d.String()
		}
		return "?"
	}
	for _, ev := range got.events {
		switch ev := ev.(type) {
		case watch.LimitFilled:
			lines = append(lines, fmt.Sprintf("%s filled %s at %s for %s", ev.Order.ID, ev.Size, ev.Price, text(ev.Fee)))
		case watch.LimitNotFilled:
			lines = append(lines, fmt.Sprintf("%s not filled", ev.Order.ID))
		case watch.LimitUnclear:
			lines = append(lines, fmt.Sprintf("%s unclear: %s", ev.Order.ID, ev.Reason))
		default:
			lines = append(lines, fmt.Sprintf("%T", ev))
		}
	}
	return lines
}

const (
	tradedOtherwise = "the market was traded, and not as the limit would have been filled alone"
	idAlone         = "its record shows no market, side, size or price"
)

// play does what a script says, step by step.
func (r rig) play(script string) {
	r.t.Helper()
	for step := range strings.SplitSeq(script, ", ") {
		switch word := strings.Fields(step); word[0] {
		case "limit":
			r.limit(trading.Side(word[1]), word[2], word[3])
		case "market":
			r.market(trading.Side(word[1]), word[2])
		case "cancel":
			r.cancel(trading.OrderID(word[1]))
		case "mark":
			r.sim.SetMark("BTC", word[1])
		case "ETH":
			o := order(trading.Side(word[1]), word[2])
			o.Symbol = "ETH"
			_, err := r.account().PlaceOrder(r.t.Context(), o)
			require.NoError(r.t, err)
		case "lag":
			r.sim.SetLag("GET "+word[1], 6*time.Second)
		default:
			r.t.Fatal("no such step: ", step)
		}
	}
}

func TestFills(t *testing.T) {
	const (
		bought = "ord_1 filled 0.1 at 63000 for 0.945"
		sold   = "ord_1 filled 0.1 at 65000 for 0.975"
	)
	takers, bare := tradingsim.WithInterpretation(39), tradingsim.WithInterpretation(53)
	unclear := func(id string) string { return id + " unclear: " + tradedOtherwise }
	for name, row := range map[string]struct {
		before, act string
		want        []string
		opts        []tradingsim.Option
	}{
		"a buy that opens":           {"limit long 0.1 63000", "mark 62900", []string{bought}, nil},
		"a sell that opens":          {"limit short 0.1 65000", "mark 65500", []string{sold}, nil},
		"a buy that adds":            {"market long 0.3, limit long 0.1 63000", "mark 62900", []string{bought}, nil},
		"a sell that reduces":        {"market long 0.3, limit short 0.1 65000", "mark 65500", []string{sold}, nil},
		"a sell that flips":          {"market long 0.1, limit short 0.3 65000", "mark 65500", []string{"ord_1 filled 0.3 at 65000 for 2.925"}, nil},
		"trades that show no symbol": {"market long 0.3, limit short 0.1 65000", "mark 65500", []string{sold}, []tradingsim.Option{bare}},
		// As a market order would have been; and where it adds, no read shows at which price.
		"at the mark, for a taker's fee":   {"limit long 0.1 63000", "mark 62900", []string{unclear("ord_1")}, []tradingsim.Option{takers}},
		"a buy that adds at another price": {"market long 0.3, limit long 0.1 63000", "mark 62900", []string{unclear("ord_1")}, []tradingsim.Option{takers}},
		"two at once":                      {"limit long 0.1 63000, limit long 0.2 62950", "mark 62900", []string{bought, "ord_2 filled 0.2 at 62950 for 1.8885"}, nil},
		"one filled, one cancelled":        {"limit long 0.1 63000, limit long 0.2 62000", "cancel ord_2, mark 62900", []string{bought, "ord_2 not filled"}, nil},
		// 63000 is above the other's limit.
		"of two equal ones either": {"limit long 0.1 63000, limit long 0.1 62950", "cancel ord_2, mark 62900", []string{bought, "ord_2 not filled"}, nil},
		"of two that are equal in all either": {"limit long 0.1 63000, limit long 0.1 63000", "cancel ord_2, mark 62900",
			[]string{unclear("ord_1"), unclear("ord_2")}, nil},
		"cancelled": {"limit long 0.1 63000", "cancel ord_1", []string{"ord_1 not filled"}, nil},
		// Above the limit, as a market order is.
		"cancelled, and bought by a market order": {"limit long 0.1 63000", "cancel ord_1, market long 0.1", []string{unclear("ord_1")}, nil},
		"filled, and traded otherwise too":        {"limit long 0.1 63000", "mark 62900, market long 0.05", []string{unclear("ord_1")}, nil},
		"opened and closed again":                 {"limit long 0.1 63000", "mark 62900, market short 0.1", []string{unclear("ord_1")}, nil},
		// The balance moved by both.
		"in another market something else": {"limit long 0.1 63000", "mark 62900, ETH long 1", []string{"ord_1 filled 0.1 at 63000 for ?"}, nil},
		"reads that lag": {"limit long 0.1 63000, limit long 0.1 62000", "mark 62900, cancel ord_2",
			[]string{bought, "ord_2 not filled"}, []tradingsim.Option{tradingsim.WithLag(4 * time.Second)}},
		"orders that lag more than positions": {"limit long 0.1 63000, lag /accounts/{accountId}/orders", "mark 62900", []string{bought}, nil},
		"positions that lag more than orders": {"limit long 0.1 63000, lag /positions", "mark 62900", []string{bought}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r rig) {
				r.play(row.before)
				time.Sleep(10 * time.Second) // reads show it
				got := during(t, func() {
					time.Sleep(10 * time.Second)
					r.play(row.act)
					time.Sleep(14 * time.Second) // what is not filled takes ten
				}, watch.Fills(r.account()).Seed(1))
				require.Empty(t, got.errs)
				assert.ElementsMatch(t, row.want, ends(got))
			}, append(row.opts, tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"))...)
		})
	}
}

// The contract shows the id of a resting limit alone. Then there is nothing to go by, and
// the event says so.
func TestFillsOfRecordsThatShowTheIDAlone(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		r.limit(trading.Long, "0.1", "63000")
		r.sim.FaultEach(func(op string) tradingsim.Fault {
			if op == string(trading.OpOpenOrders) && len(r.sim.Ledger()) == 1 { // it rests
				return tradingsim.Raw(200, nil, `{"orders":[{"id":"ord_1"}],"runs":[]}`)
			}
			return nil
		})
		got := during(t, func() { r.sim.SetMark("BTC", "62900") }, watch.Fills(r.account()).Seed(1))
		assert.Equal(t, []string{"ord_1 unclear: " + idAlone}, ends(got))
	}, tradingsim.WithMark("BTC", "64000"))
}

// Without a limit a look is one request.
func TestFillsCostOneRequestWithoutLimits(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		during(t, func() { time.Sleep(time.Minute) }, watch.Fills(r.account()).Seed(1))
		assert.Greater(t, r.sent(trading.OpOpenOrders), 20)
		assert.Zero(t, r.sent(trading.OpPositions)+r.sent(trading.OpTrades)+r.sent(trading.OpState))
	})
}

func TestFillsNeedAnAccount(t *testing.T) {
	for _, err := range watch.Events(t.Context(), watch.Fills(nil)) {
		require.ErrorContains(t, err, "Fills needs an account")
	}
}

// world plays limits, cancels, market orders and stops by chance, and compares what Fills says with
// what the service executed. Each limit has a price of its own, at which it fills.
func world(t *testing.T, seed uint64, pace time.Duration) (filled, not, unclear int) {
	synctest.Test(t, func(t *testing.T) {
		dice := rand.New(rand.NewPCG(seed, 9))
		var lags []tradingsim.Option
		if seed%2 == 0 {
			lags = append(lags, tradingsim.WithLag(time.Duration(dice.IntN(5))*time.Second))
		}
		r := newRig(t, append(lags, tradingsim.WithMark("BTC", "64000"))...)
		if seed%3 == 0 {
			r.sim.SetLag("GET /positions", time.Duration(dice.IntN(7))*time.Second)
		}
		limits := map[trading.OrderID]string{}
		mark := 64000
		got := during(t, func() {
			for i := range 120 {
				time.Sleep(time.Duration(dice.Int64N(int64(pace))))
				side, away := trading.Long, -(100 + 2*i) // a price of its own
				if dice.IntN(2) == 0 {
					side, away = trading.Short, 101+2*i
				}
				size := fmt.Sprintf("0.0%d", 1+dice.IntN(3))
				switch dice.IntN(8) {
				case 0:
					r.market(side, size)
				case 1, 2:
					mark += dice.IntN(800) - 400
					r.sim.SetMark("BTC", fmt.Sprint(mark))
				case 3:
					for id := range limits {
						_, _ = r.account().CancelOrder(r.t.Context(), id)
						break
					}
				case 4:
					_, _ = r.account().ClosePosition(r.t.Context(), "BTC", trading.All)
				default:
					price := fmt.Sprintf("%d.%03d", mark+away, i)
					o := order(side, size)
					o.LimitPrice = trading.At(dec(price))
					if result, err := r.account().PlaceLimit(r.t.Context(), o); err == nil {
						limits[result.Order.ID] = dec(price).String()
					}
				}
			}
			time.Sleep(30 * time.Second)
		}, watch.Fills(r.account()).Seed(1))
		ran := map[string]bool{}
		for _, e := range r.sim.Ledger() {
			if e.Actor == "service" && e.Operation == string(trading.OpLimit) {
				ran[e.Price.String()] = true
			}
		}
		for _, ev := range got.events {
			switch ev := ev.(type) {
			case watch.LimitFilled:
				filled++
				price, limit := ev.Price, limits[ev.Order.ID]
				if price.String() == limit {
					require.True(t, ran[limit], "seed %d: %s at %s was not filled", seed, ev.Order.ID, limit)
				} else { // another limit that no look saw was filled at a price that this one allows
					require.True(t, ran[price.String()], "seed %d: %s at %s", seed, ev.Order.ID, limit)
				}
				if fee, ok := ev.Fee.Get(); ok {
					require.True(t, fee.Equal(trading.MakerFee(price.Mul(ev.Size))), "seed %d", seed)
				}
			case watch.LimitNotFilled:
				not++
				require.False(t, ran[limits[ev.Order.ID]], "seed %d: %s at %s was filled", seed, ev.Order.ID, limits[ev.Order.ID])
			case watch.LimitUnclear:
				unclear++
			}
		}
	})
	return filled, not, unclear
}

var fillWorlds = flag.Int("watch.fills", 4, "how many worlds of each pace TestFillsOfWorlds plays")

// Whatever else trades the account, Fills claims nothing that is not so.
func TestFillsOfWorlds(t *testing.T) {
	ends := 0
	for _, pace := range []time.Duration{20 * time.Second, 3 * time.Second} {
		filled, not, unclear := 0, 0, 0
		for seed := range uint64(*fillWorlds) {
			f, n, u := world(t, seed, pace)
			filled, not, unclear = filled+f, not+n, unclear+u
		}
		t.Logf("an act each %s on average: %d filled, %d not filled, %d unclear", pace/2, filled, not, unclear)
		require.Positive(t, filled)
		ends += not
	}
	require.Positive(t, ends)
}
