package journal_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tradingapi/trading-go/journal"
)

// A client appends by itself, given trading.WithJournal. This does it by hand, to
// show what a program finds after a crash.
func Example() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "bot.journal")

	j, err := journal.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, intent := range []string{"order in BTC", "order in ETH"} {
		if err := j.Append(ctx, true, journal.Record{Intent: intent, Data: []byte("is sent")}); err != nil {
			log.Fatal(err) // do not send it
		}
	}
	err = j.Append(ctx, true, journal.Record{Intent: "order in BTC", Final: true, Data: []byte("was placed")})
	if err != nil {
		log.Fatal(err)
	}
	if err := j.Close(); err != nil { // or the process ends
		log.Fatal(err)
	}

	j, err = journal.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer j.Close()
	for h, err := range j.Pending(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("was it placed? %s %s\n", h.Intent, h.Records[0])
	}
	// Output: was it placed? order in ETH is sent
}
