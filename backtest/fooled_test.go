package backtest

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
)

// Each test here is a way to a flattering figure on a market without an edge.

const fooledStart = 1767225600 // 2026-01-01T00:00:00Z

// driftless are the prices of a martingale, a second apart, that moves by bps a root second.
func driftless(seed uint64, seconds int, bps float64) []float64 {
	dice := rand.New(rand.NewPCG(seed, 99))
	list, x, s := make([]float64, seconds), 0.0, bps/1e4
	for i := range list {
		list[i] = 64000 * math.Exp(x)
		x += s*dice.NormFloat64() - s*s/2
	}
	return list
}

// candleText are bars of a path as a file.
func candleText(path []float64, bar int) string {
	var text strings.Builder
	text.WriteString("time,open,high,low,close\n")
	for i := 0; i+bar <= len(path); i += bar {
		high, low := path[i], path[i]
		for _, p := range path[i : i+bar] {
			high, low = max(high, p), min(low, p)
		}
		fmt.Fprintf(&text, "%d,%.2f,%.2f,%.2f,%.2f\n", fooledStart+i, path[i], high, low, path[i+bar-1])
	}
	return text.String()
}

func candlesOf(t *testing.T, symbol string, path []float64, bar int) *Data {
	t.Helper()
	data, err := ReadCSV(strings.NewReader(candleText(path, bar)), CSV{Name: symbol + ".csv", Symbol: symbol, Time: OpenTime})
	require.NoError(t, err)
	return data
}

// flat are bars of so many seconds that do not move.
func flat(t *testing.T, bar int, path []float64) *Data {
	t.Helper()
	var text strings.Builder
	text.WriteString("time,open,high,low,close\n")
	for i, p := range path {
		fmt.Fprintf(&text, "%d,%.2f,%.2f,%.2f,%.2f\n", fooledStart+bar*i, p, p, p, p)
	}
	data, err := ReadCSV(strings.NewReader(text.String()), CSV{Symbol: "BTC", Time: OpenTime})
	require.NoError(t, err)
	return data
}

// inTurn are so many bars at a price, then so many at the next.
func inTurn(timesAndPrices ...float64) (path []float64) {
	for i := 0; i < len(timesAndPrices); i += 2 {
		path = append(path, slices.Repeat(timesAndPrices[i+1:i+2], int(timesAndPrices[i]))...)
	}
	return path
}

// hours is a step that takes so many.
func hours(n int) func(context.Context, trading.Trader) error {
	return func(context.Context, trading.Trader) error { time.Sleep(time.Duration(n) * time.Hour); return nil }
}

// marksOf are marks of a path, each so many seconds.
func marksOf(t *testing.T, symbol string, path []float64, each int) *Data {
	t.Helper()
	var text strings.Builder
	text.WriteString("time,price\n")
	for i := 0; i < len(path); i += each {
		fmt.Fprintf(&text, "%d,%.2f\n", fooledStart+i, path[i])
	}
	data, err := ReadCSV(strings.NewReader(text.String()), CSV{Name: symbol + ".csv", Symbol: symbol})
	require.NoError(t, err)
	return data
}

// looking is a bot that does something each so often, whatever comes of it.
func looking(each time.Duration, look func(context.Context, *trading.Client)) Bot {
	return func(ctx context.Context, client *trading.Client) error {
		ticker := time.NewTicker(each)
		defer ticker.Stop()
		for {
			look(ctx, client)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-ticker.C:
			}
		}
	}
}

// priceOf is a market's price; 0 where it has none.
func priceOf(ctx context.Context, client *trading.Client, symbol string) float64 {
	mark, err := client.Sandbox.Price(ctx, symbol)
	price, ok := mark.Price()
	if err != nil || !ok {
		return 0
	}
	return price.InexactFloat64()
}

