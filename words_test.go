package trading

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/wire"
)

// Each advice, basis and kind says something of its own.
func TestWords(t *testing.T) {
	said := map[string]bool{}
	for _, advice := range []Advice{AdviseNever, AdviseChange, AdviseNewKey, AdviseSameKey, AdviseWait, AdviseRead} {
		said[advice.String()] = true
	}
	assert.Len(t, said, 6)
	assert.Equal(t, "do not retry", Advice(99).String(), "what nobody knows is not retried")

	clear(said)
	for evidence := EvidenceNone; evidence <= EvidenceAcknowledged; evidence++ {
		said[evidence.String()] = true
	}
	assert.Len(t, said, int(EvidenceAcknowledged)+1)
	assert.Equal(t, "none", Evidence(99).String())

	assert.EqualError(t, ErrNoPrice, "no fresh price")
}

// The table can be left before its end.
func TestRulesCanBeLeft(t *testing.T) {
	n := 0
	for range Rules() {
		if n++; n == 3 {
			break
		}
	}
	assert.Equal(t, 3, n)
}

func TestAdviceOfOtherErrors(t *testing.T) {
	assert.Equal(t, AdviseNever, AdviceOf(nil))
	assert.Equal(t, AdviseRead, AdviceOf(errors.New("of nothing that this client did")), "in doubt, look")
	_, ok := RetryAfter(errors.New("no refusal"))
	assert.False(t, ok)
	wait, ok := RetryAfter(&Error{Code: CodeRateLimited, RetryAfter: time.Minute})
	assert.True(t, ok)
	assert.Equal(t, time.Minute, wait)
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

// An option that makes no sense is an error of New, and not a surprise later.
func TestOptionsThatAreNil(t *testing.T) {
	for name, opt := range map[string]Option{
		"sandbox key": WithSandboxKeyFunc(nil), "live key": WithLiveKeyFunc(nil), "journal": WithJournal(nil),
	} {
		_, err := New(testBaseURL, opt)
		require.ErrorContains(t, err, "nil", name)
	}
	_, err := New(testBaseURL, WithResolveTimeout(-1))
	require.ErrorContains(t, err, "negative")
}

// One live key reaches all accounts of its owner: the guard holds back what is for
// others, and nothing on paper.
func TestOnlyAccounts(t *testing.T) {
	guard := OnlyAccounts("acc_1", "acc_2")
	require.NoError(t, guard(t.Context(), Write{Environment: EnvLive, Account: "acc_2"}))
	require.NoError(t, guard(t.Context(), Write{Environment: EnvSandbox}))
	require.ErrorContains(t, guard(t.Context(), Write{Environment: EnvLive, Account: "acc_3"}), `"acc_3"`)
	require.Error(t, guard(t.Context(), Write{Environment: EnvLive}))
}
