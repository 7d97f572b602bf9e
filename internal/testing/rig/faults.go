package rig

import (
	"net/http"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Fault is one thing that can happen to a call, by the name that reports use.
type Fault struct {
	Name  string
	Fault tradingsim.Fault
	// Worked: the service did the work and then says 5xx, to the bot or to nobody.
	Worked bool
}

// Faults are those of the names, in their order.
func Faults(names ...string) []Fault {
	list := make([]Fault, len(names))
	for i, name := range names {
		at := slices.IndexFunc(faults, func(f Fault) bool { return f.Name == name })
		if at < 0 {
			panic("there is no fault " + name)
		}
		list[i] = faults[at]
	}
	return list
}

// FaultOf is the fault of a name.
func FaultOf(name string) Fault { return Faults(name)[0] }

var (
	together = tradingsim.Together
	internal = tradingsim.Fail(500, "internal_error")
	worked   = tradingsim.FailAfter(500, "internal_error")
	lost     = tradingsim.DropResponse()
	jsonType = http.Header{"Content-Type": {"application/json"}}
	cut      = tradingsim.Hang(20 * time.Second)
)

var faults = []Fault{
	{Name: "none"},
	{Name: "nothing", Fault: tradingsim.Pass()},

	// On the way.
	{Name: "no connection", Fault: tradingsim.RefuseConnection()},
	{Name: "request lost", Fault: tradingsim.DropRequest()},
	{Name: "reply lost", Fault: lost},
	{Name: "reply cut short", Fault: tradingsim.TruncateResponse()},
	{Name: "reply takes 1s", Fault: tradingsim.DelayResponse(time.Second)},
	{Name: "reply takes 2s", Fault: tradingsim.DelayResponse(2 * time.Second)},
	{Name: "reply takes 8s", Fault: tradingsim.DelayResponse(8 * time.Second)},
	{Name: "reply takes 20s", Fault: tradingsim.DelayResponse(20 * time.Second)},
	{Name: "reply takes 20m", Fault: tradingsim.DelayResponse(20 * time.Minute)},
	{Name: "arrives 3s late", Fault: tradingsim.ArriveLate(3 * time.Second)},
	{Name: "arrives 20s late", Fault: tradingsim.ArriveLate(20 * time.Second)},
	{Name: "arrives 30s late", Fault: tradingsim.ArriveLate(30 * time.Second)},
	{Name: "arrives 1m late", Fault: tradingsim.ArriveLate(time.Minute)},
	{Name: "arrives 3m late", Fault: tradingsim.ArriveLate(3 * time.Minute)},
	{Name: "arrives 14m59s late", Fault: tradingsim.ArriveLate(14*time.Minute + 59*time.Second)},
	{Name: "arrives 16m late", Fault: tradingsim.ArriveLate(16 * time.Minute)},
	{Name: "arrives 20s late, and it dies before", Fault: together(tradingsim.ArriveLate(20*time.Second), tradingsim.Crash())},
	{Name: "sent twice by a proxy", Fault: tradingsim.Repeat()},
	{Name: "a copy 20s later", Fault: tradingsim.LateCopy(20 * time.Second)},
	{Name: "a copy 1m later", Fault: tradingsim.LateCopy(time.Minute)},
	{Name: "a copy 16m later", Fault: tradingsim.LateCopy(16 * time.Minute)},

	// At work.
	{Name: "works for 1s", Fault: tradingsim.Delay(time.Second)},
	{Name: "works for 2s", Fault: tradingsim.Delay(2 * time.Second)},
	{Name: "works for 6s", Fault: tradingsim.Delay(6 * time.Second)},
	{Name: "works for 8s", Fault: tradingsim.Delay(8 * time.Second)},
	{Name: "works for 12s", Fault: tradingsim.Delay(12 * time.Second)},
	{Name: "works for 20s", Fault: tradingsim.Delay(20 * time.Second)},
	{Name: "works for 3m", Fault: tradingsim.Delay(3 * time.Minute)},
	{Name: "works for 10m", Fault: tradingsim.Delay(10 * time.Minute)},
	{Name: "works for 14m50s", Fault: tradingsim.Delay(14*time.Minute + 50*time.Second)},
	{Name: "died before", Fault: tradingsim.Crash()},
	{Name: "died after", Fault: tradingsim.CrashAfter()},
	{Name: "cut, and still at work", Fault: cut},
	{Name: "cut, and died before", Fault: together(cut, tradingsim.Crash())},
	{Name: "cut, and died after", Fault: together(cut, tradingsim.CrashAfter())},
	{Name: "cut, and 500 before", Fault: together(cut, internal)},
	{Name: "cut, and 500 after", Fault: together(cut, worked)},

	// A service that fails.
	{Name: "500 before", Fault: internal},
	{Name: "500 before, lost", Fault: together(internal, lost)},
	{Name: "503 before", Fault: tradingsim.Fail(503, "unavailable")},
	{Name: "500 after", Fault: worked, Worked: true},
	{Name: "502 after", Fault: tradingsim.FailAfter(502, "unavailable"), Worked: true},
	{Name: "503 after", Fault: tradingsim.FailAfter(503, "unavailable"), Worked: true},
	{Name: "500 after, lost", Fault: together(worked, lost), Worked: true},
	{Name: "500 after, cut", Fault: together(worked, tradingsim.TruncateResponse()), Worked: true},
	{Name: "500 after, hidden by a page", Fault: together(worked, tradingsim.GatewayErrorAfter(502)), Worked: true},
	{Name: "500 after 8s of work", Fault: together(worked, tradingsim.Delay(8*time.Second)), Worked: true},
	{Name: "no_price", Fault: tradingsim.Fail(503, "no_price")},
	{Name: "equity_unavailable", Fault: tradingsim.Fail(503, "equity_unavailable")},
	{Name: "idempotency_unavailable", Fault: tradingsim.Fail(503, "idempotency_unavailable")},

	// A service that refuses.
	{Name: "in flight", Fault: tradingsim.Fail(409, "idempotency_in_flight")},
	{Name: "stale price", Fault: tradingsim.Fail(409, "STALE_PRICE")},
	{Name: "stale price, lost", Fault: together(tradingsim.Fail(409, "STALE_PRICE"), lost)},
	{Name: "refused", Fault: tradingsim.Fail(400, "MIN_NOTIONAL")},
	{Name: "refused, lost", Fault: together(tradingsim.Fail(400, "MIN_NOTIONAL"), lost)},
	{Name: "cap", Fault: tradingsim.Fail(400, "PER_POSITION_CAP")},
	{Name: "locked", Fault: tradingsim.Fail(403, "account_locked")},
	{Name: "locked, lost", Fault: together(tradingsim.Fail(403, "account_locked"), lost)},
	{Name: "no such account", Fault: tradingsim.Fail(404, "account_not_found")},
	{Name: "422 unprocessable", Fault: tradingsim.Fail(422, "unprocessable")},
	{Name: "422 unprocessable, lost", Fault: together(tradingsim.Fail(422, "unprocessable"), lost)},
	{Name: "rate limit of no time", Fault: tradingsim.RateLimit(0)},
	{Name: "rate limit 2s", Fault: tradingsim.RateLimit(2 * time.Second)},
	{Name: "rate limit 20s", Fault: tradingsim.RateLimit(20 * time.Second)},
	{Name: "rate limit 1m", Fault: tradingsim.RateLimit(time.Minute)},
	{Name: "rate limit, lost", Fault: together(tradingsim.RateLimit(2*time.Second), lost)},

	// Own answers whose codes no table has, or not of this operation, or not with this status.
	{Name: "418 TEAPOT", Fault: tradingsim.Fail(418, "TEAPOT")},
	{Name: "500 database_error", Fault: tradingsim.Fail(500, "database_error")},
	{Name: "500 database_error after", Fault: tradingsim.FailAfter(500, "database_error"), Worked: true},
	{Name: "500 unavailable after", Fault: tradingsim.FailAfter(500, "unavailable"), Worked: true},
	{Name: "502 internal_error after", Fault: tradingsim.FailAfter(502, "internal_error"), Worked: true},
	{Name: "504 timeout", Fault: tradingsim.Fail(504, "timeout")},
	{Name: "504 timeout after", Fault: tradingsim.FailAfter(504, "timeout"), Worked: true},
	{Name: "503 overloaded after", Fault: tradingsim.FailAfter(503, "overloaded"), Worked: true},
	{Name: "400 new_rule", Fault: tradingsim.Fail(400, "new_rule")},
	{Name: "409 new_conflict", Fault: tradingsim.Fail(409, "new_conflict")},
	{Name: "422 new_check", Fault: tradingsim.Fail(422, "new_check")},
	{Name: "403 market_paused_for_now", Fault: tradingsim.Fail(403, "market_paused_for_now")},

	// Something in front that answers.
	{Name: "a page", Fault: tradingsim.GatewayError(502)},
	{Name: "a page, 200", Fault: tradingsim.GatewayError(200)},
	{Name: "a page, 403", Fault: tradingsim.GatewayError(403)},
	{Name: "a page, 503", Fault: tradingsim.GatewayError(503)},
	{Name: "a page after", Fault: tradingsim.GatewayErrorAfter(502)},
	{Name: "a page after, 200", Fault: tradingsim.GatewayErrorAfter(200)},
	{Name: "a gateway's 400", Fault: tradingsim.GatewayJSON(400, "bad_gateway")},
	{Name: "a gateway's 403", Fault: tradingsim.GatewayJSON(403, "forbidden")},
	{Name: "a gateway's 400 after", Fault: tradingsim.GatewayJSONAfter(400, "bad_gateway")},
	{Name: "a gateway's 401 after", Fault: tradingsim.GatewayJSONAfter(401, "unauthorized")},
	{Name: "a gateway's 404 after", Fault: tradingsim.GatewayJSONAfter(404, "not_found")},
	{Name: "a gateway's 404 gone_for_now after", Fault: tradingsim.GatewayJSONAfter(404, "gone_for_now")},
	{Name: "a gateway's 409 after", Fault: tradingsim.GatewayJSONAfter(409, "conflict")},
	{Name: "a gateway's 429 after", Fault: tradingsim.GatewayJSONAfter(429, "slow_down")},
	{Name: "a gateway's 503 after", Fault: tradingsim.GatewayJSONAfter(503, "try_later")},
	{Name: "a redirect", Fault: tradingsim.Raw(307, http.Header{"Location": {"https://elsewhere.example/v1"}}, "")},
	{Name: "an empty object", Fault: tradingsim.Raw(200, jsonType, "{}")},
	{Name: "an empty answer", Fault: tradingsim.Raw(204, nil, "")},
	{Name: "an answer of another shape", Fault: tradingsim.Raw(200, jsonType,
		`{"account":7,"accounts":{},"positions":7,"trades":7,"orders":7,"history":7,"funding":7,"markets":7,"prices":7,"status":7}`)},
	{Name: "anything", Fault: tradingsim.Raw(200, nil, "welcome to the hotel")},
	{Name: "anything after", Fault: tradingsim.RawAfter(200, http.Header{"Content-Type": {"text/html"}}, "welcome to the hotel")},
}
