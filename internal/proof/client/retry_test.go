package client

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/internal/secret"
)

// What a write to the sandbox does after one bad attempt, beside the refusals on record: what it
// says of the outcome, and whether it goes on by itself. The sandbox has no idempotency, so
// the second request of a row is an order that nobody may have placed before.
func TestSandboxWriteAfterOneAttempt(t *testing.T) {
	good := rig.Answered(200, rig.OrderBody)
	for _, row := range []struct {
		name    string
		first   rig.Step
		again   bool
		outcome trading.Outcome
		is      error
	}{
		{"success", good, false, trading.Applied, nil},
		{"never connected", rig.Unreachable(), true, trading.Applied, nil},
		{"T1 cut after the write", rig.CutAfterWrite(), false, trading.Unknown, nil},
		{"T33 D 20 a new code with a status that is documented", rig.Answered(400, rig.RefusalBody("TEAPOT")), false, trading.Unknown, trading.Code("TEAPOT")},
		{"T33 a new code with a status that is not", rig.Answered(418, rig.RefusalBody("TEAPOT")), false, trading.Unknown, trading.Code("TEAPOT")},
		{"T33 a new 5xx code", rig.Answered(503, rig.RefusalBody("NEW")), false, trading.Unknown, nil},
		{"T22 live's success on the sandbox", rig.Answered(200, `{"success":true}`), false, trading.Unknown, nil},
		{"D 49 neither a yes nor a no", rig.Answered(400, `{"success":false,"error":"bad_size","message":"no"}`), false, trading.Unknown, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := rig.NewScript(t, row.first)
				if row.again {
					script.Steps = append(script.Steps, good)
				}
				client := rig.ScriptedClient(t, script)
				_, err := client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"))
				script.Done()
				assert.Equal(t, row.outcome, trading.OutcomeOf(err), "%v", err)
				if row.is != nil {
					require.ErrorIs(t, err, row.is)
				}
				if row.again || row.name == "success" {
					require.NoError(t, err)
				} else {
					var write *trading.WriteError
					require.ErrorAs(t, err, &write)
				}
				for _, request := range script.Received() {
					if request.Body != "" {
						assert.Equal(t, `{"leverage":2,"side":"long","size":0.01,"symbol":"BTC"}`, request.Body)
					}
					assert.NotContains(t, request.Header, "Idempotency-Key", "the sandbox ignores it, net/http does not")
				}
			})
		})
	}
}

func TestReadAfterOneAttempt(t *testing.T) {
	good := rig.Answered(200, `{"ok":true,"account":`+rig.AccountBody+`}`)
	for _, row := range []struct {
		name  string
		first rig.Step
		again bool
	}{
		{"cut", rig.CutAfterWrite(), true},
		{"never connected", rig.Unreachable(), true},
		{"a page of the edge with 502", rig.Answered(502, "<html>"), true},
		{"a page of the edge with 403", rig.Answered(403, "<html>"), false},
		{"a page of the edge with 200", rig.Answered(200, "<html>"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := rig.NewScript(t, row.first)
				if row.again {
					script.Steps = append(script.Steps, good)
				}
				state, err := rig.ScriptedClient(t, script).Sandbox.State(context.Background())
				script.Done()
				if row.again {
					require.NoError(t, err)
					assert.Equal(t, trading.AccountID("sb_1"), state.ID)
					return
				}
				require.Error(t, err)
				assert.Nil(t, state)
				assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err), "a read applies nothing")
			})
		})
	}
}

// keyLimited is the 429 of the key's own limit, which is closed for a minute.
func keyLimited() rig.Step {
	return rig.Answered(429, rig.RefusalBody(trading.CodeRateLimited), "Retry-After", "60", "X-RateLimit-Limit", "600",
		"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10))
}

func TestTrap_T90_RetryAfterIsWaitedForInFullAndByEveryCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := rig.Answered(200, `{"ok":true,"trades":[]}`)
		script := rig.NewScript(t, keyLimited(), good, good)
		client := rig.ScriptedClient(t, script)
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
		script.Done()
		for _, request := range script.Received()[1:] {
			assert.GreaterOrEqual(t, request.At.Sub(began), time.Minute, "sent before Retry-After")
		}
	})
}

