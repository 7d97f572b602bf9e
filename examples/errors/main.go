// Errors places orders that end in each kind of way, and handles every one by its
// outcome first and its code second. It trades on a simulated service, and takes some
// seconds.
//
//	go run ./examples/errors
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// trade places an order and says what to do next. It is the part to copy.
func trade(ctx context.Context, account *trading.Account, order trading.Order, opts ...trading.CallOption) (string, error) {
	filled, err := account.PlaceOrder(ctx, order, opts...)
	if err == nil {
		return fmt.Sprintf("filled at %s", filled.Fill.Price), nil
	}

	switch trading.OutcomeOf(err) { // did it happen?
	case trading.Applied:
		return "filled, but the answer cannot be read: look at the position", nil
	case trading.Unknown:
		resolution, err := account.Resolve(ctx, err) // the client is at it already: wait longer
		if err != nil {
			return "still unknown: a person has to look", err
		}
		return fmt.Sprintf("it was %s (evidence: %s)", resolution.Outcome, resolution.Evidence), nil
	}

	switch { // it did not; why?
	case errors.Is(err, trading.ErrNotMarketable):
		resting, err := account.PlaceLimit(ctx, order) // the same order, left to rest
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("resting as %s", resting.Order.ID), nil
	case errors.Is(err, trading.ErrNoPrice):
		return "no fresh price: next tick, next chance", nil
	case errors.Is(err, trading.ErrSlippage):
		return "too far from where it was decided: decide again", nil
	case errors.Is(err, trading.ErrUnhealthy):
		return "not safe to trade now", nil
	case errors.Is(err, trading.ErrPendingWrite):
		return "wait: the outcome of an earlier order in this market is not known yet", nil
	case errors.Is(err, trading.CodeRateLimited):
		wait, _ := trading.RetryAfter(err)
		return fmt.Sprintf("again in %s", wait), nil
	case errors.Is(err, trading.ErrLossLimit), errors.Is(err, trading.ErrAccountLocked):
		return "stop: this account takes no more orders", err
	default:
		return fmt.Sprintf("refused: %s", trading.AdviceOf(err)), err
	}
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer sim.Close()
	client, err := trading.New(sim.URL(),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()),
		trading.WithExclusiveAccounts("acc_1"), // nobody else trades it
	)
	if err != nil {
		return err
	}
	defer client.Close()
	account := client.Live.Account("acc_1")

	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}
	limit := order
	limit.Type, limit.LimitPrice = trading.LimitOrder, trading.At(trading.Dec("60000"))

	impatient := []trading.CallOption{trading.WithRetry(trading.Retry{Attempts: 1}), trading.WithResolveTimeout(0)}

	for _, step := range []struct {
		what  string
		order trading.Order
		cause func()
		opts  []trading.CallOption
	}{
		{"all is well", order, func() {}, nil},
		{"the reply is lost", order, func() { sim.Fault("POST /orders", tradingsim.DropResponse()) }, nil},
		{"and nobody waits", order, func() { sim.Fault("POST /orders", tradingsim.DropResponse()) }, impatient},
		{"a limit below the market", limit, func() {}, nil},
		{"the price is stale", order, func() { sim.SetFillError("BTC", "STALE_PRICE") }, nil},
		{"the book is too thin", order, func() {
			sim.SetFillError("BTC", "")
			sim.Fault("POST /orders", tradingsim.Fail(409, "MAX_SLIPPAGE"))
		}, nil},
		{"the account has passed", order, func() { sim.SetStatus("acc_1", "PASSED") }, nil},
		{"too many orders", order, func() {
			sim.SetStatus("acc_1", "ACTIVE")
			sim.Fault("POST /orders", tradingsim.RateLimit(time.Minute))
		}, nil},
	} {
		step.cause()
		next, err := trade(ctx, account, step.order, step.opts...)
		fmt.Fprintf(out, "%-26s %s\n", step.what+":", next)
		if err != nil {
			fmt.Fprintf(out, "%-26s (%v)\n", "", err)
		}
	}
	return nil
}
