package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contract"
	"github.com/tradingapi/trading-go/tradingsim"
)

func TestBreakingContract(t *testing.T) {
	r := newRig(t)
	assert.Equal(t, "0 changes, 0 of them breaking\n", r.done("contract"))
	assert.JSONEq(t, "[]", r.done("contract", "-o", "json"))
	served := strings.ReplaceAll(string(contract.Description()), `"version": "v1"`, `"version": "v1.1"`)
	file := filepath.Join(t.TempDir(), "served.json")
	require.NoError(t, os.WriteFile(file, []byte(served), 0o600))
	assert.Equal(t, "version of the description: v1.1, was v1\n1 changes, 0 of them breaking\n", r.done("contract", "--file", file))
	served = strings.Replace(served, `"/orders/twap"`, `"/orders/thwap"`, 1)
	require.NoError(t, os.WriteFile(file, []byte(served), 0o600))
	out := r.ends(cli.Breaking, "can break a bot", "contract", "--file", file)
	assert.Equal(t, "breaking: POST /orders/twap: operation removed\nPOST /orders/thwap: operation added\n"+
		"version of the description: v1.1, was v1\n3 changes, 1 of them breaking\n", out)
	for _, text := range []string{`{"ok": true}`, `{"openapi": "2.0", "paths": {}}`, "<html>"} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		r.ends(cli.NotApplied, "", "contract", "--file", file)
	}
	for _, request := range r.sim.Requests() {
		assert.Equal(t, "GET /openapi.json", request.Operation)
	}
}

// interrupted is the id of an order that was executed, and interrupted before its answer.
func (r *rig) interrupted(symbol string) string {
	r.t.Helper()
	code, out, errs := r.cut("POST /orders", tradingsim.DropResponse(), place("--symbol", symbol, "-o", "json")...)
	require.Equal(r.t, cli.Unknown, code, "%s%s", out, errs)
	var written writeView
	require.NoError(r.t, json.Unmarshal([]byte(out), &written))
	id := string(written.Intent)
	assert.Contains(r.t, errs, "trading pending resolve "+id)
	return id
}
