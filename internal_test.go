package trading

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/wire"
)

// These tests see what only the package does. All others are below internal/proof.

func TestTrap_T27_CodesDifferByCaseAlone(t *testing.T) {
	locked := &Error{Code: "ACCOUNT_LOCKED", Status: 403, env: EnvLive}
	assert.ErrorIs(t, locked, CodeEquityCheckLocked)
	assert.NotErrorIs(t, locked, CodeAccountLocked)
	assert.ErrorIs(t, locked, ErrAccountLocked)
	price := &Error{Code: "NO_PRICE", Status: 409}
	assert.ErrorIs(t, price, CodeNoFillPrice)
	assert.NotErrorIs(t, price, CodeNoPrice)
	assert.ErrorIs(t, price, ErrNoPrice)
}

func TestTrap_T29_OneSentinelForBothEnvironments(t *testing.T) {
	assert.ErrorIs(t, &Error{Code: "order_not_marketable", Status: 409, env: EnvSandbox}, ErrNotMarketable)
	assert.ErrorIs(t, &Error{Code: "NOT_MARKETABLE", Status: 400, env: EnvLive}, ErrNotMarketable)
}

func TestAdviceOf(t *testing.T) {
	refusal := func(code Code, status int, outcome Outcome) error {
		return &WriteError{Outcome: outcome, Err: &Error{Code: code, Status: status, env: EnvLive, ended: ended{outcome}}}
	}
	for _, row := range []struct {
		err  error
		want Advice
	}{
		{nil, AdviseNever},
		{refusal(CodeBadSize, 400, NotApplied), AdviseChange},
		{refusal(CodeRateLimited, 429, NotApplied), AdviseWait},
		{refusal(CodeRateLimited, 429, Unknown), AdviseRead}, // doubt stands above the table
		{refusal(CodeInternalError, 500, Unknown), AdviseRead},
		{&WriteError{Outcome: NotApplied, Err: &TransportError{Err: errors.New("refused"), ended: ended{NotApplied}}}, AdviseSameKey},
		{&WriteError{Outcome: Unknown, Err: &TransportError{Written: true, Err: errors.New("cut")}}, AdviseRead},
		{&WriteError{Outcome: NotApplied, Err: &GuardError{Kind: ErrUnhealthy, ended: ended{NotApplied}}}, AdviseNewKey},
		{&WriteError{Outcome: Applied, Err: &DecodeError{Err: errors.New("odd"), ended: ended{Applied}}}, AdviseRead},
		{&GatewayError{ended: ended{NotApplied}}, AdviseSameKey},
		{errors.New("somebody else's"), AdviseRead},
	} {
		assert.Equal(t, row.want, AdviceOf(row.err), "%v", row.err)
	}
	assert.Equal(t, Applied, OutcomeOf(nil))
	assert.Equal(t, Unknown, OutcomeOf(errors.New("somebody else's")))
}

func digestedTrade() Trade {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	return Trade{
		Symbol: "BTC", Side: Long, Cause: CauseMarket, Size: Some(Dec("0.5")), EntryPrice: Some(Dec("64000")),
		ExitPrice: Dec("64100"), GrossPnL: Dec("50"), RoundTripFee: Dec("28.8"), OpenedAt: at, ClosedAt: at.Add(time.Hour),
		Extra: Extra{"note": json.RawMessage(`"x"`), "leverage": json.RawMessage(`2`)},
	}
}

// Two trades have the same digest exactly if nothing differs, whichever way their
// numbers were written.
func TestTradeDigests(t *testing.T) {
	one := digestedTrade()
	want := digestOfTrade(&one)
	again := digestedTrade()
	again.ExitPrice = Dec("64100.00")
	again.OpenedAt = again.OpenedAt.In(time.FixedZone("", 3600))
	assert.Equal(t, want, digestOfTrade(&again))
	again.ExitPrice, again.GrossPnL = decimal.New(641, 2), decimal.RequireFromString("50.00000000000000000000")
	assert.Equal(t, want, digestOfTrade(&again))
	assert.Equal(t, uint64(0x8483cb618d8bfc82), want, "a journal outlives the process that wrote it")

	seen := map[uint64]string{want: "unchanged"}
	for name, change := range map[string]func(*Trade){
		"Symbol":       func(t *Trade) { t.Symbol = "ETH" },
		"Side":         func(t *Trade) { t.Side = Short },
		"Cause":        func(t *Trade) { t.Cause = CauseStopLoss },
		"Size":         func(t *Trade) { t.Size = Some(Dec("0.6")) },
		"EntryPrice":   func(t *Trade) { t.EntryPrice = Some(Dec("1")) },
		"ExitPrice":    func(t *Trade) { t.ExitPrice = Dec("1") },
		"GrossPnL":     func(t *Trade) { t.GrossPnL = Dec("-50") },
		"RoundTripFee": func(t *Trade) { t.RoundTripFee = Dec("1") },
		"OpenedAt":     func(t *Trade) { t.OpenedAt = t.OpenedAt.Add(1) },
		"ClosedAt":     func(t *Trade) { t.ClosedAt = time.Time{} },
		"Extra":        func(t *Trade) { t.Extra = Extra{"note": json.RawMessage(`"x"`)} },
	} {
		changed := digestedTrade()
		change(&changed)
		digest := digestOfTrade(&changed)
		require.Empty(t, seen[digest], name)
		seen[digest] = name
	}
	none := digestedTrade()
	none.Size, none.EntryPrice = none.EntryPrice, Opt[decimal.Decimal]{}
	assert.NotContains(t, seen, digestOfTrade(&none))
	assert.Len(t, seen, reflect.TypeFor[Trade]().NumField()+1, "each field counts")
}

// No word but the two is a side.
func TestSidesAreTwo(t *testing.T) {
	for _, s := range []Side{"", "buy", "LONG"} {
		assert.False(t, s.valid())
	}
	assert.True(t, Long.valid() && Short.valid())
}

// A time that cannot be read is kept as it came.
func TestATimeThatCannotBeRead(t *testing.T) {
	at := wire.NewDecoder([]byte(`"the day before \"yesterday\""`)).Time()
	var extra map[string]json.RawMessage
	assert.True(t, timeOf(at, "openedAt", &extra).IsZero())
	assert.JSONEq(t, `"the day before \"yesterday\""`, string(extra["openedAt"]))
	assert.True(t, timeOf(wire.Time{}, "closedAt", &extra).IsZero())
	assert.Len(t, extra, 1, "one that is missing leaves nothing")
}

func TestAWaitIsSpreadOverItsUpperHalf(t *testing.T) {
	for _, wait := range []time.Duration{-1, 0, 1, 200 * time.Millisecond, 5 * time.Second} {
		for range 100 {
			assert.GreaterOrEqual(t, spread(wait), wait/2)
			assert.LessOrEqual(t, spread(wait), max(wait, 0))
		}
	}
}
