package sidecar

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	differentialCalls = flag.Int("sidecar.calls", 2000, "how many random calls go to the service directly, and through a sidecar")
	differentialSeed  = flag.Uint64("sidecar.seed", 1, "of the first of them")
)

// twins are two equal services: one that a bot reaches directly, and one behind a sidecar.
type twins struct {
	*rig
	direct *tradingsim.Sim
	random *rand.Rand
	keys   []string        // idempotency keys that were used
	before map[string]bool // those that the service had without the sidecar
	failed map[string]bool // those that had a 5xx
	n      int

	unhealthy time.Time // when it was last not safe to trade
}

// happen lets something happen to both services.
func (tw *twins) happen() {
	r := tw.random
	switch r.IntN(60) {
	case 0, 1, 2, 3, 4:
		price := fmt.Sprint(62000 + r.IntN(4000))
		tw.both(func(s *tradingsim.Sim) { s.SetMark("BTC", price) })
	case 5:
		price := one(r, "", "3000", "3100")
		tw.both(func(s *tradingsim.Sim) { s.SetMark("ETH", price) })
	case 6:
		code := one(r, "", "", "STALE_PRICE", "NO_PRICE")
		tw.both(func(s *tradingsim.Sim) { s.SetFillError("ETH", code) })
	case 7:
		operation := one(r, "POST /orders", "POST /sandbox/orders")
		fault := one(r, tradingsim.Fail(409, "MAX_SLIPPAGE"), tradingsim.Fail(400, "ASSET_NOTIONAL_CAP"))
		tw.both(func(s *tradingsim.Sim) { s.Fault(operation, fault) })
	case 8:
		tw.both(func(s *tradingsim.Sim) { s.SetHealth("degraded", "stale") })
		tw.unhealthy = time.Now().Add(time.Hour)
	case 9, 10, 11:
		if tw.unhealthy.After(time.Now()) {
			tw.both(func(s *tradingsim.Sim) { s.SetHealth("healthy", "live") })
			tw.unhealthy = time.Now()
		}
	}
}

// called is a random request.
type called struct {
	operation, body string
	header          []string
	paper           bool // by a key of the paper account
	nobody          bool // without a key
	failed          bool // its idempotency key had a 5xx
	before          bool // its idempotency key was used without the sidecar
	fresh           bool // its bot has come to the sidecar in the last 24 hours
	spoiled         bool // its body is not of the contract
	pending         bool // the outcome of an earlier write is not known
	took            time.Duration
	unhealthy       bool // it is not safe to trade, or was not a moment ago
}

func (c called) String() string { return fmt.Sprint(c.operation, " ", c.body, " ", c.header) }

func (tw *twins) both(f func(*tradingsim.Sim)) { f(tw.direct); f(tw.sim) }

