package risk_test

import (
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestSizeOfNoPlan(t *testing.T) {
	good := risk.Plan{Side: trading.Long, Entry: dec("64000"), Stop: dec("63000"), MaxLoss: dec("100"), Decimals: 3}
	for name, spoil := range map[string]func(*risk.Plan){
		"no side":         func(p *risk.Plan) { p.Side = "" },
		"no entry":        func(p *risk.Plan) { p.Entry = decimal.Zero },
		"no stop":         func(p *risk.Plan) { p.Stop = decimal.Zero },
		"no loss":         func(p *risk.Plan) { p.MaxLoss = decimal.Zero },
		"a gain":          func(p *risk.Plan) { p.MaxLoss = dec("-100") },
		"a stop above":    func(p *risk.Plan) { p.Stop = dec("64001") },
		"a stop at entry": func(p *risk.Plan) { p.Stop = p.Entry },
		"a short's stop":  func(p *risk.Plan) { p.Side = trading.Short },
		"endless":         func(p *risk.Plan) { p.Entry = decimal.New(1, 1<<30) },
		"endless loss":    func(p *risk.Plan) { p.MaxLoss = decimal.New(1, 1<<30) },
		"places":          func(p *risk.Plan) { p.Decimals = 1 << 30 },
	} {
		t.Run(name, func(t *testing.T) {
			p := good
			spoil(&p)
			_, err := risk.Size(p)
			require.Error(t, err)
			require.NotErrorIs(t, err, risk.ErrNoSize)
		})
	}
}

// What Size promises is what Preview says of the order, and one step more is too
// much.
func TestSizeIsWhatPreviewSays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3_000 {
		side, sign := trading.Long, decimal.NewFromInt(-1)
		if r.IntN(2) == 0 {
			side, sign = trading.Short, decimal.NewFromInt(1)
		}
		entry := decimal.New(1+r.Int64N(9_999_999), -int32(r.IntN(5)))
		stop := entry.Add(sign.Mul(entry).Mul(decimal.New(1+r.Int64N(900), -4)))
		plan := risk.Plan{
			Side: side, Entry: entry, Stop: stop, MaxLoss: decimal.New(1+r.Int64N(1_000_000), -2),
			Decimals: int32(r.IntN(10)) - 1, Resting: r.IntN(3) == 0,
		}
		f := risk.Inputs{Mark: trading.MarkAt(entry)}
		o := trading.Order{Symbol: "X", Side: side, Leverage: dec("1"), StopLoss: trading.At(stop)}
		if plan.Resting {
			f.Method, o.LimitPrice = risk.Resting(), trading.At(entry)
		}
		loss := func(size decimal.Decimal) decimal.Decimal {
			o.Size = size
			dollars, ok := risk.Preview(o, f).LossAtStop.Get()
			require.True(t, ok)
			return dollars
		}
		step := decimal.New(1, -plan.Decimals)
		size, err := risk.Size(plan)
		if err != nil {
			require.ErrorIs(t, err, risk.ErrNoSize)
			size = decimal.Zero
		} else {
			require.True(t, loss(size).LessThanOrEqual(plan.MaxLoss), "%+v: %s", plan, size)
		}
		require.True(t, loss(size.Add(step)).GreaterThan(plan.MaxLoss), "%+v: %s", plan, size)

		zeros := decimal.New(0, -70) // behind the digits
		plan.Entry, plan.Stop, plan.MaxLoss = plan.Entry.Add(zeros), plan.Stop.Add(zeros), plan.MaxLoss.Add(zeros)
		again, withZeros := risk.Size(plan)
		require.Equal(t, err, withZeros)
		require.True(t, err != nil || again.Equal(size), "%s and %s", size, again)
	}
}