// holder is a bot that looks each so often and holds one unit of what decide says: 1, -1 or 0.
func holder(symbol string, each time.Duration, size string, decide func(price float64) int) Bot {
	held := 0
	return looking(each, func(ctx context.Context, client *trading.Client) {
		if price := priceOf(ctx, client, symbol); price > 0 {
			if want := decide(price); want != held && turn(ctx, client.Sandbox, symbol, size, held, want) == nil {
				held = want
			}
		}
	})
}

// turn goes from a position to another in one order.
func turn(ctx context.Context, on trading.Trader, symbol, size string, held, want int) error {
	if want == 0 {
		_, err := on.ClosePosition(ctx, symbol, trading.Percent(trading.Dec("100")))
		return err
	}
	side, unit := trading.Long, decimal.RequireFromString(size)
	if want < held {
		side = trading.Short
	}
	_, err := on.PlaceOrder(ctx, trading.Order{Symbol: symbol, Side: side, Size: unit.Mul(decimal.NewFromInt(int64(max(want-held, held-want)))), Leverage: trading.Dec("5")})
	return err
}

// unbounded is an account that neither passes nor fails.
func unbounded(balance string) Account {
	return Account{Balance: balance, DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "1000000000"}
}

// grossOf is the mean gross of a round trip in basis points, and its t.
func grossOf(p *Path) (bps, t float64) {
	var list []float64
	for _, one := range p.Trips {
		list = append(list, one.Gross.InexactFloat64()/(one.Size.InexactFloat64()*64000)*1e4)
	}
	m := mean(list)
	return m, m / deviation(list) * math.Sqrt(float64(len(list)))
}

func trend() func(float64) int {
	var seen []float64
	return func(p float64) int {
		if seen = append(seen, p); len(seen) < 4 {
			return 0
		}
		if p > seen[len(seen)-4] {
			return 1
		}
		return -1
	}
}

// TestFooledByStraightLines: "long if above the price three looks ago, else short".
func TestFooledByStraightLines(t *testing.T) {
	skipUnderRace(t)
	for _, c := range []struct {
		days, bar int
		look      time.Duration
	}{{depth.Of(3, 6), 3600, time.Minute}, {depth.Of(1, 3), 900, 30 * time.Second}, {1, 60, depth.Of(20*time.Second, 4*time.Second)}} {
		path := driftless(5, c.days*86400, 2)
		data := candlesOf(t, "BTC", path, c.bar)
		r := Run(t, func(ctx context.Context, client *trading.Client) error {
			return holder("BTC", c.look, "0.1", trend())(ctx, client)
		}, Config{Data: data, Account: unbounded("100000")})
		bps, tt := grossOf(r.Worse())
		t.Logf("bars of %d s, looks each %s: %d trips, gross %.2f bp a trip, t %.1f; return %s; sharpe %s; spread %s", c.bar, c.look, len(r.Worse().Trips), bps, tt, percent(r.Worse().Return), r.Worse().Sharpe, r.Spread())
		require.Less(t, math.Abs(tt), 4.8)
	}
}

// leads trades one market on the lead of another.
func leads(look time.Duration, least float64) Bot {
	return func(ctx context.Context, client *trading.Client) error {
		held := 0
		return looking(look, func(ctx context.Context, client *trading.Client) {
			btc, eth := priceOf(ctx, client, "BTC"), priceOf(ctx, client, "ETH")
			if btc == 0 || eth == 0 {
				return
			}
			want := held
			switch lead := btc/eth - 1; {
			case lead > least:
				want = 1
			case lead < -least:
				want = -1
			}
			if want != held && turn(ctx, client.Sandbox, "ETH", "0.1", held, want) == nil {
				held = want
			}
		})(ctx, client)
	}
}

var staleHours = flag.Int("fooled.hours", 2, "how long the bots of TestFooledByStaleMarks trade")

