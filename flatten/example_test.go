package flatten_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

// simulated is a client of a simulation whose account holds a position and a limit.
func simulated() (*trading.Client, func()) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	if err != nil {
		panic(err)
	}
	sim.Trade("acc_1", "long", "0.1", "BTC")
	_, err = client.Live.Account("acc_1").PlaceLimit(context.Background(), limit(trading.Long, "0.1", "BTC", "60000"))
	if err != nil {
		panic(err)
	}
	return client, func() { _ = client.Close(); _ = sim.Close() }
}

func ExampleAccount() {
	client, end := simulated()
	defer end()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	report, err := flatten.Account(ctx, client.Live.Account("acc_1"), flatten.Options{
		Halt:          client,                 // first of all, nothing new from here
		ProofInterval: 100 * time.Millisecond, // longer against a service whose reads lag
		Progress:      func(s flatten.Step) { fmt.Println(s) },
	})
	if err != nil {
		fmt.Println(report) // what is left
		return
	}
	fmt.Println("flat:", report.Flat)
	// Output:
	// cancel limit ord_1: applied
	// close BTC: applied
	// flat: true
}

func ExampleAll() {
	client, end := simulated()
	defer end()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reports, err := flatten.All(ctx, client.Live, flatten.Options{ProofInterval: 100 * time.Millisecond})
	for _, report := range reports {
		fmt.Println(report.Account, report.Flat)
	}
	if errors.Is(err, flatten.ErrStuck) {
		fmt.Println("a person has to act:", err)
	}
	// Output:
	// acc_1 true
}

func ExampleInspect() {
	client, end := simulated()
	defer end()

	look, err := flatten.Inspect(context.Background(), client.Live.Account("acc_1"), flatten.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(look)
	// Output:
	// limit ord_1 in BTC, long 0.1 BTC
}
