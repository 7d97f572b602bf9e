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

// climbing are candles of five minutes that rise by half a percent each, with some noise inside.
func climbing(t *testing.T, bars int) *Data {
	t.Helper()
	var text strings.Builder
	text.WriteString("time,open,high,low,close\n")
	price := 60000.0
	for i := range bars {
		next := price * 1.005
		fmt.Fprintf(&text, "%d,%.2f,%.2f,%.2f,%.2f\n", fooledStart+300*i, price, next*1.001, price*0.999, next)
		price = next
	}
	data, err := ReadCSV(strings.NewReader(text.String()), CSV{Symbol: "BTC", Time: OpenTime})
	require.NoError(t, err)
	return data
}

// timetable is a bot that buys and closes in turn, at times of the run.
func timetable(size string, at ...time.Duration) Bot {
	return func(ctx context.Context, client *trading.Client) error {
		begun := time.Now()
		for i, one := range at {
			time.Sleep(time.Until(begun.Add(one)))
			step := order(trading.Long, size)
			if i%2 == 1 {
				step = closing("100")
			}
			if err := step(ctx, client.Sandbox); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

// every are n times, so far apart.
func every(n int, first, apart time.Duration) (list []time.Duration) {
	for i := range n {
		list = append(list, first+time.Duration(i)*apart)
	}
	return list
}

// TestWhatCandlesCannotShow: fills inside candles are named, more of them take the pass away, and
// what the construction of paths earns by itself stands beside the result.
func TestWhatCandlesCannotShow(t *testing.T) {
	const bar = 5 * time.Minute
	const drawn, useless, within, placebo = "their prices are drawn, and a drawn path holds no edge", "These candles cannot measure this bot", "not above the error of how paths are drawn", "On candles of a random walk with the same volatility the bot grossed"
	// Eight fills at openings and two inside.
	mixed := append(every(8, bar, 2*bar), 17*bar+time.Minute, 20*bar)
	mixed[7] += 30 * time.Second
	// In at openings, and out a minute before the next.
	var short []time.Duration
	for i := range time.Duration(10) {
		short = append(short, (2*i+1)*bar, (2*i+2)*bar-time.Minute)
	}
	for name, c := range map[string]struct {
		data    *Data
		bot     Bot
		says    []string
		verdict Verdict
	}{
		"at openings":            {climbing(t, 40), timetable("1", every(10, bar, 2*bar)...), nil, Passed},
		"a fifth inside":         {climbing(t, 40), timetable("1", mixed...), []string{drawn, placebo}, Passed},
		"all inside":             {climbing(t, 40), timetable("1", every(10, bar+time.Minute, 2*bar)...), []string{useless, placebo}, Open},
		"held less than a bar":   {climbing(t, 40), timetable("3", short...), []string{useless, placebo}, Open},
		"without a move":         {candlesOf(t, "BTC", driftless(4, 300*40, 2), 300), timetable("0.1", every(10, bar+time.Minute, 2*bar)...), []string{useless, within, placebo}, Open},
		"inside, and not at all": {candlesOf(t, "BTC", driftless(4, 300*40, 2), 300), timetable("0.1"), nil, Open},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run(t, c.bot, Config{Data: c.data, Account: Account{ProfitTarget: "102600", DailyLossFloor: "1", GlobalLossFloor: "1"}})
			require.Equal(t, c.verdict, r.Verdict, "%s", r)
			require.Equal(t, c.verdict, map[bool]Verdict{true: Passed, false: Open}[r.Worse().Continuous == Passed && r.VerdictNote == ""])
			text := r.String()
			for _, one := range []string{drawn, useless, within, placebo} {
				said := false
				for _, want := range c.says {
					said = said || want == one
				}
				require.Equal(t, said, strings.Contains(text, one), "%s\n%s", one, text)
				for _, warning := range r.Warnings { // of one of two paths, maybe not of that whose figures stand above
					if strings.Contains(warning, one) {
						require.Regexp(t, `^Path [^:]+: `, warning)
					}
				}
			}
			require.Equal(t, strings.Contains(text, placebo), r.Placebo != nil)
		})
	}
}

// TestPlacebo: on a market that rises a bot that holds earns, and on its placebo it does not.
func TestPlacebo(t *testing.T) {
	r := Run(t, timetable("1", every(20, 70*time.Second, 5*time.Minute)...), Config{Data: climbing(t, 200), Account: unbounded("100000")})
	here, there := r.Worse().Gross.InexactFloat64(), r.Placebo.Gross.InexactFloat64()
	require.Greater(t, here, 2000.0)
	require.Less(t, max(there, -there), here/2)
	require.Len(t, r.Placebo.Trips, 10)
	require.Empty(t, r.Placebo.Curve)
}

// jumpyCandles are those of a walk in which every 40th candle jumps.
func jumpyCandles(t *testing.T, bars int) *Data {
	dice := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	price := 64_000.0
	for i := range bars {
		open, high, low := price, price, price
		for k := 1; k < 60; k++ {
			step := 2e-4 * dice.NormFloat64()
			if i%40 == 20 && k == 30 {
				step += 50e-4
			}
			price *= math.Exp(step)
			high, low = max(high, price), min(low, price)
		}
		fmt.Fprintf(&text, "%d,%.2f,%.2f,%.2f,%.2f\n", 1767225600+60*i, open, high, low, price)
	}
	return minuteCandles(t, text.String())
}

// TestJumpPaths: candles that jump have one step in one second, on their prices and in a placebo,
// and only where the config asks for it.
func TestJumpPaths(t *testing.T) {
	data := jumpyCandles(t, 1200)
	jumps := func(d *Data, in inside) (count int) {
		f := d.series[0].feed(in, nil)
		for i, r := range f.rows {
			high, low := int64(0), int64(math.MaxInt64)
			before, largest := int64(0), 0.0
			for second := range int64(60) {
				price, ok := f.units(r.at + second*int64(time.Second))
				require.True(t, ok)
				if second > 0 {
					largest = max(largest, math.Abs(math.Log(float64(price)/float64(before))))
				}
				before, high, low = price, max(high, price), min(low, price)
				if second == 0 {
					require.Equal(t, r.open, price)
				}
			}
			require.Equal(t, []int64{r.high, r.low, r.close}, []int64{high, low, before}, i)
			if largest > 25e-4 {
				count++
			}
		}
		return count
	}
	for _, in := range (Config{Data: data, CandlePaths: JumpPaths}).insides() {
		require.InDelta(t, 30, jumps(data, in), 6, in.order)
		require.InDelta(t, 30, jumps(data.placebo(true), in), 12, in.order)
	}
	for _, in := range (Config{Data: data}).insides() {
		require.Zero(t, jumps(data, in), in.order)
		require.Zero(t, jumps(data.placebo(false), in), in.order)
	}
}

func TestJumpPathsAreAssumed(t *testing.T) {
	for paths, want := range map[CandlePaths]bool{JumpPaths: true, RandomPaths: false, FixedPaths: false} {
		data := jumpyCandles(t, 60)
		r := &Result{Paths: []Path{{Order: Config{Data: data, CandlePaths: paths}.insides()[0].order}}}
		list := r.Assumptions()
		inside := list[len(list)-1]
		require.Equal(t, "Inside candles", inside.Name)
		require.Equal(t, want, strings.Contains(inside.Text, "one jump in one second"), inside.Text)
		require.Equal(t, want, strings.HasPrefix(inside.Text, "random with jumps, seed 0; "), inside.Text)
	}
}
