package main

import (
	"context"
	"os"
	"testing"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/leak"
	"github.com/tradingapi/trading-go/journal"
)

// The test binary is also the programs that tests start as processes of their own.
const (
	childCommand = "COMMAND_UNDER_TEST"
	childBot     = "BOT_UNDER_TEST"
)

// TestMain looks for goroutines that the tests have left behind.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(childCommand) != "":
		main()
	case os.Getenv(childBot) != "":
		bot(os.Getenv(childBot))
	case len(os.Args) > 1 && os.Args[1] == "mcp": // the engine of a front that a test runs in process, by mistake
		os.Exit(2)
	default:
		os.Exit(leak.Main(m))
	}
}

// bot places an order, with a journal, and is killed meanwhile.
func bot(path string) {
	log, err := journal.Open(path)
	if err != nil {
		panic(err)
	}
	client, err := trading.FromEnv(trading.WithJournal(log))
	if err != nil {
		panic(err)
	}
	_, err = client.Live.Account("acc_1").PlaceOrder(context.Background(), trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2"),
	}, trading.WithTag("the bot's"))
	panic(err) // it is to be dead by now
}
