// Recover shows a program that is killed in the middle of an order, and what its
// next run finds out: once the order was executed, once it never arrived. It trades on
// a simulated service, and takes some seconds, as it would with a real one.
//
//	go run ./examples/recover
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

func main() {
	dir, err := os.MkdirTemp("", "recover")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, accident := range []struct {
		what  string
		fault tradingsim.Fault
	}{
		{"executed, but the reply never came", tradingsim.DropResponse()},
		{"lost on the way", tradingsim.DropRequest()},
	} {
		fmt.Printf("An order is %s:\n", accident.what)
		file := filepath.Join(dir, fmt.Sprintf("%x.journal", accident.what))
		if err := run(context.Background(), os.Stdout, file, accident.fault); err != nil {
			log.Fatal(err)
		}
	}
}

func run(ctx context.Context, out io.Writer, file string, accident tradingsim.Fault) error {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()

	if err := firstRun(ctx, sim, file, accident); err == nil {
		return fmt.Errorf("the order was to be cut off")
	}
	return secondRun(ctx, sim, file, out)
}

// firstRun places an order whose reply never comes, and ends there. Its journal
// has the order from before its first byte.
func firstRun(ctx context.Context, sim *tradingsim.Sim, file string, accident tradingsim.Fault) error {
	client, closeAll, err := open(sim, file)
	if err != nil {
		return err
	}
	defer closeAll()
	sim.Fault("POST /orders", accident)
	_, err = client.Live.Account("acc_1").PlaceOrder(ctx, trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0)) // as if killed here
	return err
}

// secondRun finds out what became of what the first left.
func secondRun(ctx context.Context, sim *tradingsim.Sim, file string, out io.Writer) error {
	client, closeAll, err := open(sim, file)
	if err != nil {
		return err
	}
	defer closeAll()
	began := time.Now()
	resolutions, err := client.Recover(ctx)
	for _, r := range resolutions {
		fmt.Fprintf(out, "  after the restart: %s, found out in %s (evidence: %s)\n", r.Outcome, time.Since(began).Round(time.Second), r.Evidence)
	}
	fmt.Fprintf(out, "  the service holds %s BTC\n", sim.Position("acc_1", "BTC"))
	return err
}

// open is how each run of the program begins.
func open(sim *tradingsim.Sim, file string) (*trading.Client, func(), error) {
	writes, err := journal.Open(file)
	if err != nil {
		return nil, nil, err
	}
	client, err := trading.New(sim.URL(),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()),
		trading.WithJournal(writes),
		trading.WithExclusiveAccounts("acc_1"), // nobody else trades this account
	)
	if err != nil {
		_ = writes.Close()
		return nil, nil, err
	}
	return client, func() { _ = client.Close(); _ = writes.Close() }, nil
}
