package backtest_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/tradingsim"
)

// What docs/backtest.md and its reference show is here, in example_test.go and in docs/programs/dips, to be compiled and run.

// dips buys a fall of one percent within the hour, with a stop and a target.
func dips(ctx context.Context, client *trading.Client) error {
	account := client.Live.Account("acc_1")
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	high, since := trading.Dec("0"), time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		mark, err := client.Sandbox.Price(ctx, "BTC")
		if err != nil {
			continue
		}
		price, ok := mark.Price()
		if !ok {
			continue
		}
		if price.GreaterThan(high) || time.Since(since) > time.Hour {
			high, since = price, time.Now()
		}
		positions, err := account.Positions(ctx)
		if err != nil {
			continue
		}
		if _, open := positions.In("BTC"); !open && price.LessThan(high.Mul(trading.Dec("0.99"))) {
			_, err := account.PlaceOrder(ctx, trading.Order{
				Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2"),
				StopLoss:   trading.At(price.Mul(trading.Dec("0.98")).Round(1)),
				TakeProfit: trading.At(price.Mul(trading.Dec("1.01")).Round(1)),
			})
			if err != nil {
				return err
			}
			high = price
		}
	}
}

// The guide shows the bot in its program.
func TestDipsIsTheProgramsBot(t *testing.T) {
	bot := func(file string) string {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		_, text, _ := strings.Cut(string(source), "// dips buys")
		text, _, _ = strings.Cut(text, "\n}\n")
		return text
	}
	if here, program := bot("guide_test.go"), bot("../docs/programs/dips/main.go"); here == "" || here != program {
		t.Errorf("docs/programs/dips has another bot:\n%s", program)
	}
}

func TestBot(t *testing.T) {
	data, err := backtest.ReadFile("testdata/synthetic.csv", backtest.CSV{Symbol: "BTC"})
	require.NoError(t, err)
	result := backtest.Run(t, dips, backtest.Config{
		Data:    data,
		Account: backtest.Account{ID: "acc_1", Balance: "50000"},
	})
	if result.Worse().Continuous == backtest.Failed {
		t.Errorf("the account is lost:\n%s", result)
	}
}

func TestRoughWeather(t *testing.T) {
	data, err := backtest.ReadFile("testdata/synthetic.csv", backtest.CSV{Symbol: "BTC"})
	require.NoError(t, err)
	backtest.Run(t, dips, backtest.Config{
		Data:    data,
		Account: backtest.Account{ID: "acc_1"},
		Simulation: []tradingsim.Option{
			tradingsim.WithLag(3 * time.Second),
			tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", Book: tradingsim.Book{
				Levels: []tradingsim.BookLevel{{Bps: "2", Size: "1"}, {Bps: "10", Size: "5"}},
			}}),
		},
	})
}

func TestNoLookahead(t *testing.T) {
	data, err := backtest.ReadFile("testdata/synthetic.csv", backtest.CSV{Symbol: "BTC"})
	require.NoError(t, err)
	backtest.LookaheadCheck(t, func(history *backtest.Data) backtest.Bot {
		return warmedUp(history.Candles("BTC"))
	}, backtest.Config{Data: data})
}

// warmedUp waits for the price to leave the range of the first day, which it knows from
// the candles that have closed.
func warmedUp(candles []backtest.Candle) backtest.Bot {
	return func(ctx context.Context, client *trading.Client) error {
		for ctx.Err() == nil {
			high := trading.Dec("0")
			for _, c := range candles {
				if !c.To.After(time.Now()) && c.High.GreaterThan(high) {
					high = c.High
				}
			}
			if mark, err := client.Sandbox.Price(ctx, "BTC"); err == nil {
				if price, ok := mark.Price(); ok && price.GreaterThan(high) {
					_, _ = client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("1")})
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Minute):
			}
		}
		return nil
	}
}
