package trading_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

func healthJSON(ok bool, status, feed string) string {
	return fmt.Sprintf(`{"ok":%t,"status":%q,"feed":%q,"service":"trading","version":"v1","asOf":1795000000000,"cacheSeconds":5}`, ok, status, feed)
}

func TestTrap_T42_OnlyAllFourTogetherAreSafe(t *testing.T) {
	for _, row := range []struct {
		ok           bool
		status, feed string
		safe         bool
	}{
		{true, "healthy", "live", true},
		{false, "healthy", "live", false},
		{true, "degraded", "live", false},
		{true, "unavailable", "live", false},
		{true, "healthy", "stale", false},
		{true, "healthy", "unknown", false},
		{true, "healthy", "LIVE", false},
		{true, "splendid", "live", false},
		{true, "", "", false},
	} {
		h := &trading.Health{OK: row.ok, Status: trading.HealthStatus(row.status), Feed: trading.Feed(row.feed)}
		assert.Equal(t, row.safe, h.Safe(), "%+v", row)
	}
	assert.False(t, (*trading.Health)(nil).Safe())
}

func TestTrap_T41_A503OfHealthIsAnAnswer(t *testing.T) {
	script := rig.NewScript(t)
	script.Health = rig.Answered(503, healthJSON(false, "degraded", "stale"))
	var meta trading.Meta
	health, err := rig.ScriptedClient(t, script).Health(context.Background(), trading.ResponseInto(&meta))
	require.NoError(t, err)
	assert.Equal(t, trading.Degraded, health.Status)
	assert.Equal(t, trading.FeedStale, health.Feed)
	assert.False(t, health.Safe())
	assert.Equal(t, time.UnixMilli(1795000000000).UTC(), health.AsOf)
	assert.Equal(t, 5*time.Second, health.CacheFor)
	assert.Equal(t, 1, meta.Attempts, "it is not retried")
}

func TestTrap_T48_NoKeyOnKeylessRoutes(t *testing.T) {
	script := rig.NewScript(t,
		rig.Answered(200, rig.HealthyBody),
		rig.Answered(200, `{"openapi":"3.0.3","paths":{}}`),
		rig.Answered(200, `{"userId":"u","environment":"sandbox","keyId":"k"}`),
	)
	script.Health = nil
	client := rig.ScriptedClient(t, script)
	ctx := context.Background()
	_, err := client.Health(ctx)
	require.NoError(t, err)
	_, err = client.OpenAPI(ctx)
	require.NoError(t, err)
	_, err = client.Me(ctx, trading.EnvSandbox)
	require.NoError(t, err)
	script.Done()
	got := script.Received()
	assert.Empty(t, got[0].Header.Get("X-API-Key"))
	assert.Empty(t, got[1].Header.Get("X-API-Key"))
	assert.Equal(t, rig.SandboxKey, got[2].Header.Get("X-API-Key"))
	for _, request := range got {
		assert.Empty(t, request.Header.Get("Authorization"))
		assert.Regexp(t, `^trading-go/\d+\.\d+\.\d+ `, request.Header.Get("User-Agent"))
	}
}

