package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/secret"
	"github.com/tradingapi/trading-go/internal/testing/leak"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

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

// Sixty-four goroutines on one paper account, over loopback: their writes never
// meet each other, and what was executed is what succeeded.
func TestTrap_T101_ManyGoroutinesOnOneSandbox(t *testing.T) {
	sim := tradingsim.Start(t, tradingsim.WithKeyLimit(100_000))
	client, err := trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()), trading.WithSendTTL(time.Minute))
	require.NoError(t, err)

	var applied atomic.Int64
	var group sync.WaitGroup
	for worker := range 64 {
		group.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for i := range 4 {
				var err error
				switch (worker + i) % 3 {
				case 0:
					_, err = client.Sandbox.PlaceOrder(ctx, rig.Buy("0.001"))
				case 1:
					_, err = client.Sandbox.ClosePosition(context.Background(), "BTC", trading.Percent(rig.Dec("50")))
				default:
					_, err = client.Sandbox.State(ctx)
					applied.Add(-1) // a read is in no ledger
				}
				if !errors.Is(err, trading.CodeNoPosition) {
					assert.NoError(t, err)
					applied.Add(1)
				}
			}
		})
	}
	group.Wait()
	require.NoError(t, client.Close())
	assert.Len(t, sim.Ledger(), int(applied.Load()))
	for _, request := range sim.Requests() {
		assert.NotEqual(t, 409, request.Status, "two writes of this client met: %s", request.Operation)
	}
}

// Another program on the same paper account is waited for.
func TestTrap_T101_AnotherProgramsWriteIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault("POST /sandbox/positions/close", tradingsim.Delay(300*time.Millisecond))
		go r.Raw(trading.OpSandboxClose, `{"symbol":"BTC"}`)
		synctest.Wait()
		bought := r.Place(rig.Buy("1"))
		assert.Greater(t, bought.Meta.Attempts, 1)
		assert.Len(t, r.Fills(), 1)
		time.Sleep(time.Second)
	})
}

// After Close no connection is open: what the client has kept to use again is of no
// more use to anybody, and each holds two goroutines.
func TestCloseEndsConnections(t *testing.T) {
	sim := tradingsim.Start(t)
	before := leak.Snapshot()
	client, err := trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()))
	require.NoError(t, err)
	_, err = client.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01"))
	require.NoError(t, err)
	require.NoError(t, client.Close())
	assert.Empty(t, before.Left(), "of the client, or of the service for its sake")
}

// Close waits for a write in flight, also one whose caller cannot leave.
func TestCloseWaitsForWritesInFlight(t *testing.T) {
	for name, ctx := range map[string]func() (context.Context, context.CancelFunc){
		"a caller who cannot leave": func() (context.Context, context.CancelFunc) { return context.Background(), func() {} },
		"a caller who can":          func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rig.New(t, nil)
				r.Sim.Fault("POST /sandbox/orders", tradingsim.DelayResponse(3*time.Second))
				ctx, cancel := ctx()
				defer cancel()
				var placed atomic.Bool
				go func() {
					_, err := r.Sandbox.PlaceOrder(ctx, rig.Buy("1"))
					assert.NoError(t, err)
					placed.Store(true)
				}()
				synctest.Wait()
				began := time.Now()
				require.NoError(t, r.Close())
				synctest.Wait()
				assert.True(t, placed.Load())
				assert.Equal(t, 3*time.Second, time.Since(began))
				require.NoError(t, r.Close(), "again")
				_, err := r.Sandbox.Reset(t.Context())
				require.ErrorIs(t, err, trading.ErrClosed)
			})
		})
	}
}

