// Check looks at the service and at the keys before the first order, and changes nothing.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/tradingapi/trading-go/doctor"
)

func main() {
	variable := func(name string) doctor.Setting { return doctor.Setting{Value: os.Getenv(name), From: name} }
	report := doctor.Run(context.Background(), doctor.Options{
		BaseURL: variable("TRADING_BASE_URL"),
		LiveKey: variable("TRADING_LIVE_KEY"),
	})
	for _, line := range report.Lines {
		if line.Status == doctor.Fail {
			fmt.Println(line) // what was seen, and what to do
		}
	}
	if report.Failed() {
		os.Exit(1)
	}
	fmt.Println("nothing failed")
}