// TestFooledByStaleMarks: one market is recorded each 5 s, the other each 5 min, and both are the
// same. A look costs as much in the last hour as in the first, and shows the same.
//
//	go test ./backtest -run TestFooledByStaleMarks -fooled.hours 24
func TestFooledByStaleMarks(t *testing.T) {
	skipUnderRace(t)
	path := driftless(6, *staleHours*3600, 2)
	data, err := Join(marksOf(t, "BTC", path, 5), marksOf(t, "ETH", path, 300))
	require.NoError(t, err)
	for _, look := range []time.Duration{5 * time.Second, 30 * time.Second} {
		for _, least := range []float64{0.0002, 0.0005, 0.001} {
			p := Run(t, leads(look, least), Config{Data: data, Account: unbounded("100000")}).Worse()
			v, _ := p.Return.Value()
			t.Logf("looks each %s at leads of %g: %d trips, return %s, oldest mark at a fill %s, refused %v", look, least, len(p.Trips), percent(p.Return), p.FillTimes.OldestAge, p.Refusals)
			require.LessOrEqual(t, v, 0.0)
			require.LessOrEqual(t, p.FillTimes.OldestAge, freshness)
			require.NotZero(t, p.Refusals["STALE_PRICE"])
		}
	}
}

// TestFooledByOneTick: one second at +25 %.
func TestFooledByOneTick(t *testing.T) {
	path := make([]float64, 7200)
	for i := range path {
		path[i] = 64000 + float64(i%7)
	}
	path[4000] *= 1.25
	data := marksOf(t, "BTC", path, 1)
	r := Run(t, trader("", order(trading.Long, "1")), Config{Data: data})
	t.Logf("verdict %s\n%s", r.Worse().Continuous, r)
	require.NotEqual(t, Passed, r.Verdict)
	require.Len(t, r.Spikes, 1)
	require.Equal(t, 4002, r.Spikes[0].Line)
}

// TestFooledAfterTheEnd: an account that fails on the first day and trades on.
func TestFooledAfterTheEnd(t *testing.T) {
	path := make([]float64, 32*86400/60)
	for i := range path {
		path[i] = 64000
		if i >= 60 && i < 120 {
			path[i] = 60000
		}
		if i >= 120 {
			path[i] = 70000 + 100*math.Sin(float64(i)*float64(i))
		}
	}
	r := Run(t, trader("", order(trading.Long, "2")), Config{Data: flat(t, 60, path)})
	t.Logf("%s", r)
	require.Equal(t, Failed, r.Worse().Continuous)
	require.True(t, r.Worse().Equity.Decimal.LessThan(r.Worse().Opening), "a failed account shows a profit")
	_, ok := r.Worse().Sharpe.Value()
	require.False(t, ok, "a sharpe of days after the end")
}

// TestFooledByOpenLosers: a bot that never closes a loser.
func TestFooledByOpenLosers(t *testing.T) {
	r := Run(t, trader("", order(trading.Long, "0.1"), closing("100"), order(trading.Long, "0.1")), Config{Data: prices(t, "60000", "61000", "61000", "59000", "59000")})
	t.Logf("win rate %s, equity %s", r.Worse().WinRate, dollars(r.Worse().Equity))
	v, _ := r.Worse().WinRate.Value()
	require.Less(t, v, 0.6)
	// Who divides the round trips that won by the round trips is told why the rate is another one.
	require.Regexp(t, `(?m)^round trips +1, won 50\.00%.*, 1 open at a loss counted as lost`, r.String())
	require.Contains(t, strings.Join(r.Warnings, "\n"), "in no round trip, but for the win rate, where those at a loss count as lost")

	r = Run(t, trader("", order(trading.Long, "0.1")), Config{Data: prices(t, "60000", "59000", "59000", "59000", "59000")})
	v, ok := r.Worse().WinRate.Value()
	require.True(t, ok, "%s", r.Worse().WinRate)
	require.Zero(t, v, "the one position is open at a loss")
}

// TestFooledByTheFloorOfTheFirstDay: +8 % and -7 % within two days.
func TestFooledByTheFloorOfTheFirstDay(t *testing.T) {
	bot := trader("", order(trading.Long, "3"), hours(3), closing("100"), hours(22), order(trading.Long, "3"))
	r := Run(t, bot, Config{Data: flat(t, 3600, inTurn(2, 60000, 28, 62400, 30, 60200))})
	t.Logf("%s", r)
	require.Equal(t, Failed, r.Worse().Continuous)
}

