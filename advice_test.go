package trading

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
