package refusals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// logged is an error as a structured logger writes it.
func logged(err error) string {
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "err", err)
	return out.String()
}

// What each error says to a person, to a log, and to errors.Is.
func TestErrorsSayWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil, trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}), trading.WithGuard(func(_ context.Context, w trading.Write) error {
			switch w.Tag {
			case "own":
				return &trading.GuardError{Kind: trading.ErrGuard, Reason: "a guard of one's own"}
			case "plain":
				return errors.New("not today")
			}
			return nil
		}))
		place := func(fault tradingsim.Fault, opts ...trading.CallOption) error {
			if fault != nil {
				r.Sim.Fault("POST /sandbox/orders", fault)
			}
			_, err := r.Sandbox.PlaceOrder(t.Context(), rig.Buy("1"), append(opts, trading.AllowPending())...)
			require.Error(t, err)
			return err
		}
		unknown, notApplied, applied := trading.Unknown, trading.NotApplied, trading.Applied
		for _, row := range []struct {
			err  error
			text string // of the error
			log  string // of its log line
		}{
			{place(tradingsim.Fail(409, "MAX_SLIPPAGE")), "MAX_SLIPPAGE: The simulation was set", "err.cause.status=409"},
			{place(tradingsim.RateLimit(time.Minute)), "rate_limited: ", "err.cause.retry_after=1m0s"},
			{place(nil, trading.FailFast()), "refused before sending", "err.cause.local=true"},
			{place(nil, trading.FailFast(), trading.WithTag("own")), "rate_limited", "err.outcome=\"not applied\""},
		} {
			assert.ErrorContains(t, row.err, row.text)
			assert.Contains(t, logged(row.err), row.log)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(row.err))
		}
		time.Sleep(time.Minute)
		for _, row := range []struct {
			err     error
			text    string
			outcome trading.Outcome
			taken   func(error) error
		}{
			{place(nil, trading.WithTag("own")), "not applied: refused by a guard: a guard of one's own", notApplied, take[*trading.GuardError]},
			{place(nil, trading.WithTag("plain")), "refused by a guard: not today", notApplied, take[*trading.GuardError]},
			{place(tradingsim.GatewayError(403)), "not an answer of the service: not JSON (status 403)", unknown, take[*trading.GatewayError]},
			{place(tradingsim.Raw(307, map[string][]string{"Location": {"%zz"}}, "")), `redirect to "" not followed`, unknown, take[*trading.RedirectError]},
			{place(tradingsim.Raw(200, nil, `{"ok":true}`)), "executed, but the answer cannot be read", applied, take[*trading.DecodeError]},
			{place(tradingsim.DropResponse()), "no answer: ", unknown, take[*trading.TransportError]},
		} {
			assert.ErrorContains(t, row.err, row.text)
			assert.ErrorContains(t, row.err, "POST /sandbox/orders BTC: ")
			assert.Contains(t, logged(row.err), "err.symbol=BTC")
			taken := row.taken(row.err)
			assert.Equal(t, row.outcome, trading.OutcomeOf(row.err))
			assert.Equal(t, row.outcome, trading.OutcomeOf(taken), "%T by itself", taken)
			assert.NotErrorIs(t, taken, context.Canceled)
		}
		refusal := rig.RefusalOf(t, place(tradingsim.Fail(409, "MAX_SLIPPAGE")))
		assert.NotErrorIs(t, refusal, context.Canceled, "neither a code nor a kind")

		r.Sim.Fault("GET /sandbox/trades", tradingsim.Raw(200, nil, `{}`))
		_, err := r.Sandbox.Trades(t.Context())
		assert.True(t, strings.HasPrefix(err.Error(), "the answer cannot be read"), "nothing was executed: %v", err)
	})
}

// take takes an error of a type out of what wraps it.
func take[E error](err error) error {
	var taken E
	if !errors.As(err, &taken) {
		return fmt.Errorf("there is no %T in %w", taken, err)
	}
	return taken
}

// A snippet is the beginning of the body, at most 256 bytes, and never cut in
// the middle of a letter.
func TestSnippetsAreCutBetweenRunes(t *testing.T) {
	for shift := range 4 {
		body := strings.Repeat("x", 252+shift) + strings.Repeat("€😀é", 100)
		r := rig.New(t, nil)
		r.Sim.Fault("GET /sandbox/trades", tradingsim.Raw(403, nil, body))
		_, err := r.Sandbox.Trades(t.Context())
		var edge *trading.GatewayError
		require.ErrorAs(t, err, &edge)
		assert.LessOrEqual(t, len(edge.Snippet), 256)
		assert.GreaterOrEqual(t, len(edge.Snippet), 250)
		assert.True(t, utf8.ValidString(edge.Snippet), "%q", edge.Snippet[245:])
		assert.Len(t, edge.Meta.Body, len(body), "the whole is in Meta")
	}
}

