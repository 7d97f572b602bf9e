package trading

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
		h := &Health{OK: row.ok, Status: HealthStatus(row.status), Feed: Feed(row.feed)}
		assert.Equal(t, row.safe, h.Safe(), "%+v", row)
	}
	assert.False(t, (*Health)(nil).Safe())
}

func TestTrap_T41_A503OfHealthIsAnAnswer(t *testing.T) {
	script := newScript(t)
	script.health = answered(503, healthJSON(false, "degraded", "stale"))
	var meta Meta
	health, err := newTestClient(t, script).Health(context.Background(), ResponseInto(&meta))
	require.NoError(t, err)
	assert.Equal(t, Degraded, health.Status)
	assert.Equal(t, FeedStale, health.Feed)
	assert.False(t, health.Safe())
	assert.Equal(t, time.UnixMilli(1795000000000).UTC(), health.AsOf)
	assert.Equal(t, 5*time.Second, health.CacheFor)
	assert.Equal(t, 1, meta.Attempts, "it is not retried")
}

func TestTrap_T48_NoKeyOnKeylessRoutes(t *testing.T) {
	script := newScript(t,
		answered(200, healthyBody),
		answered(200, `{"openapi":"3.0.3","paths":{}}`),
		answered(200, `{"userId":"u","environment":"sandbox","keyId":"k"}`),
	)
	script.health = nil
	client := newTestClient(t, script)
	ctx := context.Background()
	_, err := client.Health(ctx)
	require.NoError(t, err)
	_, err = client.OpenAPI(ctx)
	require.NoError(t, err)
	_, err = client.Me(ctx, EnvSandbox)
	require.NoError(t, err)
	script.done()
	got := script.received()
	assert.Empty(t, got[0].header.Get("X-API-Key"))
	assert.Empty(t, got[1].header.Get("X-API-Key"))
	assert.Equal(t, testSandboxKey, got[2].header.Get("X-API-Key"))
	for _, request := range got {
		assert.Empty(t, request.header.Get("Authorization"))
		assert.Regexp(t, `^trading-go/\d+\.\d+\.\d+ `, request.header.Get("User-Agent"))
	}
}

func TestGate(t *testing.T) {
	const none = Kind("")
	for _, row := range []struct {
		name   string
		health step
		gate   HealthGate
		opts   []CallOption
		entry  Kind
		exit   Kind
	}{
		{"healthy", answered(200, healthyBody), HealthGate{}, nil, none, none},
		{"T43 degraded", answered(503, healthJSON(false, "degraded", "stale")), HealthGate{}, nil, ErrUnhealthy, none},
		{"unavailable", answered(503, healthJSON(false, "unavailable", "unknown")), HealthGate{}, nil, ErrUnhealthy, none},
		{"T42 feed unknown", answered(200, healthJSON(true, "healthy", "unknown")), HealthGate{}, nil, ErrUnhealthy, none},
		{"T44 not JSON", answered(200, "<html>ok</html>"), HealthGate{}, nil, ErrUnhealthy, none},
		{"T44 no connection", unreachable(), HealthGate{}, nil, ErrUnhealthy, none},
		{"T44 no answer", hanging(nil), HealthGate{}, nil, ErrUnhealthy, none},
		{"another's 503", answered(503, refusalBody(CodeUnavailable)), HealthGate{}, nil, ErrUnhealthy, none},
		{"strict", answered(503, healthJSON(false, "degraded", "stale")), HealthGate{Strict: true}, nil, ErrUnhealthy, ErrUnhealthy},
		{"off", answered(503, healthJSON(false, "degraded", "stale")), HealthGate{Off: true}, nil, none, none},
		{"skipped", answered(503, healthJSON(false, "degraded", "stale")), HealthGate{Strict: true}, []CallOption{SkipHealthGate()}, none, none},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := newScript(t)
				script.health = row.health
				client := newTestClient(t, script, WithHealthGate(row.gate))
				ctx := context.Background()

				check := func(want Kind, send func() error) {
					if want == none {
						script.steps = []step{answered(400, refusalBody(CodeBadRequest))}
						require.ErrorIs(t, send(), CodeBadRequest, "it was sent")
						return
					}
					err := send()
					require.ErrorIs(t, err, want)
					assert.Equal(t, NotApplied, OutcomeOf(err))
					var guard *GuardError
					require.ErrorAs(t, err, &guard)
					assert.NotEmpty(t, guard.Reason, "a guard explains itself")
				}
				check(row.entry, func() error {
					_, err := client.Sandbox.PlaceOrder(ctx, testOrder(), row.opts...)
					return err
				})
				check(row.exit, func() error {
					_, err := client.Sandbox.ClosePosition(ctx, "BTC", All, row.opts...)
					return err
				})
			})
		})
	}
}

