package sandbox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A missing mark has four shapes, and each is the unpriced mark; what hangs on
// it is unknown and not zero.
func TestTrap_T49_NoMarkInEachOfItsShapes(t *testing.T) {
	r := rig.New(t, nil)
	r.Place(rig.Buy("1"))
	r.Sim.SetMark("BTC", "")

	mark, err := r.Sandbox.Price(t.Context(), "BTC") // 404 no_price
	require.NoError(t, err)
	assert.True(t, mark.IsZero())

	marks, err := r.Sandbox.Prices(t.Context()) // a missing key
	require.NoError(t, err)
	assert.NotContains(t, marks, "BTC")
	assert.Contains(t, marks, "ETH")
	assert.True(t, marks["BTC"].IsZero())

	markets, err := r.Sandbox.Markets(t.Context()) // null
	require.NoError(t, err)
	for _, market := range markets {
		assert.Equal(t, market.Symbol == "BTC", market.Mark.IsZero(), market.Symbol)
	}

	positions := r.Positions() // null, and a null PnL beside it
	position, open := positions.In("BTC")
	require.True(t, open)
	assert.True(t, position.Mark.IsZero())
	rig.EqualOpt(t, "none", position.UnrealizedPnL)
	_, known := positions.UnrealizedPnL()
	assert.False(t, known)

	r.Sim.SetMark("BTC", "65000")
	position, _ = r.Positions().In("BTC")
	rig.EqualOpt(t, "1000", position.UnrealizedPnL)
}

// T60: no position left is none, and not one of size 0.
func TestNoPositionLeft(t *testing.T) {
	r := rig.New(t, nil)
	opened := r.Place(rig.Buy("1"))
	position, open := opened.Position.Get()
	require.True(t, open)
	rig.EqualDec(t, "1", position.Size)
	assert.True(t, position.TakeProfit.IsClear(), "no level is set: null, not absent")
	assert.True(t, position.StopLoss.IsClear())

	half, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.Percent(rig.Dec("50")))
	require.NoError(t, err)
	told, ok := half.Sandbox.Get()
	require.True(t, ok)
	left, open := told.Left.Get()
	require.True(t, open)
	rig.EqualDec(t, "0.5", left.Size)

	netted := r.Place(rig.Sell("0.5"))
	_, open = netted.Position.Get()
	assert.False(t, open, "an opposite order that nets to zero")
	assert.Empty(t, r.Positions())

	r.Place(rig.Buy("1"))
	all, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
	require.NoError(t, err)
	told, _ = all.Sandbox.Get()
	_, open = told.Left.Get()
	assert.False(t, open, "a full close")
}

// Every read of the sandbox means the same with ok and without it.
func TestReadsWithAndWithoutOK(t *testing.T) {
	for _, options := range [][]tradingsim.Option{nil, {tradingsim.WithInterpretation(31)}} {
		r := rig.New(t, options)
		r.Place(rig.Buy("1", func(o *trading.Order) { o.TakeProfit, o.StopLoss = rig.At("70000"), rig.At("60000") }))
		_, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.Percent(rig.Dec("40")))
		require.NoError(t, err)

		state := r.State()
		assert.Equal(t, trading.StatusSandboxActive, state.Status)
		assert.Equal(t, trading.EnvSandbox, state.Environment)
		rig.EqualOpt(t, "95000", state.DailyLossFloor)
		rig.EqualOpt(t, "0.8", state.ProfitSplit, "a fraction")
		assert.Empty(t, state.Extra)
		position, _ := r.Positions().In("BTC")
		rig.EqualDec(t, "0.6", position.Size)
		assert.True(t, position.TakeProfit.Equal(rig.At("70000")))
		assert.True(t, position.StopLoss.Equal(rig.At("60000")))
		assert.False(t, position.OpenedAt.IsZero())
		assert.Empty(t, position.Extra)
		require.Len(t, r.Trades(), 1)
		markets, err := r.Sandbox.Markets(t.Context())
		require.NoError(t, err)
		assert.Len(t, markets, 6)
		marks, err := r.Sandbox.Prices(t.Context())
		require.NoError(t, err)
		assert.Len(t, marks, 6)
		mark, err := r.Sandbox.Price(t.Context(), "EURUSD")
		require.NoError(t, err)
		assert.Equal(t, "1.08", mark.String())
	}
}

