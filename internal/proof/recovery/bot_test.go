package recovery

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// everyFault is each fault of the simulator, and those of them together that a client
// meets.
var everyFault = []struct {
	name  string
	fault tradingsim.Fault
}{
	{"no connection", tradingsim.RefuseConnection()},
	{"request lost", tradingsim.DropRequest()},
	{"reply lost", tradingsim.DropResponse()},
	{"reply cut", tradingsim.TruncateResponse()},
	{"slow", tradingsim.Delay(20 * time.Second)},
	{"very slow", tradingsim.Delay(3 * time.Minute)},
	{"cut, and still at work", tradingsim.Hang(20 * time.Second)},
	{"cut, then part-way", tradingsim.Together(tradingsim.Hang(20*time.Second), tradingsim.Crash())},
	{"cut, then part-way after the work", tradingsim.Together(tradingsim.Hang(20*time.Second), tradingsim.CrashAfter())},
	{"cut, then 5xx", tradingsim.Together(tradingsim.Hang(20*time.Second), tradingsim.Fail(500, "internal_error"))},
	{"cut, then 5xx after the work", tradingsim.Together(tradingsim.Hang(20*time.Second), tradingsim.FailAfter(500, "internal_error"))},
	{"slow answer", tradingsim.DelayResponse(20 * time.Second)},
	{"500", tradingsim.Fail(500, "internal_error")},
	{"503", tradingsim.Fail(503, "unavailable")},
	{"keys unavailable", tradingsim.Fail(503, "idempotency_unavailable")},
	{"500 after the work", tradingsim.FailAfter(500, "internal_error")},
	{twice, tradingsim.Together(tradingsim.FailAfter(500, "internal_error"), tradingsim.DropResponse())},
	{"422", tradingsim.Fail(422, "unprocessable")},
	{"422, and lost", tradingsim.Together(tradingsim.Fail(422, "unprocessable"), tradingsim.DropResponse())},
	{"part-way", tradingsim.Crash()},
	{"part-way after the work", tradingsim.CrashAfter()},
	{"429", tradingsim.RateLimit(20 * time.Second)},
	{"gateway 502", tradingsim.GatewayError(502)},
	{"gateway 403", tradingsim.GatewayError(403)},
	{"gateway 502 after the work", tradingsim.GatewayErrorAfter(502)},
	{"gateway's own JSON", tradingsim.GatewayJSON(403, "forbidden")},
	{"gateway's own JSON after the work", tradingsim.GatewayJSONAfter(404, "not_found")},
	{"anything", tradingsim.Raw(200, nil, "welcome to the hotel")},
	{"anything after the work", tradingsim.RawAfter(200, http.Header{"Content-Type": {"text/html"}}, "welcome to the hotel")},
	{"repeated", tradingsim.Repeat()},
	{"a late copy", tradingsim.LateCopy(time.Minute)},
	{"arrives late", tradingsim.ArriveLate(20 * time.Second)},
	{"arrives very late", tradingsim.ArriveLate(3 * time.Minute)},
	{"arrives late, part-way", tradingsim.Together(tradingsim.ArriveLate(20*time.Second), tradingsim.Crash())},
}

// twice is what no client can prevent: a resend meets a key that the service has let go.
const twice = "500 after the work, and lost"

// TestABotThatDropsEveryErrorRecovers decides each minute, to buy and to close in
// turn, looks at no error, and has no code for what goes wrong.
func TestABotThatDropsEveryErrorRecovers(t *testing.T) {
	for _, f := range everyFault {
		for _, target := range []string{"POST /orders", "POST /positions/close", "*"} {
			t.Run(f.name+", "+target, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sim := tradingsim.New(tradingsim.WithLag(3*time.Second), tradingsim.WithSampling(24*time.Hour))
					bot := start(t, sim, newJournal(), true)
					decide := func(minutes int) {
						for i := range minutes {
							time.Sleep(time.Minute)
							ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
							if i%2 == 0 {
								_, _ = bot.account().PlaceOrder(ctx, size("BTC"))
							} else {
								_, _ = bot.account().ClosePosition(ctx, "BTC", trading.All)
							}
							cancel()
						}
					}
					decide(4)
					sim.Fault(target, f.fault, f.fault)
					decide(6)
					left, err := bot.Pending(t.Context())
					require.NoError(t, err)
					for _, w := range left {
						t.Errorf("pending after six minutes: %s %s: %s", w.Operation, w.Key, w.Reason)
					}
					before := len(sim.Ledger())
					decide(4)
					assert.Len(t, sim.Ledger(), before+4, "it trades again, each minute")
					if f.name != twice {
						once(t, sim)
					}
				})
			})
		}
	}
}

// once holds that no key was executed twice.
func once(t *testing.T, sim *tradingsim.Sim) {
	keys := map[string]int{}
	for _, e := range sim.Ledger() {
		if e.Actor == "api" {
			keys[e.Key]++
		}
	}
	for key, n := range keys {
		assert.Equal(t, 1, n, "executions under %s", key)
	}
}
