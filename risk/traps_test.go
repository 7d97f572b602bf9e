package risk_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
	"github.com/tradingapi/trading-go/tradingsim"
)

// rig is a client joined to a simulation.
type rig struct {
	t      *testing.T
	sim    *tradingsim.Sim
	client *trading.Client
	live   *trading.Account
}

func newRig(t *testing.T, sim []tradingsim.Option, opts ...trading.Option) *rig {
	s := tradingsim.New(sim...)
	client, err := trading.New(s.URL(), append(opts, trading.WithTransport(s.Transport()),
		trading.WithSandboxKey(s.SandboxKey()), trading.WithLiveKey(s.LiveKey()))...)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = client.Close()
		_ = s.Close()
	})
	return &rig{t, s, client, client.Live.Account("acc_1")}
}

// inputs reads all that can be known of the live account and a market.
func (r *rig) inputs(symbol string) risk.Inputs {
	r.t.Helper()
	ctx := r.t.Context()
	markets, err := r.client.Sandbox.Markets(ctx)
	require.NoError(r.t, err)
	state, err := r.live.State(ctx)
	require.NoError(r.t, err)
	positions, err := r.live.Positions(ctx)
	require.NoError(r.t, err)
	f := risk.Inputs{State: state, Positions: trading.Some(positions)}
	for _, m := range markets {
		if m.Symbol == symbol {
			f.Market = trading.Some(m)
		}
	}
	return f
}

func buy(size string) trading.Order {
	return trading.Order{Symbol: "BTC", Side: trading.Long, Size: dec(size), Leverage: dec("5")}
}

func sell(size string) trading.Order {
	o := buy(size)
	o.Side = trading.Short
	return o
}

// A loop that sends a refused order for ever spends the rate limit that an exit
// may need. The breaker lets three through in a minute, and every exit.
func TestTrap_T40_ARefusedOrderIsNotSentForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		breaker := risk.NewBreaker(3, time.Minute)
		r := newRig(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")},
			trading.WithHooks(breaker.Hooks()), trading.WithGuard(breaker.Guard()))
		sent := func() int { return r.sim.Report().Requests["POST /orders"] }
		loop := func(o trading.Order, times int) (err error) {
			for range times {
				_, err = r.live.PlaceOrder(t.Context(), o)
			}
			return err
		}
		err := loop(buy("0.0001"), 50) // $6.40
		require.ErrorIs(t, err, risk.ErrRepeated)
		require.ErrorIs(t, err, trading.CodeMinNotional)
		require.ErrorIs(t, err, trading.ErrGuard)
		require.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		require.Equal(t, 3, sent())

		// A price that follows the market does not make it another order.
		moving := buy("0.0001")
		moving.ExpectedPrice = trading.At(dec("64001"))
		require.ErrorIs(t, loop(moving, 5), risk.ErrRepeated)
		require.Equal(t, 3, sent())

		// Another size is another order, and so is an exit.
		require.NoError(t, loop(buy("0.01"), 1))
		exit := sell("0.001")
		exit.ReduceOnly = true
		require.NoError(t, loop(exit, 1))

		// After the window it may be tried again.
		time.Sleep(time.Minute)
		require.NotErrorIs(t, loop(buy("0.0001"), 3), risk.ErrRepeated)
		require.ErrorIs(t, loop(buy("0.0001"), 1), risk.ErrRepeated)
	})
}

// An order against a position does not only end it: what is left over opens the
// other side.
func TestTrap_T58_AnOppositeOrderThatFlips(t *testing.T) {
	r := newRig(t, []tradingsim.Option{tradingsim.WithMark("BTC", "64000")})
	r.sim.Trade("acc_1", "long", "1", "BTC")
	f := r.inputs("BTC")
	for size, want := range map[string]risk.Effect{"0.4": risk.Reduces, "1": risk.Ends, "1.5": risk.Flips} {
		assert.Equal(t, want, risk.Preview(sell(size), f).Effect)
	}
	report := risk.Preview(sell("1.5"), f)
	require.NoError(t, report.Err(), "the service takes it")
	require.True(t, report.Has(risk.WarningFlip))
	after, ok := report.After.Get()
	require.True(t, ok)
	require.Equal(t, trading.Short, after.Side)
	require.True(t, after.Size.Equal(dec("0.5")))

	// A guard does not let it pass unless told to.
	inputs := func(context.Context, trading.Write) (risk.Inputs, error) { return f, nil }
	o := sell("1.5")
	w := trading.Write{Operation: trading.OpOrder, Environment: trading.EnvLive, Symbol: "BTC", Entry: true, Order: &o}
	require.ErrorIs(t, risk.Guard(risk.Limits{}, inputs)(t.Context(), w), risk.WarningFlip)
	require.NoError(t, risk.Guard(risk.Limits{AllowFlip: true}, inputs)(t.Context(), w))

	// Reduce-only never flips, on the live account that knows it.
	o.ReduceOnly = true
	require.Equal(t, risk.Ends, risk.Preview(o, f).Effect)
	result, err := r.live.PlaceOrder(t.Context(), o)
	require.NoError(t, err)
	_, open := result.Position.Get()
	require.False(t, open)
}

