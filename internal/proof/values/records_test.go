package values

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func TestTrap_T78_FloorsAreLevelsAndBreachedAtTheFloor(t *testing.T) {
	none := trading.Opt[decimal.Decimal]{}
	for _, c := range []struct {
		name          string
		equity        string
		daily, global trading.Opt[decimal.Decimal]
		room          string // empty if not known
		breached      bool
	}{
		{"the higher floor counts", "10000", trading.Some(trading.Dec("9500")), trading.Some(trading.Dec("9000")), "500", false},
		{"whichever it is", "10000", trading.Some(trading.Dec("9000")), trading.Some(trading.Dec("9500")), "500", false},
		{"a cent above", "9500.01", trading.Some(trading.Dec("9500")), trading.Some(trading.Dec("9000")), "0.01", false},
		{"at the floor", "9500", trading.Some(trading.Dec("9500")), trading.Some(trading.Dec("9000")), "0", true},
		{"below it", "9499.99", trading.Some(trading.Dec("9500")), trading.Some(trading.Dec("9000")), "-0.01", true},
		{"only the daily floor known", "10000", trading.Some(trading.Dec("9500")), none, "500", false},
		{"only the global floor known", "10000", none, trading.Some(trading.Dec("9000")), "1000", false},
		{"below the one floor known", "8000", none, trading.Some(trading.Dec("9000")), "-1000", true},
		{"a floor of 0 is a floor", "100", trading.Some(decimal.Zero), none, "100", false},
		{"none known", "10000", none, none, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := trading.AccountState{Equity: trading.Dec(c.equity), DailyLossFloor: c.daily, GlobalLossFloor: c.global}
			room, ok := s.LossRoom()
			assert.Equal(t, c.room != "", ok)
			if ok {
				assert.True(t, room.Equal(trading.Dec(c.room)), "room is %v", room)
				assert.Equal(t, c.breached, !room.IsPositive())
			}
		})
	}
}

func TestTargetGap(t *testing.T) {
	_, ok := trading.AccountState{Equity: trading.Dec("10000")}.TargetGap()
	assert.False(t, ok, "no target is not a target of 0")

	for equity, want := range map[string]string{"10000": "800", "10800": "0", "10800.01": "-0.01"} {
		gap, ok := trading.AccountState{Equity: trading.Dec(equity), ProfitTarget: trading.Some(trading.Dec("10800"))}.TargetGap()
		assert.True(t, ok)
		assert.True(t, gap.Equal(trading.Dec(want)), "%s: %v", equity, gap)
	}
}

func fullAccountState() trading.AccountState {
	return trading.AccountState{
		ID: "acc_1", Environment: trading.EnvSandbox, Status: trading.StatusSandboxActive, Locked: true,
		Balance: trading.Dec("10000"), Equity: trading.Dec("10100"), UnrealizedPnL: trading.Some(trading.Dec("100")),
		ProfitTarget: trading.Some(trading.Dec("10800")), DailyLossFloor: trading.Some(trading.Dec("9500")), GlobalLossFloor: trading.Some(trading.Dec("9000")),
		ProfitSplit: trading.Some(trading.Dec("0.8")), Phase: trading.Some(1), Extra: trading.Extra{"a": json.RawMessage("1")},
	}
}

func TestAccountStateEqual(t *testing.T) { checkEqual(t, fullAccountState()) }

func TestTrap_T51_UnknownPnLIsNotSummedAsZero(t *testing.T) {
	known := func(pnl string) trading.Position {
		return trading.Position{UnrealizedPnL: trading.Some(trading.Dec(pnl))}
	}
	unpriced := trading.Position{Size: trading.Dec("100")}

	for _, c := range []struct {
		name string
		ps   trading.Positions
		sum  string // empty if not known
	}{
		{"no positions", nil, "0"},
		{"all known", trading.Positions{known("10.5"), known("-20")}, "-9.5"},
		{"a PnL of 0 is known", trading.Positions{known("0")}, "0"},
		{"one unpriced", trading.Positions{known("10.5"), unpriced, known("-20")}, ""},
		{"the first unpriced", trading.Positions{unpriced, known("1")}, ""},
		{"the last unpriced", trading.Positions{known("1"), unpriced}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			sum, ok := c.ps.UnrealizedPnL()
			assert.Equal(t, c.sum != "", ok)
			if ok {
				assert.True(t, sum.Equal(trading.Dec(c.sum)), "sum is %v", sum)
			} else {
				assert.True(t, sum.IsZero(), "no partial sum to be taken for the whole")
			}
		})
	}
}

func TestSigned(t *testing.T) {
	size := trading.Dec("1.5")
	assert.True(t, trading.Position{Side: trading.Long, Size: size}.Signed().Equal(size))
	assert.True(t, trading.Position{Side: trading.Short, Size: size}.Signed().Equal(size.Neg()))
	assert.True(t, trading.Position{}.Signed().Equal(decimal.Zero))
}

