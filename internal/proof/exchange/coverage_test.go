package exchange_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/proof/exchange"
)

// notRecorded are the documented codes that no exchange shows, each as
// "operation status code" with the reason. There is none: what the simulation has
// no rule for, it is told to answer, and the file says so.
var notRecorded = map[string]string{}

// Each path has an operation here with a success, and a file for each
// code that the contract documents of it. Every live write has a replay, and each
// operation that takes a key the headers of the key's own limit.
func TestEveryCodeIsRecorded(t *testing.T) {
	files, err := exchange.Load(dir)
	require.NoError(t, err)
	have := map[string]bool{}
	for _, f := range files {
		switch {
		case f.Response.Status < 300:
			have[f.Operation+" success"] = true
		default:
			have[fmt.Sprintf("%s %d %s", f.Operation, f.Response.Status, errorCode(f))] = true
		}
		if f.Response.Header["Idempotent-Replayed"] == "true" {
			have[f.Operation+" replay"] = true
		}
		if f.Response.Header["X-RateLimit-Remaining"] == "0" {
			have[f.Operation+" limit"] = true
		}
	}

	codes, err := documentedCodes()
	require.NoError(t, err)
	for id := range codes {
		has := slices.ContainsFunc(operations(), func(o *operation) bool { return o.id == id })
		assert.True(t, has, "%s has no row in operations_test.go", id)
	}
	for _, o := range operations() {
		want := []string{"success"}
		for _, d := range codes[o.id] {
			want = append(want, fmt.Sprintf("%d %s", d.Status, d.Code))
		}
		if o.liveWrite() {
			want = append(want, "replay")
		}
		if o.id != "getHealth" {
			want = append(want, "limit")
		}
		for _, what := range want {
			name := o.id + " " + what
			_, excused := notRecorded[name]
			assert.NotEqual(t, have[name], excused, "%s: recorded %t, excused %t", name, have[name], excused)
		}
	}
}

// What each answer shows that a client can get wrong.
func TestShapesAreRecorded(t *testing.T) {
	files, err := exchange.Load(dir)
	require.NoError(t, err)
	byPath := map[string]*exchange.File{}
	for _, f := range files {
		byPath[filepath.ToSlash(f.Path())] = f
	}
	for path, parts := range map[string][]string{
		"listSandboxPositions/200-unpriced.json": {`"markPrice":null`, `"unrealizedPnL":null`, `"takeProfitPrice":null`, `"stopLossPrice":null`},
		"listPositions/200-unpriced.json":        {`"markPrice":null`, `"unrealizedPnL":null`},
		"listMarkets/200-unpriced.json":          {`"symbol":"BTC"`, `"markPrice":null`},
		"getPrices/200-all-unpriced.json":        {`"prices":{"ETH":3200}`},
		"getPrices/404-no_price.json":            {`"error":"no_price"`},
		"closeSandboxPosition/200-all.json":      {`"position":null`},
		"placeSandboxOrder/200-flat.json":        {`"position":null`},
		"placeOrder/200-flat.json":               {`"position":null`},
		"closePosition/200-all.json":             {`"pnl":"`, `"fee":"`, `"newBalance":"`},

		"placeSandboxOrder/409-INSUFFICIENT_LIQUIDITY.json": {`"estSlippagePct":null`, `"maxSlippagePct":8`},
		"placeOrder/409-INSUFFICIENT_LIQUIDITY.json":        {`"estSlippagePct":null`, `"maxSlippagePct":8`},
		"placeOrder/409-MAX_SLIPPAGE.json":                  {`"estSlippagePct":1`, `"maxSlippagePct":0.5`},
	} {
		f := byPath[path]
		if !assert.NotNil(t, f, path) {
			continue
		}
		for _, part := range parts {
			assert.Contains(t, string(f.Response.Bytes()), part, path)
		}
	}
	assert.Contains(t, string(byPath["setSandboxTPSL/200-cleared.json"].Request.Bytes()), `"takeProfitPrice":null`)

	limited := byPath["placeOrder/429-rate_limited-user.json"].Response.Header
	assert.Contains(t, limited, "Retry-After")
	assert.NotContains(t, limited, "X-RateLimit-Limit", "T89: the user's limit carries Retry-After only")
	replayed := slices.ContainsFunc(files, func(f *exchange.File) bool {
		return f.Response.Status >= 400 && f.Response.Header["Idempotent-Replayed"] == "true"
	})
	assert.True(t, replayed, "a refusal is replayed too")
}