// The breach is at the floor, not only below it, and a reset is the way back.
func TestBreachLocksAndResetUnlocks(t *testing.T) {
	r := rig.New(t, nil)
	opened := r.Place(rig.Buy("1"))
	rig.EqualDec(t, "99971.2", opened.Balance, "100000 less 4.5 bps of 64000")
	r.Sim.SetMark("BTC", "59028.81") // equity 95000.01
	room, ok := r.State().LossRoom()
	require.True(t, ok)
	rig.EqualDec(t, "0.01", room)

	r.Sim.SetMark("BTC", "59028.8") // equity 95000
	state := r.State()
	assert.True(t, state.Locked)
	assert.Equal(t, trading.StatusSandboxLocked, state.Status)
	assert.False(t, state.Status.AllowsEntry())
	assert.False(t, state.Status.AllowsExit())
	trades := r.Trades()
	require.Len(t, trades, 1)
	assert.Equal(t, trading.CauseMarket, trades[0].Cause, "T76: a liquidation")
	assert.Equal(t, trading.AdviseNever, trading.AdviceOf(r.Refused(rig.Buy("0.1"))))
	_, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
	require.ErrorIs(t, err, trading.ErrAccountLocked)

	fresh, err := r.Sandbox.Reset(t.Context())
	require.NoError(t, err)
	assert.False(t, fresh.Locked)
	rig.EqualDec(t, "100000", fresh.Balance)
	assert.Empty(t, r.Trades())
	r.Place(rig.Buy("0.1"))
}

// T79: a pass closes the book; what the account takes then has two readings.
func TestPassClosesTheBook(t *testing.T) {
	for _, tradesOn := range []bool{false, true} {
		var options []tradingsim.Option
		if tradesOn {
			options = append(options, tradingsim.WithInterpretation(19))
		}
		r := rig.New(t, options)
		r.Place(rig.Buy("1"))
		r.Sim.SetMark("BTC", "74100")
		state := r.State()
		assert.False(t, state.Locked)
		assert.Empty(t, r.Positions())
		require.Len(t, r.Trades(), 1)
		assert.Equal(t, trading.CauseMarket, r.Trades()[0].Cause)
		gap, ok := state.TargetGap()
		require.True(t, ok)
		assert.False(t, gap.IsPositive(), "the target was reached after the fees: %s", gap)

		_, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
		if tradesOn {
			assert.Equal(t, trading.StatusSandboxActive, state.Status)
			require.ErrorIs(t, err, trading.CodeNoPosition)
			continue
		}
		assert.Equal(t, trading.StatusSandboxPassed, state.Status)
		assert.False(t, state.Status.AllowsEntry())
		assert.True(t, state.Status.AllowsExit(), "what a passed paper account takes the contract does not show")
		require.ErrorIs(t, err, trading.ErrAccountLocked)
	}
}

// Each cause of a close, and what it earned: gross less the round trip, once.
func TestTradesTellTheirCause(t *testing.T) {
	r := rig.New(t, nil)
	protected := func(o *trading.Order) { o.TakeProfit, o.StopLoss = rig.At("65000"), rig.At("63000") }
	next := func(mark string) {
		r.Sim.SetMark("BTC", mark)
		r.Positions()
		r.Sim.SetMark("BTC", "64000")
	}
	r.Place(rig.Buy("1", protected))
	next("66000") // T55: the gap fills behind the level
	r.Place(rig.Buy("1", protected))
	next("62500")
	r.Place(rig.Buy("1"))
	_, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
	require.NoError(t, err)
	r.Place(rig.Buy("1"))
	r.Place(rig.Sell("1.5")) // a flip

	trades := r.Trades() // the most recent first
	require.Len(t, trades, 4)
	earned := rig.Dec("0")
	for i, want := range []struct {
		cause             trading.CloseCause
		exit, gross, fees string
	}{
		{trading.CauseMarket, "64000", "0", "57.6"},
		{trading.CauseMarket, "64000", "0", "57.6"},
		{trading.CauseStopLoss, "62500", "-1500", "56.925"},
		{trading.CauseTakeProfit, "66000", "2000", "58.5"},
	} {
		assert.Equal(t, want.cause, trades[i].Cause)
		rig.EqualDec(t, want.exit, trades[i].ExitPrice)
		rig.EqualDec(t, want.gross, trades[i].GrossPnL)
		rig.EqualDec(t, want.fees, trades[i].RoundTripFee)
		rig.EqualOpt(t, "64000", trades[i].EntryPrice)
		earned = earned.Add(trades[i].NetPnL())
	}
	state := r.State()
	position, _ := r.Positions().In("BTC")
	assert.Equal(t, trading.Short, position.Side)
	openFee := trading.TakerFee(rig.Dec("32000"))
	rig.EqualDec(t, state.Balance.String(), rig.Dec("100000").Add(earned).Sub(openFee), "net PnL is what the balance moved by")
}

