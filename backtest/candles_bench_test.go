package backtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
)

// BenchmarkCandles is an SMA cross on 43,200 candles of a minute, on two paths, as a program on
// one processor: go test -run '^$' -bench Candles -benchtime 1x ./backtest
func BenchmarkCandles(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	file := b.TempDir() + "/btc.csv"
	if err := os.WriteFile(file, []byte(candleText(driftless(1, 30*86400, 1), 60)), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), self, file)
		cmd.Env = append(os.Environ(), asProgram+"=sma", "GOMAXPROCS=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		b.Logf("%s", out)
		b.ReportMetric(cmd.ProcessState.UserTime().Seconds()+cmd.ProcessState.SystemTime().Seconds(), "cpu-s/run")
	}
}

// smaProgram crosses a mean of 20 minutes with one of 100.
func smaProgram(r *Runner) int {
	data, err := ReadFile(os.Args[1], CSV{Symbol: "BTC", Time: OpenTime})
	if err != nil {
		return fatal(err)
	}
	began := time.Now()
	bot := func(ctx context.Context, client *trading.Client) error {
		var seen []float64
		return holder("BTC", time.Minute, "0.1", func(p float64) int {
			if seen = append(seen, p); len(seen) < 100 {
				return 0
			}
			if mean(seen[len(seen)-20:]) > mean(seen[len(seen)-100:]) {
				return 1
			}
			return -1
		})(ctx, client)
	}
	result, err := r.Run(bot, Config{Data: data, Account: unbounded("100000")})
	if err != nil {
		return fatal(err)
	}
	fmt.Println(len(result.Worse().Trips), "trips", time.Since(began))
	return 0
}
