package exchange_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/proof/exchange"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A service that differs from the files is told apart by shape, and what may vary
// is not reported.
func TestDrift(t *testing.T) {
	recorded := exchanges(t)
	json := http.Header{"Content-Type": {"application/json"}}
	raw := func(status int, header http.Header, body string) func(*world, string) {
		return func(w *world, operation string) { w.sim.Fault(operation, tradingsim.Raw(status, header, body)) }
	}
	const position = `"symbol":"BTC","side":"short","size":2,"leverage":1,"entryPrice":1,"notionalValue":3,"marginRequired":4,` +
		`"takeProfitPrice":5,"stopLossPrice":null`
	for name, row := range map[string]struct {
		path   string
		differ func(*world, string)
		want   []string
	}{
		"nothing": {"listPositions/200-priced.json", nil, nil},
		"values, null for a value, two for one, another media type parameter": {"listPositions/200-priced.json",
			raw(200, http.Header{"Content-Type": {"application/json; charset=utf-8"}, "X-Trace": {"1"}}, `{"positions":[{`+position+`,"markPrice":null,"unrealizedPnL":null,"openedAt":"x"},{`+
				position+`,"markPrice":6,"unrealizedPnL":-1,"openedAt":"y"}]}`), nil},
		"an empty list":   {"listPositions/200-priced.json", raw(200, json, `{"positions":[]}`), nil},
		"another message": {"placeOrder/403-market_paused.json", raw(403, json, `{"error":"market_paused","message":"x","symbol":"y"}`), nil},
		"other symbols":   {"getPrices/200-all.json", raw(200, json, `{"ok":true,"prices":{"DOGE":1}}`), nil},
		"members": {"listPositions/200-priced.json",
			raw(200, json, `{"positions":[{`+position+`,"markPrice":"6","openedAt":7,"liquidationPrice":8}],"next":null}`), []string{
				"body.positions[].markPrice is now string, was null or number",
				"body.positions[].openedAt is now number, was string",
				"body.positions[].unrealizedPnL is missing",
				"body.positions[].liquidationPrice is new",
				"body.next is new",
			}},
		"a member missing in one of two": {"listPositions/200-priced.json",
			raw(200, json, `{"positions":[{`+position+`,"markPrice":6,"unrealizedPnL":1,"openedAt":"x"},{`+position+`,"markPrice":6,"openedAt":"x"}]}`),
			[]string{"body.positions[].unrealizedPnL is missing"}},
		"no envelope": {"listPositions/200-priced.json", raw(200, json, `[]`), []string{"body is now list, was object"}},
		"a price as text": {"getPrices/200-all.json", raw(200, json, `{"ok":true,"prices":{"BTC":"1"}}`),
			[]string{"body.prices[] is now string, was number"}},
		"null where none was": {"placeOrder/200-opened.json",
			raw(200, json, `{"success":true,"action":"opened","fill":null,"position":null,"newBalance":1}`),
			[]string{"body.fill is now null, was object"}},
		"another code": {"placeOrder/403-market_paused.json", raw(403, json, `{"error":"asset_paused","message":"x"}`),
			[]string{`error "market_paused" is now "asset_paused"`}},
		"another status": {"placeOrder/403-market_paused.json", raw(409, json, `{"error":"market_paused","message":"x","symbol":"y"}`),
			[]string{"status 403 is now 409"}},
		"a member of a refusal": {"placeOrder/409-MAX_SLIPPAGE.json",
			raw(409, json, `{"error":"MAX_SLIPPAGE","message":"x","maxSlippagePct":1}`), []string{"body.estSlippagePct is missing"}},
		"headers": {"placeOrder/429-rate_limited-user.json",
			raw(429, http.Header{"Content-Type": {"application/json"}, "X-Ratelimit-Limit": {"1"}}, `{"error":"rate_limited","message":"x"}`),
			[]string{"header Retry-After is missing", "header X-RateLimit-Limit is new"}},
		"a page": {"getHealth/200-healthy.json", raw(200, http.Header{"Content-Type": {"text/html"}}, "<html>"), []string{
			`Content-Type "application/json" is now "text/html"`, "body is now no JSON, was object",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := cases(t)[row.path]
			require.NotNil(t, c.op)
			prepare := c.before
			c.before = func(w *world) {
				if prepare != nil {
					prepare(w)
				}
				if row.differ != nil {
					row.differ(w, c.op.name())
				}
			}
			if row.differ != nil {
				c.options = nil // its limits would stand in front
			}
			var want []string
			for _, line := range row.want {
				want = append(want, row.path+": "+line)
			}
			assert.Equal(t, want, exchange.Drift(recorded, []*exchange.File{simulate(t, c)}))
		})
	}
}

