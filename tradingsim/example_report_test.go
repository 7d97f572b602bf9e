package tradingsim_test

import (
	"fmt"
	"os"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

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
