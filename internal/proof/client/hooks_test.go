package client

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// told writes down what hooks are told, a line each.
type told struct {
	mu    sync.Mutex
	lines []string
}

type markKey struct{}

func (l *told) add(ctx context.Context, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if mark := ctx.Value(markKey{}); mark != nil {
		line += fmt.Sprint(" ", mark)
	}
	l.lines = append(l.lines, line)
}

func (l *told) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

func (l *told) hooks() trading.Hooks {
	return trading.Hooks{
		CallStart: func(ctx context.Context, c trading.Call) context.Context {
			l.add(ctx, "call %s %s %s", c.Operation, c.Symbol, c.Priority)
			return context.WithValue(ctx, markKey{}, "in call")
		},
		CallDone: func(ctx context.Context, c trading.Call, d trading.Done) {
			l.add(ctx, "done %s after %d in %s, intent %t", d.Outcome, d.Attempts, d.Took, c.Intent != "")
		},
		AttemptStart: func(ctx context.Context, _ trading.Call, n int) context.Context {
			l.add(ctx, "send %d", n)
			return context.WithValue(ctx, markKey{}, fmt.Sprint("in attempt ", n))
		},
		AttemptDone: func(ctx context.Context, _ trading.Call, a trading.Attempt) {
			l.add(ctx, "sent %d: %d %s %s, written %t, key %t, %d bytes out", a.Number, a.Status, a.Code, a.Outcome, a.Written, a.Key != "", len(a.Request))
		},
		Waiting: func(ctx context.Context, _ trading.Call, w trading.Wait) {
			l.add(ctx, "wait for %s %s", w.Reason, w.Bucket[strings.LastIndex(w.Bucket, "/")+1:])
		},
		Resolved: func(ctx context.Context, r trading.Resolution) {
			l.add(ctx, "resolved %s by %s", r.Outcome, r.Evidence)
		},
	}
}

