package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/record"
	"github.com/tradingapi/trading-go/tradingsim"
)

// flight writes a recording of two cancels under one key.
func flight(t *testing.T, path string, replayed bool, code trading.Code) {
	t.Helper()
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	first := record.Event{
		Kind: record.KindAttempt, At: at, Took: time.Millisecond, Operation: trading.OpCancelOrder, Environment: trading.EnvLive, Account: "acc_1", Attempt: 1, Key: "k1",
		Status: 404, Code: "order_not_found", Request: record.Body(`{"accountId":"acc_1","orderId":"x"}`), Response: record.Body(`{"error":"order_not_found"}`),
	}
	second := first
	second.At, second.Replayed, second.Code = at.Add(time.Second), replayed, code
	f, err := os.Create(path)
	require.NoError(t, err)
	encoder := json.NewEncoder(f)
	require.NoError(t, encoder.Encode(first))
	require.NoError(t, encoder.Encode(second))
	require.NoError(t, f.Close())
}

// What was observed, the simulator does, and the doctor says how old it is.
func TestProfileIsUsed(t *testing.T) {
	r := newRig(t)
	kept := filepath.Join(t.TempDir(), "p.json")
	p := &profile.Profile{Version: profile.Version, MeasuredAt: time.Now().Add(-48 * time.Hour), Results: []profile.Result{
		{Experiment: "42", Environment: profile.Live, Verdict: profile.Other, N: 1, CountOther: 1},
	}}
	require.NoError(t, p.Save(kept))
	opts, err := (&simFlags{addr: "127.0.0.1:0", balance: "100000", keyPairs: 1, profile: kept}).options()
	require.NoError(t, err)
	require.NoError(t, tradingsim.New(opts...).Close())
	_, out, _ := r.run("doctor", "--profile", kept)
	assert.Contains(t, out, "measured 2 days ago")
}

// It asks before it sends, sends nothing that is not due, and goes on from the profile.
func TestObserveAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		kept := filepath.Join(t.TempDir(), "p.json")
		out := r.done("observe", "--due", "--profile", kept)
		assert.Empty(t, out)
		n := len(r.sim.Requests())
		code, out, errs := r.run("observe", "--ask", "read", "--profile", kept, "--yes")
		require.Zero(t, code, errs)
		assert.Contains(t, errs, fmt.Sprintf("sent: %d reads, 0 cancels", len(r.sim.Requests())-n))
		assert.Contains(t, out, "of two keys in the headers X-API-Key wins")
		assert.Contains(t, out, "4 of 4")
		p, err := profile.Load(kept)
		require.NoError(t, err)
		p.Begun = []profile.Begun{{Experiment: "A4", At: time.Now(), Due: time.Now().Add(time.Hour), Key: "k", Operation: "POST /orders/cancel"}}
		require.NoError(t, p.Save(kept))
		n = len(r.sim.Requests())
		_, _, errs = r.run("observe", "--due", "--profile", kept, "--yes")
		assert.Contains(t, errs, "A4 is due at")
		assert.Len(t, r.sim.Requests(), n)
		before, err := os.ReadFile(kept)
		require.NoError(t, err)
		assert.Empty(t, r.ends(cli.NotApplied, "", "observe", "--ask", "live", "--profile", kept, "--yes"))
		after, err := os.ReadFile(kept)
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after), "where nothing is due, what was seen stays")
		r.terminal, r.types = true, "n\n"
		r.ends(cli.NotApplied, "none of which changes anything", "observe", "--ask", "read", "--profile", kept)
	})
}

// A trial is traded after consent, and left flat.
func TestObserveTrades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_trial", Trial: true}))
		kept := filepath.Join(t.TempDir(), "p.json")
		args := []string{"observe", "--ask", "trial", "--trial-account", "acc_trial", "--ask", "paper", "--profile", kept}
		r.ends(cli.Usage, "on account acc_trial, about 15 dollars each, and about 40 closes behind them, in half an hour; it is left flat", args...)
		assert.Empty(t, r.sim.Ledger())
		out := r.done(append(args, "--yes")...)
		assert.Contains(t, out, "an execution is stored")
		assert.Contains(t, out, "an opposite order nets")
		for _, a := range r.sim.State().Accounts {
			assert.Empty(t, a.Positions)
		}
		r.ends(cli.NotApplied, "acc_1 is no trial", "observe", "--ask", "trial", "--trial-account", "acc_1", "--profile", kept, "--yes")

		for range 300 {
			r.sim.Fault("POST /positions/close", tradingsim.Fail(400, "bad_request"))
		}
		r.ends(cli.NotFlat, "may not be flat", "observe", "--ask", "trial", "--trial-account", "acc_trial", "--profile", kept, "--yes")
		r.sim.ClearFaults()
		r.done("observe", "--ask", "read", "--profile", kept, "--yes")
		for _, a := range r.sim.State().Accounts {
			assert.Empty(t, a.Positions)
		}
	})
}
