package trading

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
