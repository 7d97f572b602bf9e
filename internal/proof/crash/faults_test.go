package crash

import "github.com/tradingapi/trading-go/internal/testing/rig"

type fault = rig.Fault

// writeFaults are those of the write itself.
var writeFaults = rig.Faults("none",
	"no connection", "request lost", "reply lost", "reply cut short",
	"works for 2s", "works for 8s", "works for 10m", "works for 14m50s", "reply takes 8s", "reply takes 20m",
	"500 before", "500 after", "502 after", "500 after, lost", "500 after, cut", "500 after, hidden by a page", "500 after 8s of work",
	"500 before, lost", "no_price", "equity_unavailable", "idempotency_unavailable", "in flight", "died before", "died after",
	"a page", "a page, 403", "a page after", "a page after, 200", "rate limit 2s", "rate limit 1m", "rate limit, lost",
	"sent twice by a proxy", "a copy 1m later", "a copy 16m later",
	"arrives 3s late", "arrives 1m late", "arrives 14m59s late", "arrives 16m late",
	"stale price", "stale price, lost", "refused", "refused, lost", "locked, lost")

// fenceFaults are those of the cancels that recovery sends.
var fenceFaults = rig.Faults("request lost", "reply lost", "500 before", "500 after", "no_price", "idempotency_unavailable",
	"rate limit 2s", "rate limit 1m", "a page", "a page after, 200", "works for 8s", "arrives 1m late",
	"locked", "no such account", "died before")

// readFaults are those of positions, orders, runs, trades and health.
var readFaults = rig.Faults("request lost", "500 before", "a page, 503", "reply takes 2s", "rate limit 2s")

// unheardOf are answers whose codes no table has, or not of this operation, or not with this status.
var unheardOf = rig.Faults("500 database_error", "500 database_error after", "500 unavailable after", "502 internal_error after",
	"504 timeout after", "503 overloaded after", "400 new_rule", "409 new_conflict", "422 new_check", "403 market_paused_for_now",
	"a gateway's 400 after", "a gateway's 409 after", "a gateway's 404 after", "a gateway's 429 after", "a gateway's 401 after")
