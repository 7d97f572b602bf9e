package backtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// twins are candles of five minutes of two walks without drift, whose seconds have a correlation of
// 0.95.
func twins(t *testing.T, seed uint64, bars int) *Data {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 9))
	const correlation, step = 0.95, 2e-4
	prices := [2]float64{100, 100}
	var text [2]strings.Builder
	for i := range bars {
		open, high, low := prices, prices, prices
		var last [2]float64
		for range 300 {
			last = prices
			common := dice.NormFloat64()
			for k := range prices {
				own := dice.NormFloat64()
				high[k], low[k] = max(high[k], prices[k]), min(low[k], prices[k])
				prices[k] *= math.Exp(step*(math.Sqrt(correlation)*common+math.Sqrt(1-correlation)*own) - step*step/2)
			}
		}
		for k := range text {
			fmt.Fprintf(&text[k], "%d,%.4f,%.4f,%.4f,%.4f\n", fooledStart/300*300+300*i, open[k], high[k], low[k], last[k])
		}
	}
	var both []*Data
	for k, symbol := range []string{"BTC", "ETH"} {
		one, err := ReadCSV(strings.NewReader("time,open,high,low,close\n"+text[k].String()), CSV{Symbol: symbol, Time: OpenTime})
		require.NoError(t, err)
		both = append(both, one)
	}
	data, err := Join(both...)
	require.NoError(t, err)
	return data
}

// pairTrader holds the cheaper of two markets against the dearer, each so many dollars, by a look each
// so often at how far they have come apart since the last opening of a candle.
func pairTrader(each time.Duration) Bot {
	return func(ctx context.Context, client *trading.Client) error {
		symbols := [2]string{"BTC", "ETH"}
		var began [2]float64
		side := 0 // of the first: 1 is long
		turn := func(to int) error {
			for k, symbol := range symbols {
				if side != 0 {
					if _, err := client.Sandbox.ClosePosition(ctx, symbol, trading.Percent(trading.Dec("100"))); err != nil {
						return err
					}
				}
				if to != 0 {
					o := trading.Order{Symbol: symbol, Side: trading.Long, Size: trading.Dec("10"), Leverage: trading.Dec("1")}
					if (to > 0) != (k == 0) {
						o.Side = trading.Short
					}
					if _, err := client.Sandbox.PlaceOrder(ctx, o); err != nil {
						return err
					}
				}
			}
			side = to
			return nil
		}
		for n := time.Duration(0); ctx.Err() == nil; n++ {
			var now [2]float64
			for k, symbol := range symbols {
				mark, err := client.Sandbox.Price(ctx, symbol)
				if err != nil {
					return err
				}
				price, _ := mark.Price()
				now[k] = price.InexactFloat64()
			}
			if n*each%(5*time.Minute) == 0 {
				began = now
			}
			apart := math.Log(now[0]/began[0]) - math.Log(now[1]/began[1])
			want := 0
			if apart > 4e-4 {
				want = -1
			} else if apart < -4e-4 {
				want = 1
			}
			if want != side {
				if err := turn(want); err != nil {
					return err
				}
			}
			sleep(ctx, each)
		}
		return nil
	}
}

// TestPairsFoundNothing: two markets whose prices move together are drawn apart inside candles, which
// fabricates an edge in pairs. The bot is told that it cannot be measured, and does not pass by it. At
// openings, where nothing is drawn, it earns nothing.
func TestPairsFoundNothing(t *testing.T) {
	skipUnderRace(t)
	data := twins(t, 1, 250)
	inside := Run(t, pairTrader(20*time.Second), Config{Data: data, Account: unbounded("100000")})
	_, err := grossOf(inside.Worse())
	require.Contains(t, inside.String(), "These candles cannot measure this bot: ")
	require.Greater(t, err, 4.0, "drawn apart, the pair comes together again: the edge is made up")
	require.Contains(t, inside.Finding.Headline(), "these candles cannot show it: more than a tenth of the fills are inside candles of a second market")
	openings := Run(t, pairTrader(5*time.Minute), Config{Data: data, Account: unbounded("100000")})
	s := openings.Worse().Steps
	require.LessOrEqual(t, math.Abs(s.Sum), 4*math.Sqrt(s.Squares)+1e-9)
	require.NotContains(t, openings.String(), "cannot measure")
	require.False(t, openings.Finding.Found)
}

// TestALimitAtTheMark pays for the spread and for its size: it fills once the market has come so far.
func TestALimitAtTheMark(t *testing.T) {
	limit := func(size string) Bot {
		return func(ctx context.Context, client *trading.Client) error {
			o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec(size), Leverage: trading.Dec("5"), LimitPrice: trading.At(trading.Dec("60000"))}
			if _, err := client.Live.Account("acc_1").PlaceLimit(ctx, o); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}
	}
	for _, c := range []struct{ size, took string }{{"1", "41.9351"}, {"100", "0"}} {
		data := prices(t, "60000", "60000", "59999", "59950", "59950", "59950")
		r := Run(t, limit(c.size), Config{Data: data, Account: Account{ID: "acc_1", Balance: "5000000"}, Frictions: Frictions{HalfSpread: "1", Slippage: "10"}})
		p := r.Worse()
		require.Equal(t, c.took != "0", p.Fills == 1, r)
		require.Equal(t, c.took, p.Took.String())
		require.InDelta(t, p.Gross.Add(p.Took).Add(p.Unrealized.Decimal).InexactFloat64(), p.Steps.Sum, 1e-6)
	}
}

// TestMarksThatEnd: after the end of its file a market has no price.
func TestMarksThatEnd(t *testing.T) {
	both, err := Join(everyTen(t, "BTC", 60), everyTen(t, "ETH", 10))
	require.NoError(t, err)
	r := Run(t, buysAndCloses(50*time.Minute, "ETH"), Config{Data: both})
	require.Contains(t, r.Worse().Stopped, "price")
	require.Equal(t, 49*time.Minute+49*time.Second, r.Worse().Unpriced)
	require.False(t, r.Worse().Equity.Valid)
}