// Every file against all of them: nothing differs from itself. A case that was
// not recorded is told.
func TestDriftOfTheFilesThemselves(t *testing.T) {
	recorded := exchanges(t)
	assert.Empty(t, exchange.Drift(recorded, recorded))
	assert.Equal(t, []string{"x/y.json: not recorded before"}, exchange.Drift(recorded, []*exchange.File{{Operation: "x", Case: "y"}}))
}

// Another service, over loopback: what may be recorded there can be, agrees with
// the files, and trades nothing but the paper account, and that only if asked to.
func TestRecordElsewhere(t *testing.T) {
	recorded := exchanges(t)
	for name, row := range map[string]struct {
		account                   string
		sandboxWrites, liveWrites bool
		least                     int
	}{
		"reads alone":       {"", false, false, 20},
		"with an account":   {"acc_1", false, false, 25},
		"with paper writes": {"acc_1", true, false, 45},
		"with all of it":    {"acc_1", true, true, 80},
	} {
		t.Run(name, func(t *testing.T) {
			sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "97123.45"), tradingsim.WithMark("SOL", ""), tradingsim.WithBalance("20000"))
			pool := &http.Transport{}
			defer pool.CloseIdleConnections()
			w := &world{
				t: t, baseURL: sim.URL(), base: pool, sandboxKey: sim.SandboxKey(), liveKey: sim.LiveKey(),
				account: "acc_1", order: "ord_none", run: "run_none",
			}
			list := permitted(cases(t), row.account, row.sandboxWrites, row.liveWrites)
			assert.GreaterOrEqual(t, len(list), row.least)
			files := recordElsewhere(t, w, list, row.sandboxWrites)
			assert.Empty(t, exchange.Drift(recorded, files))
			for _, e := range sim.Ledger() {
				assert.Empty(t, e.Account, "a real account was traded by %s", e.Operation)
				assert.True(t, row.sandboxWrites, "the paper account was traded by %s", e.Operation)
			}
			for _, f := range files {
				assert.Equal(t, exchange.Service, f.Source)
			}
			for _, r := range sim.Requests() {
				if !strings.HasPrefix(r.Operation, "POST ") {
					continue
				}
				paper := strings.HasPrefix(r.Operation, "POST /sandbox/")
				assert.True(t, paper && row.sandboxWrites || !paper && row.liveWrites, "%s was sent unasked", r.Operation)
				assert.True(t, paper || r.Status >= 400, "%s was accepted", r.Operation)
			}
		})
	}
}

// Of the live writes only those are sent to another service that no service could
// take for a trade, however it reads them; not one that goes well, even by mistake
// in the table.
func TestNoLiveWriteThatCouldTradeIsPermitted(t *testing.T) {
	all := maps.Clone(cases(t))
	opened := all["placeOrder/200-opened.json"]
	opened.anywhere = true
	all["placeOrder/200-opened.json"] = opened
	harmless := []string{"account_not_found", "invalid_json", "missing_fields", "order_not_found", "run_not_found"}
	sent := 0
	for _, c := range permitted(all, "acc_1", true, true) {
		if c.op.liveWrite() {
			sent++
			assert.Contains(t, harmless, c.code, c.path())
		}
	}
	assert.Positive(t, sent)
}