// directly sends a request to a service as a bot does that has a real key.
func (tw *twins) directly(service *tradingsim.Sim, c called) answer {
	method, path, _ := strings.Cut(c.operation, " ")
	request := httptest.NewRequest(method, service.URL()+path, strings.NewReader(c.body))
	request.RequestURI = ""
	switch {
	case c.nobody:
	case c.paper:
		request.Header.Set("X-API-Key", service.SandboxKey())
	default:
		request.Header.Set("X-API-Key", service.LiveKey())
	}
	for i := 0; i < len(c.header); i += 2 {
		request.Header.Set(c.header[i], c.header[i+1])
	}
	response, err := service.Transport().RoundTrip(request)
	require.NoError(tw.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(tw.t, err)
	a := answer{status: response.StatusCode, header: response.Header, body: string(text)}
	var refusal struct{ Error string }
	_ = json.Unmarshal(text, &refusal) // a list has no code
	a.code = refusal.Error
	return a
}

func (tw *twins) through(c called) answer {
	key := tw.live
	switch {
	case c.nobody:
		key = ""
	case c.paper:
		key = tw.paper
	}
	return tw.do(key, c.operation, c.body, c.header...)
}

// key is the idempotency key of a live write; empty without one.
func (c called) key() string {
	if len(c.header) == 0 || c.paper || c.nobody {
		return ""
	}
	return c.header[1]
}

// A difference is one that is meant.
type difference struct {
	what, gets string // as a row of the page
	is         func(c called, direct, side answer) bool
}

func isOwn(a answer) bool { return a.header.Get(headerOwn) != "" }

// differences are those that a bot meets that hears everything, one call after the other. docs/sidecar-reference.md has
// these rows, and more.
var differences = []difference{
	{
		"a refusal before anything is sent",
		"the service's code and status, a sentence of the sidecar's; no idempotency key is used up",
		func(_ called, direct, side answer) bool {
			return isOwn(side) && direct.status == side.status && direct.code == side.code
		},
	},
	{
		"a body that can be read in two ways: a member twice or unknown, a number as text or of hundreds of digits, a `limitPrice` of a market order, a stop of -1",
		"400 `invalid_json`, `bad_request`, `bad_limit_price`, `bad_size` or `invalid_tpsl`",
		func(c called, direct, side answer) bool {
			reduces := strings.Contains(c.body, `"reduceOnly": true`)
			return isOwn(side) && side.status == 400 && c.spoiled &&
				(side.code == "bad_size" && strings.Contains(c.body, "1e400") || side.code == "invalid_json" || side.code == "bad_request" || side.code == "bad_limit_price" || reduces && (side.code == "bad_size" || side.code == "invalid_tpsl"))
		},
	},
	{
		"several faults in one request",
		"perhaps another of them named",
		func(c called, direct, side answer) bool {
			return isOwn(side) && (side.status == 400 || side.code == "account_locked") && direct.status >= 400 && direct.status < 500
		},
	},
	{
		"a change of levels that names none, a leverage of 0",
		"400",
		func(c called, direct, side answer) bool {
			named := strings.Contains(c.body, `Price`) || strings.Contains(c.body, "closePct")
			return isOwn(side) && side.status == 400 && (strings.HasSuffix(c.operation, "/tpsl") && !named || strings.Contains(c.body, `"leverage": 0`))
		},
	},
	{
		"an entry while it is not safe to trade, or was not up to 5 s ago",
		"403 `market_paused`",
		func(c called, direct, side answer) bool {
			return c.unhealthy && isOwn(side) && side.code == "market_paused"
		},
	},
	{
		"in the first 24 h in which a bot writes to an account through the sidecar: a request under a key that the sidecar refuses",
		"503 `idempotency_unavailable`, `unknown`: the bot may have used the key without the sidecar; the same key finds out",
		func(c called, _, side answer) bool {
			return c.fresh && c.key() != "" && isOwn(side) && side.status == 503 && side.outcome == "unknown"
		},
	},
	{
		"the service's health",
		"that of up to 5 s before",
		func(c called, direct, side answer) bool {
			return strings.HasPrefix(c.operation, "GET /health") && (direct.status == side.status || c.unhealthy)
		},
	},
}

func TestThePageHasTheDifferences(t *testing.T) {
	page, err := os.ReadFile("../docs/sidecar-reference.md")
	require.NoError(t, err)
	for _, d := range differences {
		assert.Contains(t, string(page), fmt.Sprintf("| %s | %s |\n", d.what, d.gets))
	}
}

// compare returns the intended difference between two answers, or what else differs.
func compare(c called, direct, side answer) (meant int, differs string) {
	what := ""
	switch {
	case direct.status != side.status || direct.code != side.code:
		what = "status or code"
	case direct.body != side.body:
		what = "body"
	default:
		for _, name := range []string{"Content-Type", "Retry-After", "Idempotent-Replayed", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Date"} {
			if name == "Date" && c.took > 0 {
				continue
			}
			if direct.header.Get(name) != side.header.Get(name) {
				what = name
			}
		}
	}
	if what == "" {
		return -1, ""
	}
	if c.failed && isOwn(side) && side.code == "idempotency_key_reused" {
		return -1, "" // another row of the page
	}
	if c.fresh && c.key() != "" && direct.status == 503 && isOwn(side) && (side.code == "idempotency_in_flight" || side.code == "idempotency_unavailable") {
		return -1, "" // likewise
	}
	for i, d := range differences {
		if d.is(c, direct, side) {
			return i, ""
		}
	}
	return -1, what
}

// acknowledge is a person who sees that nothing of what is pending was executed.
func (tw *twins) acknowledge() {
	pending, err := tw.server.client.Pending(tw.t.Context())
	require.NoError(tw.t, err)
	for _, p := range pending {
		require.NoError(tw.t, tw.server.client.Acknowledge(tw.t.Context(), p.ID, trading.NotApplied, "seen"))
	}
}

func TestDifferential(t *testing.T) {
	const chunk = 500
	if testing.Short() {
		*differentialCalls = min(*differentialCalls, chunk)
	}
	seen := make([]int, len(differences))
	for done := 0; done < *differentialCalls; done += chunk {
		seed := *differentialSeed + uint64(done)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for i, n := range differential(t, seed, min(chunk, *differentialCalls-done), done/chunk%2 == 1) {
					seen[i] += n
				}
			})
		})
	}
	for i, d := range differences {
		t.Logf("%6d  %s", seen[i], d.what)
		if *differentialCalls >= 2000 {
			assert.NotZero(t, seen[i], "a difference that never happens: %s", d.what)
		}
	}
}

