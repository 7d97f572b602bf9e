package demobot

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Whatever fault a newcomer plans, the page ends with what the ledger says of each write.
func TestTheBotFindsOutAboutEachWrite(t *testing.T) {
	const soon = 5 * time.Second
	for _, operation := range []string{"POST /orders", "POST /sandbox/orders", "POST /positions/close", "POST /sandbox/positions/close"} {
		for name, fault := range map[string]tradingsim.Fault{
			"pass":                tradingsim.Pass(),
			"drop response":       tradingsim.DropResponse(),
			"truncate response":   tradingsim.TruncateResponse(),
			"drop request":        tradingsim.DropRequest(),
			"refuse connection":   tradingsim.RefuseConnection(),
			"crash":               tradingsim.Crash(),
			"crash after":         tradingsim.CrashAfter(),
			"fail":                tradingsim.Fail(500, "internal_error"),
			"fail after":          tradingsim.FailAfter(500, "internal_error"),
			"gateway error":       tradingsim.GatewayError(502),
			"gateway error after": tradingsim.GatewayErrorAfter(502),
			"rate limit":          tradingsim.RateLimit(soon),
			"hang":                tradingsim.Hang(soon),
			"arrive late":         tradingsim.ArriveLate(soon),
		} {
			t.Run(operation+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { watchOne(t, operation, fault) })
			})
		}
	}
}

func watchOne(t *testing.T, operation string, fault tradingsim.Fault) {
	sim := tradingsim.New()
	sim.Fault(operation, fault)
	ctx, cancel := context.WithTimeout(t.Context(), 110*time.Second+500*time.Millisecond)
	defer cancel()
	writes := map[string]Write{}
	require.NoError(t, run(ctx, configOf(sim), func(w Write) { writes[w.ID] = w }, trading.WithTransport(sim.Transport())))
	applied := 0
	for _, w := range writes {
		assert.Contains(t, []string{"applied", "not applied"}, w.Outcome, "%v", w)
		assert.NotEmpty(t, w.Steps, "%v", w)
		if w.Outcome == "applied" {
			applied++
		}
	}
	require.Greater(t, len(writes), 10)
	require.Len(t, sim.Ledger(), applied, "what the client knows is what the service did")
}

func configOf(sim *tradingsim.Sim) Config {
	return Config{BaseURL: sim.URL(), SandboxKey: sim.SandboxKey(), LiveKey: sim.LiveKey(), Account: "acc_1"}
}

// A lost reply of the sandbox, which stores none, is found in the account.
func TestALostReplyIsPendingUntilItIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		sim.Fault("POST /sandbox/orders", tradingsim.DropResponse())
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		var outcomes []string
		var last Write
		require.NoError(t, run(ctx, configOf(sim), func(w Write) {
			if w.ID == "1" {
				outcomes, last = append(outcomes, w.Outcome), w
			}
		}, trading.WithTransport(sim.Transport())))
		require.Equal(t, []string{"sending", "pending", "pending", "applied"}, outcomes)
		require.Equal(t, []string{"sent, and no reply came", "the client goes on finding out", "found applied after 35s, by accounting"}, last.Steps)
	})
}

// A bot that ends in the middle of a write ends all the same, and says what it held back.
func TestTheBotEndsWithAWritePending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		sim.Fault("POST /sandbox/orders", tradingsim.DropResponse())
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		outcomes := map[string]string{}
		require.NoError(t, run(ctx, configOf(sim), func(w Write) { outcomes[w.ID] = w.Outcome }, trading.WithTransport(sim.Transport())))
		require.Equal(t, "pending", outcomes["1"])
	})
}

// The client can find out about a write in the moment in which its call gives up.
func TestACallThatEndsUnknownAfterItsWriteIsResolved(t *testing.T) {
	var last Write
	w := newWitness(func(shown Write) { last = shown })
	call := trading.Call{Write: true, Intent: "w1"}
	ctx := w.expect(t.Context(), "BTC", "close 0.01 BTC")
	w.attempted(ctx, call, trading.Attempt{Outcome: trading.Unknown})
	require.Equal(t, "pending", last.Outcome)
	w.resolved(ctx, trading.Resolution{Intent: trading.Intent{ID: "w1"}, Outcome: trading.Applied})
	steps := last.Steps
	w.done(ctx, call, trading.Done{Outcome: trading.Unknown, Err: trading.ErrUndetermined})
	require.Equal(t, "applied", last.Outcome)
	require.Equal(t, steps, last.Steps)
}
