package rig

import (
	"context"
	"errors"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Lags are how far behind the reads are that may lag, each by itself: positions, trades, resting orders
// and finished runs.
type Lags [4]time.Duration

// Set has the service's reads be so far behind.
func (l Lags) Set(sim *tradingsim.Sim) {
	for i, read := range [len(l)]trading.Operation{trading.OpPositions, trading.OpTrades, trading.OpOpenOrders, trading.OpFinishedRuns} {
		sim.SetLag(string(read), l[i])
	}
}

// Drift is how far a clock is off that has gone since a moment, and gains so much in an hour.
func Drift(began, now time.Time, anHour time.Duration) time.Duration {
	return now.Sub(began) / time.Minute * anHour / 60
}

// Paces buys and sells in turn, so far apart. It returns what failed.
func Paces(ctx context.Context, a *trading.Account, orders int, apart time.Duration) (err error) {
	for i := range orders {
		o := Buy("0.01")
		if i%2 == 1 {
			o = Sell("0.01")
		}
		err = errors.Join(err, Only(a.PlaceOrder(ctx, o)))
		if !Pause(ctx, apart) {
			break
		}
	}
	return err
}

// Busiest is the most requests in a minute.
func Busiest(requests []tradingsim.Request) (most int) {
	from := 0
	for i := range requests {
		for requests[i].At.Sub(requests[from].At) >= time.Minute {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// Sum is how many were counted.
func Sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