func TestTrap_T90_AWaitBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	for _, row := range []struct {
		name string
		call func(*trading.Client) error
	}{
		{"a read with a deadline", func(c *trading.Client) error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			_, err := c.Sandbox.Trades(ctx)
			return err
		}},
		{"an entry past its send TTL", func(c *trading.Client) error {
			_, err := c.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"))
			return err
		}},
		{"a read that fails fast", func(c *trading.Client) error {
			_, err := c.Sandbox.Trades(context.Background(), trading.FailFast())
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := rig.NewScript(t, keyLimited())
				client := rig.ScriptedClient(t, script)
				began := time.Now()
				err := row.call(client)
				require.ErrorIs(t, err, trading.CodeRateLimited)
				assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
				wait, ok := trading.RetryAfter(err)
				assert.True(t, ok)
				assert.Equal(t, time.Minute, wait)
				assert.Zero(t, time.Since(began), "it waited for nothing")

				// The limit is closed for everybody: the next one is not sent at all.
				err = row.call(client)
				require.ErrorIs(t, err, trading.CodeRateLimited)
				var refusal *trading.Error
				require.ErrorAs(t, err, &refusal)
				assert.True(t, refusal.Local)
				script.Done()
			})
		})
	}
}

func TestContextErrorsJoinTheServicesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := rig.NewScript(t, rig.Answered(500, rig.RefusalBody(trading.CodeInternalError)))
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			time.Sleep(10 * time.Millisecond)
			cancel()
		}()
		_, err := rig.ScriptedClient(t, script).Sandbox.Trades(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, trading.CodeInternalError)
		script.Done()
	})
}

func TestSendTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := rig.NewScript(t, rig.Answered(409, rig.RefusalBody(trading.CodeConcurrentRequest)))
		_, err := rig.ScriptedClient(t, script).Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"), trading.WithSendTTL(0))
		require.ErrorIs(t, err, trading.CodeConcurrentRequest)
		script.Done()
	})
	synctest.Test(t, func(t *testing.T) {
		// Another writer holds the sandbox longer than the decision keeps.
		arrived := make(chan struct{})
		script := rig.NewScript(t, rig.Hanging(arrived))
		client := rig.ScriptedClient(t, script, trading.WithAttemptTimeout(20*time.Second))
		first := make(chan error)
		go func() {
			_, err := client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"), trading.AllowPending())
			first <- err
		}()
		<-arrived
		_, err := client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"), trading.AllowPending())
		require.ErrorIs(t, err, trading.ErrExpired)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		err = <-first
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(err))
		script.Done()
	})
}

func TestTrap_T85_ARefusedKeyIsNotTriedOnAndOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := rig.NewScript(t, rig.Answered(401, rig.RefusalBody(trading.CodeRevokedAPIKey)))
		client := rig.ScriptedClient(t, script)
		ctx := context.Background()
		_, err := client.Sandbox.Trades(ctx)
		require.ErrorIs(t, err, trading.ErrKeyRefused)
		for range 100 {
			_, err = client.Sandbox.Trades(ctx)
			require.ErrorIs(t, err, trading.CodeRevokedAPIKey)
		}
		script.Done()

		// The other key is another key.
		script.Steps = []rig.Step{rig.Answered(200, `{"userId":"u","environment":"live","keyId":"k"}`)}
		_, err = client.Me(ctx, trading.EnvLive)
		require.NoError(t, err)

		// After half a minute one call probes; the others wait for what it finds.
		time.Sleep(secret.HoldBack)
		script.Steps = []rig.Step{rig.Answered(401, rig.RefusalBody(trading.CodeRevokedAPIKey))}
		for range 3 {
			_, err = client.Sandbox.Trades(ctx)
			require.ErrorIs(t, err, trading.CodeRevokedAPIKey)
		}
		script.Done()

		// An exit may always try, and one that works resets the breaker.
		script.Steps = []rig.Step{
			rig.Answered(404, rig.RefusalBody(trading.CodeNoPosition)),
			rig.Answered(200, `{"ok":true,"trades":[]}`),
		}
		_, err = client.Sandbox.ClosePosition(ctx, "BTC", trading.All)
		require.ErrorIs(t, err, trading.CodeNoPosition)
		_, err = client.Sandbox.Trades(ctx)
		require.NoError(t, err)
		script.Done()
	})
}