// Only what was answered behind the judgment of the key tells that it works: the
// throttle of the address is in front of it.
func TestAThrottledAddressDoesNotResetTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, []tradingsim.Option{tradingsim.WithAuthLimit(1)}, trading.WithSandboxKey("pk_test_mistyped"))
		_, err := r.Sandbox.State(t.Context())
		require.ErrorIs(t, err, trading.CodeInvalidAPIKey)
		_, err = r.Sandbox.ClosePosition(t.Context(), "BTC", trading.All, trading.FailFast())
		require.ErrorIs(t, err, trading.CodeRateLimited, "exits may try")
		_, err = r.Sandbox.State(t.Context(), trading.FailFast())
		require.ErrorIs(t, err, trading.CodeInvalidAPIKey)
		assert.True(t, rig.RefusalOf(t, err).Local)
	})
}

// Nor does a failure of the service, whatever it failed at.
func TestAFailureDoesNotResetTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := rig.Answered(401, rig.RefusalBody(trading.CodeInvalidAPIKey))
		script := rig.NewScript(t, refused, rig.Answered(500, rig.RefusalBody(trading.CodeInternalError)))
		client := rig.ScriptedClient(t, script, trading.WithRetry(trading.Retry{Attempts: 1}))
		_, err := client.Sandbox.State(t.Context())
		require.ErrorIs(t, err, trading.CodeInvalidAPIKey)
		_, err = client.Sandbox.ClosePosition(t.Context(), "BTC", trading.All)
		require.ErrorIs(t, err, trading.CodeInternalError, "exits may try")
		_, err = client.Sandbox.State(t.Context())
		require.ErrorIs(t, err, trading.CodeInvalidAPIKey)
		assert.True(t, rig.RefusalOf(t, err).Local)
		script.Done()
	})
}

// While one write is under way, another waits its turn: until its caller leaves,
// or the client is closed.
func TestWaitingWritersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault("POST /sandbox/orders", tradingsim.DelayResponse(4*time.Second))
		placed := make(chan error, 1)
		go func() {
			_, err := r.Sandbox.PlaceOrder(context.Background(), rig.Buy("1"))
			placed <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.Sandbox.Reset(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err), "its turn never came")

		waiting := make(chan error, 1)
		go func() {
			_, err := r.Sandbox.Reset(context.Background())
			waiting <- err
		}()
		synctest.Wait()
		require.NoError(t, r.Close())
		err = <-waiting
		require.ErrorIs(t, err, trading.ErrClosed)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		require.NoError(t, <-placed, "what was under way had its answer")
		assert.Equal(t, 1, len(r.Sim.Ledger()))
	})
}

// After Close nothing is sent. Of an order with a client order id an earlier run may have sent it.
func TestAnOrderAfterClose(t *testing.T) {
	rig.LiveTest(t, nil, nil, func(r rig.Rig) {
		require.NoError(r.T, r.Close())
		for _, row := range []struct {
			place func() error
			want  trading.Outcome
		}{
			{func() error { return rig.EntryCall(r) }, trading.NotApplied},
			{func() error { return rig.EntryCall(r, rig.Breakout) }, trading.Unknown},
			{func() error { return rig.Only(r.Sandbox.PlaceOrder(r.T.Context(), rig.Buy("0.05"))) }, trading.NotApplied},
		} {
			err := row.place()
			require.ErrorIs(r.T, err, trading.ErrClosed)
			assert.Equal(r.T, row.want, trading.OutcomeOf(err))
		}
		assert.Zero(r.T, r.Sent(trading.OpOrder)+r.Sent(trading.OpSandboxOrder))
	})
}