// TestFooledByTheFileOnDisk: a bot that reads the file by itself.
func TestFooledByTheFileOnDisk(t *testing.T) {
	path := driftless(8, 7200, 2)
	data := candlesOf(t, "BTC", path, 60)
	onDisk := candlesOf(t, "BTC", path, 60)
	reads := func(*Data) Bot {
		return follower(func(candles []Candle, now time.Time) bool { return rises(at(candles, now, false)) })(onDisk)
	}
	require.ErrorContains(t, lookahead(t, reads, Config{Data: data}, nil), "it trades on something else than the prices")

	// One that looks at nothing but the client's prices has no history that could be cut.
	fresh := func(*Data) Bot {
		return func(ctx context.Context, client *trading.Client) error {
			return holder("BTC", time.Minute, "0.1", trend())(ctx, client)
		}
	}
	require.ErrorIs(t, lookahead(t, fresh, Config{Data: data}, nil), ErrNothingChecked)
}

// TestFooledByMemory: a bot that keeps prices from one run to the next, from its first minute on or
// after most of the run.
func TestFooledByMemory(t *testing.T) {
	data := candlesOf(t, "BTC", driftless(9, 6*3600, 3), 60)
	for _, after := range []int64{0, 2 * 3600, 5 * 3600} {
		known := map[int64]float64{}
		remembers := func(ctx context.Context, client *trading.Client) error {
			return holder("BTC", time.Minute, "0.1", func(p float64) int {
				now := time.Now().Unix()
				known[now] = p
				later, ok := known[now+60]
				switch {
				case !ok || now < fooledStart+after:
					return 0
				case later > p:
					return 1
				}
				return -1
			})(ctx, client)
		}
		_, err := run(t, remembers, Config{Data: data, Account: unbounded("100000")})
		require.ErrorContains(t, err, "the bot does not do the same twice", "after %d s", after)
	}
}

// TestAttemptsAreCounted by bot, market and time, and not by the bytes of a file.
func TestAttemptsAreCounted(t *testing.T) {
	file := t.TempDir() + "/attempts"
	data := candlesOf(t, "BTC", driftless(8, 7200, 2), 60)
	other := *data
	other.hash = "with a comment more"
	for i, d := range []*Data{data, data, &other} {
		r := Run(t, trader("", order(trading.Long, "0.1"), closing("100")), Config{Name: "bot", Data: d, Attempts: file})
		require.Equal(t, i+1, r.Finding.Attempts)
	}
	r := Run(t, trader(""), Config{Name: "another", Data: data, Attempts: file})
	require.Equal(t, 1, r.Finding.Attempts)
	train, test := Split(Config{Data: data}, time.Unix(fooledStart+3600, 0))
	require.NoError(t, separate(train, test))
	test.Data, test.From = &other, time.Time{}
	require.ErrorContains(t, separate(train, test), "before the end of the train prices")
}

// TestAssumptionsAreArithmetic: further costs take what arithmetic says, the box says what is
// assumed, and a round trip knows the prices that it went through.
func TestAssumptionsAreArithmetic(t *testing.T) {
	data := prices(t, "60000", "61000", "59000", "61000", "61000")
	r := Run(t, trader("", order(trading.Long, "1"), wait, wait, closing("100")), Config{Data: data})
	p := r.Worse()
	require.Equal(t, "121000", p.Turnover.String())
	at := p.AtCost(decimal.NewFromInt(5)).Decimal
	require.Equal(t, "60.5", p.Equity.Decimal.Sub(at).String())
	require.Equal(t, "59000", p.Trips[0].WorstPrice.String())
	require.Equal(t, "61000", p.Trips[0].BestPrice.String())
	require.Contains(t, r.String(), "no spread, no slippage, no funding")
	var b strings.Builder
	require.NoError(t, r.WriteTrades(&b))
	require.Contains(t, b.String(), "BTC,long,2026-01-01T00:00:00Z,2026-01-01T00:03:00Z,1,60000,1000,54.45,945.55,market,0,59000,61000,-1000,1000")
}

