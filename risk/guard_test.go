package risk_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
)

func TestGuardHoldsLimits(t *testing.T) {
	state := &trading.AccountState{
		Status: trading.StatusActive, Balance: dec("10000"), Equity: dec("10000"), DailyLossFloor: trading.Some(dec("9500")),
	}
	known := risk.Inputs{Mark: trading.MarkAt(dec("50000")), State: state, Positions: trading.Some(trading.Positions{})}
	stopped := buy("0.1") // loses 104.455 at its stop
	stopped.StopLoss = trading.At(dec("49000"))
	long := known
	long.Positions = trading.Some(trading.Positions{{Symbol: "BTC", Side: trading.Long, Size: dec("1"), EntryPrice: dec("50000")}})

	for name, c := range map[string]struct {
		limits risk.Limits
		order  trading.Order
		inputs risk.Inputs
		want   error
	}{
		"no limits":                     {risk.Limits{}, buy("0.1"), known, nil},
		"no limits, and fatal":          {risk.Limits{}, buy("0.0001"), known, trading.CodeMinNotional},
		"no limits, and fees":           {risk.Limits{}, withTarget(buy("0.1"), "50001"), known, risk.WarningFees},
		"notional":                      {risk.Limits{MaxNotional: trading.Some(dec("5000"))}, buy("0.1"), known, nil},
		"notional above":                {risk.Limits{MaxNotional: trading.Some(dec("4999.99"))}, buy("0.1"), known, risk.ErrLimit},
		"notional with what is held":    {risk.Limits{MaxNotional: trading.Some(dec("54999"))}, buy("0.1"), long, risk.ErrLimit},
		"notional without a price":      {risk.Limits{MaxNotional: trading.Some(dec("5000"))}, buy("0.1"), risk.Inputs{}, risk.ErrNotJudged},
		"a notional of 0":               {risk.Limits{MaxNotional: trading.Some(decimal.Max(decimal.Zero, dec("-1")))}, buy("0.1"), known, risk.ErrLimit},
		"a loss of 0":                   {risk.Limits{MaxLoss: trading.Some(decimal.Zero)}, stopped, known, risk.ErrLimit},
		"a room of 0":                   {risk.Limits{MinRoom: trading.Some(decimal.Zero)}, buy("0.1"), known, risk.ErrNotJudged},
		"loss":                          {risk.Limits{MaxLoss: trading.Some(dec("104.455"))}, stopped, known, nil},
		"loss above":                    {risk.Limits{MaxLoss: trading.Some(dec("104.45"))}, stopped, known, risk.ErrLimit},
		"loss without a stop":           {risk.Limits{MaxLoss: trading.Some(dec("500"))}, buy("0.1"), known, risk.ErrNotJudged},
		"room":                          {risk.Limits{MinRoom: trading.Some(dec("395.545"))}, stopped, known, nil},
		"room below":                    {risk.Limits{MinRoom: trading.Some(dec("395.546"))}, stopped, known, risk.ErrLimit},
		"room without the state":        {risk.Limits{MinRoom: trading.Some(dec("1"))}, stopped, risk.Inputs{Mark: known.Mark}, risk.ErrNotJudged},
		"what reduces is not limited":   {risk.Limits{MaxNotional: trading.Some(dec("1")), MaxLoss: trading.Some(dec("1")), MinRoom: trading.Some(dec("9999"))}, sell("0.5"), long, nil},
		"what ends it is not limited":   {risk.Limits{MaxNotional: trading.Some(dec("1"))}, sell("1"), long, nil},
		"what flips is not allowed":     {risk.Limits{}, sell("1.1"), long, risk.WarningFlip},
		"what flips is limited":         {risk.Limits{AllowFlip: true, MaxNotional: trading.Some(dec("4999"))}, sell("1.1"), long, risk.ErrLimit},
		"what flips, allowed and small": {risk.Limits{AllowFlip: true, MaxNotional: trading.Some(dec("5000"))}, sell("1.1"), long, nil},
	} {
		t.Run(name, func(t *testing.T) {
			guard := risk.Guard(c.limits, func(context.Context, trading.Write) (risk.Inputs, error) { return c.inputs, nil })
			err := guard(t.Context(), trading.Write{Operation: trading.OpOrder, Environment: trading.EnvLive, Entry: true, Order: &c.order})
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
		})
	}
}

func withTarget(o trading.Order, price string) trading.Order {
	o.TakeProfit = trading.At(dec(price))
	return o
}

