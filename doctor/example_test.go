package doctor_test

import (
	"context"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/doctor"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A bot looks before its first order.
func ExampleRun() {
	ctx := context.Background()
	sim := tradingsim.New(tradingsim.WithSkew(3 * time.Second))
	defer sim.Close()
	report := doctor.Run(ctx, doctor.Options{
		BaseURL:   doctor.Setting{Value: sim.URL(), From: "TRADING_BASE_URL"},
		LiveKey:   doctor.Setting{Value: sim.LiveKey(), From: "TRADING_LIVE_KEY"},
		Transport: sim.Transport(), // yours: none
	})
	if report.Failed() {
		line, _ := report.Line("clock")
		fmt.Println(line.Status, line.Do)
	}
	// Output: FAIL Synchronise the clock of this machine. Until then the client resolves no write by its age.
}