// T58: an opposite order can turn the position round, in two readings.
func TestFlipsInBothReadings(t *testing.T) {
	for reading, size := range map[int]string{0: "0.5", 15: "1.5"} {
		var options []tradingsim.Option
		if reading != 0 {
			options = append(options, tradingsim.WithInterpretation(reading))
		}
		r := rig.New(t, options)
		r.Place(rig.Buy("1"))
		flipped := r.Place(rig.Sell("1.5", func(o *trading.Order) { o.Leverage = rig.Dec("5") }))
		position, open := flipped.Position.Get()
		require.True(t, open)
		assert.Equal(t, trading.Short, position.Side)
		rig.EqualDec(t, size, position.Size)
		rig.EqualDec(t, "-"+size, position.Signed())
		rig.EqualDec(t, "64000", position.EntryPrice)
	}
}

// T62: leverage is clamped to the market's own cap, silently: what is in
// force is in the position.
func TestTrap_T61_LeverageInForceIsInThePosition(t *testing.T) {
	r := rig.New(t, []tradingsim.Option{
		tradingsim.WithMark("BTC", "64000"),
		tradingsim.WithMarket(tradingsim.Market{Symbol: "ODD", Price: "10", MaxLeverage: "1.5"}),
	})
	for _, row := range []struct{ symbol, asked, want string }{
		{"BTC", "3", "3"}, {"BTC", "100", "5"}, {"BTC", "0.5", "1"}, {"BTC", "0", "1"}, {"ODD", "2", "1.5"},
	} {
		result := r.Place(trading.Order{Symbol: row.symbol, Side: trading.Long, Size: rig.Dec("1.5"), Leverage: rig.Dec(row.asked)})
		position, _ := result.Position.Get()
		rig.EqualOpt(t, row.want, position.Leverage, row)
		_, err := r.Sandbox.Reset(t.Context())
		require.NoError(t, err)
	}
	markets, err := r.Sandbox.Markets(t.Context())
	require.NoError(t, err)
	rig.EqualDec(t, "1.5", markets[1].MaxLeverage)
}

// Adding blends the entry; the fill is the order's own price.
func TestAddingBlendsTheEntry(t *testing.T) {
	for reading, leverage := range map[int]string{0: "3", 27: "2"} {
		var options []tradingsim.Option
		if reading != 0 {
			options = append(options, tradingsim.WithInterpretation(reading))
		}
		r := rig.New(t, options)
		r.Place(rig.Buy("0.5"))
		r.Sim.SetMark("BTC", "66000")
		added := r.Place(rig.Buy("0.5", func(o *trading.Order) { o.Leverage = rig.Dec("3") }))
		rig.EqualDec(t, "66000", added.Fill.Price)
		position, _ := added.Position.Get()
		rig.EqualDec(t, "65000", position.EntryPrice)
		rig.EqualOpt(t, leverage, position.Leverage)
		_, told := added.Fill.Size.Get()
		assert.False(t, told, "T72: a paper fill tells no size")
		_, told = added.Fill.Fee.Get()
		assert.False(t, told, "and no fee, which is not a fee of 0")
	}
}