// TestExcursions holds the quick way over whole candles against a look at each second.
func TestExcursions(t *testing.T) {
	data := candlesOf(t, "BTC", driftless(3, 7200, 3), 60)
	p, err := Config{Data: data}.plan()
	require.NoError(t, err)
	f, slow := data.series[0].feed(p.insides()[0], nil), data.series[0].feed(p.insides()[0], nil)
	dice := rand.New(rand.NewPCG(1, 5))
	for range 200 {
		from := fooledStart + dice.Int64N(7000)
		to := from + dice.Int64N(fooledStart+7200-from)
		low, high := f.extremes(from*1e9, to*1e9)
		least, most := int64(math.MaxInt64), int64(0)
		for at := from; at <= to; at++ {
			units, _ := slow.units(at * 1e9)
			least, most = min(least, units), max(most, units)
		}
		require.Equal(t, []int64{least, most}, []int64{low, high})
	}
}

// follower buys at the opening of each candle that ends higher than the last one did, and
// sells at its end. What it knows of a candle is what choose finds in the history.
func follower(choose func(candles []Candle, now time.Time) (rises bool)) Maker {
	return func(history *Data) Bot {
		candles := history.Candles("BTC")
		return func(ctx context.Context, client *trading.Client) error {
			for ctx.Err() == nil {
				if choose(candles, time.Now()) {
					if err := order(trading.Long, "0.1")(ctx, client.Sandbox); err != nil {
						return err
					}
					time.Sleep(30 * time.Second)
					if err := closing("100")(ctx, client.Sandbox); err != nil {
						return err
					}
				}
				time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
			}
			return nil
		}
	}
}

// at finds the candle that a time lies in, or the last one that had closed by then.
func at(candles []Candle, now time.Time, closed bool) (c Candle, ok bool) {
	for _, one := range candles {
		if closed && !one.To.After(now) || !closed && !one.From.After(now) && one.To.After(now) {
			c, ok = one, true
		}
	}
	return c, ok
}

func upAndDown(t *testing.T) *Data {
	t.Helper()
	var text strings.Builder
	for i := range 30 {
		open := 60000 + 10*(i%7)
		up := 5 - 10*(i/2%2)
		fmt.Fprintf(&text, "%d,%d,%d,%d,%d\n", 1767225600+60*i, open, open+20, open-20, open+up)
	}
	return minuteCandles(t, text.String())
}

func rises(c Candle, ok bool) bool { return ok && c.Close.GreaterThan(c.Open) }

func TestLookaheadCheck(t *testing.T) {
	config := Config{Data: upAndDown(t)}
	start := time.Unix(1767225600, 0)
	honest := follower(func(candles []Candle, now time.Time) bool { return rises(at(candles, now, true)) })
	LookaheadCheck(t, honest, config)
	LookaheadCheck(t, honest, config, start.Add(61*time.Second), start.Add(10*time.Minute))

	for name, c := range map[string]struct {
		bot  Maker
		want string
	}{
		"the close at the opening": {follower(func(candles []Candle, now time.Time) bool { return rises(at(candles, now, false)) }),
			`the bot looks ahead: with the history until 2026-01-01T00:05:45Z alone, request`},
		"how much is to come": {follower(func(candles []Candle, _ time.Time) bool { return len(candles) > 28 }), "the bot looks ahead"},
		"chance":              {follower(func([]Candle, time.Time) bool { return rand.IntN(2) == 0 }), "the bot does not do the same twice"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, lookahead(t, c.bot, config, nil), c.want)
		})
	}
	require.ErrorContains(t, lookahead(t, honest, config, []time.Time{start}), "is not inside the run")
	require.ErrorContains(t, lookahead(t, honest, Config{}, nil), "Config.Data is missing")
}
