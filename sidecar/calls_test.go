package sidecar

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tradingapi/trading-go/tradingsim"
)

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

var liveOrders = []string{"/orders", "/orders/limit", "/orders/conditional", "/orders/ladder", "/orders/twap", "/orders/chase", "/orders/chase-twap", "/orders/swarm"}

// members are those of a body, in some order.
type members [][2]string

func (m members) String() string {
	parts := make([]string, len(m))
	for i, p := range m {
		parts[i] = fmt.Sprintf("%q: %s", p[0], p[1])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// write is a random write that the contract has.
func (tw *twins) write(paper bool) (string, members) {
	r := tw.random
	symbol := members{{"symbol", one(r, `"BTC"`, `"BTC"`, `"ETH"`, `"DOGE"`)}}
	account := members{{"accountId", one(r, `"acc_1"`, `"acc_1"`, `"acc_1"`, `"acc_2"`, `"acc_9"`)}}
	order := slices.Concat(symbol, members{{"side", one(r, `"long"`, `"short"`)}, {"size", one(r, `0.01`, `0.020`, `1e-2`, `0.1`, `500`)}})
	level := one(r, members{}, members{{"stopLossPrice", `60000`}}, members{{"takeProfitPrice", `70000.0`}, {"stopLossPrice", `null`}}, members{{"stopLossPrice", `100`}})
	part := one(r, members{}, members{{"pct", `100`}}, members{{"pct", `50`}}, members{{"pct", `0`}})
	if paper {
		switch r.IntN(8) {
		case 0, 1, 2:
			return "POST /sandbox/positions/close", append(symbol, part...)
		case 3:
			return "POST /sandbox/positions/tpsl", append(symbol, level...)
		case 4:
			return "POST /sandbox/reset", nil
		default:
			more := one(r, members{}, members{{"leverage", `2`}}, members{{"orderType", `"limit"`}, {"limitPrice", `70000`}}, members{{"maxSlippagePct", `0.5`}})
			return "POST /sandbox/orders", slices.Concat(order, more, level)
		}
	}
	order = slices.Concat(account, order, members{{"leverage", one(r, `2`, `2.0`, `50`)}})
	switch r.IntN(12) {
	case 0, 1, 2:
		for i := range part {
			part = members{{"closePercent", part[i][1]}}
		}
		return "POST /positions/close", slices.Concat(account, symbol, part)
	case 3:
		return "POST /positions/tpsl", slices.Concat(account, symbol, level)
	case 4:
		return "POST /orders/cancel", append(account, [2]string{"orderId", one(r, `"ord_1"`, `"ord_2"`, `"ord_3"`, `"x"`)})
	case 5:
		return "POST /runs/cancel", append(account, [2]string{"runId", one(r, `"run_1"`, `"run_2"`, `"run_3"`)})
	case 6:
		return "POST /runs/edit", append(account, [2]string{"runId", one(r, `"run_1"`, `"run_2"`)}, [2]string{"totalSize", one(r, `1`, `0.5`, `0.0001`)})
	}
	path := one(r, append([]string{"/orders", "/orders", "/orders"}, liveOrders...)...)
	more := map[string]members{
		"/orders":             one(r, members{}, members{{"reduceOnly", `true`}}, members{{"orderType", `"limit"`}, {"limitPrice", `64500`}}, members{{"expectedPrice", `64000`}}),
		"/orders/limit":       {{"limitPrice", one(r, `60000`, `68000`, `3100`)}},
		"/orders/conditional": {{"triggerPrice", one(r, `66000`, `0`)}},
		"/orders/ladder":      {{"startPrice", `60000`}, {"endPrice", `61000`}, {"totalOrders", one(r, `2`, `3`, `1000`)}},
		"/orders/twap":        {{"durationMs", one(r, `60000`, `300000`, `1`)}},
		"/orders/chase-twap":  {{"durationMs", `60000`}},
		"/orders/swarm":       {{"totalOrders", `3`}},
	}[path]
	return "POST " + path, slices.Concat(order, more, level)
}

// spoil makes something wrong with a body.
func (tw *twins) spoil(m members) string {
	r := tw.random
	if len(m) == 0 {
		return ""
	}
	i := r.IntN(len(m))
	m = slices.Clone(m)
	switch r.IntN(8) {
	case 0:
		m = slices.Delete(m, i, i+1)
	case 1:
		m[i][1] = "null"
	case 2:
		m[i][1] = `"` + strings.Trim(m[i][1], `"`) + `"`
	case 3:
		m[i][1] = one(r, `-1`, `0`, `true`, `[]`, `{}`, `1e400`)
	case 4:
		m = append(m, [2]string{"note", `"x"`})
	case 5:
		m = append(m, m[i])
	case 6:
		return one(r, "", "[]", "null", "{", `"x"`, m.String()+"x")
	default:
		m[i][0] = strings.ToUpper(m[i][0])
	}
	return m.String()
}

// next is a random request.
func (tw *twins) next() called {
	r := tw.random
	c := called{paper: r.IntN(4) == 0}
	switch r.IntN(10) {
	case 0, 1, 2:
		all := tradingsim.Operations()
		c.operation = one(r, all...)
		if strings.HasPrefix(c.operation, "POST") {
			c.operation = "GET /positions"
		}
		account := one(r, "acc_1", "acc_1", "acc_2", "acc_9", "a%2Fb")
		c.operation = strings.ReplaceAll(c.operation, "{accountId}", account)
		switch c.operation {
		case "GET /positions", "GET /trades":
			c.operation += "?accountId=" + one(r, account, account, account, "")
		case "GET /sandbox/prices":
			c.operation += one(r, "", "?symbol=BTC", "?symbol=DOGE", "?symbol=XRP")
		}
		c.paper = strings.Contains(c.operation, "/sandbox/") != (r.IntN(12) == 0) // wrong environment
	case 3:
		c.operation = one(r, "PUT /orders", "GET /orders", "POST /accounts", "GET /", "GET /accounts/", "DELETE /positions/close")
	default:
		var m members
		c.operation, m = tw.write(c.paper)
		c.body = m.String()
		if m == nil {
			c.body = one(r, "", "{}")
		}
		if r.IntN(3) == 0 {
			c.body, c.spoiled = tw.spoil(m), true
		}
		switch r.IntN(24) {
		case 0, 1, 2, 3, 4, 5, 6, 7:
			tw.n++
			c.header = []string{"Idempotency-Key", fmt.Sprint("key-", tw.n)}
		case 8, 9, 10, 11:
			if len(tw.keys) > 0 {
				c.header = []string{"Idempotency-Key", one(r, tw.keys...)}
				if tw.before[c.header[1]] && r.IntN(10) > 0 { // it takes long to find out about each
					c.header = nil
				}
			}
		case 12:
			c.header = []string{"Idempotency-Key", one(r, "a b", strings.Repeat("k", 256), "\x7f")}
		}
		if r.IntN(40) == 0 {
			c.paper = !c.paper
		}
	}
	c.nobody = r.IntN(60) == 0
	return c
}
