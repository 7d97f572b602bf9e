package backtest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// buysAndCloses is a bot that buys in each market at once and closes at a time.
func buysAndCloses(after time.Duration, symbols ...string) Bot {
	return func(ctx context.Context, client *trading.Client) error {
		for _, symbol := range symbols {
			o := trading.Order{Symbol: symbol, Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("1")}
			if _, err := client.Sandbox.PlaceOrder(ctx, o); err != nil {
				return err
			}
		}
		time.Sleep(after)
		for _, symbol := range symbols {
			if _, err := client.Sandbox.ClosePosition(ctx, symbol, trading.Percent(trading.Dec("100"))); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

// hourCandles are candles of an hour.
func hourCandles(t *testing.T, symbol string, n int) *Data {
	t.Helper()
	var text strings.Builder
	text.WriteString("time,open,high,low,close\n")
	for i := range n {
		open := 1000 + 10*(i%3)
		fmt.Fprintf(&text, "%d,%d,%d,%d,%d\n", fooledStart/3600*3600+3600*i, open, open+9, open-9, open+5)
	}
	data, err := ReadCSV(strings.NewReader(text.String()), CSV{Symbol: symbol, Time: OpenTime})
	require.NoError(t, err)
	return data
}

// TestSteps: a step is a minute, and a candle where nobody looked inside, where paths are fixed, and
// where candles of two markets are held; all of them together are the gross at the marks.
func TestSteps(t *testing.T) {
	both, err := Join(hourCandles(t, "BTC", 48), hourCandles(t, "ETH", 48))
	require.NoError(t, err)
	marks := func(symbol string) *Data {
		return everyTen(t, symbol, 120)
	}
	for name, c := range map[string]struct {
		data  *Data
		bot   Bot
		paths CandlePaths
		count int
	}{
		"marks":                     {marks("BTC"), buysAndCloses(30*time.Minute, "BTC"), RandomPaths, 30},
		"marks, and a part":         {marks("BTC"), buysAndCloses(30*time.Minute+20*time.Second, "BTC"), RandomPaths, 31},
		"candles from outside":      {hourCandles(t, "BTC", 48), buysAndCloses(5*time.Hour, "BTC"), RandomPaths, 5},
		"a look inside":             {hourCandles(t, "BTC", 48), buysAndCloses(4*time.Hour+30*time.Minute, "BTC"), RandomPaths, 4 + 30},
		"a look inside fixed paths": {hourCandles(t, "BTC", 48), buysAndCloses(4*time.Hour+30*time.Minute, "BTC"), FixedPaths, 5},
		"looks inside two markets":  {both, buysAndCloses(4*time.Hour+30*time.Minute, "BTC", "ETH"), RandomPaths, 5},
		"nothing":                   {marks("BTC"), buysAndCloses(time.Hour), RandomPaths, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run(t, c.bot, Config{Data: c.data, CandlePaths: c.paths, Account: unbounded("100000"), Frictions: Frictions{HalfSpread: "3", Slippage: "2"}})
			for _, p := range r.Paths {
				s := p.Steps
				require.Equal(t, c.count, s.Count, "%+v", s)
				require.InDelta(t, p.Gross.Add(p.Took).Add(p.Unrealized.Decimal).InexactFloat64(), s.Sum, 1e-6)
				require.LessOrEqual(t, s.Sum*s.Sum, s.Squares*float64(max(1, s.Count))+1e-6)
				require.LessOrEqual(t, s.Fourths, s.Squares*s.Squares+1e-6)
				require.False(t, math.IsNaN(s.Squares))
			}
		})
	}
}

// everyTen are marks of each ten seconds.
func everyTen(t *testing.T, symbol string, minutes int) *Data {
	t.Helper()
	var text strings.Builder
	text.WriteString("time,price\n")
	for i := range 6 * minutes {
		fmt.Fprintf(&text, "%d,%d\n", fooledStart/60*60+10*i, 1000+i%7)
	}
	data, err := ReadCSV(strings.NewReader(text.String()), CSV{Symbol: symbol})
	require.NoError(t, err)
	return data
}

// TestPairsInsideCandles: a bot that fills inside candles of two markets is told that they cannot
// measure it, and so is one with half of its fills inside.
func TestPairsInsideCandles(t *testing.T) {
	both, err := Join(hourCandles(t, "BTC", 48), hourCandles(t, "ETH", 48))
	require.NoError(t, err)
	const bar = time.Hour
	half := timetable("1", 10*bar, 15*bar+time.Minute)
	pairs := func(ctx context.Context, client *trading.Client) error {
		long := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("1")}
		short := trading.Order{Symbol: "ETH", Side: trading.Short, Size: trading.Dec("1"), Leverage: trading.Dec("1")}
		buy := func(orders ...trading.Order) error {
			for _, o := range orders {
				if _, err := client.Sandbox.PlaceOrder(ctx, o); err != nil {
					return err
				}
			}
			return nil
		}
		for range 3 { // at openings
			if err := buy(long); err != nil {
				return err
			}
			time.Sleep(bar)
		}
		time.Sleep(time.Minute)
		if err := buy(long, short); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	for name, c := range map[string]struct {
		data *Data
		bot  Bot
		says string
	}{
		"half of the fills inside": {hourCandles(t, "BTC", 48), half, "1 of 2 fills are inside candles"},
		"two markets":              {both, pairs, "inside candles of several markets"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run(t, c.bot, Config{Data: c.data, Account: unbounded("100000")})
			require.Contains(t, r.String(), "These candles cannot measure this bot: ")
			require.Contains(t, r.String(), c.says)
		})
	}
}
