package observe

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/profile"
)

// each calls f for every success of some operations.
func each(e *Evidence, f func(*Exchange), operations ...string) {
	for i := range e.Exchanges {
		if x := &e.Exchanges[i]; x.success() && x.Response != nil && slices.Contains(operations, x.Operation) {
			f(x)
		}
	}
}

// codes calls f for every refusal of an operation with one of some codes.
func codes(e *Evidence, operation string, f func(*Exchange), of ...string) {
	for i := range e.Exchanges {
		if x := &e.Exchanges[i]; x.Operation == operation && slices.Contains(of, x.Code) && !x.Replayed {
			f(x)
		}
	}
}

// status counts by the status: one of the two readings, or neither.
func (t *Tally) status(x *Exchange, first, other int) {
	switch x.Status {
	case first:
		t.first(x)
	case other:
		t.other(x)
	default:
		t.neither(x.Code+" with another status than either reading", x)
	}
}

// judgeNoPrice: a live order that finds no price.
func judgeNoPrice(e *Evidence, t *Tally) {
	codes(e, "POST /orders", func(x *Exchange) { t.first(x) }, "no_price")
}

// judgeAfterPass: writes to the paper account after it has passed. A read soon after a reset can
// show what was before it.
func judgeAfterPass(e *Evidence, t *Tally) {
	const soon = time.Minute
	var passed *Exchange
	var reset time.Time
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		switch {
		case x.Environment != profile.Paper || !x.decides():
		case x.Operation == "POST /sandbox/reset":
			passed, reset = nil, x.Received
		case x.Operation == "GET /sandbox/account":
			passed = nil
			if x.Sent.Sub(reset) > soon && text(member(member(x.Response, "account"), "status")) == "passed" {
				passed = x
			}
		case passed != nil && x.write() && (x.success() || x.Code == codeLocked):
			t.either(!x.success(), passed, x)
		}
	}
}

// judgeSandboxOK: reads of the paper account carry ok.
func judgeSandboxOK(e *Evidence, t *Tally) {
	each(e, func(x *Exchange) {
		switch string(member(x.Response, "ok")) {
		case "true":
			t.first(x)
		case "":
			t.other(x)
		default:
			t.neither("ok is not true", x)
		}
	}, "GET /sandbox/account", "GET /sandbox/positions", "GET /sandbox/trades", "GET /sandbox/markets", "GET /sandbox/prices")
}

// judgeLiveCodes: which codes of the sandbox live writes know.
func judgeLiveCodes(e *Evidence, t *Tally) {
	codes(e, "POST /orders", func(x *Exchange) { t.other(x) }, "bad_symbol")
	codes(e, "POST /positions/close", func(x *Exchange) { t.other(x) }, "bad_pct")
	codes(e, "POST /positions/close", func(x *Exchange) {
		if pct, err := decimal.NewFromString(number(member(x.Request, "closePercent"))); err == nil && pct.GreaterThan(decimal.NewFromInt(100)) {
			t.first(x)
		}
	}, "bad_request")
}

// judgeStatuses: the statuses of no_price and no_position.
func judgeStatuses(e *Evidence, t *Tally) {
	for _, operation := range []string{"POST /positions/close", "POST /positions/tpsl"} {
		codes(e, operation, func(x *Exchange) { t.status(x, http.StatusNotFound, http.StatusBadRequest) }, "no_position")
	}
	codes(e, "POST /orders", func(x *Exchange) { t.status(x, http.StatusBadRequest, http.StatusNotFound) }, "no_position")
	for _, operation := range []string{"POST /orders", "POST /positions/close"} {
		codes(e, operation, func(x *Exchange) { t.status(x, http.StatusServiceUnavailable, http.StatusBadRequest) }, "no_price")
	}
}