func TestGuardOfWritesThatAreNoOrders(t *testing.T) {
	asked := 0
	inputs := func(context.Context, trading.Write) (risk.Inputs, error) {
		asked++
		return risk.Inputs{}, errors.New("nobody knows")
	}
	limited := risk.Guard(risk.Limits{MaxNotional: trading.Some(dec("1"))}, inputs)
	// Exits pass without a question.
	for _, op := range []trading.Operation{trading.OpClose, trading.OpCancelRun, trading.OpTPSL, trading.OpCancelOrder} {
		require.NoError(t, limited(t.Context(), trading.Write{Operation: op, Environment: trading.EnvLive}))
	}
	exit := sell("100")
	exit.ReduceOnly = true
	require.NoError(t, limited(t.Context(), trading.Write{Operation: trading.OpOrder, Environment: trading.EnvLive, Order: &exit}))
	require.Zero(t, asked)

	edit := trading.Write{Operation: trading.OpEditRun, Environment: trading.EnvLive, Entry: true}
	require.ErrorIs(t, limited(t.Context(), edit), risk.ErrNotJudged)
	require.NoError(t, risk.Guard(risk.Limits{}, inputs)(t.Context(), edit))

	// Inputs that cannot be had hold an entry back.
	o := buy("1")
	entry := trading.Write{Operation: trading.OpOrder, Environment: trading.EnvLive, Entry: true, Order: &o}
	require.ErrorContains(t, risk.Guard(risk.Limits{}, inputs)(t.Context(), entry), "nobody knows")
	require.NoError(t, risk.Guard(risk.Limits{}, nil)(t.Context(), entry), "only the order itself is judged")
	o.Side = "up"
	require.ErrorIs(t, risk.Guard(risk.Limits{}, nil)(t.Context(), entry), trading.CodeBadSide)
}

// The write says where the order goes and by which method.
func TestGuardTakesEnvironmentAndWayFromTheWrite(t *testing.T) {
	o := buy("0.0001")
	inputs := func(context.Context, trading.Write) (risk.Inputs, error) {
		return risk.Inputs{Environment: trading.EnvLive, Mark: trading.MarkAt(dec("50000"))}, nil
	}
	guard := risk.Guard(risk.Limits{}, inputs)
	sandbox := trading.Write{Operation: trading.OpSandboxOrder, Environment: trading.EnvSandbox, Entry: true, Order: &o}
	require.NoError(t, guard(t.Context(), sandbox), "the sandbox's minimum is not known")
	live := trading.Write{Operation: trading.OpOrder, Environment: trading.EnvLive, Entry: true, Order: &o}
	require.ErrorIs(t, guard(t.Context(), live), trading.CodeMinNotional)

	// A limit above the market that rests is not judged as one that fills now.
	limit := buy("0.01")
	limit.Type, limit.LimitPrice = trading.LimitOrder, trading.At(dec("49000"))
	live.Order = &limit
	require.ErrorIs(t, guard(t.Context(), live), trading.CodeNotMarketable)
	live.Operation = trading.OpLimit
	require.NoError(t, guard(t.Context(), live))
}

// A live route does not exist for the sandbox, and an order of no size at all is
// not worked out, however absurd its numbers.
func TestPreviewOfWhatCannotBe(t *testing.T) {
	f := risk.Inputs{Environment: trading.EnvSandbox, Method: risk.Resting(), Mark: trading.MarkAt(dec("50000"))}
	require.ErrorIs(t, risk.Preview(buy("1"), f).Err(), trading.CodeWrongEnvironment)

	endless := decimal.New(1, 1<<30)
	for _, spoil := range []func(*trading.Order){
		func(o *trading.Order) { o.Size = endless },
		func(o *trading.Order) { o.Leverage = endless },
		func(o *trading.Order) { o.Leverage = endless.Neg() },
		func(o *trading.Order) { o.StopLoss = trading.At(endless) },
		func(o *trading.Order) { o.TakeProfit = trading.At(decimal.New(1, -1<<30)) },
		func(o *trading.Order) { o.ExpectedPrice = trading.At(endless) },
		func(o *trading.Order) { o.MaxSlippagePct = trading.Some(endless) },
		func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, trading.At(endless) },
	} {
		o := buy("1")
		spoil(&o)
		report := risk.Preview(o, risk.Inputs{Mark: trading.MarkAt(dec("50000"))})
		require.Error(t, report.Err())
		require.Len(t, report.Problems, 1)
		require.True(t, report.Price.IsZero())
	}
}

// What is not told is none, and never zero.
func TestPreviewWithoutInputs(t *testing.T) {
	report := risk.Preview(buy("1"), risk.Inputs{})
	require.Empty(t, report.Problems)
	require.Empty(t, report.Effect)
	for _, number := range []trading.Opt[decimal.Decimal]{
		report.Leverage, report.Notional, report.Fee, report.RoundTripFee, report.GrossPnL, report.Balance,
		report.BreakEven, report.LossAtStop, report.GainAtTarget, report.RoomAfterStop, report.GapAtTarget,
	} {
		_, ok := number.Get()
		require.False(t, ok)
	}
	_, ok := report.After.Get()
	require.False(t, ok)
	require.False(t, report.Flat)
}

// The service clamps a leverage to the market's own cap (T62) without a word: that is said, and
// without the market nothing is known of it.
func TestPreviewOfAClampedLeverage(t *testing.T) {
	f := risk.Inputs{Market: trading.Some(trading.Market{Symbol: "BTC", MaxLeverage: dec("3"), Mark: trading.MarkAt(dec("64000"))})}
	o := buy("0.1")
	report := risk.Preview(o, f)
	require.True(t, report.Has(risk.WarningLeverage))
	require.True(t, report.Leverage.Equal(trading.Some(dec("3"))))
	o.Leverage = dec("3")
	require.False(t, risk.Preview(o, f).Has(risk.WarningLeverage))
	_, known := risk.Preview(o, risk.Inputs{Mark: trading.MarkAt(dec("64000"))}).Leverage.Get()
	require.False(t, known)
}

