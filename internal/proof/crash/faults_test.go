package crash

import (
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// fault is one thing that can happen to a call, by the name that reports use.
type fault struct {
	name  string
	fault tradingsim.Fault
	// worked: the service did the work and then says 5xx, to the bot or to nobody.
	worked bool
}

var faultless = fault{name: "none"}

// writeFaults are those of the write itself.
var writeFaults = []fault{
	faultless,
	{name: "no connection", fault: tradingsim.RefuseConnection()},
	{name: "request lost", fault: tradingsim.DropRequest()},
	{name: "reply lost", fault: tradingsim.DropResponse()},
	{name: "reply cut short", fault: tradingsim.TruncateResponse()},
	{name: "works for 2s", fault: tradingsim.Delay(2 * time.Second)},
	{name: "works for 8s", fault: tradingsim.Delay(8 * time.Second)},
	{name: "works for 10m", fault: tradingsim.Delay(10 * time.Minute)},
	{name: "works for 14m50s", fault: tradingsim.Delay(14*time.Minute + 50*time.Second)},
	{name: "reply takes 8s", fault: tradingsim.DelayResponse(8 * time.Second)},
	{name: "reply takes 20m", fault: tradingsim.DelayResponse(20 * time.Minute)},
	{name: "500 before", fault: tradingsim.Fail(500, "internal_error")},
	{name: "500 after", fault: tradingsim.FailAfter(500, "internal_error"), worked: true},
	{name: "502 after", fault: tradingsim.FailAfter(502, "unavailable"), worked: true},
	{name: "500 after, lost", fault: tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse()), worked: true},
	{name: "500 after, cut", fault: tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.TruncateResponse()), worked: true},
	{name: "500 after, hidden by a page", fault: tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.GatewayErrorAfter(502)), worked: true},
	{name: "500 after 8s of work", fault: tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.Delay(8*time.Second)), worked: true},
	{name: "500 before, lost", fault: tradingsim.Together(tradingsim.Fail(500, "internal_error"), tradingsim.DropResponse())},
	{name: "no_price", fault: tradingsim.Fail(503, "no_price")},
	{name: "equity_unavailable", fault: tradingsim.Fail(503, "equity_unavailable")},
	{name: "idempotency_unavailable", fault: tradingsim.Fail(503, "idempotency_unavailable")},
	{name: "in flight", fault: tradingsim.Fail(409, "idempotency_in_flight")},
	{name: "died before", fault: tradingsim.Crash()},
	{name: "died after", fault: tradingsim.CrashAfter()},
	{name: "a page", fault: tradingsim.GatewayError(502)},
	{name: "a page, 403", fault: tradingsim.GatewayError(403)},
	{name: "a page after", fault: tradingsim.GatewayErrorAfter(502)},
	{name: "a page after, 200", fault: tradingsim.GatewayErrorAfter(200)},
	{name: "rate limit 2s", fault: tradingsim.RateLimit(2 * time.Second)},
	{name: "rate limit 1m", fault: tradingsim.RateLimit(time.Minute)},
	{name: "rate limit, lost", fault: tradingsim.Together(tradingsim.RateLimit(2*time.Second), tradingsim.DropResponse())},
	{name: "sent twice by a proxy", fault: tradingsim.Repeat()},
	{name: "a copy 1m later", fault: tradingsim.LateCopy(time.Minute)},
	{name: "a copy 16m later", fault: tradingsim.LateCopy(16 * time.Minute)},
	{name: "arrives 3s late", fault: tradingsim.ArriveLate(3 * time.Second)},
	{name: "arrives 1m late", fault: tradingsim.ArriveLate(time.Minute)},
	{name: "arrives 14m59s late", fault: tradingsim.ArriveLate(14*time.Minute + 59*time.Second)},
	{name: "arrives 16m late", fault: tradingsim.ArriveLate(16 * time.Minute)},
	{name: "stale price", fault: tradingsim.Fail(409, "STALE_PRICE")},
	{name: "stale price, lost", fault: tradingsim.Together(tradingsim.Fail(409, "STALE_PRICE"), tradingsim.DropResponse())},
	{name: "refused", fault: tradingsim.Fail(400, "MIN_NOTIONAL")},
	{name: "refused, lost", fault: tradingsim.Together(tradingsim.Fail(400, "MIN_NOTIONAL"), tradingsim.DropResponse())},
	{name: "locked, lost", fault: tradingsim.Together(tradingsim.Fail(403, "account_locked"), tradingsim.DropResponse())},
}

// fenceFaults are those of the cancels that recovery sends.
var fenceFaults = []fault{
	{name: "request lost", fault: tradingsim.DropRequest()},
	{name: "reply lost", fault: tradingsim.DropResponse()},
	{name: "500 before", fault: tradingsim.Fail(500, "internal_error")},
	{name: "500 after", fault: tradingsim.FailAfter(500, "internal_error")},
	{name: "no_price", fault: tradingsim.Fail(503, "no_price")},
	{name: "idempotency_unavailable", fault: tradingsim.Fail(503, "idempotency_unavailable")},
	{name: "rate limit 2s", fault: tradingsim.RateLimit(2 * time.Second)},
	{name: "rate limit 1m", fault: tradingsim.RateLimit(time.Minute)},
	{name: "a page", fault: tradingsim.GatewayError(502)},
	{name: "a page after", fault: tradingsim.GatewayErrorAfter(200)},
	{name: "works for 8s", fault: tradingsim.Delay(8 * time.Second)},
	{name: "arrives 1m late", fault: tradingsim.ArriveLate(time.Minute)},
	{name: "locked", fault: tradingsim.Fail(403, "account_locked")},
	{name: "no such account", fault: tradingsim.Fail(404, "account_not_found")},
	{name: "died over it", fault: tradingsim.Crash()},
}

// readFaults are those of positions, orders, runs, trades and health.
var readFaults = []fault{
	{name: "request lost", fault: tradingsim.DropRequest()},
	{name: "500", fault: tradingsim.Fail(500, "internal_error")},
	{name: "a page", fault: tradingsim.GatewayError(503)},
	{name: "reply takes 2s", fault: tradingsim.DelayResponse(2 * time.Second)},
	{name: "rate limit 2s", fault: tradingsim.RateLimit(2 * time.Second)},
}