func TestHooksAreTold(t *testing.T) {
	for _, row := range []struct {
		name string
		opts []trading.Option
		do   func(r rig.Rig)
		want []string
	}{
		{"a read", nil, func(r rig.Rig) {
			_, err := r.Account().Positions(r.T.Context())
			require.NoError(r.T, err)
		}, []string{
			"call GET /positions  read",
			"send 1 in call",
			"sent 1: 200  not applied, written true, key false, 0 bytes out in attempt 1",
			"done applied after 1 in 0s, intent false in call",
		}},
		{"an order that is refused before it is sent", nil, func(r rig.Rig) {
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("-1"))
			require.ErrorIs(r.T, err, trading.CodeBadSize)
		}, []string{
			"call POST /orders BTC entry",
			"done not applied after 0 in 0s, intent false in call",
		}},
		{"a limit that the service has closed", nil, func(r rig.Rig) {
			r.Sim.Fault("POST /positions/close", tradingsim.RateLimit(7*time.Second))
			_, _ = r.Account().ClosePosition(r.T.Context(), "BTC", trading.All)
		}, []string{
			"call POST /positions/close BTC close",
			"send 1 in call",
			"sent 1: 429 rate_limited not applied, written true, key true, 55 bytes out in attempt 1",
			"wait for rate limit closes in call",
			"send 2 in call",
			"sent 2: 404 no_position not applied, written true, key true, 55 bytes out in attempt 2",
			"done not applied after 2 in 7s, intent true in call",
		}},
		{"a connection that is refused", []trading.Option{trading.WithRetry(trading.Retry{MinWait: time.Second, MaxWait: time.Second, Attempts: 2})}, func(r rig.Rig) {
			r.Sim.Fault("GET /trades", tradingsim.DropRequest())
			_, err := r.Account().Trades(r.T.Context())
			require.NoError(r.T, err)
		}, []string{
			"call GET /trades  read",
			"send 1 in call",
			"sent 1: 0  not applied, written true, key false, 0 bytes out in attempt 1",
			"wait for backoff  in call",
			"send 2 in call",
			"sent 2: 200  not applied, written true, key false, 0 bytes out in attempt 2",
		}},
		{"an order in doubt that is resolved", nil, func(r rig.Rig) {
			r.ReadAll()
			r.Sim.Fault("POST /orders", tradingsim.GatewayError(502))
			_, err := r.Account().PlaceOrder(r.T.Context(), rig.Buy("0.01"), trading.WithSendTTL(0), trading.WithResolveTimeout(0), trading.SkipHealthGate())
			_, err = r.Account().Resolve(r.T.Context(), err)
			require.NoError(r.T, err)
		}, []string{
			"call POST /orders BTC entry",
			"send 1 in call",
			"sent 1: 502  unknown, written true, key true, 75 bytes out in attempt 1",
			"done unknown after 1 in 0s, intent true in call",
			"resolved not applied by accounting",
		}},
		{"an order whose caller leaves", nil, func(r rig.Rig) {
			r.Sim.Fault("POST /orders", tradingsim.DelayResponse(2*time.Second))
			ctx, cancel := context.WithTimeout(r.T.Context(), time.Second)
			defer cancel()
			_, err := r.Account().PlaceOrder(ctx, rig.Buy("0.01"), trading.SkipHealthGate())
			require.Equal(r.T, trading.Unknown, trading.OutcomeOf(err))
			time.Sleep(15 * time.Second)
		}, []string{
			"call POST /orders BTC entry",
			"send 1 in call",
			"sent 1: 0  unknown, written true, key true, 75 bytes out in attempt 1",
			"done unknown after 1 in 1s, intent true in call",
			"resolved applied by its stored answer",
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &told{}
				r := rig.New(t, nil, append(row.opts, trading.WithHooks(log.hooks()), trading.WithHooks(trading.Hooks{}))...)
				row.do(r)
				got := log.take()
				at := 0
				for _, line := range got {
					if at < len(row.want) && line == row.want[at] {
						at++
					}
				}
				assert.Equal(t, len(row.want), at, "not told in this order: %s\n%s", strings.Join(row.want[at:], "\n"), strings.Join(got, "\n"))
			})
		})
	}
}

// A client without hooks tells nobody, and pays nothing for it.
func TestHooksThatReturnNothingKeepTheContext(t *testing.T) {
	r := rig.New(t, nil, trading.WithHooks(trading.Hooks{
		CallStart:    func(context.Context, trading.Call) context.Context { return nil },
		AttemptStart: func(context.Context, trading.Call, int) context.Context { return nil },
	}))
	_, err := r.Account().Positions(t.Context())
	require.NoError(t, err)
}

// A record of a write has to have its body before the first byte leaves: what is
// killed in between would leave none.
func TestHooksSeeTheBodyBeforeItIsSent(t *testing.T) {
	var mu sync.Mutex
	var started, sent []string
	r := rig.New(t, nil, trading.WithHooks(trading.Hooks{
		CallStart: func(ctx context.Context, c trading.Call) context.Context {
			mu.Lock()
			defer mu.Unlock()
			started = append(started, string(c.Operation)+" "+string(c.Body))
			return ctx
		},
		AttemptDone: func(_ context.Context, c trading.Call, a trading.Attempt) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, string(c.Operation)+" "+string(a.Request))
		},
	}), trading.WithHealthGate(trading.HealthGate{Off: true}))
	_, err := r.Live.Account("acc_1").PlaceOrder(t.Context(), rig.Buy("0.01"))
	require.NoError(t, err)
	_, err = r.Live.Account("acc_1").Positions(t.Context())
	require.NoError(t, err)
	require.Len(t, started, 2)
	assert.Contains(t, started[0], `"symbol":"BTC"`)
	assert.Equal(t, "GET /positions ", started[1], "a read has no body")
	assert.Equal(t, sent, started, "what is sent is what was told before")
}