// judgeLimitPrice: a resting limit without its price, and with all else.
func judgeLimitPrice(e *Evidence, t *Tally) {
	codes(e, "POST /orders/limit", func(x *Exchange) {
		for _, name := range []string{"accountId", "symbol", "side", "size", "leverage"} {
			if member(x.Request, name) == nil {
				return
			}
		}
		if member(x.Request, "limitPrice") == nil && json.Valid(x.Request) {
			t.either(x.Code == "bad_limit_price", x)
		}
	}, "bad_limit_price", "missing_fields")
}

// judgeCreatedAt: the form of times in the list of accounts.
func judgeCreatedAt(e *Evidence, t *Tally) {
	each(e, func(x *Exchange) {
		list, ok := rows(x.Response, "accounts")
		if !ok || len(list) == 0 {
			return
		}
		at := list[0]["createdAt"]
		switch {
		case text(at) != "":
			t.first(x)
		case number(at) != "":
			t.other(x)
		default:
			t.neither("createdAt is neither a text nor a number", x)
		}
	}, "GET /accounts")
}

// judgeEnvelopes: live reads whose envelope the contract does not show.
func judgeEnvelopes(e *Evidence, t *Tally) {
	for operation, name := range map[string]string{
		"GET /positions": "positions", "GET /trades": "trades", "GET /accounts/{accountId}/funding": "funding", "GET /accounts/{accountId}": "account",
	} {
		each(e, func(x *Exchange) {
			inner, bare := member(x.Response, name), strings.HasPrefix(string(x.Response), "[")
			if name == "account" {
				bare = member(x.Response, "balance") != nil || member(x.Response, "equity") != nil
			}
			switch {
			case inner != nil:
				t.first(x)
			case bare:
				t.other(x)
			default:
				t.neither("neither bare nor in "+name, x)
			}
		}, operation)
	}
}

// judgeAcks: answers of cancels that the contract does not show.
func judgeAcks(e *Evidence, t *Tally) {
	for operation, id := range map[string]string{"POST /orders/cancel": "orderId", "POST /runs/cancel": "runId", "POST /runs/edit": "runId"} {
		each(e, func(x *Exchange) {
			var all map[string]json.RawMessage
			_ = json.Unmarshal(x.Response, &all) // decides has seen that it is JSON
			switch {
			case text(all[id]) != "":
				t.first(x)
			case len(all) == 1 && string(all["success"]) == "true":
				t.other(x)
			default:
				t.neither("an answer that is in neither form", x)
			}
		}, operation)
	}
}

// judgeProStatuses: the statuses of what a Pro order is refused with.
func judgeProStatuses(e *Evidence, t *Tally) {
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		switch {
		case x.Environment != profile.Live || x.Replayed:
		case slices.Contains([]string{"BAD_DURATION", "BAD_ORDER_COUNT", "BAD_PRICE", "BAD_TRIGGER"}, x.Code):
			t.status(x, http.StatusBadRequest, http.StatusUnprocessableEntity)
		case x.Code == "TOO_MANY_RUNS", x.Code == "CHASE_EXISTS":
			t.status(x, http.StatusConflict, http.StatusBadRequest)
		}
	}
}

// tradeMembers are the members of a closed trade that the contract does not show.
var tradeMembers = []string{"symbol", "side", "size", "leverage", "openedAt", "closedAt"}

// judgeTradeRows: what rows of closed trades show.
func judgeTradeRows(e *Evidence, t *Tally) {
	each(e, func(x *Exchange) {
		list, _ := rows(x.Response, "trades")
		if len(list) == 0 {
			return
		}
		n := 0
		for _, name := range tradeMembers { // the first row speaks for the list
			if list[0][name] != nil {
				n++
			}
		}
		switch n {
		case len(tradeMembers):
			t.first(x)
		case 0:
			t.other(x)
		default:
			t.neither("rows show some of symbol, side, size, leverage and times", x)
		}
	}, "GET /trades")
}

