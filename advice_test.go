package trading

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allCodes are the 64 codes of the contract, with each status they are
// documented with; 0 is any 4xx. Copied from the contract by hand, and not from
// the table that is tested.
var allCodes = map[Code][]int{
	"missing_api_key": {401}, "invalid_api_key": {401}, "revoked_api_key": {401},
	"wrong_environment": {403}, "api_access_denied": {403}, "rate_limited": {429},
	"invalid_json": {400}, "bad_symbol": {400}, "bad_side": {400}, "bad_size": {400},
	"bad_limit_price": {400}, "bad_pct": {400}, "BAD_MAX_SLIPPAGE": {400}, "account_locked": {403},
	"asset_disabled": {403}, "MIN_NOTIONAL": {400}, "PER_POSITION_CAP": {400}, "TOTAL_MARGIN_CAP": {400},
	"ASSET_NOTIONAL_CAP": {400}, "NO_EQUITY": {400}, "cap_exceeded": {400}, "order_rejected": {400},
	"invalid_tpsl": {400}, "order_not_marketable": {409}, "GUARD_BAND": {409}, "MAX_SLIPPAGE": {409},
	"INSUFFICIENT_LIQUIDITY": {409}, "STALE_PRICE": {409}, "NO_PRICE": {409}, "fill_rejected": {409},
	"concurrent_request": {409}, "no_price": {503, 404, 400}, "no_position": {404, 400},
	"missing_fields": {400}, "account_not_found": {404}, "ACCOUNT_LOCKED": {403},
	"DAILY_DRAWDOWN_BREACH": {403}, "GLOBAL_DRAWDOWN_BREACH": {403}, "market_paused": {403},
	"NOT_MARKETABLE": {400}, "PRICE_UNAVAILABLE": {503}, "equity_unavailable": {503},
	"run_not_found": {404}, "order_not_found": {404}, "size_below_executed": {400},
	"BAD_DURATION": {0}, "BAD_ORDER_COUNT": {0}, "BAD_PRICE": {0}, "BAD_TRIGGER": {0},
	"TOO_MANY_RUNS": {0}, "CHASE_EXISTS": {0},
	"invalid_idempotency_key": {400}, "idempotency_key_reused": {422}, "idempotency_in_flight": {409},
	"idempotency_result_unknown": {409}, "idempotency_unavailable": {503},
	"bad_request": {400}, "unauthorized": {401}, "forbidden": {403}, "not_found": {404},
	"conflict": {409}, "unprocessable": {422}, "internal_error": {500}, "unavailable": {502, 503},
}

func TestRulesCoverTheContract(t *testing.T) {
	require.Len(t, allCodes, 64)
	got := map[Code][]int{}
	for rule := range Rules() {
		got[rule.Code] = append(got[rule.Code], rule.Status)
		assert.NotEmpty(t, rule.Meaning, "%s", rule.Code)
	}
	require.Len(t, got, len(allCodes))
	for code, statuses := range allCodes {
		assert.ElementsMatch(t, statuses, got[code], "%s", code)
	}
}

// T10, T11, T30, T36: neither the status nor the code alone says what to do.
func TestRuleFor(t *testing.T) {
	for _, row := range []struct {
		code    Code
		status  int
		env     Environment
		advice  Advice
		outcome Outcome
		kind    Kind
	}{
		{CodeNoPrice, 503, EnvLive, AdviseSameKey, NotApplied, ErrNoPrice},
		{CodeNoPrice, 400, EnvLive, AdviseNewKey, NotApplied, ErrNoPrice},
		{CodeNoPrice, 404, EnvSandbox, AdviseNewKey, NotApplied, ErrNoPrice},
		{CodeNoFillPrice, 409, EnvLive, AdviseNewKey, NotApplied, ErrNoPrice},
		{CodeGuardBand, 409, EnvLive, AdviseChange, NotApplied, ErrSlippage},
		{CodeIdempotencyInFlight, 409, EnvLive, AdviseSameKey, Unknown, ""},
		{CodeIdempotencyResultUnknown, 409, EnvLive, AdviseRead, Unknown, ""},
		{CodeConcurrentRequest, 409, EnvSandbox, AdviseSameKey, NotApplied, ""},
		{CodeMarketPaused, 403, EnvLive, AdviseNewKey, NotApplied, ""},
		{CodeDailyLossLimit, 403, EnvLive, AdviseNever, NotApplied, ErrLossLimit},
		{CodeAccountLocked, 403, EnvLive, AdviseNever, NotApplied, ErrAccountLocked},
		{CodeEquityCheckLocked, 403, EnvLive, AdviseNever, NotApplied, ErrAccountLocked},
		{CodeTooManyRuns, 409, EnvLive, AdviseChange, NotApplied, ""},
		// A code with a status that it is not documented with.
		{CodeNoPosition, 409, EnvSandbox, AdviseChange, NotApplied, ""},
		{CodeAccountLocked, 500, EnvLive, AdviseRead, Unknown, ""},
		{CodeEquityUnavailable, 500, EnvLive, AdviseRead, Unknown, ""},
		// A code of the other environment.
		{CodeConcurrentRequest, 409, EnvLive, AdviseChange, NotApplied, ""},
		// A code that nobody knows.
		{"NEW", 400, EnvLive, AdviseChange, NotApplied, ""},
		{"NEW", 401, EnvLive, AdviseNever, NotApplied, ErrKeyRefused},
		{"NEW", 403, EnvLive, AdviseNever, NotApplied, ""},
		{"NEW", 429, EnvLive, AdviseWait, NotApplied, ""},
		{"NEW", 500, EnvLive, AdviseRead, Unknown, ""},
		{"NEW", 200, EnvLive, AdviseChange, NotApplied, ""},
	} {
		rule := ruleFor(row.code, row.status, row.env)
		name := fmt.Sprintf("%s %d %s", row.code, row.status, row.env)
		assert.Equal(t, row.advice, rule.Advice, name)
		assert.Equal(t, row.outcome, rule.Outcome, name)
		assert.Equal(t, row.kind, rule.Kind, name)
	}
}

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
		return &WriteError{Outcome: outcome, Err: &Error{Code: code, Status: status, env: EnvLive, outcome: outcome}}
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
		{&WriteError{Outcome: NotApplied, Err: &TransportError{Err: errors.New("refused"), outcome: NotApplied}}, AdviseSameKey},
		{&WriteError{Outcome: Unknown, Err: &TransportError{Written: true, Err: errors.New("cut")}}, AdviseRead},
		{&WriteError{Outcome: NotApplied, Err: &GuardError{Kind: ErrUnhealthy, outcome: NotApplied}}, AdviseNewKey},
		{&WriteError{Outcome: Applied, Err: &DecodeError{Err: errors.New("odd"), outcome: Applied}}, AdviseRead},
		{&EdgeError{outcome: NotApplied}, AdviseSameKey},
		{errors.New("somebody else's"), AdviseRead},
	} {
		assert.Equal(t, row.want, AdviceOf(row.err), "%v", row.err)
	}
	assert.Equal(t, Applied, OutcomeOf(nil))
	assert.Equal(t, Unknown, OutcomeOf(errors.New("somebody else's")))
}