func fullPosition() trading.Position {
	return trading.Position{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.5"), Leverage: trading.Some(trading.Dec("2")), EntryPrice: trading.Dec("60000"),
		Mark: trading.MarkAt(trading.Dec("61000")), Notional: trading.Some(trading.Dec("30500")), Margin: trading.Some(trading.Dec("15250")), UnrealizedPnL: trading.Some(trading.Dec("500")),
		TakeProfit: trading.At(trading.Dec("65000")), StopLoss: trading.At(trading.Dec("59000")), OpenedAt: time.UnixMilli(1_780_000_000_000).UTC(),
		Extra: trading.Extra{"a": json.RawMessage("1")},
	}
}

func TestPositionEqual(t *testing.T) { checkEqual(t, fullPosition()) }

func TestTrap_T73_FeesAreDeductedOnce(t *testing.T) {
	for _, c := range []struct{ gross, fee, net string }{
		{"100", "27", "73"},
		{"0", "27", "-27"},
		{"-100", "27", "-127"},
		{"26.99", "27", "-0.01"},
		{"0.1", "0.2", "-0.1"}, // no binary fraction
	} {
		net := trading.Trade{GrossPnL: trading.Dec(c.gross), RoundTripFee: trading.Dec(c.fee)}.NetPnL()
		assert.True(t, net.Equal(trading.Dec(c.net)), "%s - %s is %v", c.gross, c.fee, net)
	}
}

func fullTrade() trading.Trade {
	return trading.Trade{
		Symbol: "BTC", Side: trading.Long, Cause: trading.CauseStopLoss, Size: trading.Some(trading.Dec("0.5")), EntryPrice: trading.Some(trading.Dec("60000")),
		ExitPrice: trading.Dec("59000"), GrossPnL: trading.Dec("-500"), RoundTripFee: trading.Dec("26.775"),
		OpenedAt: time.UnixMilli(1_780_000_000_000).UTC(), ClosedAt: time.UnixMilli(1_780_000_100_000).UTC(),
		Extra: trading.Extra{"a": json.RawMessage("1")},
	}
}

func TestTradeEqual(t *testing.T) { checkEqual(t, fullTrade()) }

// A record that a program stores and reads again is the same record: nothing that
// was missing comes back as zero.
func TestRecordsSurviveJSON(t *testing.T) {
	state, position, trade := fullAccountState(), fullPosition(), fullTrade()

	for _, want := range []trading.AccountState{{}, state} {
		assert.True(t, roundTrip(t, want).Equal(want))
	}
	for _, want := range []trading.Position{{}, {TakeProfit: trading.Clear}, position} {
		assert.True(t, roundTrip(t, want).Equal(want))
	}
	for _, want := range []trading.Trade{{}, trade} {
		assert.True(t, roundTrip(t, want).Equal(want))
	}
	market := roundTrip(t, trading.Market{Symbol: "BTC", MaxLeverage: trading.Dec("5")})
	assert.True(t, market.Mark.IsZero())
	assert.True(t, market.MaxLeverage.Equal(trading.Dec("5")))
}

func roundTrip[T any](t *testing.T, v T) (again T) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &again), string(text))
	return again
}

// checkEqual proves that Equal of a record looks at every field: it takes a record
// without zero fields and changes one field after the other. A field that is added
// later and forgotten in Equal fails here.
func checkEqual[T interface{ Equal(T) bool }](t *testing.T, full T) {
	t.Helper()
	assert.True(t, full.Equal(rescaled(full)), "differs from itself with other digits behind the decimal point")
	for i := range reflect.TypeFor[T]().NumField() {
		name := reflect.TypeFor[T]().Field(i).Name
		assert.False(t, reflect.ValueOf(full).Field(i).IsZero(), "%s is zero: give it a value in the test", name)
		other := full
		field := reflect.ValueOf(&other).Elem().Field(i)
		field.SetZero()
		if full.Equal(other) || other.Equal(full) {
			t.Errorf("Equal does not look at %s", name)
		}
	}
}

// rescaled returns v with each number written with more digits, and each time in
// another zone: equal, and different under ==.
func rescaled[T any](v T) T {
	fields := reflect.ValueOf(&v).Elem()
	for i := range fields.NumField() {
		switch field := fields.Field(i).Addr().Interface().(type) {
		case *decimal.Decimal:
			*field = moreDigits(*field)
		case *trading.Opt[decimal.Decimal]:
			*field = trading.Some(moreDigits(known(field.Get())))
		case *trading.Mark:
			*field = trading.MarkAt(moreDigits(known(field.Price())))
		case *trading.Level:
			*field = trading.At(moreDigits(known(field.Value())))
		case *time.Time:
			*field = field.In(time.FixedZone("", 3600))
		case *trading.Extra:
			copied := trading.Extra{}
			for name, raw := range *field {
				copied[name] = append(json.RawMessage(nil), raw...)
			}
			*field = copied
		}
	}
	return v
}

func moreDigits(d decimal.Decimal) decimal.Decimal { return d.Add(decimal.New(0, -12)) }

// known is a number that is there, or zero.
func known(d decimal.Decimal, _ bool) decimal.Decimal { return d }

