package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/record"
	"github.com/tradingapi/trading-go/tradingsim"
)

// An audited client: each write is in the file, and entries wait while it cannot be
// written.
func Example() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bot.audit.jsonl")
	audit, err := record.OpenAudit(path, record.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer audit.Close()
	flight := record.NewFlight(500)

	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	client, err := trading.New(sim.URL(),
		trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
		trading.WithHooks(audit.Hooks()),
		trading.WithGuard(audit.Guard()),
		trading.WithHooks(flight.Hooks()),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	ctx := context.Background()
	account := client.Live.Account("acc_1")
	_, err = account.PlaceOrder(ctx, trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, trading.WithTag("breakout"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = account.ClosePosition(ctx, "ETH", trading.All)
	fmt.Println("there is no ETH:", err != nil)

	for e, err := range record.FileEvents(path) {
		if err != nil {
			log.Fatal(err) // somebody has changed it, or it ends in a torn line
		}
		if e.Kind == record.KindDone {
			fmt.Println(e.Operation, e.Symbol, e.Outcome+":", e.Attempts, "attempt")
		}
	}
	// Output:
	// there is no ETH: true
	// POST /orders BTC applied: 1 attempt
	// POST /positions/close ETH not applied: 1 attempt
}

// A file that was changed is found out, and where.
func ExampleVerify() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bot.audit.jsonl")
	for range 3 { // three runs of a program
		audit, err := record.OpenAudit(path, record.Options{})
		if err != nil {
			log.Fatal(err)
		}
		if err := audit.Close(); err != nil {
			log.Fatal(err)
		}
	}
	report, err := record.VerifyFile(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Lines, "lines are as they were written")

	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	_, err = record.Verify(bytes.NewReader(bytes.Replace(text, []byte("closed"), []byte("opened"), 1)))
	tampered := (*record.TamperedError)(nil)
	if errors.As(err, &tampered) {
		fmt.Printf("line %d: %s\n", tampered.Line, tampered.Reason)
	}
	// Output:
	// 7 lines are as they were written
	// line 3: it is not what was written: its hash does not match
}

// What a bot did is done again to a simulation, in a test of what it met.
func ExampleReplayer() {
	flight := record.NewFlight(500)
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	client, err := trading.New(sim.URL(),
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithTransport(sim.Transport()), trading.WithHooks(flight.Hooks()))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx := context.Background()
	if _, err := client.Sandbox.Price(ctx, "BTC"); err != nil {
		log.Fatal(err)
	}
	var dump bytes.Buffer // or a file, when something went wrong
	if err := flight.Dump(&dump); err != nil {
		log.Fatal(err)
	}

	records, err := record.Read(&dump)
	if err != nil {
		log.Fatal(err)
	}
	again := tradingsim.New(tradingsim.WithMark("BTC", "")) // the feed has no price now
	defer again.Close()
	differences, err := record.Replayer{Transport: again.Transport(), SandboxKey: again.SandboxKey()}.Replay(ctx, records)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range differences {
		fmt.Println(d)
	}
	// Output:
	// 0: GET /sandbox/prices: status: want 200, got 404
	// 0: GET /sandbox/prices: code: want none, got no_price
}
