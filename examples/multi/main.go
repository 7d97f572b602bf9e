// Multi runs the same decision on several accounts of one owner, at once, by one client:
// one key reaches all of them, and one rate limit is shared.
//
//	go run ./examples/multi
//
// With nothing configured it trades on the simulator. With TRADING_BASE_URL,
// TRADING_SANDBOX_KEY (prices), TRADING_LIVE_KEY and TRADING_ACCOUNTS (acc_1,acc_2) set it
// trades those accounts, with real money.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	if os.Getenv("TRADING_BASE_URL") != "" {
		ids, err := named(os.Getenv("TRADING_ACCOUNTS"))
		if err != nil {
			return err
		}
		client, err := trading.FromEnv(trading.WithGuard(trading.OnlyAccounts(ids...))) // and no other
		if err != nil {
			return err
		}
		defer client.Close()
		return trade(ctx, client, ids, out)
	}
	sim := tradingsim.New(
		tradingsim.WithMark("BTC", "64000"),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1", Balance: "10000"}),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_2", Balance: "50000"}),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_3", Balance: "10000", Status: "PASSED"}),
	)
	defer sim.Close()
	ids := []trading.AccountID{"acc_1", "acc_2", "acc_3"}
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()),
		trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()), trading.WithGuard(trading.OnlyAccounts(ids...)))
	if err != nil {
		return err
	}
	defer client.Close()
	return trade(ctx, client, ids, out)
}

// named reads a list of accounts. An empty name is a mistake, and not all accounts.
func named(list string) (ids []trading.AccountID, err error) {
	for _, id := range strings.Split(list, ",") {
		if id = strings.TrimSpace(id); id == "" {
			return nil, fmt.Errorf("TRADING_ACCOUNTS is %q: name each account, separated by commas", list)
		}
		ids = append(ids, trading.AccountID(id))
	}
	return ids, nil
}

// trade decides for all accounts at once. One that fails does not stop another.
func trade(ctx context.Context, client *trading.Client, ids []trading.AccountID, out io.Writer) error {
	mark, err := client.Sandbox.Price(ctx, "BTC")
	if err != nil {
		return err
	}
	price, ok := mark.Price()
	if !ok {
		return errors.New("BTC has no price right now: try again shortly")
	}
	lines, errs := make([]string, len(ids)), make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { lines[i], errs[i] = decide(ctx, client.Live.Account(id), price) })
	}
	all.Wait()
	for i, id := range ids {
		if errs[i] != nil {
			lines[i] = fmt.Sprintf("%s: %v", trading.OutcomeOf(errs[i]), errs[i])
		}
		fmt.Fprintf(out, "%-6s %s\n", id, lines[i])
	}
	return errors.Join(errs...)
}

// decide buys for two percent of the equity, if the account takes entries and has no
// position, and sells it again.
func decide(ctx context.Context, account *trading.Account, price decimal.Decimal) (string, error) {
	state, err := account.State(ctx)
	if err != nil {
		return "", err
	}
	if !state.Status.AllowsEntry() {
		return fmt.Sprintf("takes no entries: it is %s", state.Status), nil
	}
	positions, err := account.Positions(ctx)
	if err != nil {
		return "", err
	}
	if _, open := positions.In("BTC"); open {
		return "has a position already", nil
	}
	size := state.Equity.Mul(trading.Dec("0.02")).Div(price).Round(4)
	bought, err := account.PlaceOrder(ctx, trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: size, Leverage: trading.Dec("2"),
		ExpectedPrice: trading.At(price), // what the size was worked out from
	})
	if err != nil {
		return "", err
	}
	closed, err := account.ClosePosition(ctx, "BTC", trading.All)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("bought %s at %s, closed for %s", size, bought.Fill.Price, closed.PnL), nil
}