// A level is judged by the price now, as TestPreviewAgreesWithTheSimulator shows, and by the entry
// of what is open only while the market has no price.
func TestTrap_T69_LevelsAreJudgedByTheMark(t *testing.T) {
	o := buy("0.1")
	o.StopLoss = trading.At(dec("61000"))
	f := risk.Inputs{
		Market:    trading.Some(trading.Market{Symbol: "BTC", MaxLeverage: dec("5")}),
		Positions: trading.Some(trading.Positions{{Symbol: "BTC", Side: trading.Long, Size: dec("1"), EntryPrice: dec("60000")}}),
	}
	wrongSide := func() bool {
		return slices.ContainsFunc(risk.Preview(o, f).Problems, func(p risk.Problem) bool { return p.Code == trading.CodeInvalidTPSL })
	}
	require.True(t, wrongSide())
	o.StopLoss = trading.At(dec("59000"))
	require.False(t, wrongSide())
	o.StopLoss = trading.At(dec("61000"))
	f.Market = trading.Opt[trading.Market]{}
	require.False(t, wrongSide(), "the price is not known, which is not the same as none")
}

// A bracket narrower than the round trip loses whatever happens, and adding moves
// the entry that it is measured from.
func TestTrap_T70_BracketsAgainstFees(t *testing.T) {
	f := risk.Inputs{Mark: trading.MarkAt(dec("60000"))}
	for target, fatal := range map[string]bool{"60010": true, "60054": true, "60054.02": true, "60054.03": false, "60100": false} {
		o := buy("0.1")
		o.TakeProfit, o.StopLoss = trading.At(dec(target)), trading.At(dec("59900"))
		report := risk.Preview(o, f)
		assert.Equal(t, fatal, errors.Is(report.Err(), risk.WarningFees), "target %s: %s", target, report.GainAtTarget)
		_, refused := report.Refused()
		assert.False(t, refused, "the service does not mind")
	}
	o := sell("0.1")
	o.TakeProfit = trading.At(dec("59946.02"))
	require.NoError(t, risk.Preview(o, f).Err())
	o.TakeProfit = trading.At(dec("59946.03"))
	require.ErrorIs(t, risk.Preview(o, f).Err(), risk.WarningFees)

	// 1 at 60000, 1 more at 60600: the entry is 60300, and the target that was
	// fine is none any more.
	held := trading.Position{Symbol: "BTC", Side: trading.Long, Size: dec("1"), EntryPrice: dec("60000"), TakeProfit: trading.At(dec("60620"))}
	f = risk.Inputs{Mark: trading.MarkAt(dec("60600")), Positions: trading.Some(trading.Positions{held})}
	report := risk.Preview(buy("1"), f)
	require.NoError(t, report.Err())
	after, _ := report.After.Get()
	require.True(t, after.EntryPrice.Equal(dec("60300")))
	require.ErrorIs(t, risk.Preview(buy("20"), f).Err(), risk.WarningFees)
}