// judgeSmallCloses: a live close below one percent.
func judgeSmallCloses(e *Evidence, t *Tally) {
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if x.Operation != "POST /positions/close" || !x.decides() || x.Replayed || x.aboutKey() {
			continue
		}
		pct, err := decimal.NewFromString(number(member(x.Request, "closePercent")))
		if err != nil || !pct.IsPositive() || !pct.LessThan(decimal.NewFromInt(1)) {
			continue
		}
		switch {
		case x.success():
			t.other(x)
		case x.Code == "bad_request", x.Code == "bad_pct":
			t.first(x)
		}
	}
}

// judgeLiveFractions and judgePaperFractions: a close by a fraction above one percent.
func judgeLiveFractions(e *Evidence, t *Tally) {
	fractions(e, t, "POST /positions/close", "closePercent", "bad_request", "bad_pct")
}

func judgePaperFractions(e *Evidence, t *Tally) {
	fractions(e, t, "POST /sandbox/positions/close", "pct", "bad_pct")
}

func fractions(e *Evidence, t *Tally, operation, name string, refusals ...string) {
	one, most := decimal.NewFromInt(1), decimal.NewFromInt(100)
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if x.Operation != operation || !x.decides() || x.Replayed {
			continue
		}
		pct, err := decimal.NewFromString(number(member(x.Request, name)))
		switch {
		case err != nil || pct.IsInteger() || pct.LessThan(one) || pct.GreaterThan(most):
		case x.success():
			t.first(x)
		case slices.Contains(refusals, x.Code):
			t.other(x)
		}
	}
}

// judgeLimitHeaders: which answers carry the headers of the key's limit.
func judgeLimitHeaders(e *Evidence, t *Tally) {
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if x.Header != nil && x.success() && x.Environment == profile.Live {
			// A gateway has headers of its own of that name: the service's limit is 600.
			t.either(x.Header.Get("X-RateLimit-Limit") != "600", x)
		}
	}
}

// judgeOrderPosition: a 2xx of an order carries the position.
func judgeOrderPosition(e *Evidence, t *Tally) {
	each(e, func(x *Exchange) {
		if t.whole(member(x.Response, "position"), x); !x.Replayed && member(x.Response, "position") == nil {
			t.other(x)
		}
	}, "POST /orders")
}

// judgePositionRows: rows of positions have what accounting needs.
func judgePositionRows(e *Evidence, t *Tally) {
	each(e, func(x *Exchange) {
		list, _ := rows(x.Response, "positions")
		if len(list) == 0 {
			return
		}
		if raw, err := json.Marshal(list[0]); err == nil {
			t.whole(raw, x)
		}
	}, "GET /positions")
}

// whole counts whether a position has symbol, side and size. One that is absent counts for
// nothing.
func (t *Tally) whole(position json.RawMessage, x *Exchange) {
	if position == nil || string(position) == "null" {
		return
	}
	t.either(text(member(position, "symbol")) != "" && text(member(position, "side")) != "" && number(member(position, "size")) != "", x)
}

// judgeTradeLists: newest first, and append-only between two reads of an account.
func judgeTradeLists(e *Evidence, t *Tally) {
	last := map[string]*Exchange{}
	each(e, func(x *Exchange) {
		list, ok := rows(x.Response, "trades")
		if !ok {
			return
		}
		for i := 1; i < len(list); i++ {
			if a, b := text(list[i-1]["closedAt"]), text(list[i]["closedAt"]); a != "" && b != "" && a < b {
				t.other(x)
				return
			}
		}
		account := x.accountID()
		before := last[account]
		if last[account] = x; before == nil || account == "" {
			return
		}
		older, _ := rows(before.Response, "trades")
		if len(older) > 0 {
			t.either(continues(older, list), before, x)
		}
	}, "GET /trades")
}

// continues reports whether a list still has the rows of an older one behind what is new, as far as
// it reaches.
func continues(older, list []map[string]json.RawMessage) bool {
	for fresh := range list {
		if !sameRow(list[fresh], older[0]) {
			continue
		}
		for i, row := range list[fresh:] {
			if i < len(older) && !sameRow(row, older[i]) {
				return false
			}
		}
		return true
	}
	return false
}

func sameRow(a, b map[string]json.RawMessage) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