// What MaxSize allows the simulator takes, and one step more it does not, or the
// stop does not protect the account.
func TestMaxSizeIsTheLargest(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	fits, none, refusedAbove := 0, 0, map[string]int{}
	for range 400 {
		r := &world{Rand: random}
		places := int32(2 + random.IntN(4))
		balance := r.number("500", "20000", 2)
		marketCap := r.number("3000", "200000", 0)
		sim := []tradingsim.Option{
			tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: r.number("20000", "90000", 1).String(), NotionalCap: marketCap.String()}),
			tradingsim.WithMark("ETH", "3200"),
			tradingsim.WithAccount(tradingsim.Account{
				ID: "acc_1", Balance: balance.String(), DailyLossFloor: balance.Sub(r.number("20", "400", 2)).String(),
			}),
		}
		rig := newRig(t, sim)
		for _, symbol := range []string{"BTC", "ETH"} {
			if random.IntN(2) == 0 {
				rig.sim.Trade("acc_1", r.pick("long", "short"), r.number("0.001", "0.02", 4).String(), symbol)
			}
		}
		f := rig.inputs("BTC")
		f.Caps.Position = trading.Some(f.State.Equity.Mul(dec("5")))
		f.Caps.Margin = trading.Some(f.State.Equity)
		f.Caps.Market = trading.Some(marketCap)
		o := trading.Order{Symbol: "BTC", Side: r.side(), Leverage: dec(r.pick("1", "2", "5"))}
		market, _ := f.Market.Get()
		price, _ := market.Mark.Price()
		if random.IntN(2) == 0 {
			o.StopLoss = trading.At(r.level(o.Side.Opposite(), price))
		}
		size, err := risk.MaxSize(o, f, places)
		if err != nil {
			none++
			continue
		}
		fits++
		require.True(t, size.Equal(size.RoundDown(places)))
		o.Size = size.Add(decimal.New(1, -places))
		above := risk.Preview(o, f)
		if after, ok := above.After.Get(); ok && above.Err() == nil {
			margin, _ := after.Margin.Get()
			positions, _ := f.Positions.Get()
			for _, p := range positions {
				if p.Symbol != "BTC" {
					other, _ := p.Margin.Get()
					margin = margin.Add(other)
				}
			}
			assert.True(t, margin.GreaterThan(f.State.Equity), "%s is not the largest: %+v", size, above)
			refusedAbove["leverage"]++
		} else if code, refused := above.Refused(); refused {
			refusedAbove[string(code)]++
		} else {
			refusedAbove["stop"]++
		}
		o.Size = size
		if risk.Preview(o, f).Err() == nil { // but for a stop on the wrong side
			_, err = rig.live.PlaceOrder(t.Context(), o)
			require.NoError(t, err)
		}
	}
	t.Log(fits, none, refusedAbove)
	require.Greater(t, fits, 200)
	require.GreaterOrEqual(t, len(refusedAbove), 3, "%v", refusedAbove)
}

// At the floor the account is lost: what brings the equity just there is too much.
func TestMaxSizeStopsBeforeTheFloor(t *testing.T) {
	state := &trading.AccountState{
		Environment: trading.EnvLive, Status: trading.StatusActive, Equity: dec("1000"), DailyLossFloor: trading.Some(dec("999.55")),
	}
	o := trading.Order{Symbol: "BTC", Side: trading.Long, Leverage: dec("1")}
	// One unit costs 0.045 of fee.
	size, err := risk.MaxSize(o, risk.Inputs{Mark: trading.MarkAt(dec("100")), State: state}, 1)
	require.NoError(t, err)
	require.True(t, size.Equal(dec("9.9")), "%s", size)
	state.DailyLossFloor = trading.Some(dec("999.5499"))
	size, err = risk.MaxSize(o, risk.Inputs{Mark: trading.MarkAt(dec("100")), State: state}, 1)
	require.NoError(t, err)
	require.True(t, size.Equal(dec("10")), "%s", size)
}

func TestMaxSizeOfNothingKnown(t *testing.T) {
	o := trading.Order{Symbol: "BTC", Side: trading.Long, Leverage: dec("2")}
	_, err := risk.MaxSize(o, risk.Inputs{}, 3)
	require.ErrorContains(t, err, "no price")
	_, err = risk.MaxSize(o, risk.Inputs{Mark: trading.MarkAt(dec("1"))}, 3)
	require.ErrorContains(t, err, "nothing that is known")
	_, err = risk.MaxSize(o, risk.Inputs{}, 1<<20)
	require.ErrorContains(t, err, "places")
	o.Side = "up"
	_, err = risk.MaxSize(o, risk.Inputs{}, 3)
	require.ErrorIs(t, err, trading.CodeBadSide)
	o.Side = trading.Short
	size, err := risk.MaxSize(o, risk.Inputs{Mark: trading.MarkAt(dec("3")), Caps: risk.Caps{Position: trading.Some(dec("100"))}}, 1)
	require.NoError(t, err)
	require.True(t, size.Equal(dec("33.3")), "%s", size)
	_, err = risk.MaxSize(o, risk.Inputs{Mark: trading.MarkAt(dec("3")), Caps: risk.Caps{Position: trading.Some(dec("9"))}}, 1)
	require.ErrorIs(t, err, risk.ErrNoSize, "below the minimum order value")
}

