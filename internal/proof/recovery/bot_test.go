package recovery

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// everyFault is each fault of the simulator, and those of them together that a client
// meets.
var everyFault = rig.Faults("no connection", "request lost", "reply lost", "reply cut short", "works for 20s", "works for 3m",
	"cut, and still at work", "cut, and died before", "cut, and died after", "cut, and 500 before", "cut, and 500 after",
	"reply takes 20s", "500 before", "503 before", "idempotency_unavailable", "500 after", twice,
	"422 unprocessable", "422 unprocessable, lost", "died before", "died after", "rate limit 20s",
	"a page", "a page, 403", "a page after", "a gateway's 403", "a gateway's 404 after", "anything", "anything after",
	"sent twice by a proxy", "a copy 1m later", "arrives 20s late", "arrives 3m late", "arrives 20s late, and it dies before")

// twice is what no client can prevent: a resend meets a key that the service has let go.
const twice = "500 after, lost"

// TestABotThatDropsEveryErrorRecovers decides each minute, to buy and to close in
// turn, looks at no error, and has no code for what goes wrong.
func TestABotThatDropsEveryErrorRecovers(t *testing.T) {
	for _, f := range everyFault {
		for _, target := range []string{"POST /orders", "POST /positions/close", "*"} {
			t.Run(f.Name+", "+target, func(t *testing.T) {
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
					sim.Fault(target, f.Fault, f.Fault)
					decide(6)
					bot.ended(t, "after six minutes")
					before := len(sim.Ledger())
					decide(4)
					assert.Len(t, sim.Ledger(), before+4, "it trades again, each minute")
					if f.Name == twice {
						bot.Excepts(rig.FailedAfterWork)
					}
				})
			})
		}
	}
}