func differential(t *testing.T, seed uint64, calls int, fresh bool) []int {
	options := []tradingsim.Option{
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"}),
		tradingsim.WithMark("XRP", ""),
	}
	tw := &twins{rig: newRig(t, options), random: rand.New(rand.NewPCG(seed, seed)), before: map[string]bool{}, failed: map[string]bool{}}
	tw.direct = tradingsim.New(append([]tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3000")}, options...)...)
	defer tw.direct.Close()
	tw.live = tw.key(localkey.Key{Name: "every", Live: true, Accounts: []string{localkey.Every}, May: localkey.Trade})
	require.NoError(t, localkey.Remove(tw.config.Dir+"/keys", "grid", time.Now()))
	if !fresh {
		tw.days("every")
	}
	seen := make([]int, len(differences))
	for range calls {
		time.Sleep(time.Duration(tw.random.IntN(3000)) * time.Millisecond)
		tw.happen()
		c := tw.next()
		c.fresh = fresh
		c.unhealthy = time.Since(tw.unhealthy) < 15*time.Second
		if key := c.key(); validKey(key) {
			if tw.random.IntN(20) == 0 {
				tw.directly(tw.sim, c)
				tw.directly(tw.direct, c)
				tw.before[key] = true
			}
			c.before, c.failed = tw.before[key], tw.failed[key]
			tw.keys = append(tw.keys, key)
		}
		pending, err := tw.server.client.Pending(t.Context())
		require.NoError(t, err)
		c.pending = len(pending) > 0
		began := time.Now()
		side := tw.through(c)
		c.took = time.Since(began)
		direct := tw.directly(tw.direct, c)
		if isOwn(side) && (side.outcome == "not-applied" || fresh && side.code == "idempotency_unavailable") { // nothing was sent, so that the services stay equal it is now
			tw.directly(tw.sim, c)
			tw.before[c.key()] = true
		}
		if fresh && side.code == "idempotency_in_flight" {
			tw.acknowledge()
		}
		tw.failed[c.key()] = tw.failed[c.key()] || direct.status >= 500 || side.status >= 500
		meant, what := compare(c, direct, side)
		if meant >= 0 {
			seen[meant]++
		}
		if what != "" {
			t.Errorf("%s differs: %s (before %v, pending %v)\ndirect %d %s %v\nside   %d %s %v", what, c, c.before, c.pending, direct.status, direct.body, direct.header, side.status, side.body, side.header)
		}
		if len(tw.direct.Ledger()) != len(tw.sim.Ledger()) {
			t.Fatalf("executed %d directly, %d through the sidecar: %s\ndirect %d %s\nside %d %s", len(tw.direct.Ledger()), len(tw.sim.Ledger()), c, direct.status, direct.body, side.status, side.body)
		}
	}
	return seen
}
