package soak

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// mix is which faults a soak may meet.
type mix struct {
	// copies: requests arrive late, and a second time.
	copies bool
	// failsAfterWork: 5xx of what was executed, which are not stored.
	failsAfterWork bool
	// beside are more, of live writes.
	beside []namedFault
}

// share of the calls that meet a fault, in percent.
const share = 8

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
	if d.intN(100) >= share {
		return "", nil
	}
	write := strings.HasPrefix(operation, "POST ")
	live := write && !strings.HasPrefix(operation, "POST /sandbox/")
	list := slices.Clone(always)
	with := func(does bool, more []namedFault) {
		if does {
			list = append(list, more...)
		}
	}
	with(write, ofWrites)
	with(!write, ofReads)
	with(write && m.failsAfterWork, afterWork)
	with(write && m.copies, arrivals)
	with(live, ofKeys)
	with(live && m.copies, repeats)
	with(live, m.beside)
	f := list[d.intN(len(list))]
	return f.name, f.fault
}

type namedFault struct {
	name  string
	fault tradingsim.Fault
}

var jsonType = http.Header{"Content-Type": {"application/json"}}

var (
	always = []namedFault{
		{"no connection", tradingsim.RefuseConnection()},
		{"request lost", tradingsim.DropRequest()},
		{"reply lost", tradingsim.DropResponse()},
		{"reply cut short", tradingsim.TruncateResponse()},
		{"works a while", tradingsim.Delay(time.Second)},
		{"reply takes a while", tradingsim.DelayResponse(time.Second)},
		{"500 before", tradingsim.Fail(500, "internal_error")},
		{"503 before", tradingsim.Fail(503, "unavailable")},
		{"a refusal of a code unheard of", tradingsim.Fail(418, "TEAPOT")},
		{"a page", tradingsim.GatewayError(502)},
		{"a page, 403", tradingsim.GatewayError(403)},
		{"a page, 200", tradingsim.GatewayError(200)},
		{"an empty object", tradingsim.Raw(200, jsonType, "{}")},
		{"an empty answer", tradingsim.Raw(204, nil, "")},
		{"a page after", tradingsim.GatewayErrorAfter(502)},
		{"a redirect", tradingsim.Raw(307, http.Header{"Location": {"https://elsewhere.example/v1"}}, "")},
		{"nothing", tradingsim.Pass()},
		{"works for longer than an attempt", tradingsim.Delay(8 * time.Second)},
		{"reply takes longer than an attempt", tradingsim.DelayResponse(8 * time.Second)},
		{"rate limit", tradingsim.RateLimit(2 * time.Second)},
		{"rate limit of no time", tradingsim.RateLimit(0)},
	}
	// A write is not told that it was executed in a shape of no use: whether it was,
	// such an answer would decide, and not the service.
	ofReads = []namedFault{
		{"an answer of another shape", tradingsim.Raw(200, jsonType,
			`{"account":7,"accounts":{},"positions":7,"trades":7,"orders":7,"history":7,"funding":7,"markets":7,"prices":7,"status":7}`)},
	}
	ofWrites = []namedFault{
		{"stale price", tradingsim.Fail(409, "STALE_PRICE")},
		{"no price", tradingsim.Fail(503, "no_price")},
		{"cap", tradingsim.Fail(400, "PER_POSITION_CAP")},
		{"refused, lost", tradingsim.Together(tradingsim.Fail(400, "MIN_NOTIONAL"), tradingsim.DropResponse())},
		{"500 before, lost", tradingsim.Together(tradingsim.Fail(500, "internal_error"), tradingsim.DropResponse())},
	}
	afterWork = []namedFault{
		{"500 after", tradingsim.FailAfter(500, "internal_error")},
		{"503 after", tradingsim.FailAfter(503, "unavailable")},
	}
	arrivals = []namedFault{
		{"arrives late", tradingsim.ArriveLate(3 * time.Second)},
		{"arrives much later", tradingsim.ArriveLate(30 * time.Second)},
	}
	ofKeys = []namedFault{
		{"died before", tradingsim.Crash()},
		{"died after", tradingsim.CrashAfter()},
		{"in flight", tradingsim.Fail(409, "idempotency_in_flight")},
		{"key cannot be checked", tradingsim.Fail(503, "idempotency_unavailable")},
		{"equity unavailable", tradingsim.Fail(503, "equity_unavailable")},
	}
	repeats = []namedFault{
		{"sent twice", tradingsim.Repeat()},
		{"a copy later", tradingsim.LateCopy(20 * time.Second)},
	}
)
