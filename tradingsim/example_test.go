package tradingsim_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// post stands for the bot under test.
func post(sim *tradingsim.Sim, path, body, idempotencyKey string) string {
	r, err := http.NewRequest("POST", sim.URL()+path, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Header.Set("X-API-Key", sim.LiveKey())
	r.Header.Set("Idempotency-Key", idempotencyKey)
	res, err := sim.Transport().RoundTrip(r)
	if err != nil {
		return "no answer"
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return "half an answer"
	}
	return res.Status + " " + string(text)
}

// The reply to an order is lost, and a bot that sends it again under the same
// key gets the first answer: it is executed once.
func Example() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	sim.Fault("POST /orders", tradingsim.DropResponse())

	order := `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":5}`
	fmt.Println(post(sim, "/orders", order, "decision-1"))
	fmt.Println(post(sim, "/orders", order, "decision-1")[:6])
	for _, e := range sim.Ledger() {
		fmt.Println(e.Actor, e.Side, e.Size, e.Symbol, "at", e.Price, "under", e.Key)
	}
	// Output:
	// no answer
	// 200 OK
	// api long 0.01 BTC at 64000 under decision-1
}

// The service answers 500 after it has executed, and that answer is lost too.
// Such an answer is not stored, so the same key runs again.
func ExampleTogether() {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	sim.Fault("POST /orders", tradingsim.Together(
		tradingsim.FailAfter(500, "internal_error"),
		tradingsim.DropResponse(),
	))
	order := `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":5}`
	post(sim, "/orders", order, "decision-1")
	post(sim, "/orders", order, "decision-1")
	fmt.Println(len(sim.Ledger()), "executions")
	// Output: 2 executions
}

// A manual clock moves only when the test moves it.
func ExampleSim_Advance() {
	sim := tradingsim.New(
		tradingsim.WithMark("BTC", "64000"),
		tradingsim.WithManualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	)
	order := `{"accountId":"acc_1","symbol":"BTC","side":"long","size":1,"leverage":5,"durationMs":120000}`
	post(sim, "/orders/twap", order, "decision-1")
	for range 2 {
		sim.Advance(time.Minute)
		fmt.Println(sim.Now().Format(time.TimeOnly), len(sim.Ledger())-1, "clips")
	}
	// Output:
	// 00:01:00 2 clips
	// 00:02:00 4 clips
}

// A position is held for a minute in which the mark falls.
func ExampleSim_Report() {
	sim := tradingsim.New(
		tradingsim.WithMark("BTC", "64000"),
		tradingsim.WithManualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	)
	post(sim, "/orders", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.1,"leverage":5}`, "in")
	sim.SetMark("BTC", "63000")
	sim.Advance(time.Minute)
	post(sim, "/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`, "out")
	post(sim, "/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`, "again")

	report := sim.Report()
	account, _ := report.Account("acc_1")
	fmt.Println("profit", account.Profit.Decimal, "after fees of", account.Fees)
	fmt.Println("drawdown", account.Drawdown.Pct, "percent")
	fmt.Println("requests", report.Requests)
	fmt.Println("refusals", report.Refusals)
	_ = account.WriteCurve(os.Stdout)
	// Output:
	// profit -105.715 after fees of 5.715
	// drawdown 0.1057 percent
	// requests map[POST /orders:1 POST /positions/close:2]
	// refusals map[no_position:1]
	// time,balance,equity,changed
	// 2026-01-01T00:00:00Z,99997.12,99997.12,true
	// 2026-01-01T00:01:00Z,99894.285,99894.285,true
}