// A trigger may close a share; the level that fired is gone, and by the other
// reading both are.
func TestTPSLForAShare(t *testing.T) {
	for _, both := range []bool{false, true} {
		var options []tradingsim.Option
		if both {
			options = append(options, tradingsim.WithInterpretation(22))
		}
		r := rig.New(t, options)
		r.Place(rig.Buy("1"))
		set, err := r.Sandbox.SetTPSL(t.Context(), "BTC", trading.TPSL{
			TakeProfit: rig.At("65000"), StopLoss: rig.At("63000"), ClosePct: trading.Some(rig.Dec("25")),
		})
		require.NoError(t, err)
		position, _ := set.Position.Get()
		assert.True(t, position.TakeProfit.Equal(rig.At("65000")))

		r.Sim.SetMark("BTC", "65000") // exactly at the level
		position, _ = r.Positions().In("BTC")
		rig.EqualDec(t, "0.75", position.Size)
		assert.True(t, position.TakeProfit.IsClear())
		assert.Equal(t, both, position.StopLoss.IsClear())
	}
}

// T67: one level changes and the other stays; null removes it.
func TestTPSLChangesOneAtATime(t *testing.T) {
	r := rig.New(t, nil)
	r.Place(rig.Buy("1", func(o *trading.Order) { o.TakeProfit, o.StopLoss = rig.At("70000"), rig.At("60000") }))
	levels := func(change trading.TPSL) (target, stop string) {
		result, err := r.Sandbox.SetTPSL(t.Context(), "BTC", change)
		require.NoError(t, err)
		position, open := result.Position.Get()
		require.True(t, open)
		return position.TakeProfit.String(), position.StopLoss.String()
	}
	for _, step := range []struct {
		change       trading.TPSL
		target, stop string
	}{
		{trading.TPSL{StopLoss: rig.At("61000")}, "70000", "61000"},
		{trading.TPSL{TakeProfit: trading.Clear}, "clear", "61000"},
		{trading.TPSL{TakeProfit: rig.At("71000"), StopLoss: trading.Clear}, "71000", "clear"},
	} {
		target, stop := levels(step.change)
		assert.Equal(t, step.target, target)
		assert.Equal(t, step.stop, stop)
	}

	// A level that was read can be given back as it is.
	position, _ := r.Positions().In("BTC")
	target, stop := levels(trading.TPSL{TakeProfit: position.TakeProfit, StopLoss: position.StopLoss})
	assert.Equal(t, "71000", target)
	assert.Equal(t, "clear", stop)
}

// The slippage check is not for limits and not for closes, and an order goes
// through where the book cannot be read.
func TestTrap_T65_TheSlippageCheckIsSkipped(t *testing.T) {
	thin := tradingsim.Book{Levels: []tradingsim.BookLevel{{Bps: "2000", Size: "100"}}}
	unreadable := thin
	unreadable.Unreadable = true
	with := func(b tradingsim.Book) rig.Rig {
		return rig.New(t, []tradingsim.Option{tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: "64000", Book: b})})
	}
	r := with(thin)
	require.ErrorIs(t, r.Refused(rig.Buy("1")), trading.CodeMaxSlippage)
	r.Place(rig.Buy("1", func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("64000") }))
	_, err := r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
	require.NoError(t, err)

	r = with(unreadable)
	r.Place(rig.Buy("0.5", func(o *trading.Order) { o.MaxSlippagePct = trading.Some(rig.Dec("0.1")) }))
	// What holds all the same is a price to expect.
	err = r.Refused(rig.Buy("0.5", func(o *trading.Order) {
		o.MaxSlippagePct, o.ExpectedPrice = trading.Some(rig.Dec("0.1")), rig.At("60000")
	}))
	require.ErrorIs(t, err, trading.CodeGuardBand)
}

// Reads lag behind, fills do not: the fill's price is the one that counts, and
// Repriced tells that it is another than the reads show.
func TestReadsLagAndFillsDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, []tradingsim.Option{tradingsim.WithLag(5 * time.Second)})
		time.Sleep(time.Minute)
		r.Sim.SetMark("BTC", "66000")
		mark, err := r.Sandbox.Price(t.Context(), "BTC")
		require.NoError(t, err)
		assert.Equal(t, "64000", mark.String())
		time.Sleep(time.Second)
		bought := r.Place(rig.Buy("1"))
		rig.EqualDec(t, "66000", bought.Fill.Price)
		repriced, told := bought.Fill.Repriced.Get()
		assert.True(t, told && repriced)
		_, told = bought.Fill.MarkAge.Get()
		assert.True(t, told)
		assert.Empty(t, r.Positions(), "T20: the position is not to be seen yet")
		time.Sleep(5 * time.Second)
		assert.Len(t, r.Positions(), 1)
	})
}