func TestTrap_T46_OneHealthRequestForManyEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		script := newScript(t)
		health := answered(200, healthyBody)
		gate := make(chan struct{}, 1)
		script.health = func(req *http.Request) (*http.Response, error) {
			gate <- struct{}{}
			asked++
			<-gate
			return health(req)
		}
		client := newTestClient(t, script)
		check := func() { require.NoError(t, client.core.gate.check(context.Background())) }

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
		script := newScript(t)
		client := newTestClient(t, script)
		gate := client.core.gate
		require.NoError(t, gate.check(context.Background()))

		script.health = answered(503, healthJSON(false, "degraded", "stale"))
		time.Sleep(10*time.Second + time.Millisecond)
		require.ErrorIs(t, gate.check(context.Background()), ErrUnhealthy)

		// Bad news does not outlive its five seconds, and is not reused while refreshing.
		script.health = answered(200, healthyBody)
		require.ErrorIs(t, gate.check(context.Background()), ErrUnhealthy)
		time.Sleep(5*time.Second + time.Millisecond)
		require.NoError(t, gate.check(context.Background()))
	})
}

// An answer that takes longer than its cacheSeconds may be older than them.
func TestGateDoesNotUseAnAssessmentThatCameTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := newScript(t)
		wait, health := 5*time.Second, answered(200, healthyBody)
		script.health = func(req *http.Request) (*http.Response, error) {
			time.Sleep(wait)
			return health(req)
		}
		gate := newTestClient(t, script).core.gate
		require.NoError(t, gate.check(context.Background()))
		wait += time.Millisecond
		time.Sleep(time.Millisecond)
		err := gate.check(context.Background())
		require.ErrorIs(t, err, ErrUnhealthy)
		require.ErrorContains(t, err, "asked for 5.001s ago, and holds for 5s")
	})
}

func TestGateOutlivesTheCallerWhoAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := newScript(t)
		answer := make(chan struct{})
		health := answered(200, healthyBody)
		script.health = func(req *http.Request) (*http.Response, error) {
			<-answer
			return health(req)
		}
		client := newTestClient(t, script)
		ctx, cancel := context.WithCancel(context.Background())
		first := make(chan error)
		go func() { first <- client.core.gate.check(ctx) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-first, context.Canceled)
		second := make(chan error)
		go func() { second <- client.core.gate.check(context.Background()) }()
		synctest.Wait()
		close(answer)
		require.NoError(t, <-second)
	})
}

func TestKeepWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		script := newScript(t)
		health := answered(200, healthyBody)
		script.health = func(req *http.Request) (*http.Response, error) {
			asked++
			return health(req)
		}
		client := newTestClient(t, script, WithHealthGate(HealthGate{KeepWarm: true}))
		time.Sleep(time.Minute)
		assert.Zero(t, asked, "nothing is asked before the first entry")

		require.NoError(t, client.core.gate.check(context.Background()))
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.InDelta(t, 60, asked, 2, "one each second, since the service's clock is not known")
		before := time.Now()
		require.NoError(t, client.core.gate.check(context.Background()))
		assert.Zero(t, time.Since(before))

		require.NoError(t, client.Close())
		ended := asked
		time.Sleep(time.Minute)
		assert.Equal(t, ended, asked, "Close ends it")
	})
}

func TestGateAsksNothingAfterClose(t *testing.T) {
	script := newScript(t)
	script.health = func(*http.Request) (*http.Response, error) {
		t.Error("it asked")
		return nil, io.ErrUnexpectedEOF
	}
	client := newTestClient(t, script)
	require.NoError(t, client.Close())
	for range 2 {
		err := client.core.gate.check(context.Background())
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, err, ErrUnhealthy)
	}
}

func TestHalt(t *testing.T) {
	script := newScript(t, answered(400, refusalBody(CodeBadPct)), answered(200, orderBody))
	client := newTestClient(t, script)
	ctx := context.Background()
	client.Halt("the desk is closed")
	reason, halted := client.Halted()
	assert.True(t, halted)
	assert.Equal(t, "the desk is closed", reason)

	_, err := client.Sandbox.PlaceOrder(ctx, testOrder())
	require.ErrorIs(t, err, ErrHalted)
	assert.ErrorContains(t, err, "the desk is closed")
	_, err = client.Sandbox.ClosePosition(ctx, "BTC", All)
	require.ErrorIs(t, err, CodeBadPct, "exits pass")

	client.Resume()
	_, err = client.Sandbox.PlaceOrder(ctx, testOrder())
	require.NoError(t, err)
	script.done()
}

func TestOwnGuards(t *testing.T) {
	var seen []Write
	refuse := func(_ context.Context, w Write) error {
		seen = append(seen, w)
		if w.Entry {
			return fmt.Errorf("not on a Friday")
		}
		return nil
	}
	script := newScript(t, answered(404, refusalBody(CodeNoPosition)))
	client := newTestClient(t, script, WithGuard(refuse))
	_, err := client.Sandbox.PlaceOrder(context.Background(), testOrder(), WithTag("breakout"))
	require.ErrorIs(t, err, ErrGuard)
	assert.ErrorContains(t, err, "not on a Friday")
	_, err = client.Sandbox.ClosePosition(context.Background(), "BTC", All)
	require.ErrorIs(t, err, CodeNoPosition)
	script.done()

	require.Len(t, seen, 2)
	assert.Equal(t, OpSandboxOrder, seen[0].Operation)
	assert.Equal(t, "breakout", seen[0].Tag)
	assert.Equal(t, "0.01", seen[0].Order.Size.String())
	assert.True(t, seen[0].Entry)
	assert.Nil(t, seen[1].Order)
	assert.False(t, seen[1].Entry)
}
