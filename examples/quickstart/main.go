// Quickstart opens, protects, reduces and closes a position, and prints what
// happened. With nothing configured it starts the simulator and trades there, and
// at the end it loses the reply to an order and finds the order. With TRADING_BASE_URL
// and TRADING_SANDBOX_KEY set it trades on the paper account of that service.
//
//	go run ./examples/quickstart
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	service, err := connect(out)
	if err != nil {
		return err
	}
	defer service.close()
	return firstTrade(ctx, service, out)
}

// service is a client, and the simulator where there is one: it moves the market, and
// loses a reply.
type service struct {
	client *trading.Client
	sim    *tradingsim.Sim // nil on a real service
	pause  func()          // between two looks at a market that moves by itself
	close  func()
}

// connect takes the configured service, or else starts the simulator.
func connect(out io.Writer) (*service, error) {
	if os.Getenv("TRADING_BASE_URL") != "" {
		client, err := trading.FromEnv()
		if err != nil {
			return nil, err
		}
		say(out, "service", "%s", os.Getenv("TRADING_BASE_URL"))
		return &service{
			client: client,
			pause:  func() { time.Sleep(2 * time.Second) },
			close:  func() { _ = client.Close() },
		}, nil
	}

	sim := tradingsim.New(
		tradingsim.WithMarket(tradingsim.Market{
			Symbol: "BTC",
			Price:  "64000",
			Book: tradingsim.Book{Levels: []tradingsim.BookLevel{ // thin beyond one bitcoin
				{Bps: "2", Size: "1"},
				{Bps: "40", Size: "20"},
			}},
		}),
		tradingsim.WithMark("ETH", "3200"),
		tradingsim.WithMark("NEWCOIN", ""), // a real market that nobody prices yet
	)
	if err := sim.Listen("127.0.0.1:0"); err != nil {
		return nil, err
	}
	client, err := trading.New(sim.URL(), trading.WithSandboxKey(sim.SandboxKey()), trading.WithLiveKey(sim.LiveKey()))
	if err != nil {
		return nil, errors.Join(err, sim.Close())
	}
	say(out, "service", "the simulator, on this machine")
	return &service{client: client, sim: sim, pause: func() {}, close: func() {
		_ = client.Close()
		_ = sim.Close()
	}}, nil
}

const symbol = "BTC"

func firstTrade(ctx context.Context, s *service, out io.Writer) error {
	if err := lookAround(ctx, s.client, out); err != nil {
		return err
	}
	position, err := open(ctx, s.client, out)
	if err != nil {
		return err
	}
	if err := reduce(ctx, s.client, out); err != nil {
		return err
	}
	if err := takeProfit(ctx, s, position, out); err != nil {
		return err
	}
	if err := showTrades(ctx, s.client, out); err != nil {
		return err
	}
	if err := beRefused(ctx, s.client, out); err != nil {
		return err
	}
	state, err := s.client.Sandbox.Reset(ctx)
	if err != nil {
		return err
	}
	say(out, "reset", "balance %s", dollars(state.Balance))
	if s.sim == nil {
		return nil
	}
	return loseReply(ctx, s, out)
}

// loseReply is what this project is for: the service executes an order, the reply gets
// lost, and the program still learns what happened, without placing a second one.
func loseReply(ctx context.Context, s *service, out io.Writer) error {
	account := s.client.Live.Account("acc_1")
	s.sim.Fault("POST /orders", tradingsim.DropResponse())
	say(out, "live", "the reply to the next order will be lost")
	bought, err := account.PlaceOrder(ctx, trading.Order{
		Symbol: symbol, Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	})
	if err != nil {
		return err
	}
	say(out, "buy", "0.01 %s filled at %s", symbol, bought.Fill.Price)
	if bought.Meta.Replayed {
		say(out, "", "the service had executed it; the client asked again under the same key,")
		say(out, "", "and got the stored answer of the first order, not a second order")
	}
	positions, err := account.Positions(ctx)
	if err != nil {
		return err
	}
	position, _ := positions.In(symbol)
	say(out, "position", "%s %s: once, not twice", position.Side, position.Size)
	return nil
}

// lookAround reads what a bot reads before it trades.
func lookAround(ctx context.Context, client *trading.Client, out io.Writer) error {
	health, err := client.Health(ctx)
	if err != nil {
		return err
	}
	say(out, "health", "%s, feed %s: safe to trade: %t", health.Status, health.Feed, health.Safe())

	me, err := client.Me(ctx, trading.EnvSandbox)
	if err != nil {
		return err
	}
	say(out, "key", "of %s, for the %s", me.UserID, me.Environment)

	markets, err := client.Sandbox.Markets(ctx)
	if err != nil {
		return err
	}
	for _, market := range markets {
		say(out, "market", "%-8s %10s  up to %sx", market.Symbol, market.Mark, market.MaxLeverage)
	}

	state, err := client.Sandbox.State(ctx)
	if err != nil {
		return err
	}
	say(out, "account", "equity %s, %s", dollars(state.Equity), state.Status)
	if room, ok := state.LossRoom(); ok {
		say(out, "", "%s above the nearer loss floor", dollars(room))
	}
	if gap, ok := state.TargetGap(); ok {
		say(out, "", "%s below the profit target", dollars(gap))
	}
	return nil
}

