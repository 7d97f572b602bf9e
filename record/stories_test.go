package record

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var update = flag.Bool("update", false, "write testdata/stories.txt anew")

// story is a call, what becomes of its POST /orders, and for how long the client goes on after it.
type story struct {
	fault []tradingsim.Fault
	do    func(ctx context.Context, r *rig) error
	then  time.Duration
}

var stories = map[string]story{
	"an order": {
		fault: []tradingsim.Fault{tradingsim.DelayResponse(250 * time.Millisecond)},
		do:    func(ctx context.Context, r *rig) error { return r.order(ctx, buy("0.01"), trading.WithTag("breakout")) },
	},
	"a read is not there":       {do: func(ctx context.Context, r *rig) error { _, err := r.account().Positions(ctx); return err }},
	"refused before it is sent": {do: func(ctx context.Context, r *rig) error { return r.order(ctx, buy("-1")) }},
	"refused by the service": {do: func(ctx context.Context, r *rig) error {
		_, err := r.account().ClosePosition(ctx, "BTC", trading.All)
		return err
	}},
	"a lost answer, and the resend that finds it": {
		fault: []tradingsim.Fault{tradingsim.DropResponse()},
		do:    func(ctx context.Context, r *rig) error { return r.order(ctx, buy("0.01")) },
	},
	"an answer of something in front": {
		fault: []tradingsim.Fault{tradingsim.GatewayError(502)},
		do:    func(ctx context.Context, r *rig) error { return r.order(ctx, buy("0.01")) },
	},
	"a wait for a rate limit": {
		fault: []tradingsim.Fault{tradingsim.RateLimit(7 * time.Second)},
		do:    func(ctx context.Context, r *rig) error { return r.order(ctx, buy("0.01")) },
	},
	"held back by a guard": {do: func(ctx context.Context, r *rig) error { r.Halt("lunch"); return r.order(ctx, buy("0.01")) }},
	"an exit that is an order": {do: func(ctx context.Context, r *rig) error {
		return r.order(ctx, buy("0.01", func(o *trading.Order) { o.ReduceOnly = true }))
	}},
	"on paper": {do: func(ctx context.Context, r *rig) error { _, err := r.Sandbox.PlaceOrder(ctx, buy("0.01")); return err }},
	// What the client finds out behind the back of a caller who has left are calls of their own, joined to the
	// write by its key, and the end by its intent.
	"left by its caller": {
		fault: []tradingsim.Fault{tradingsim.DelayResponse(2 * time.Second)},
		do: func(ctx context.Context, r *rig) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return r.order(ctx, buy("0.01"))
		},
		then: time.Minute,
	},
}

// order places one on the live account.
func (r *rig) order(ctx context.Context, o trading.Order, opts ...trading.CallOption) error {
	_, err := r.account().PlaceOrder(ctx, o, opts...)
	return err
}

// What is another one each time, and the word that stands for it; with a number for those that say who is who.
var (
	hashes = regexp.MustCompile(`"(hash|prev)":"\w+",|"seq":\d+,`)
	fences = regexp.MustCompile(`fence-[\w-]{24}`)
	jitter = regexp.MustCompile(`(Ns":)\d*[1-9]\d{0,5}\b|(:\d\d\.)\d{3,9}`) // no whole milliseconds
	ids    = regexp.MustCompile(`"(call|intent|key|requestId|clientOrderId)":"([^"]+)"`)
)

// TestStories has the audit of each story, as testdata/stories.txt has it: read what changes there.
func TestStories(t *testing.T) {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(stories)) {
		synctest.Test(t, func(t *testing.T) {
			s, r := stories[name], newRig(t, Options{})
			r.sim.Fault("POST /orders", s.fault...)
			// The caller who leaves has left before the first question about its write is answered.
			r.sim.Fault("POST /orders/cancel", tradingsim.DelayResponse(10*time.Millisecond))
			err := s.do(t.Context(), r)
			time.Sleep(s.then)
			fmt.Fprintf(&all, "== %s\n", name)
			seen := map[string]string{}
			for _, line := range byCall(lines(contentsOf(t, r.path)[0])[2:]) {
				text := jitter.ReplaceAllString(hashes.ReplaceAllString(string(line), ""), "$1$2$$JITTER")
				text = ids.ReplaceAllStringFunc(text, func(is string) string {
					of := ids.FindStringSubmatch(is)
					if seen[of[2]] == "" {
						seen[of[2]] = fmt.Sprintf("$%s%d", strings.ToUpper(of[1]), len(seen)+1)
					}
					return fmt.Sprintf("%q:%q", of[1], seen[of[2]])
				})
				for id, word := range seen { // in texts
					text = strings.ReplaceAll(text, " "+id+" ", " "+word+" ")
				}
				all.WriteString(fences.ReplaceAllString(text, "$$FENCE"))
			}
			attempts := only(r.events(), KindAttempt)
			for _, sent := range r.sim.Requests() {
				if strings.HasPrefix(sent.Operation, "POST ") {
					require.NotEmpty(t, attempts, "%s was sent", sent.Operation)
					assert.Equal(t, sent.Header.Get("Idempotency-Key"), string(attempts[0].Key))
					assert.Equal(t, string(sent.Body), string(attempts[0].Request))
					attempts = attempts[1:]
				}
			}
			assert.Empty(t, attempts, "was not sent")
			fmt.Fprintf(&all, "-> %s\n\n", howItEnded(err))
		})
	}
	const file = "testdata/stories.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(all.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), all.String(), "go test . -run TestStories -update writes it anew")
}

// byCall puts lines of one call together: calls beside each other tell in any order.
func byCall(all [][]byte) [][]byte {
	place := map[string]int{"": len(all)} // what is of no call is last
	of := func(line []byte) int {
		call := ""
		if found := ids.FindSubmatch(line); len(found) > 2 && string(found[1]) == "call" {
			call = string(found[2])
		}
		if _, ok := place[call]; !ok {
			place[call] = len(place)
		}
		return place[call]
	}
	for _, line := range all {
		of(line)
	}
	slices.SortStableFunc(all, func(a, b []byte) int { return of(a) - of(b) })
	return all
}

// howItEnded is how the call ended.
func howItEnded(err error) string {
	if err == nil {
		return "ok"
	}
	return trading.OutcomeOf(err).String()
}