// What one environment does not tell is missing and not zero: a fill without a fee
// was not free, and a fill without an age is not fresh.
func TestTrap_T72_FillShapesDiffer(t *testing.T) {
	paper := trading.Fill{Price: trading.Dec("60000"), Repriced: trading.Some(false), MarkAge: trading.Some(40 * time.Millisecond)}
	_, ok := paper.Fee.Get()
	assert.False(t, ok)
	_, ok = paper.Size.Get()
	assert.False(t, ok)

	live := trading.Fill{Price: trading.Dec("60000"), Size: trading.Some(trading.Dec("0.5")), Fee: trading.Some(trading.Dec("13.5"))}
	_, ok = live.MarkAge.Get()
	assert.False(t, ok)
	_, ok = live.Repriced.Get()
	assert.False(t, ok)
}

// A full close leaves no position. On a live account, which does not tell what is
// left, there is no such answer to be misread.
func TestTrap_T60_NoPositionLeftIsNotNotTold(t *testing.T) {
	full := trading.CloseResult{ClosedPct: trading.Some(trading.Dec("100"))}
	assert.True(t, full.Left.IsZero(), "fully closed")

	left, ok := trading.CloseResult{Left: trading.Some(fullPosition())}.Left.Get()
	assert.True(t, ok)
	assert.True(t, left.Equal(fullPosition()))

	assert.True(t, trading.CloseResult{}.ClosedPct.IsZero(), "not told")
}

func TestSideOpposite(t *testing.T) {
	assert.Equal(t, trading.Short, trading.Long.Opposite())
	assert.Equal(t, trading.Long, trading.Short.Opposite())
	for _, s := range []trading.Side{"", "buy", "LONG"} {
		assert.Equal(t, s, s.Opposite(), "no side is made up")
	}
}

func TestTrap_T82_StatusesAllowNoEntryUnlessKnownTo(t *testing.T) {
	for _, c := range []struct {
		status      trading.AccountStatus
		entry, exit bool
	}{
		{trading.StatusActive, true, true},
		{trading.StatusPurchased, true, true},
		{trading.StatusFunded, true, true},
		{trading.StatusPassed, false, true},
		{trading.StatusFailed, false, false},
		{trading.StatusExpired, false, false},
		{trading.StatusSandboxActive, true, true},
		{trading.StatusSandboxLocked, false, false},
		{trading.StatusSandboxPassed, false, true},

		{"", false, true},
		{"SUSPENDED", false, true},
		{"Active", false, true},
		{"funded", false, true},
		{"LOCKED", false, true},
	} {
		assert.Equal(t, c.entry, c.status.AllowsEntry(), "entry while %q", c.status)
		assert.Equal(t, c.exit, c.status.AllowsExit(), "exit while %q", c.status)
	}
}

func TestTrap_T33_UnknownValuesOfTheServiceSurvive(t *testing.T) {
	const text = `{"A":"SUSPENDED","C":"expired","H":"maintenance","F":"delayed"}`
	var r struct {
		A trading.AccountStatus
		C trading.CloseCause
		H trading.HealthStatus
		F trading.Feed
	}
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	again, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Equal(t, text, string(again))
}

// Each advice, basis and kind says something of its own.
func TestWords(t *testing.T) {
	said := map[string]bool{}
	for _, advice := range []trading.Advice{trading.AdviseNever, trading.AdviseChange, trading.AdviseNewKey, trading.AdviseSameKey, trading.AdviseWait, trading.AdviseRead, trading.AdviseResolve} {
		said[advice.String()] = true
	}
	assert.Len(t, said, 7)
	assert.Equal(t, "drop it, alert a person", trading.Advice(99).String(), "what nobody knows is not retried")

	clear(said)
	for evidence := trading.EvidenceNone; evidence <= trading.EvidenceAcknowledged; evidence++ {
		said[evidence.String()] = true
	}
	assert.Len(t, said, int(trading.EvidenceAcknowledged)+1)
	assert.Equal(t, "none", trading.Evidence(99).String())

	assert.EqualError(t, trading.ErrNoPrice, "no fresh price")
}

// The table can be left before its end.
func TestRulesCanBeLeft(t *testing.T) {
	n := 0
	for range trading.Rules() {
		if n++; n == 3 {
			break
		}
	}
	assert.Equal(t, 3, n)
}

func TestAdviceOfOtherErrors(t *testing.T) {
	assert.Equal(t, trading.AdviseNever, trading.AdviceOf(nil))
	assert.Equal(t, trading.AdviseRead, trading.AdviceOf(errors.New("of nothing that this client did")), "in doubt, look")
	_, ok := trading.RetryAfter(errors.New("no refusal"))
	assert.False(t, ok)
	for _, want := range []time.Duration{0, time.Minute} {
		wait, ok := trading.RetryAfter(&trading.Error{Code: trading.CodeRateLimited, RetryAfter: trading.Some(want)})
		assert.True(t, ok)
		assert.Equal(t, want, wait)
	}
}
