package main

import (
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// faults are what is wrong with the service, beside closes that take 1 to 3 seconds and
// reads that lag by 2.
var faults = []string{"none", "lost replies", "429", "lag", "dead minute", "nulls"}

// trouble chooses the fault of each call. It depends on the operation and on how many
// calls of it there were; or, where many are sent at one moment, whose order is chance, on
// that moment.
type trouble struct {
	kind  string
	seed  uint64
	path  *path
	now   func() time.Time
	calls map[string]int
}

func (t *trouble) choose(operation string) tradingsim.Fault {
	t.calls[operation]++
	n := t.calls[operation]
	switch operation {
	case "POST /positions/close", "POST /orders/cancel", "POST /runs/cancel":
		n = int(t.now().UnixMilli())
	}
	draw := t.hash(operation, n)
	second := t.path.second(t.now())
	length := len(t.path.prices[symbols[0].name])
	switch {
	case t.kind == "dead minute" && second >= length/2 && second < length/2+60:
		return tradingsim.GatewayError(502)
	case t.kind == "429" && draw%20 == 0 && !strings.HasPrefix(operation, "GET /health"):
		return tradingsim.RateLimit(2 * time.Second)
	case t.kind == "lost replies" && draw%20 == 0:
		return tradingsim.DropResponse()
	case operation == "POST /positions/close":
		return tradingsim.Delay(time.Duration(1+draw/7%3) * time.Second)
	case strings.HasPrefix(operation, "POST "):
		return tradingsim.Delay(100 * time.Millisecond)
	default:
		return nil
	}
}

// distance delays each request of the protection, so that nothing it does happens at the
// very moment of something that the bot does: which of the two came first would be chance.
type distance struct{ http.RoundTripper }

// RoundTrip sends a request a little later.
func (d distance) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(37 * time.Millisecond)
	return d.RoundTripper.RoundTrip(r)
}

func (t *trouble) hash(operation string, n int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(operation + " " + strconv.Itoa(n) + " " + strconv.FormatUint(t.seed, 10)))
	return h.Sum64() >> 8
}

// nulls are the spans without a mark: 40 seconds, three times.
func nulls(kind string, length int) (spans [][2]int) {
	if kind != "nulls" {
		return nil
	}
	for i := 1; i <= 3; i++ {
		spans = append(spans, [2]int{length * i / 4, length*i/4 + 40})
	}
	return spans
}

func lagOf(kind string) time.Duration {
	if kind == "lag" {
		return 4 * time.Second
	}
	return 2 * time.Second
}