// What became of a paper write, where no look at the account is needed.
func TestSandboxResolveWithoutALook(t *testing.T) {
	refused := rig.Answered(400, rig.RefusalBody(trading.CodeBadSize))
	for _, row := range []struct {
		name     string
		steps    []rig.Step
		write    func(*trading.Client) error
		known    bool
		outcome  trading.Outcome
		evidence trading.Evidence
		why      string
	}{
		{"no error", nil, func(*trading.Client) error { return nil }, true, trading.Applied, trading.EvidenceAnswer, ""},
		{"not of a write", nil, func(*trading.Client) error { return errors.New("something else") }, false, 0, 0, "not the error of a write"},
		{"a refusal", []rig.Step{refused}, func(c *trading.Client) error {
			return rig.Only(c.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01")))
		}, true, trading.NotApplied, trading.EvidenceAnswer, ""},
		{"of what shows in a read", []rig.Step{rig.CutAfterWrite()}, func(c *trading.Client) error {
			return rig.Only(c.Sandbox.SetTPSL(t.Context(), "BTC", trading.TPSL{StopLoss: trading.At(trading.Dec("60000"))}))
		}, false, 0, 0, "read the account"},
	} {
		t.Run(row.name, func(t *testing.T) {
			service := rig.NewScript(t, row.steps...)
			client := rig.ScriptedClient(t, service, trading.WithRetry(trading.Retry{Attempts: 1}))
			resolution, err := client.Sandbox.Resolve(t.Context(), row.write(client))
			service.Done()
			if !row.known {
				require.ErrorContains(t, err, row.why)
				assert.Nil(t, resolution)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.outcome, resolution.Outcome)
			assert.Equal(t, row.evidence, resolution.Evidence)
		})
	}
}

// A paper write stays in doubt while the account cannot be read, for as long as its
// caller waits.
func TestSandboxResolveThatCannotLook(t *testing.T) {
	const state, noPositions = `{"ok":true,"account":` + rig.AccountBody + `}`, `{"ok":true,"positions":[]}`
	refused := rig.Answered(http.StatusForbidden, rig.RefusalBody(trading.CodeAPIAccessDenied))
	for name, looks := range map[string][]rig.Step{
		"the account": {refused},
		"positions":   {rig.Answered(200, state), refused},
		"trades":      {rig.Answered(200, state), rig.Answered(200, noPositions), refused},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := rig.NewScript(t, append([]rig.Step{rig.CutAfterWrite()}, looks...)...)
			client := rig.ScriptedClient(t, service, trading.WithRetry(trading.Retry{Attempts: 1}))
			_, lost := client.Sandbox.PlaceOrder(t.Context(), rig.Buy("0.01"))
			require.Equal(t, trading.Unknown, trading.OutcomeOf(lost))

			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			defer cancel()
			resolution, err := client.Sandbox.Resolve(ctx, lost)
			require.ErrorIs(t, err, trading.ErrUndetermined, name)
			require.ErrorIs(t, err, trading.CodeAPIAccessDenied, name)
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			assert.Equal(t, trading.Unknown, resolution.Outcome)
			service.Done() // the refused key is not tried on and on
		})
	}
}

// T107: while a Pro order runs it is among the open orders, and only then among the finished runs.
func TestTrap_T107_RunningAndFinishedRuns(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		ctx, account := r.T.Context(), r.Account()
		run, err := account.PlacePro(ctx, rig.Buy("0.05"), trading.TWAP{Duration: 2 * time.Minute})
		require.NoError(r.T, err)
		runs := func() (open, finished []trading.Run) {
			orders, err := account.OpenOrders(ctx)
			require.NoError(r.T, err)
			finished, err = account.FinishedRuns(ctx)
			require.NoError(r.T, err)
			return orders.Runs, finished
		}
		open, finished := runs()
		require.Len(r.T, open, 1)
		assert.Equal(r.T, run.ID, open[0].ID)
		assert.Equal(r.T, trading.Long, open[0].Side)
		assert.Empty(r.T, finished, "no runs here does not mean that none is running")

		time.Sleep(2 * time.Minute)
		open, finished = runs()
		assert.Empty(r.T, open)
		require.Len(r.T, finished, 1)
		assert.Equal(r.T, run.ID, finished[0].ID)
		_, err = account.CancelRun(ctx, run.ID)
		require.ErrorIs(r.T, err, trading.CodeRunNotFound)
		assert.Equal(r.T, trading.AdviseRead, trading.AdviceOf(err), "it may have finished")
	})
}
