package trading

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/secret"
)

// What a write to the sandbox does after one bad attempt: what it says of the
// outcome, and whether it goes on by itself. The sandbox has no idempotency, so
// the second request of a row is an order that nobody may have placed before.
func TestSandboxWriteAfterOneAttempt(t *testing.T) {
	good := answered(200, orderBody)
	for _, row := range []struct {
		name    string
		first   step
		again   bool
		outcome Outcome
		is      error
	}{
		{"success", good, false, Applied, nil},
		{"never connected", unreachable(), true, Applied, nil},
		{"T1 cut after the write", cutAfterWrite(), false, Unknown, nil},
		{"concurrent_request", answered(409, refusalBody(CodeConcurrentRequest)), true, Applied, nil},
		{"rate_limited", answered(429, refusalBody(CodeRateLimited), "Retry-After", "1"), true, Applied, nil},
		{"STALE_PRICE", answered(409, refusalBody(CodeStalePrice)), true, Applied, nil},
		{"NO_PRICE", answered(409, refusalBody(CodeNoFillPrice)), true, Applied, nil},
		{"no_price 503", answered(503, refusalBody(CodeNoPrice)), true, Applied, nil},
		{"no_price 404", answered(404, refusalBody(CodeNoPrice)), true, Applied, nil},
		{"GUARD_BAND", answered(409, refusalBody(CodeGuardBand)), false, NotApplied, ErrSlippage},
		{"T39 fill_rejected", answered(409, refusalBody(CodeFillRejected)), false, NotApplied, CodeFillRejected},
		{"T39 order_rejected", answered(400, refusalBody(CodeOrderRejected)), false, NotApplied, CodeOrderRejected},
		{"T39 cap_exceeded", answered(400, refusalBody(CodeCapExceeded)), false, NotApplied, ErrRiskCap},
		{"bad_symbol", answered(400, refusalBody(CodeBadSymbol)), false, NotApplied, CodeBadSymbol},
		{"account_locked", answered(403, refusalBody(CodeAccountLocked)), false, NotApplied, ErrAccountLocked},
		{"T33 D 20 a new code with a status that is documented", answered(400, refusalBody("TEAPOT")), false, Unknown, Code("TEAPOT")},
		{"T33 a new code with a status that is not", answered(418, refusalBody("TEAPOT")), false, Unknown, Code("TEAPOT")},
		{"internal_error", answered(500, refusalBody(CodeInternalError)), false, Unknown, CodeInternalError},
		{"unavailable", answered(503, refusalBody(CodeUnavailable)), false, Unknown, CodeUnavailable},
		{"T33 a new 5xx code", answered(503, refusalBody("NEW")), false, Unknown, nil},
		{"a known code with a 5xx it is not documented with", answered(500, refusalBody(CodeBadSide)), false, Unknown, nil},
		{"T24 HTML with 200", answered(200, "<html>hello</html>"), false, Unknown, nil},
		{"T24 HTML with 403", answered(403, "<html>denied</html>"), false, Unknown, nil},
		{"T24 HTML with 502", answered(502, "<html>bad gateway</html>"), false, Unknown, nil},
		{"T24 an empty 200", answered(200, ""), false, Unknown, nil},
		{"{} where a result belongs", answered(200, "{}"), false, Unknown, nil},
		{"T22 live's success on the sandbox", answered(200, `{"success":true}`), false, Unknown, nil},
		{"ok false", answered(200, `{"ok":false}`), false, Unknown, nil},
		{"an error without a message", answered(400, `{"error":"bad_size"}`), false, Unknown, nil},
		{"a refusal with 200", answered(200, refusalBody(CodeBadSize)), false, Unknown, nil},
		{"D 49 neither a yes nor a no", answered(400, `{"success":false,"error":"bad_size","message":"no"}`), false, Unknown, nil},
		{"D 49 a code with a space", answered(400, refusalBody("bad size")), false, Unknown, nil},
		{"a yes and a no at once", answered(400, `{"ok":true,"error":"bad_size","message":"no"}`), false, Unknown, nil},
		{"redirect", answered(307, "", "Location", "https://elsewhere.test/v1/sandbox/orders"), false, Unknown, nil},
		{"ok without a fill", answered(200, `{"ok":true}`), false, Applied, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := newScript(t, row.first)
				if row.again {
					script.steps = append(script.steps, good)
				}
				client := newTestClient(t, script)
				_, err := client.Sandbox.PlaceOrder(context.Background(), testOrder())
				script.done()
				assert.Equal(t, row.outcome, OutcomeOf(err), "%v", err)
				if row.is != nil {
					require.ErrorIs(t, err, row.is)
				}
				if row.again || row.name == "success" {
					require.NoError(t, err)
				} else {
					var write *WriteError
					require.ErrorAs(t, err, &write)
				}
				for _, request := range script.received() {
					if request.body != "" {
						assert.Equal(t, `{"leverage":2,"side":"long","size":0.01,"symbol":"BTC"}`, request.body)
					}
					assert.NotContains(t, request.header, "Idempotency-Key", "the sandbox ignores it, net/http does not")
				}
			})
		})
	}
}