// A floor is a level in dollars, and the account is lost at it, not only below.
func TestTrap_T78_DistanceToTheFloors(t *testing.T) {
	state := &trading.AccountState{
		Environment: trading.EnvLive, Status: trading.StatusActive, Balance: dec("10000"), Equity: dec("10000"),
		DailyLossFloor: trading.Some(dec("9500")), GlobalLossFloor: trading.Some(dec("9000")),
	}
	f := risk.Inputs{State: state, Mark: trading.MarkAt(dec("50000")), Positions: trading.Some(trading.Positions{})}
	o := buy("0.1")
	o.StopLoss = trading.At(dec("49000"))
	report := risk.Preview(o, f)
	// 100 of price, 2.25 of opening and 2.205 of closing.
	require.True(t, report.LossAtStop.Equal(trading.Some(dec("104.455"))), "%s", report.LossAtStop)
	require.True(t, report.RoomAfterStop.Equal(trading.Some(dec("395.545"))), "%s", report.RoomAfterStop)
	require.NoError(t, report.Err())

	state.DailyLossFloor = trading.Some(dec("9895.545")) // just reached
	report = risk.Preview(o, f)
	require.ErrorIs(t, report.Err(), risk.WarningLossFloor)
	_, refused := report.Refused()
	require.False(t, refused, "the service takes it all the same")
	state.DailyLossFloor = trading.Some(dec("9895.5449"))
	require.NoError(t, risk.Preview(o, f).Err())

	state.DailyLossFloor = trading.Some(dec("9997.75")) // the fee of opening reaches it
	require.ErrorIs(t, risk.Preview(o, f).Err(), trading.CodeDailyLossLimit)
	state.GlobalLossFloor = state.DailyLossFloor // judged first
	require.ErrorIs(t, risk.Preview(o, f).Err(), trading.CodeGlobalLossLimit)
	require.ErrorIs(t, risk.Preview(o, f).Err(), trading.ErrLossLimit)
	state.DailyLossFloor = trading.Some(state.Equity)
	require.ErrorIs(t, risk.Preview(o, f).Err(), trading.CodeEquityCheckLocked)
}

// The minimum of a live order is in the contract, that of the sandbox is not. What
// a partial close leaves can be too little to be sold by an order again.
func TestTrap_T99_MinimumAndDust(t *testing.T) {
	mark := trading.MarkAt(dec("50000"))
	small := buy("0.0001999") // $9.995
	require.ErrorIs(t, risk.Preview(small, risk.Inputs{Mark: mark}).Err(), trading.CodeMinNotional)
	require.ErrorContains(t, risk.Preview(small, risk.Inputs{Mark: mark}).Problems[0], "MIN_NOTIONAL: the order is worth $9.995")
	require.NoError(t, risk.Preview(small, risk.Inputs{Mark: mark, Environment: trading.EnvSandbox}).Err())
	sandbox := risk.Inputs{Mark: mark, Environment: trading.EnvSandbox, Caps: risk.Caps{MinOrder: trading.Some(dec("10"))}}
	require.ErrorIs(t, risk.Preview(small, sandbox).Err(), trading.CodeMinNotional)
	require.NoError(t, risk.Preview(buy("0.0002"), sandbox).Err(), "the minimum itself is enough")

	for to, want := range map[string]string{"49000": "of 3 parts the smallest, 0.0002 BTC, is worth $9.8", "51000": ""} {
		rungs := risk.Preview(buy("0.0006"), risk.Inputs{Mark: mark, Method: risk.Ladder(trading.Ladder{From: dec("50500"), To: dec(to), Rungs: 3})})
		if want == "" {
			require.NoError(t, rungs.Err())
		} else {
			require.ErrorContains(t, rungs.Err(), want)
		}
	}

	held := trading.Positions{{Symbol: "BTC", Side: trading.Long, Size: dec("0.01"), EntryPrice: dec("50000")}}
	f := risk.Inputs{Mark: mark, Positions: trading.Some(held)}
	require.True(t, risk.Preview(sell("0.0099"), f).Has(risk.WarningDust))
	require.False(t, risk.Preview(sell("0.0098"), f).Has(risk.WarningDust))
	require.False(t, risk.Preview(sell("0.01"), f).Has(risk.WarningDust), "nothing is left")
	gross, known := risk.Preview(buy("0.01"), f).GrossPnL.Get()
	require.True(t, known && gross.IsZero(), "it closes nothing, which is known")
	stopped := sell("0.005")
	require.False(t, risk.Preview(stopped, f).Has(risk.WarningLevels))
	stopped.StopLoss = trading.At(dec("51000"))
	require.True(t, risk.Preview(stopped, f).Has(risk.WarningLevels), "a stop of what only reduces")

	// Caps that are not known are not judged, however large the order.
	_, refused := risk.Preview(buy("1000"), f).Refused()
	require.False(t, refused)
	f.Caps.Position = trading.Some(dec("1000000"))
	require.ErrorIs(t, risk.Preview(buy("1000"), f).Err(), trading.CodePerPositionCap)
	require.ErrorIs(t, risk.Preview(buy("1000"), f).Err(), trading.ErrRiskCap)
}