// A target that passes the account closes every position of it.
func TestPreviewOfATargetThatPassesTheAccount(t *testing.T) {
	state := &trading.AccountState{
		Environment: trading.EnvLive, Status: trading.StatusActive, Balance: dec("10000"), Equity: dec("10000"), ProfitTarget: trading.Some(dec("10100")),
	}
	other := trading.Position{Symbol: "ETH", Side: trading.Long, Size: dec("1"), EntryPrice: dec("2000"), Mark: trading.MarkAt(dec("2000")), Notional: trading.Some(dec("2000"))}
	f := risk.Inputs{Mark: trading.MarkAt(dec("50000")), State: state, Positions: trading.Some(trading.Positions{other})}
	// 0.1 gains 110, less 2.25 and 2.29950 of fees, less 0.9 to close the other.
	report := risk.Preview(withTarget(buy("0.1"), "51100"), f)
	require.True(t, report.GapAtTarget.Equal(trading.Some(dec("-4.5505"))), "%s", report.GapAtTarget)
	require.True(t, report.Has(risk.WarningPass))
	require.NoError(t, report.Err())
	report = risk.Preview(withTarget(buy("0.1"), "51050"), f)
	require.False(t, report.Has(risk.WarningPass))
	f.Positions = trading.Opt[trading.Positions]{}
	_, known := risk.Preview(withTarget(buy("0.1"), "51100"), f).GapAtTarget.Get()
	require.False(t, known, "what the others cost to close is not known")
}

// An account that takes no order says so before one is sent: what locks it, and what the paper account judges by
// its equity, where each position has a price.
func TestPreviewOfAnAccountThatTakesNoOrder(t *testing.T) {
	priced := trading.Position{Symbol: "ETH", Side: trading.Long, Size: dec("1"), EntryPrice: dec("2000"), Mark: trading.MarkAt(dec("2000"))}
	without := priced
	without.Mark = trading.Mark{}
	for name, c := range map[string]struct {
		change func(s *trading.AccountState, f *risk.Inputs)
		want   string
	}{
		"open":                 {func(*trading.AccountState, *risk.Inputs) {}, ""},
		"locked":               {func(s *trading.AccountState, _ *risk.Inputs) { s.Locked = true }, "the account is ACTIVE"},
		"failed":               {func(s *trading.AccountState, _ *risk.Inputs) { s.Status = trading.StatusFailed }, "the account is FAILED"},
		"at a floor":           {func(s *trading.AccountState, _ *risk.Inputs) { s.Equity = dec("9500") }, "the equity of $9500 is at a loss floor"},
		"a cent above it":      {func(s *trading.AccountState, _ *risk.Inputs) { s.Equity = dec("9500.01") }, ""},
		"at a floor, and live": {func(s *trading.AccountState, _ *risk.Inputs) { s.Equity, s.Environment = dec("9500"), trading.EnvLive }, ""},
		"at a floor, and unpriced": {func(s *trading.AccountState, f *risk.Inputs) {
			s.Equity, f.Positions = dec("9500"), trading.Some(trading.Positions{without})
		}, ""},
	} {
		state := &trading.AccountState{
			Environment: trading.EnvSandbox, Status: trading.StatusActive, Balance: dec("10000"), Equity: dec("10000"), GlobalLossFloor: trading.Some(dec("9500")),
		}
		f := risk.Inputs{Mark: trading.MarkAt(dec("50000")), State: state, Positions: trading.Some(trading.Positions{priced})}
		c.change(state, &f)
		report := risk.Preview(buy("0.0001"), f)
		i := slices.IndexFunc(report.Problems, func(p risk.Problem) bool { return p.Code == trading.CodeAccountLocked })
		if c.want == "" {
			require.Negative(t, i, name)
			continue
		}
		require.GreaterOrEqual(t, i, 0, name)
		require.Contains(t, report.Problems[i].Error(), c.want, name)
	}
}

// The open position has a price where nothing else does, and stays of the time when it was opened, until it is
// another one.
func TestPreviewByTheOpenPosition(t *testing.T) {
	opened := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	held := trading.Position{Symbol: "BTC", Side: trading.Long, Size: dec("1"), EntryPrice: dec("50000"), Mark: trading.MarkAt(dec("51000")), OpenedAt: opened}
	f := risk.Inputs{Positions: trading.Some(trading.Positions{held})}
	for _, c := range []struct {
		order trading.Order
		want  time.Time
	}{{buy("0.5"), opened}, {sell("0.5"), opened}, {sell("2"), time.Time{}}} {
		report := risk.Preview(c.order, f)
		price, _ := report.Price.Price()
		require.True(t, price.Equal(dec("51000")))
		after, known := report.After.Get()
		require.True(t, known)
		require.Equal(t, c.want, after.OpenedAt, "%s %s", c.order.Side, c.order.Size)
	}
}