func TestReadAfterOneAttempt(t *testing.T) {
	good := answered(200, `{"ok":true,"account":`+accountBody+`}`)
	for _, row := range []struct {
		name  string
		first step
		again bool
	}{
		{"cut", cutAfterWrite(), true},
		{"never connected", unreachable(), true},
		{"internal_error", answered(500, refusalBody(CodeInternalError)), true},
		{"a page of the edge with 502", answered(502, "<html>"), true},
		{"a page of the edge with 403", answered(403, "<html>"), false},
		{"a page of the edge with 200", answered(200, "<html>"), false},
		{"rate_limited", answered(429, refusalBody(CodeRateLimited), "Retry-After", "7"), true},
		{"not_found", answered(404, refusalBody(CodeNotFound)), false},
		{"T85 invalid_api_key", answered(401, refusalBody(CodeInvalidAPIKey)), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := newScript(t, row.first)
				if row.again {
					script.steps = append(script.steps, good)
				}
				state, err := newTestClient(t, script).Sandbox.State(context.Background())
				script.done()
				if row.again {
					require.NoError(t, err)
					assert.Equal(t, AccountID("sb_1"), state.ID)
					return
				}
				require.Error(t, err)
				assert.Nil(t, state)
				assert.Equal(t, NotApplied, OutcomeOf(err), "a read applies nothing")
			})
		})
	}
}

func TestRetriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := func() step { return answered(500, refusalBody(CodeInternalError)) }
		script := newScript(t, down(), down(), down(), down())
		var meta Meta
		_, err := newTestClient(t, script).Sandbox.Trades(context.Background(), ResponseInto(&meta))
		require.ErrorIs(t, err, CodeInternalError)
		script.done()
		assert.Equal(t, 4, meta.Attempts)
		assert.Equal(t, 500, meta.Status)
	})
	synctest.Test(t, func(t *testing.T) {
		stale := func() step { return answered(409, refusalBody(CodeStalePrice)) }
		script := newScript(t, stale(), stale(), stale())
		_, err := newTestClient(t, script).Sandbox.PlaceOrder(context.Background(), testOrder())
		require.ErrorIs(t, err, ErrNoPrice)
		assert.Equal(t, NotApplied, OutcomeOf(err))
		script.done()
	})
}

// keyLimited is the 429 of the key's own limit, which is closed for a minute.
func keyLimited() step {
	return answered(429, refusalBody(CodeRateLimited), "Retry-After", "60", "X-RateLimit-Limit", "600",
		"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10))
}

func TestTrap_T90_RetryAfterIsWaitedForInFullAndByEveryCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := answered(200, `{"ok":true,"trades":[]}`)
		script := newScript(t, keyLimited(), good, good)
		client := newTestClient(t, script)
		began := time.Now()
		done := make(chan error)
		go func() {
			_, err := client.Sandbox.Trades(context.Background())
			done <- err
		}()
		synctest.Wait() // the first has its 429
		_, err := client.Sandbox.Trades(context.Background())
		require.NoError(t, err)
		require.NoError(t, <-done)
		script.done()
		for _, request := range script.received()[1:] {
			assert.GreaterOrEqual(t, request.at.Sub(began), time.Minute, "sent before Retry-After")
		}
	})
}

func TestTrap_T90_AWaitBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	for _, row := range []struct {
		name string
		call func(*Client) error
	}{
		{"a read with a deadline", func(c *Client) error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			_, err := c.Sandbox.Trades(ctx)
			return err
		}},
		{"an entry past its send TTL", func(c *Client) error {
			_, err := c.Sandbox.PlaceOrder(context.Background(), testOrder())
			return err
		}},
		{"a read that fails fast", func(c *Client) error {
			_, err := c.Sandbox.Trades(context.Background(), FailFast())
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := newScript(t, keyLimited())
				client := newTestClient(t, script)
				began := time.Now()
				err := row.call(client)
				require.ErrorIs(t, err, CodeRateLimited)
				assert.Equal(t, NotApplied, OutcomeOf(err))
				wait, ok := RetryAfter(err)
				assert.True(t, ok)
				assert.Equal(t, time.Minute, wait)
				assert.Zero(t, time.Since(began), "it waited for nothing")

				// The limit is closed for everybody: the next one is not sent at all.
				err = row.call(client)
				require.ErrorIs(t, err, CodeRateLimited)
				var refusal *Error
				require.ErrorAs(t, err, &refusal)
				assert.True(t, refusal.Local)
				script.done()
			})
		})
	}
}

func TestContextErrorsJoinTheServicesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := newScript(t, answered(500, refusalBody(CodeInternalError)))
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			time.Sleep(10 * time.Millisecond)
			cancel()
		}()
		_, err := newTestClient(t, script).Sandbox.Trades(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, CodeInternalError)
		script.done()
	})
}

func TestSendTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := newScript(t, answered(409, refusalBody(CodeConcurrentRequest)))
		_, err := newTestClient(t, script).Sandbox.PlaceOrder(context.Background(), testOrder(), WithSendTTL(0))
		require.ErrorIs(t, err, CodeConcurrentRequest)
		script.done()
	})
	synctest.Test(t, func(t *testing.T) {
		// Another writer holds the sandbox longer than the decision keeps.
		arrived := make(chan struct{})
		script := newScript(t, hanging(arrived))
		client := newTestClient(t, script, WithAttemptTimeout(20*time.Second))
		first := make(chan error)
		go func() {
			_, err := client.Sandbox.PlaceOrder(context.Background(), testOrder(), AllowPending())
			first <- err
		}()
		<-arrived
		_, err := client.Sandbox.PlaceOrder(context.Background(), testOrder(), AllowPending())
		require.ErrorIs(t, err, ErrExpired)
		assert.Equal(t, NotApplied, OutcomeOf(err))
		err = <-first
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, Unknown, OutcomeOf(err))
		script.done()
	})
}

func TestTrap_T85_ARefusedKeyIsNotTriedOnAndOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := newScript(t, answered(401, refusalBody(CodeRevokedAPIKey)))
		client := newTestClient(t, script)
		ctx := context.Background()
		_, err := client.Sandbox.Trades(ctx)
		require.ErrorIs(t, err, ErrKeyRefused)
		for range 100 {
			_, err = client.Sandbox.Trades(ctx)
			require.ErrorIs(t, err, CodeRevokedAPIKey)
		}
		script.done()

		// The other key is another key.
		script.steps = []step{answered(200, `{"userId":"u","environment":"live","keyId":"k"}`)}
		_, err = client.Me(ctx, EnvLive)
		require.NoError(t, err)

		// After half a minute one call probes; the others wait for what it finds.
		time.Sleep(secret.HoldBack)
		script.steps = []step{answered(401, refusalBody(CodeRevokedAPIKey))}
		for range 3 {
			_, err = client.Sandbox.Trades(ctx)
			require.ErrorIs(t, err, CodeRevokedAPIKey)
		}
		script.done()

		// An exit may always try, and one that works resets the breaker.
		script.steps = []step{
			answered(404, refusalBody(CodeNoPosition)),
			answered(200, `{"ok":true,"trades":[]}`),
		}
		_, err = client.Sandbox.ClosePosition(ctx, "BTC", All)
		require.ErrorIs(t, err, CodeNoPosition)
		_, err = client.Sandbox.Trades(ctx)
		require.NoError(t, err)
		script.done()
	})
}

func TestAWaitIsSpreadOverItsUpperHalf(t *testing.T) {
	for _, wait := range []time.Duration{-1, 0, 1, 200 * time.Millisecond, 5 * time.Second} {
		for range 100 {
			assert.GreaterOrEqual(t, spread(wait), wait/2)
			assert.LessOrEqual(t, spread(wait), max(wait, 0))
		}
	}
}

func TestCallerLeavesInMidFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived := make(chan struct{})
		script := newScript(t, hanging(arrived), answered(404, refusalBody(CodeNoPosition)))
		client := newTestClient(t, script)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-arrived
			cancel()
		}()
		began := time.Now()
		_, err := client.Sandbox.PlaceOrder(ctx, testOrder())
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, Unknown, OutcomeOf(err))
		assert.Zero(t, time.Since(began), "it returns at once")
		assert.Equal(t, AdviseRead, AdviceOf(err))

		// The attempt is over for the client, so its place for a writer is free.
		_, err = client.Sandbox.ClosePosition(context.Background(), "BTC", All)
		require.ErrorIs(t, err, CodeNoPosition)
		assert.Zero(t, time.Since(began))
		script.done()
	})
}

func TestCallerLeavesBeforeAnythingIsSent(t *testing.T) {
	script := newScript(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := newTestClient(t, script).Sandbox.PlaceOrder(ctx, testOrder())
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, NotApplied, OutcomeOf(err))
}

func TestCloseEndsWaitsAndRefusesCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := newScript(t, keyLimited())
		client := newTestClient(t, script)
		done := make(chan error)
		go func() {
			_, err := client.Sandbox.Trades(context.Background())
			done <- err
		}()
		synctest.Wait()
		require.NoError(t, client.Close())
		err := <-done
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, err, CodeRateLimited)
		_, err = client.Sandbox.PlaceOrder(context.Background(), testOrder())
		require.ErrorIs(t, err, ErrClosed)
		assert.Equal(t, NotApplied, OutcomeOf(err))
		script.done()
	})
}

func TestOutcomeSurvivesTakingAnErrorOut(t *testing.T) {
	script := newScript(t, answered(500, refusalBody(CodeInternalError)))
	_, err := newTestClient(t, script).Sandbox.PlaceOrder(context.Background(), testOrder())
	var refusal *Error
	require.True(t, errors.As(err, &refusal))
	assert.Equal(t, Unknown, OutcomeOf(refusal))
	assert.Equal(t, AdviseRead, AdviceOf(refusal))
}