func TestGate(t *testing.T) {
	const none = trading.Kind("")
	for _, row := range []struct {
		name   string
		health rig.Step
		gate   trading.HealthGate
		opts   []trading.CallOption
		entry  trading.Kind
		exit   trading.Kind
	}{
		{"healthy", rig.Answered(200, rig.HealthyBody), trading.HealthGate{}, nil, none, none},
		{"T43 degraded", rig.Answered(503, healthJSON(false, "degraded", "stale")), trading.HealthGate{}, nil, trading.ErrUnhealthy, none},
		{"unavailable", rig.Answered(503, healthJSON(false, "unavailable", "unknown")), trading.HealthGate{}, nil, trading.ErrUnhealthy, none},
		{"T42 feed unknown", rig.Answered(200, healthJSON(true, "healthy", "unknown")), trading.HealthGate{}, nil, trading.ErrUnhealthy, none},
		{"T44 not JSON", rig.Answered(200, "<html>ok</html>"), trading.HealthGate{}, nil, trading.ErrUnhealthy, none},
		{"T44 no connection", rig.Unreachable(), trading.HealthGate{}, nil, trading.ErrUnhealthy, none},
		{"T44 no answer", rig.Hanging(nil), trading.HealthGate{}, nil, trading.ErrUnhealthy, none},
		{"another's 503", rig.Answered(503, rig.RefusalBody(trading.CodeUnavailable)), trading.HealthGate{}, nil, trading.ErrUnhealthy, none},
		{"strict", rig.Answered(503, healthJSON(false, "degraded", "stale")), trading.HealthGate{Strict: true}, nil, trading.ErrUnhealthy, trading.ErrUnhealthy},
		{"off", rig.Answered(503, healthJSON(false, "degraded", "stale")), trading.HealthGate{Off: true}, nil, none, none},
		{"skipped", rig.Answered(503, healthJSON(false, "degraded", "stale")), trading.HealthGate{Strict: true}, []trading.CallOption{trading.SkipHealthGate()}, none, none},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := rig.NewScript(t)
				script.Health = row.health
				client := rig.ScriptedClient(t, script, trading.WithHealthGate(row.gate))
				ctx := context.Background()

				check := func(want trading.Kind, send func() error) {
					if want == none {
						script.Steps = []rig.Step{rig.Answered(400, rig.RefusalBody(trading.CodeBadRequest))}
						require.ErrorIs(t, send(), trading.CodeBadRequest, "it was sent")
						return
					}
					err := send()
					require.ErrorIs(t, err, want)
					assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
					var guard *trading.GuardError
					require.ErrorAs(t, err, &guard)
					assert.NotEmpty(t, guard.Reason, "a guard explains itself")
				}
				check(row.entry, func() error {
					_, err := client.Sandbox.PlaceOrder(ctx, rig.Buy("0.01"), row.opts...)
					return err
				})
				check(row.exit, func() error {
					_, err := client.Sandbox.ClosePosition(ctx, "BTC", trading.All, row.opts...)
					return err
				})
			})
		})
	}
}

func TestTrap_T46_OneHealthRequestForManyEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		script := rig.NewScript(t)
		health := rig.Answered(200, rig.HealthyBody)
		gate := make(chan struct{}, 1)
		script.Health = func(req *http.Request) (*http.Response, error) {
			gate <- struct{}{}
			asked++
			<-gate
			return health(req)
		}
		client := rig.ScriptedClient(t, script)
		check := func() { require.NoError(t, trading.CheckHealth(context.Background(), client)) }

		done := make(chan struct{})
		for range 50 {
			go func() {
				check()
				done <- struct{}{}
			}()
		}
		for range 50 {
			<-done
		}
		assert.Equal(t, 1, asked, "fifty callers share one request")
	})
}

func TestGateDoesNotTrustAnOldAssessment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := rig.NewScript(t)
		client := rig.ScriptedClient(t, script)
		check := func() error { return trading.CheckHealth(context.Background(), client) }
		require.NoError(t, check())

		script.Health = rig.Answered(503, healthJSON(false, "degraded", "stale"))
		time.Sleep(10*time.Second + time.Millisecond)
		require.ErrorIs(t, check(), trading.ErrUnhealthy)

		// Bad news does not outlive its five seconds, and is not reused while refreshing.
		script.Health = rig.Answered(200, rig.HealthyBody)
		require.ErrorIs(t, check(), trading.ErrUnhealthy)
		time.Sleep(5*time.Second + time.Millisecond)
		require.NoError(t, check())
	})
}

// An answer that takes longer than its cacheSeconds may be older than them.
func TestGateDoesNotUseAnAssessmentThatCameTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := rig.NewScript(t)
		wait, health := 5*time.Second, rig.Answered(200, rig.HealthyBody)
		script.Health = func(req *http.Request) (*http.Response, error) {
			time.Sleep(wait)
			return health(req)
		}
		client := rig.ScriptedClient(t, script)
		check := func() error { return trading.CheckHealth(context.Background(), client) }
		require.NoError(t, check())
		wait += time.Millisecond
		time.Sleep(time.Millisecond)
		err := check()
		require.ErrorIs(t, err, trading.ErrUnhealthy)
		require.ErrorContains(t, err, "asked for 5.001s ago, and holds for 5s")
	})
}

func TestGateOutlivesTheCallerWhoAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := rig.NewScript(t)
		answer := make(chan struct{})
		health := rig.Answered(200, rig.HealthyBody)
		script.Health = func(req *http.Request) (*http.Response, error) {
			<-answer
			return health(req)
		}
		client := rig.ScriptedClient(t, script)
		ctx, cancel := context.WithCancel(context.Background())
		first := make(chan error)
		go func() { first <- trading.CheckHealth(ctx, client) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-first, context.Canceled)
		second := make(chan error)
		go func() { second <- trading.CheckHealth(context.Background(), client) }()
		synctest.Wait()
		close(answer)
		require.NoError(t, <-second)
	})
}

func TestKeepWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		script := rig.NewScript(t)
		health := rig.Answered(200, rig.HealthyBody)
		script.Health = func(req *http.Request) (*http.Response, error) {
			asked++
			return health(req)
		}
		client := rig.ScriptedClient(t, script, trading.WithHealthGate(trading.HealthGate{KeepWarm: true}))
		time.Sleep(time.Minute)
		assert.Zero(t, asked, "nothing is asked before the first entry")

		require.NoError(t, trading.CheckHealth(context.Background(), client))
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.InDelta(t, 60, asked, 2, "one each second, since the service's clock is not known")
		before := time.Now()
		require.NoError(t, trading.CheckHealth(context.Background(), client))
		assert.Zero(t, time.Since(before))

		require.NoError(t, client.Close())
		ended := asked
		time.Sleep(time.Minute)
		assert.Equal(t, ended, asked, "Close ends it")
	})
}

func TestGateAsksNothingAfterClose(t *testing.T) {
	script := rig.NewScript(t)
	script.Health = func(*http.Request) (*http.Response, error) {
		t.Error("it asked")
		return nil, io.ErrUnexpectedEOF
	}
	client := rig.ScriptedClient(t, script)
	require.NoError(t, client.Close())
	for range 2 {
		err := trading.CheckHealth(context.Background(), client)
		require.ErrorIs(t, err, trading.ErrClosed)
		require.ErrorIs(t, err, trading.ErrUnhealthy)
	}
}

func TestHalt(t *testing.T) {
	script := rig.NewScript(t, rig.Answered(400, rig.RefusalBody(trading.CodeBadPct)), rig.Answered(200, rig.OrderBody))
	client := rig.ScriptedClient(t, script)
	ctx := context.Background()
	client.Halt("the desk is closed")
	reason, halted := client.Halted()
	assert.True(t, halted)
	assert.Equal(t, "the desk is closed", reason)

	_, err := client.Sandbox.PlaceOrder(ctx, rig.Buy("0.01"))
	require.ErrorIs(t, err, trading.ErrHalted)
	assert.ErrorContains(t, err, "the desk is closed")
	_, err = client.Sandbox.ClosePosition(ctx, "BTC", trading.All)
	require.ErrorIs(t, err, trading.CodeBadPct, "exits pass")

	client.Resume()
	_, err = client.Sandbox.PlaceOrder(ctx, rig.Buy("0.01"))
	require.NoError(t, err)
	script.Done()
}

func TestOwnGuards(t *testing.T) {
	var seen []trading.Write
	refuse := func(_ context.Context, w trading.Write) error {
		seen = append(seen, w)
		if w.Entry {
			return fmt.Errorf("not on a Friday")
		}
		return nil
	}
	script := rig.NewScript(t, rig.Answered(404, rig.RefusalBody(trading.CodeNoPosition)))
	client := rig.ScriptedClient(t, script, trading.WithGuard(refuse))
	_, err := client.Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"), trading.WithTag("breakout"))
	require.ErrorIs(t, err, trading.ErrGuard)
	assert.ErrorContains(t, err, "not on a Friday")
	_, err = client.Sandbox.ClosePosition(context.Background(), "BTC", trading.All)
	require.ErrorIs(t, err, trading.CodeNoPosition)
	script.Done()

	require.Len(t, seen, 2)
	assert.Equal(t, trading.OpSandboxOrder, seen[0].Operation)
	assert.Equal(t, "breakout", seen[0].Tag)
	assert.Equal(t, "0.01", seen[0].Order.Size.String())
	assert.True(t, seen[0].Entry)
	assert.Nil(t, seen[1].Order)
	assert.False(t, seen[1].Entry)
}
