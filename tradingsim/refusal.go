package tradingsim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"
)

// statuses is the status of each code. Codes that the contract gives two take
// the other with [refusal.as].
var statuses = map[string]int{
	// In front of every route.
	"missing_api_key":   401,
	"invalid_api_key":   401,
	"revoked_api_key":   401,
	"wrong_environment": 403,
	"api_access_denied": 403,
	"rate_limited":      429,

	// Both environments.
	"invalid_json":           400,
	"bad_side":               400,
	"bad_size":               400,
	"bad_limit_price":        400,
	"BAD_MAX_SLIPPAGE":       400,
	"MIN_NOTIONAL":           400,
	"PER_POSITION_CAP":       400,
	"TOTAL_MARGIN_CAP":       400,
	"ASSET_NOTIONAL_CAP":     400,
	"NO_EQUITY":              400,
	"invalid_tpsl":           400,
	"account_locked":         403,
	"asset_disabled":         403,
	"no_position":            404,
	"GUARD_BAND":             409,
	"MAX_SLIPPAGE":           409,
	"INSUFFICIENT_LIQUIDITY": 409,
	"STALE_PRICE":            409,
	"NO_PRICE":               409,
	"no_price":               503,

	// Sandbox.
	"bad_symbol":           400,
	"bad_pct":              400,
	"cap_exceeded":         400,
	"order_rejected":       400,
	"order_not_marketable": 409,
	"fill_rejected":        409,
	"concurrent_request":   409,

	// Live.
	"missing_fields":         400,
	"NOT_MARKETABLE":         400,
	"size_below_executed":    400,
	"BAD_DURATION":           400,
	"BAD_ORDER_COUNT":        400,
	"BAD_PRICE":              400,
	"BAD_TRIGGER":            400,
	"ACCOUNT_LOCKED":         403,
	"DAILY_DRAWDOWN_BREACH":  403,
	"GLOBAL_DRAWDOWN_BREACH": 403,
	"market_paused":          403,
	"account_not_found":      404,
	"run_not_found":          404,
	"order_not_found":        404,
	"TOO_MANY_RUNS":          409,
	"CHASE_EXISTS":           409,
	"PRICE_UNAVAILABLE":      503,
	"equity_unavailable":     503,

	// Idempotency.
	"invalid_idempotency_key":    400,
	"idempotency_key_reused":     422,
	"idempotency_in_flight":      409,
	"idempotency_result_unknown": 409,
	"idempotency_unavailable":    503,

	// Named for the status, where nothing more specific fits.
	"bad_request":    400,
	"unauthorized":   401,
	"forbidden":      403,
	"not_found":      404,
	"conflict":       409,
	"unprocessable":  422,
	"internal_error": 500,
	"unavailable":    503,
}

// refusal is an answer that says no.
type refusal struct {
	status  int
	code    string
	message string
	extras  object        // members besides error and message
	wait    time.Duration // Retry-After, where the answer carries it
	limit   *window       // X-RateLimit headers, where the answer carries them
}

// refuse makes a refusal with the code's own status.
func refuse(code, format string, args ...any) *refusal {
	status, ok := statuses[code]
	if !ok {
		panic("tradingsim: no status for code " + code)
	}
	return &refusal{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

// as gives the refusal the other status of its code.
func (r *refusal) as(status int) *refusal {
	r.status = status
	return r
}

func (r *refusal) with(name string, value any) *refusal {
	r.extras = append(r.extras, member{name, value})
	return r
}

// answer is one response as it leaves the service, or something in front of it.
type answer struct {
	status int
	json   bool        // the service's own, in JSON
	date   string      // of the service's
	header http.Header // besides; nil without
	body   []byte
	code   string // of a refusal
}

// set sets a header of an answer that nobody has yet.
func (a *answer) set(name, value string) {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(name, value)
}

// headers are all headers of an answer, for the caller to keep, with the length of the body.
// Those of every answer have their values in room.
func (a *answer) headers(room *[3]string) http.Header {
	h := make(http.Header, len(room)+len(a.header))
	for name, values := range a.header {
		h[name] = slices.Clone(values)
	}
	*room = [...]string{"application/json", a.date, strconv.Itoa(len(a.body))}
	if a.json {
		h["Content-Type"] = room[0:1:1]
	}
	if a.date != "" {
		h["Date"] = room[1:2:2]
	}
	h["Content-Length"] = room[2:3:3]
	return h
}

func (r *refusal) answer() *answer {
	body := append(object{{"error", r.code}, {"message", r.message}}, r.extras...)
	a := &answer{status: r.status, json: true, body: mustJSON(body), code: r.code}
	if r.wait > 0 {
		a.set("Retry-After", wholeSeconds(r.wait))
	}
	if r.limit != nil {
		r.limit.describe(a)
	}
	return a
}

func jsonHeader() http.Header {
	return http.Header{"Content-Type": {"application/json"}}
}

// success makes a 200 of a body.
func success(body any) *answer {
	return &answer{status: http.StatusOK, json: true, body: mustJSON(body)}
}

// succeeded is the success of an operation. Its answers are mostly as long as the last.
func (o *operation) succeeded(body any) *answer {
	text := appendJSON(make([]byte, 0, o.room), body)
	o.room = min(len(text)+16, 64<<10)
	return &answer{status: http.StatusOK, json: true, body: text}
}

// slippageRefusal carries the estimate, null when the book is too thin for one.
func slippageRefusal(code string, estimate opt, limit decimal.Decimal, message string) *refusal {
	return refuse(code, "%s", message).
		with("estSlippagePct", estimate).
		with("maxSlippagePct", num(limit))
}
