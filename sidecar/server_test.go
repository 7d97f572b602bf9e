package sidecar

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Every operation of the contract has a route, with the account that it names.
func TestEveryOperationHasARoute(t *testing.T) {
	assert.Len(t, routes, len(tradingsim.Operations()))
	for _, name := range tradingsim.Operations() {
		assert.Contains(t, routes, name, "run go generate ./...")
	}
	for path, want := range map[string]string{
		"/accounts/acc_1":         "acc_1",
		"/accounts/acc_1/orders":  "acc_1",
		"/accounts/a%2Fb/runs":    "a/b",
		"/accounts/a%2Fb/funding": "a/b",
	} {
		_, account, ok := find("GET", path)
		assert.True(t, ok, path)
		assert.Equal(t, want, account)
	}
	for _, path := range []string{"/accounts/", "/accounts/acc_1/", "/accounts/acc_1/close", "/accounts/{accountId}x/y", "/accounts//orders", "/orders", ""} {
		_, _, ok := find("GET", path)
		assert.False(t, ok, path)
	}
}

// A bot trades and reads as on the service: the answers are the service's.
func TestABotTrades(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		opened := r.do(r.live, "POST /orders", buy)
		require.Equal(r.t, 200, opened.status, opened.body)
		assert.Equal(r.t, "applied", opened.outcome)
		assert.NotEmpty(r.t, opened.write)
		assert.Empty(r.t, opened.header.Get(headerOwn))
		assert.Contains(r.t, opened.body, `"success":true`)
		assert.Equal(r.t, "0.01", r.sim.Position("acc_1", "BTC").String())

		positions := r.do(r.live, "GET /positions?accountId=acc_1", "")
		assert.Equal(r.t, 200, positions.status)
		assert.Contains(r.t, positions.body, `"symbol":"BTC"`)
		assert.Empty(r.t, positions.outcome)

		closed := r.do(r.live, "POST /positions/close", closeBTC)
		assert.Equal(r.t, 200, closed.status)
		assert.NotEqual(r.t, opened.write, closed.write)
		assert.Equal(r.t, "0", r.sim.Position("acc_1", "BTC").String())

		paper := r.do(r.paper, "POST /sandbox/orders", buyPaper)
		assert.Equal(r.t, 200, paper.status)
		assert.Contains(r.t, paper.body, `"ok":true`)
		refused := r.do(r.live, "POST /orders", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.00001,"leverage":2}`)
		assert.Equal(r.t, []any{400, "MIN_NOTIONAL", "not-applied"}, []any{refused.status, refused.code, refused.outcome})
		assert.Empty(r.t, refused.header.Get(headerOwn))
	})
}

// Of the headers of an answer those are passed on that the contract has.
func TestTheHeadersOfAnAnswer(t *testing.T) {
	inTime(t, nil, func(r *rig) {
		r.sim.Fault("GET /trades", tradingsim.Raw(200, http.Header{
			"Content-Type": {"application/json; charset=utf-8"}, "X-Ratelimit-Remaining": {"7"}, "Set-Cookie": {"a=b"}, "X-Served-By": {"10.0.0.1"},
		}, `{"trades":[]}`))
		trades := r.do(r.live, "GET /trades?accountId=acc_1", "")
		require.Equal(r.t, 200, trades.status, trades.body)
		assert.Equal(r.t, "7", trades.header.Get("X-Ratelimit-Remaining"))
		assert.Equal(r.t, "application/json; charset=utf-8", trades.header.Get("Content-Type"))
		assert.Empty(r.t, trades.header.Get("Set-Cookie"))
		assert.Empty(r.t, trades.header.Get("X-Served-By"))
	})
}

// A bot that has no right to something is refused before anything is sent.
func TestRights(t *testing.T) {
	r := newRig(t, []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"})})
	reader := r.key(localkey.Key{Name: "reader", Live: true, Accounts: []string{"acc_1"}, May: localkey.Read})
	leaver := r.key(localkey.Key{Name: "leaver", Live: true, Accounts: []string{localkey.Every}, May: localkey.Exits})
	buyElsewhere := `{"accountId":"acc_2","symbol":"BTC","side":"long","size":0.01,"leverage":2}`
	reduce := `{"accountId":"acc_1","symbol":"BTC","side":"short","size":0.01,"leverage":2,"reduceOnly":true}`
	for _, c := range []struct {
		name, key, operation, body string
		status                     int
		code                       string
	}{
		{"no key", "", "GET /accounts", "", 401, "missing_api_key"},
		{"unknown", "pk_live_local_x", "GET /accounts", "", 401, "invalid_api_key"},
		{"real", r.sim.LiveKey(), "GET /accounts", "", 401, "invalid_api_key"},
		{"wrong side", r.paper, "GET /accounts", "", 403, "wrong_environment"},
		{"live on paper", r.live, "GET /sandbox/account", "", 403, "wrong_environment"},
		{"foreign account", r.live, "GET /positions?accountId=acc_2", "", 404, "account_not_found"},
		{"foreign in path", r.live, "GET /accounts/acc_2/orders", "", 404, "account_not_found"},
		{"foreign write", r.live, "POST /orders", buyElsewhere, 404, "account_not_found"},
		{"reader writes", reader, "POST /positions/close", closeBTC, 403, "forbidden"},
		{"leaver enters", leaver, "POST /orders", buy, 403, "forbidden"},
		{"leaver edits", leaver, "POST /runs/edit", `{"accountId":"acc_1","runId":"run_1","totalSize":2}`, 403, "forbidden"},
		{"leaver reduces", leaver, "POST /orders", reduce, 400, "no_position"},
		{"leaver closes", leaver, "POST /positions/close", closeBTC, 404, "no_position"},
		{"no such path", r.live, "GET /nothing", "", 404, "not_found"},
		{"no account", r.live, "POST /orders", `{}`, 400, "missing_fields"},
		{"no object", r.live, "POST /orders", `null`, 400, "invalid_json"},
		{"twice", r.live, "POST /orders", `{"accountId":"acc_2","accountId":"acc_1"}`, 400, "invalid_json"},
		{"unknown member", r.live, "POST /orders", `{"accountId":"acc_1","Size":1}`, 400, "bad_request"},
		{"bad key", r.live, "POST /orders", buy, 400, "invalid_idempotency_key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var header []string
			if c.code == "invalid_idempotency_key" {
				header = []string{"Idempotency-Key", "a b"}
			}
			a := r.do(c.key, c.operation, c.body, header...)
			assert.Equal(t, c.status, a.status, a.body)
			assert.Equal(t, c.code, a.code)
			if c.operation[:4] == "POST" {
				assert.Equal(t, "not-applied", a.outcome)
				assert.NotEmpty(t, a.write)
			}
		})
	}
	assert.Empty(t, r.sim.Ledger())
	all := r.do(leaver, "GET /accounts", "")
	assert.Contains(t, all.body, "acc_2")
	mine := r.do(r.live, "GET /accounts", "")
	assert.Equal(t, 200, mine.status)
	assert.Contains(t, mine.body, "acc_1")
	assert.NotContains(t, mine.body, "acc_2")
	require.NoError(t, localkey.Remove(r.config.Dir+"/keys", "leaver", r.sim.Now()))
	gone := r.do(leaver, "GET /accounts", "")
	assert.Equal(t, "revoked_api_key", gone.code)
}

// A page in a browser, and a request for another host, reach nothing.
func TestBrowsersAreNotServed(t *testing.T) {
	r := newRig(t, nil, func(c *Config) { c.Hosts = []string{"localhost"} })
	assert.Equal(t, 403, r.do(r.live, "POST /orders", buy, "Origin", "http://localhost").status)
	assert.Equal(t, 403, r.do(r.live, "POST /orders", buy, "Sec-Fetch-Site", "same-origin").status)
	assert.Equal(t, 200, r.do(r.live, "GET /accounts", "").status)
	r.server.config.Hosts = []string{"localhost:8700"}
	assert.Equal(t, 421, r.do(r.live, "POST /orders", buy).status)
	assert.Empty(t, r.sim.Ledger())
}