// What Preview says of the stop and of the target is what happens when the market
// goes there: the same equity to the last digit, and the same result of the trade,
// for orders that fill now and for limits that wait, on top of what is open or
// against it.
func TestOutlookIsWhatHappens(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	happened := map[string]int{}
	for range 600 {
		w := &world{Rand: random}
		r := newRig(t, []tradingsim.Option{
			tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Price: w.number("20000", "90000", 1).String(), MaxLeverage: "5"}),
			tradingsim.WithMark("ETH", "3200"),
			tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "50000", ProfitTarget: "60000"}),
		})
		r.sim.Trade("acc_1", "long", "0.5", "ETH")
		f := r.inputs("BTC")
		market, _ := f.Market.Get()
		price, _ := market.Mark.Price()
		if random.IntN(3) > 0 { // something is open, at another price
			r.sim.Trade("acc_1", w.pick("long", "short"), w.number("0.001", "0.02", 4).String(), "BTC")
			price = w.near(price, 100)
			r.sim.SetMark("BTC", price.String())
			f = r.inputs("BTC")
		}
		o := trading.Order{Symbol: "BTC", Side: w.side(), Size: w.number("0.001", "0.09", 4), Leverage: dec("5")}
		fill, kind := price, "now"
		if random.IntN(2) == 0 {
			away := w.number("0.001", "0.02", 4)
			if o.Side == trading.Long {
				away = away.Neg()
			}
			fill, kind = price.Add(price.Mul(away)), "rest"
			o.LimitPrice, f.Method = trading.At(fill), risk.Resting()
		}
		sign := decimal.NewFromInt(1)
		if o.Side == trading.Short {
			sign = sign.Neg()
		}
		stop := fill.Sub(fill.Mul(w.number("0.001", "0.02", 4)).Mul(sign))
		target := fill.Add(fill.Mul(w.number("0.002", "0.02", 4)).Mul(sign))
		o.StopLoss, o.TakeProfit = trading.At(stop), trading.At(target)

		report := risk.Preview(o, f)
		if _, refused := report.Refused(); refused || !report.Opens.IsPositive() {
			continue
		}
		if kind == "rest" {
			_, err := r.live.PlaceLimit(t.Context(), o)
			require.NoError(t, err)
			r.sim.SetMark("BTC", fill.String())
		} else {
			_, err := r.live.PlaceOrder(t.Context(), o)
			require.NoError(t, err)
		}
		exit, net := stop, report.LossAtStop
		if random.IntN(2) == 0 {
			exit, net = target, report.GainAtTarget
		}
		r.sim.SetMark("BTC", exit.String()) // fires the trigger
		state, err := r.live.State(t.Context())
		require.NoError(t, err)
		trades, err := r.live.Trades(t.Context())
		require.NoError(t, err)
		dollars, ok := net.Get()
		require.True(t, ok)
		if exit.Equal(stop) {
			dollars = dollars.Neg()
			room, _ := state.LossRoom()
			require.True(t, report.RoomAfterStop.Equal(trading.Some(room)), "%s %s: room %s, Preview says %s", kind, report.Effect, room, report.RoomAfterStop)
		} else {
			gap, _ := state.TargetGap()
			gap = gap.Add(trading.TakerFee(dec("1600"))) // to close the other position
			require.True(t, report.GapAtTarget.Equal(trading.Some(gap)), "%s %s: gap %s, Preview says %s", kind, report.Effect, gap, report.GapAtTarget)
		}
		require.True(t, trades[0].NetPnL().Equal(dollars), "%s %s: %s, Preview says %s", kind, report.Effect, trades[0].NetPnL(), dollars)
		happened[kind+" "+string(report.Effect)]++
	}
	for _, kind := range []string{"now", "rest"} {
		for _, effect := range []risk.Effect{risk.Opens, risk.Adds, risk.Flips} {
			require.Greater(t, happened[kind+" "+string(effect)], 10, "%v", happened)
		}
	}
}