// open buys with a stop 2 percent below and a target 1 percent above.
func open(ctx context.Context, client *trading.Client, out io.Writer) (trading.Position, error) {
	mark, err := client.Sandbox.Price(ctx, symbol)
	if err != nil {
		return trading.Position{}, err
	}
	price, ok := mark.Price()
	if !ok {
		return trading.Position{}, fmt.Errorf("%s has no price right now: try again shortly", symbol)
	}

	bought, err := client.Sandbox.PlaceOrder(ctx, trading.Order{
		Symbol:         symbol,
		Side:           trading.Long,
		Size:           trading.Dec("0.05"),
		Leverage:       trading.Dec("2"),
		StopLoss:       trading.At(price.Mul(trading.Dec("0.98")).Round(2)),
		TakeProfit:     trading.At(price.Mul(trading.Dec("1.01")).Round(2)),
		MaxSlippagePct: trading.Some(trading.Dec("0.5")),
	})
	if err != nil {
		return trading.Position{}, err
	}
	say(out, "buy", "0.05 %s filled at %s", symbol, bought.Fill.Price)

	positions, err := client.Sandbox.Positions(ctx)
	if err != nil {
		return trading.Position{}, err
	}
	position, open := positions.In(symbol)
	if !open {
		return trading.Position{}, fmt.Errorf("the position is gone already: its stop or target was hit")
	}
	say(out, "position", "%s %s at %s, at %sx", position.Side, position.Size, position.EntryPrice, position.Leverage)
	say(out, "", "stop %s, target %s", position.StopLoss, position.TakeProfit)
	return position, nil
}

func reduce(ctx context.Context, client *trading.Client, out io.Writer) error {
	closed, err := client.Sandbox.ClosePosition(ctx, symbol, trading.Percent(trading.Dec("40")))
	if err != nil {
		return err
	}
	say(out, "close 40%", "at %s, gross %s", exitPrice(closed), dollars(closed.PnL))
	return nil
}

func exitPrice(closed *trading.CloseResult) decimal.Decimal {
	sandbox, _ := closed.Sandbox.Get()
	return sandbox.ExitPrice
}

// takeProfit waits for the market to reach the target. The sandbox looks at
// triggers only when the account or its positions are read, so the reading is
// what makes it fire.
func takeProfit(ctx context.Context, s *service, position trading.Position, out io.Writer) error {
	if s.sim != nil {
		target, _ := position.TakeProfit.Value()
		above := target.Add(trading.Dec("10"))
		s.sim.SetMark(symbol, above.String())
		say(out, "market", "%s moves to %s", symbol, above)
	}
	for range 5 {
		positions, err := s.client.Sandbox.Positions(ctx)
		if err != nil {
			return err
		}
		if _, open := positions.In(symbol); !open {
			say(out, "read", "fires the trigger: the position is closed")
			return nil
		}
		s.pause()
	}
	say(out, "read", "the target is not reached, so it is closed by hand")
	_, err := s.client.Sandbox.ClosePosition(ctx, symbol, trading.All)
	return err
}

func showTrades(ctx context.Context, client *trading.Client, out io.Writer) error {
	trades, err := client.Sandbox.Trades(ctx)
	if err != nil {
		return err
	}
	for _, trade := range trades[:min(len(trades), 2)] {
		say(out, "trade", "%-12s exit %s: gross %s - fees %s = net %s", trade.Cause, trade.ExitPrice,
			dollars(trade.GrossPnL), dollars(trade.RoundTripFee), dollars(trade.NetPnL()))
	}
	return nil
}

// beRefused asks for more than the order book can give at a tight bound.
func beRefused(ctx context.Context, client *trading.Client, out io.Writer) error {
	_, err := client.Sandbox.PlaceOrder(ctx, trading.Order{
		Symbol:         symbol,
		Side:           trading.Long,
		Size:           trading.Dec("3"),
		Leverage:       trading.Dec("5"),
		MaxSlippagePct: trading.Some(trading.Dec("0.1")),
	})
	var refusal *trading.Error
	switch {
	case err == nil:
		say(out, "buy", "3 %s filled after all", symbol)
		return nil
	case errors.Is(err, trading.CodeMaxSlippage) && errors.As(err, &refusal):
		say(out, "refused", "%s: estimated %s%%, allowed %s%%: %s", refusal.Code,
			refusal.EstSlippagePct, refusal.MaxSlippagePct, trading.OutcomeOf(err))
		return nil
	case errors.Is(err, trading.ErrSlippage), errors.Is(err, trading.ErrRiskCap):
		say(out, "refused", "%v", err)
		return nil
	default:
		return err
	}
}

func say(out io.Writer, what, format string, args ...any) {
	fmt.Fprintf(out, "%-10s %s\n", what, fmt.Sprintf(format, args...))
}

func dollars(d decimal.Decimal) string { return "$" + d.StringFixed(2) }