// A read applies nothing, whatever ended it, and its error says so: one that never
// was sent is no doubtful write.
func TestAReadIsNeverInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := errors.New("the vault is closed")
		sim := tradingsim.New()
		client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()), trading.WithSandboxKey(sim.SandboxKey()),
			trading.WithKeyFunc(trading.EnvLive, func(context.Context) (string, error) { return "", lost }))
		require.NoError(t, err)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		sim.Fault("GET /sandbox/positions", tradingsim.DelayResponse(2*time.Second))

		_, never := client.Sandbox.Positions(ended)
		_, under := client.Sandbox.Positions(late)
		_, keyless := client.Live.Accounts(t.Context())
		require.NoError(t, client.Close())
		_, closed := client.Sandbox.Positions(t.Context())
		for _, row := range []struct{ err, cause error }{
			{never, context.Canceled}, {under, context.DeadlineExceeded}, {keyless, lost}, {closed, trading.ErrClosed},
		} {
			require.ErrorIs(t, row.err, row.cause)
			assert.Equal(t, trading.NotApplied, trading.OutcomeOf(row.err), "%v", row.err)
			assert.NotContains(t, []trading.Advice{trading.AdviseRead, trading.AdviseResolve}, trading.AdviceOf(row.err), "%v", row.err)
		}
	})
}

// A caller who leaves while a guard is asked has sent nothing, and is told so.
func TestACallerWhoLeavesDuringAGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := rig.New(t, nil, trading.WithGuard(func(context.Context, trading.Write) error {
			cancel()
			synctest.Wait() // the caller has gone
			return nil
		}))
		_, err := r.Sandbox.PlaceOrder(ctx, rig.Buy("1"))
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Zero(t, r.Sent(trading.OpSandboxOrder))
	})
}

// A guard that refuses the second send is why the call ends, beside what the first was answered.
func TestAGuardOfTheSecondSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no, asked := errors.New("enough"), 0
		r := rig.New(t, nil, trading.WithGuard(func(context.Context, trading.Write) error {
			if asked++; asked > 1 {
				return no
			}
			return nil
		}))
		r.Sim.Fault(string(trading.OpOrder), tradingsim.Fail(503, "equity_unavailable"))
		_, err := r.Live.Account(rig.Acc).PlaceOrder(t.Context(), rig.Buy("0.05"))
		require.ErrorIs(t, err, no)
		require.ErrorIs(t, err, trading.CodeEquityUnavailable)
		write := (*trading.WriteError)(nil)
		require.ErrorAs(t, err, &write)
		assert.Equal(t, trading.NotApplied, write.Outcome)
		assert.False(t, write.NotSent, "which is said of an unknown outcome alone")
		assert.Equal(t, 1, r.Sent(trading.OpOrder))
	})
}

// Nor is it said of one that nothing was sent for.
func TestNotSentIsOfWhatIsUnknown(t *testing.T) {
	r := rig.New(t, nil)
	_, err := r.Live.Account(rig.Acc).PlaceOrder(t.Context(), rig.Buy("-1"))
	write := (*trading.WriteError)(nil)
	require.ErrorAs(t, err, &write)
	assert.Equal(t, trading.NotApplied, write.Outcome)
	assert.False(t, write.NotSent)
}

// What may be sent once is not sent again, also where nothing of it has left.
func TestAnOrderWithoutATTLOverNoConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil, trading.WithSendTTL(0))
		r.Sim.Fault(string(trading.OpOrder), tradingsim.RefuseConnection())
		began := time.Now()
		_, err := r.Live.Account(rig.Acc).PlaceOrder(t.Context(), rig.Buy("0.05"))
		require.ErrorAs(t, err, new(*trading.TransportError))
		assert.NotErrorAs(t, err, new(*trading.GuardError))
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Zero(t, time.Since(began))
	})
}

// A caller who leaves while the client finds out is told that it left.
func TestACallerWhoLeavesWhileItIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault(string(trading.OpOrder), tradingsim.Fail(500, "internal_error"))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := r.Live.Account(rig.Acc).PlaceOrder(ctx, rig.Buy("0.05"))
		assert.Equal(t, trading.Unknown, trading.OutcomeOf(err), "%v", err)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, trading.CodeInternalError)
	})
}

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
		assert.Equal(t, trading.Some(time.Minute), refusal.RetryAfter)
		assert.Empty(t, refusal.Meta.Header.Get("X-RateLimit-Limit"), "it is no limit of the key")
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

// A caller who leaves while a call waits for a closed rate limit leaves at once.
func TestAWaitForARateLimitEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rig.New(t, nil)
		r.Sim.Fault("GET /sandbox/trades", tradingsim.RateLimit(time.Minute))
		go func() { _, _ = r.Sandbox.Trades(context.Background()) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		began := time.Now()
		_, err := r.Sandbox.Trades(ctx)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Second, time.Since(began))
		time.Sleep(time.Minute)
	})
}
