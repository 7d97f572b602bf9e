package sidecar

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"slices"
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
	updateDifferences = flag.Bool("sidecar.update", false, "write testdata/differences.md anew")
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
	what, why string
	is        func(c called, direct, side answer) bool
}

func isOwn(a answer) bool { return a.header.Get(headerOwn) != "" }

// differences are all that are meant.
var differences = []difference{
	{
		"The sentence of a refusal that is made before anything is sent.",
		"It names the sidecar's or the client's reason; the code and the status are the service's.",
		func(_ called, direct, side answer) bool {
			return isOwn(side) && direct.status == side.status && direct.code == side.code
		},
	},
	{
		"A body that can be read in two ways, has a member that the contract does not have here, a number of hundreds of digits, or one that the service reads past where an order reduces: 400 `invalid_json`, `bad_request`, `bad_limit_price`, `bad_size` or `invalid_tpsl`.",
		"What the guards judge is what the service executes: a member twice, a number as a text, a misspelled `reduceOnly`, a `limitPrice` of a market order, a stop of -1.",
		func(c called, direct, side answer) bool {
			reduces := strings.Contains(c.body, `"reduceOnly": true`)
			return isOwn(side) && side.status == 400 && c.spoiled &&
				(side.code == "bad_size" && strings.Contains(c.body, "1e400") || side.code == "invalid_json" || side.code == "bad_request" || side.code == "bad_limit_price" || reduces && (side.code == "bad_size" || side.code == "invalid_tpsl"))
		},
	},
	{
		"Another of several faults of one request is named.",
		"The client looks at the body, and at what it last saw of the account, before the service looks at the account, the market and the key.",
		func(c called, direct, side answer) bool {
			return isOwn(side) && (side.status == 400 || side.code == "account_locked") && direct.status >= 400 && direct.status < 500
		},
	},
	{
		"A change of levels that names none, and a leverage of 0: 400.",
		"The first does nothing, and the second is a number that somebody has not set.",
		func(c called, direct, side answer) bool {
			named := strings.Contains(c.body, `Price`) || strings.Contains(c.body, "closePct")
			return isOwn(side) && side.status == 400 && (strings.HasSuffix(c.operation, "/tpsl") && !named || strings.Contains(c.body, `"leverage": 0`))
		},
	},
	{
		"An entry while the service says that it is not safe to trade, or did so up to five seconds ago: 403 `market_paused`.",
		"The contract asks bots to hold off; the sidecar does it for them.",
		func(c called, direct, side answer) bool {
			return c.unhealthy && isOwn(side) && side.code == "market_paused"
		},
	},
	{
		"In the first 24 h in which a bot writes to an account through the sidecar, a request under a key that is held back: 503 `idempotency_unavailable` with `Trading-Outcome: unknown`, or where the code stays, that outcome alone.",
		"The bot may have used the key before, without the sidecar; the same key finds out.",
		func(c called, _, side answer) bool {
			return c.fresh && c.key() != "" && isOwn(side) && side.status == 503 && side.outcome == "unknown"
		},
	},
	{
		"A health assessment of up to five seconds before.",
		"The service reuses an assessment for five seconds, and the sidecar asks as well.",
		func(c called, direct, side answer) bool {
			return strings.HasPrefix(c.operation, "GET /health") && (direct.status == side.status || c.unhealthy)
		},
	},
}

// others are meant too, and do not happen to a bot that hears everything, one call after the other.
var others = []difference{
	{what: "A key whose first request is under way: waits for its answer, 30 s for an entry and 5 s for an exit, in place of 409 `idempotency_in_flight` at once.", why: "The bot has no way to wait but to ask again."},
	{what: "An equal order without a key, after one whose answer was not heard: that one's answer, with `Idempotent-Replayed`.", why: "It is most likely a repeat."},
	{what: "Another entry in the market of one that was not heard or whose call was left running, or its bytes under another key while it runs: 409 `idempotency_result_unknown`, until the bot has read its positions 5 s later.", why: "It is most likely the same decision again."},
	{what: "An entry beside a write whose outcome is not known: 503 `idempotency_unavailable`.", why: "If that was executed, this one comes on top of it."},
	{what: "An entry while the health of the service cannot be read: 403 `market_paused`.", why: "Then nobody knows whether it is safe."},
	{what: "A lost answer, a 5xx that the contract does not have, a page of a gateway: what was found out, or `Trading-Outcome: unknown`.", why: "That is what the sidecar is for."},
	{what: "A refusal for want of a price, or of a rate limit: after up to three tries in 10 s.", why: "It passes by itself, and nothing was placed."},
	{what: "429 `rate_limited` before the service says so: 32 calls at once (24 cancels and levels), 10 refused entries a second, the local key's share used up.", why: "One bot must not use up what all have."},
	{what: "A body of more than 64 KiB, or compressed: 400 `bad_request`.", why: "No request of the contract has a hundredth of that."},
	{what: "A request with `Origin`, from a page of a browser: 403 `forbidden`; one for another host: 421.", why: "A page that somebody opens on the machine must not trade."},
	{what: "A key whose request was found not to be executed: 409 `idempotency_result_unknown`, with `Trading-Outcome: not-applied`.", why: "The question that found it out has used the key up."},
	{what: "A key whose first request was answered with a 5xx, for another request: 422 `idempotency_key_reused`.", why: "The service forgets the key then; the sidecar has the request in its journal."},
	{what: "In the first 24 h as above, a refusal with a 5xx under a key: 409 `idempotency_in_flight`, and the market takes no entries until it is found out, which can need a person.", why: "The service forgets a key after a 5xx, so an earlier use of it may have been executed."},
	{what: "A body that is refused before it is sent uses up no idempotency key.", why: "The service has not seen it."},
}

func TestDifferencesAreWritten(t *testing.T) {
	var text strings.Builder
	text.WriteString("| what differs from the service itself | why |\n|---|---|\n")
	for _, d := range slices.Concat(differences, others) {
		fmt.Fprintf(&text, "| %s | %s |\n", d.what, d.why)
	}
	const path = "testdata/differences.md"
	if *updateDifferences {
		require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, text.String(), string(written), "-sidecar.update writes it anew")
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
		return -1, "" // one of the others
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
