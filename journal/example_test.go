package journal_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// A client writes its intents by itself, given trading.WithJournal; this does it by
// hand, to show what a program finds after a crash.
func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "intents.db")

	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		log.Fatal(err)
	}
	now := time.Date(2026, time.January, 15, 9, 30, 0, 0, time.UTC)
	for _, symbol := range []string{"BTC", "ETH"} {
		err := j.Begin(ctx, trading.Intent{
			ID: trading.IntentID("order in " + symbol), Key: trading.NewKey(), Account: "acc_1", Symbol: symbol, Created: now,
		})
		if err != nil {
			log.Fatal(err) // do not send it
		}
	}
	err = j.Settle(ctx, "order in BTC", trading.Settlement{Outcome: trading.Applied, At: now, Basis: trading.BasisAnswer})
	if err != nil {
		log.Fatal(err)
	}
	if err := j.Close(); err != nil { // or the process ends
		log.Fatal(err)
	}

	j, err = journal.Open(path, journal.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	for in, err := range j.Pending(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("was it placed?", in.ID)
	}
	// Output: was it placed? order in ETH
}

// All is for looking back: what was sent, and what became of it.
func ExampleJournal_All() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	j, err := journal.Open(filepath.Join(dir, "intents.db"), journal.Options{Keep: 90 * 24 * time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()

	now := time.Date(2026, time.January, 15, 9, 30, 0, 0, time.UTC)
	for _, id := range []trading.IntentID{"first", "second"} {
		if err := j.Begin(ctx, trading.Intent{ID: id, Symbol: "BTC", Created: now}); err != nil {
			log.Fatal(err)
		}
	}
	settlement := trading.Settlement{Outcome: trading.NotApplied, At: now, Basis: trading.BasisAnswer, Code: trading.CodeMaxSlippage}
	if err := j.Settle(ctx, "first", settlement); err != nil {
		log.Fatal(err)
	}

	for entry, err := range j.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if s, ok := entry.Settlement.Get(); ok {
			fmt.Printf("%s: %s by %s (%s)\n", entry.Intent.ID, s.Outcome, s.Basis, s.Code)
		} else {
			fmt.Printf("%s: pending\n", entry.Intent.ID)
		}
	}
	// Output:
	// first: not applied by its answer (MAX_SLIPPAGE)
	// second: pending
}
