package values

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// Each advice, basis and kind says something of its own.
func TestWords(t *testing.T) {
	said := map[string]bool{}
	for _, advice := range []trading.Advice{trading.AdviseNever, trading.AdviseChange, trading.AdviseNewKey, trading.AdviseSameKey, trading.AdviseWait, trading.AdviseRead} {
		said[advice.String()] = true
	}
	assert.Len(t, said, 6)
	assert.Equal(t, "do not retry", trading.Advice(99).String(), "what nobody knows is not retried")

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
	wait, ok := trading.RetryAfter(&trading.Error{Code: trading.CodeRateLimited, RetryAfter: time.Minute})
	assert.True(t, ok)
	assert.Equal(t, time.Minute, wait)
}

// One live key reaches all accounts of its owner: the guard holds back what is for
// others, and nothing on paper.
func TestOnlyAccounts(t *testing.T) {
	guard := trading.OnlyAccounts("acc_1", "acc_2")
	require.NoError(t, guard(t.Context(), trading.Write{Environment: trading.EnvLive, Account: "acc_2"}))
	require.NoError(t, guard(t.Context(), trading.Write{Environment: trading.EnvSandbox}))
	require.ErrorContains(t, guard(t.Context(), trading.Write{Environment: trading.EnvLive, Account: "acc_3"}), `"acc_3"`)
	require.Error(t, guard(t.Context(), trading.Write{Environment: trading.EnvLive}))
}
