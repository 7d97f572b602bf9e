package refusals

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

// The throttle of failed authentications acts in front of the keys: a good key
// from that address is turned away too, with a Retry-After and no more.
func TestFailedAuthThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		for range 10 {
			require.Equal(t, 401, r.RawAs("pk_test_guess", trading.OpMe, "").Status)
		}
		err := r.Refused(rig.Buy("1"))
		refusal := rig.RefusalOf(t, err)
		assert.Equal(t, trading.CodeRateLimited, refusal.Code)
		assert.Equal(t, time.Minute, refusal.RetryAfter)
		_, told := refusal.Meta.RateLimit.Get()
		assert.False(t, told, "it is no limit of the key")
		assert.Equal(t, trading.AdviseWait, trading.AdviceOf(err))

		// The other reading: no Retry-After. A full window stands for it.
		r = rig.New(t, []tradingsim.Option{tradingsim.WithInterpretation(3)})
		for range 10 {
			r.RawAs("pk_test_guess", trading.OpMe, "")
		}
		wait, ok := trading.RetryAfter(r.Refused(rig.Buy("1")))
		assert.True(t, ok)
		assert.Equal(t, time.Minute, wait)
		_, err = r.Health(t.Context())
		require.NoError(t, err, "keyless endpoints are not throttled")
	})
}

// A limit is the key's own: what one key used up, another still has.
func TestTrap_T92_LimitsAreTheKeysOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithKeyLimit(2))
		first, second := rig.Join(t, sim), rig.Join(t, sim, trading.WithSandboxKey(sim.NewSandboxKey()))
		first.Trades()
		first.Trades()
		_, err := first.Sandbox.Trades(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited)
		second.Trades()
		_, err = first.Me(t.Context(), trading.EnvLive)
		require.NoError(t, err, "the live key's limit is another")

		began := time.Now()
		first.Trades()
		assert.GreaterOrEqual(t, time.Since(began), time.Minute, "it waited for its window")
	})
}

// A code of a Pro order that this version does not know survives, and is taken for
// what its status says.
func TestUnknownProCodesSurvive(t *testing.T) {
	for _, row := range []struct {
		status  int
		outcome trading.Outcome
		advice  trading.Advice
	}{
		{400, trading.NotApplied, trading.AdviseChange},
		{403, trading.NotApplied, trading.AdviseNever},
		{409, trading.NotApplied, trading.AdviseChange},
		{422, trading.NotApplied, trading.AdviseChange},
	} {
		rig.LiveTest(t, nil, nil, func(r rig.Rig) {
			r.Sim.Fault("POST /orders/swarm", tradingsim.Fail(row.status, "SWARM_TOO_DENSE"))
			_, err := r.Account().PlaceSwarm(r.T.Context(), rig.Buy("0.5"), trading.Swarm{Orders: 5})
			require.ErrorIs(r.T, err, trading.Code("SWARM_TOO_DENSE"))
			assert.Equal(r.T, row.outcome, trading.OutcomeOf(err))
			assert.Equal(r.T, row.advice, trading.AdviceOf(err))
			assert.Equal(r.T, 1, rig.RefusalOf(r.T, err).Meta.Attempts)
			assert.Empty(r.T, r.Sim.Ledger())
		})
	}
	for _, status := range []int{500, 503} { // it may have run
		rig.LiveTest(t, nil, rig.SendingOnly, func(r rig.Rig) {
			r.Sim.Fault("POST /orders/swarm", tradingsim.Raw(status, nil, `{"error":"SWARM_TOO_DENSE","message":"no"}`))
			_, err := r.Account().PlaceSwarm(r.T.Context(), rig.Buy("0.5"), trading.Swarm{Orders: 5}, trading.WithSendTTL(0))
			require.ErrorIs(r.T, err, trading.Code("SWARM_TOO_DENSE"))
			assert.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
			assert.Equal(r.T, trading.AdviseRead, trading.AdviceOf(err))
		})
	}
}
