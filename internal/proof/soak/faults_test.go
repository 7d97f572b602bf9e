package soak

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// mix is which faults a soak may meet.
type mix struct {
	// share of the calls that meet one, in percent.
	share int
	// unit is how long the short delays are.
	unit time.Duration
	// copies: requests arrive late, and a second time.
	copies bool
	// failsAfterWork: 5xx of what was executed, which are not stored.
	failsAfterWork bool
	// minutes: delays and rate limits that a wait in real time could not afford.
	minutes bool
	// beside are more, of live writes.
	beside []namedFault
}

// dice are shared by goroutines.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newDice(seed, stream uint64) *dice { return &dice{r: rand.New(rand.NewPCG(seed, stream))} }

func (d *dice) intN(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

// faultOf chooses what happens to a call; nil is nothing.
func (m mix) faultOf(d *dice, operation string) (string, tradingsim.Fault) {
	if d.intN(100) >= m.share {
		return "", nil
	}
	write := strings.HasPrefix(operation, "POST ")
	live := write && !strings.HasPrefix(operation, "POST /sandbox/")
	list := always
	if m.minutes {
		list = append(list[:len(list):len(list)], patient...)
	}
	if write {
		list = append(list[:len(list):len(list)], ofWrites...)
	} else {
		list = append(list[:len(list):len(list)], ofReads...)
	}
	if write && m.failsAfterWork {
		list = append(list[:len(list):len(list)], afterWork...)
	}
	if write && m.copies {
		list = append(list[:len(list):len(list)], arrivals...)
	}
	if live {
		list = append(list[:len(list):len(list)], ofKeys...)
	}
	if live && m.copies {
		list = append(list[:len(list):len(list)], repeats...)
	}
	if live {
		list = append(list[:len(list):len(list)], m.beside...)
	}
	f := list[d.intN(len(list))]
	return f.name, f.make(m.unit)
}

type namedFault struct {
	name string
	make func(unit time.Duration) tradingsim.Fault
}

func fixed(f tradingsim.Fault) func(time.Duration) tradingsim.Fault {
	return func(time.Duration) tradingsim.Fault { return f }
}

func timed(f func(time.Duration) tradingsim.Fault, units int) func(time.Duration) tradingsim.Fault {
	return func(unit time.Duration) tradingsim.Fault { return f(time.Duration(units) * unit) }
}

var jsonType = http.Header{"Content-Type": {"application/json"}}

var (
	always = []namedFault{
		{"no connection", fixed(tradingsim.RefuseConnection())},
		{"request lost", fixed(tradingsim.DropRequest())},
		{"reply lost", fixed(tradingsim.DropResponse())},
		{"reply cut short", fixed(tradingsim.TruncateResponse())},
		{"works a while", timed(tradingsim.Delay, 1)},
		{"reply takes a while", timed(tradingsim.DelayResponse, 1)},
		{"500 before", fixed(tradingsim.Fail(500, "internal_error"))},
		{"503 before", fixed(tradingsim.Fail(503, "unavailable"))},
		{"a refusal of a code unheard of", fixed(tradingsim.Fail(418, "TEAPOT"))},
		{"a page", fixed(tradingsim.GatewayError(502))},
		{"a page, 403", fixed(tradingsim.GatewayError(403))},
		{"a page, 200", fixed(tradingsim.GatewayError(200))},
		{"an empty object", fixed(tradingsim.Raw(200, jsonType, "{}"))},
		{"an empty answer", fixed(tradingsim.Raw(204, nil, ""))},
		{"a page after", fixed(tradingsim.GatewayErrorAfter(502))},
		{"a redirect", fixed(tradingsim.Raw(307, http.Header{"Location": {"https://elsewhere.example/v1"}}, ""))},
		{"nothing", fixed(tradingsim.Pass())},
	}
	// A write is not told that it was executed in a shape of no use: whether it was,
	// such an answer would decide, and not the service.
	ofReads = []namedFault{
		{"an answer of another shape", fixed(tradingsim.Raw(200, jsonType,
			`{"account":7,"accounts":{},"positions":7,"trades":7,"orders":7,"history":7,"funding":7,"markets":7,"prices":7,"status":7}`))},
	}
	patient = []namedFault{
		{"works for longer than an attempt", timed(tradingsim.Delay, 8)},
		{"reply takes longer than an attempt", timed(tradingsim.DelayResponse, 8)},
		{"rate limit", timed(tradingsim.RateLimit, 2)},
		{"rate limit of no time", fixed(tradingsim.RateLimit(0))},
	}
	ofWrites = []namedFault{
		{"stale price", fixed(tradingsim.Fail(409, "STALE_PRICE"))},
		{"no price", fixed(tradingsim.Fail(503, "no_price"))},
		{"cap", fixed(tradingsim.Fail(400, "PER_POSITION_CAP"))},
		{"refused, lost", fixed(tradingsim.Together(tradingsim.Fail(400, "MIN_NOTIONAL"), tradingsim.DropResponse()))},
		{"500 before, lost", fixed(tradingsim.Together(tradingsim.Fail(500, "internal_error"), tradingsim.DropResponse()))},
	}
	afterWork = []namedFault{
		{"500 after", fixed(tradingsim.FailAfter(500, "internal_error"))},
		{"503 after", fixed(tradingsim.FailAfter(503, "unavailable"))},
	}
	arrivals = []namedFault{
		{"arrives late", timed(tradingsim.ArriveLate, 3)},
		{"arrives much later", timed(tradingsim.ArriveLate, 30)},
	}
	ofKeys = []namedFault{
		{"died before", fixed(tradingsim.Crash())},
		{"died after", fixed(tradingsim.CrashAfter())},
		{"in flight", fixed(tradingsim.Fail(409, "idempotency_in_flight"))},
		{"key cannot be checked", fixed(tradingsim.Fail(503, "idempotency_unavailable"))},
		{"equity unavailable", fixed(tradingsim.Fail(503, "equity_unavailable"))},
	}
	repeats = []namedFault{
		{"sent twice", fixed(tradingsim.Repeat())},
		{"a copy later", timed(tradingsim.LateCopy, 20)},
	}
)
