package trading_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
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
	for ok, status := range map[bool]trading.HealthStatus{false: trading.Healthy, true: trading.Degraded} { // neither is safe
		script.Health = rig.Answered(503, healthJSON(ok, string(status), "stale"))
		var meta trading.Meta
		health, err := rig.ScriptedClient(t, script).Health(context.Background(), trading.ResponseInto(&meta))
		require.NoError(t, err)
		assert.Equal(t, status, health.Status)
		assert.Equal(t, trading.FeedStale, health.Feed)
		assert.False(t, health.Safe())
		assert.Equal(t, time.UnixMilli(1795000000000).UTC(), health.AsOf)
		assert.Equal(t, 1, meta.Attempts, "it is not retried")
	}

	for seconds, want := range map[string]time.Duration{ // absurd ones are the usual five
		"5": 5 * time.Second, "-5": 5 * time.Second, "1e9": 5 * time.Second, "0": 0, "0.5": 500 * time.Millisecond,
	} {
		script.Health = rig.Answered(200, strings.Replace(rig.HealthyBody, `"cacheSeconds":5`, `"cacheSeconds":`+seconds, 1))
		health, err := rig.ScriptedClient(t, script).Health(context.Background())
		require.NoError(t, err)
		assert.Equal(t, want, health.CacheFor, seconds)
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
		{"off", rig.Answered(503, healthJSON(false, "degraded", "stale")), trading.HealthGate{Off: true}, nil, none, none},
		{"skipped", rig.Answered(503, healthJSON(false, "degraded", "stale")), trading.HealthGate{}, []trading.CallOption{trading.SkipHealthGate()}, none, none},
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
