package report

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/odds"
)

// inAndOut buys and sells once an hour.
func inAndOut(ctx context.Context, client *trading.Client) error {
	return turns(ctx, client, "0.5", time.Hour)
}

// turns buys and sells, so far apart.
func turns(ctx context.Context, client *trading.Client, size string, apart time.Duration) error {
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(apart):
		}
		side := trading.Long
		if i%2 == 1 {
			side = trading.Short
		}
		if _, err := client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: side, Size: trading.Dec(size), Leverage: trading.Dec("5")}); err != nil {
			return err
		}
	}
}

// candles are four days of hours that go up and down, with a hole.
func candles(t *testing.T) *backtest.Data {
	t.Helper()
	var text strings.Builder
	text.WriteString("time,open,high,low,close\n")
	for i := range 4 * 24 {
		if i == 50 || i == 51 {
			continue
		}
		open := 60000 + 40*(i%17) - 30*(i%5)
		fmt.Fprintf(&text, "%d,%d,%d,%d,%d\n", 1767225600+3600*i, open, open+150, open-140, open+25)
	}
	data, err := backtest.ReadCSV(strings.NewReader(text.String()), backtest.CSV{Name: "x<y>.csv", Symbol: "BTC", Time: backtest.OpenTime, Source: "made & up"})
	require.NoError(t, err)
	return data
}

func write(t *testing.T, r *backtest.Result) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, r))
	return b.String()
}

// TestTheSameBytes: two runs on the same file give the same report, to the last byte.
func TestTheSameBytes(t *testing.T) {
	once := write(t, backtest.Run(t, inAndOut, backtest.Config{Data: candles(t)}))
	again := write(t, backtest.Run(t, inAndOut, backtest.Config{Data: candles(t)}))
	require.True(t, once == again, "the same file, another report")

	walk := func(seed uint64) string {
		data, err := backtest.Walk(backtest.WalkOptions{Seed: seed, Length: 30 * time.Hour})
		require.NoError(t, err)
		return write(t, backtest.Run(t, inAndOut, backtest.Config{Data: data}))
	}
	once, again = walk(7), walk(7)
	require.True(t, once == again, "the same seed, another report")
	require.False(t, once == walk(8), "another seed, the same report")
	require.True(t, strings.Contains(once, "synthetic prices"))
}

// TestOneFile: it asks nobody for anything, runs nothing, and says nothing undefined.
func TestOneFile(t *testing.T) {
	page := write(t, backtest.Run(t, inAndOut, backtest.Config{Name: "a <b> & c", Data: candles(t)}))
	for _, never := range []string{"<script", "http:", "https:", "url(", "@import", "<img", "<link", "NaN", "Inf", "ZgotmplZ", "<b> & c", "x<y>"} {
		require.False(t, strings.Contains(page, never), never)
	}
	for _, all := range []string{"a &lt;b&gt; &amp; c", "made &amp; up", "random, seed 0", "random, seed 1", "too short to quote: 4 complete days of 30", "The bot stopped with an error", "by the document alone"} {
		require.True(t, strings.Contains(page, all), all)
	}
	defined := map[string]bool{}
	for _, id := range regexp.MustCompile(`id="(def-[^"]+)"`).FindAllStringSubmatch(page, -1) {
		defined[id[1]] = true
	}
	links := regexp.MustCompile(`href="#(def-[^"]+)"`).FindAllStringSubmatch(page, -1)
	require.Greater(t, len(links), 15)
	for _, link := range links {
		require.True(t, defined[link[1]], link[1])
	}
	require.Equal(t, 8, strings.Count(page, "<svg"), "no hours of entry: there are less than 100 round trips")
	for _, tag := range []string{"svg", "div", "table", "section", "tr", "td", "span"} {
		require.Equal(t, strings.Count(page, "<"+tag+" ")+strings.Count(page, "<"+tag+">"), strings.Count(page, "</"+tag+">"), tag)
	}
}

// TestTheOrder: what decides over a funded account comes first; hours of entry take 100 round trips.
func TestTheOrder(t *testing.T) {
	many := func(ctx context.Context, client *trading.Client) error {
		return turns(ctx, client, "0.01", 10*time.Minute)
	}
	data, err := backtest.Walk(backtest.WalkOptions{Seed: 1, Length: 48 * time.Hour})
	require.NoError(t, err)
	r := backtest.Run(t, many, backtest.Config{Data: data})
	require.Greater(t, len(r.Worse().Trips), 100)
	page, at := write(t, r), 0
	for _, next := range []string{
		"Verdict</a>:", `class="cards"`, "against its floor</h2>", "What is assumed</h2>", "between floor and target</h2>", "<h2>Figures</h2>",
		"Round trip</a></h2>", "<h2>Profit by", "Best day</a>:", "Leverage</a> over time", "How it is spread</h2>", ">Streaks</a>", ">Holding</a>", ">Average drawdown</a>", ">Skew</a>", ">Tail</a>",
		"Requests</h2>", "hour of entry, UTC</h2>", "<h2>Definitions</h2>",
	} {
		i := strings.Index(page[at:], next)
		require.GreaterOrEqual(t, i, 0, next)
		at += i
	}
	cards := page[strings.Index(page, `class="cards"`):strings.Index(page, "against its floor")]
	for _, no := range []string{"Sharpe", "Win rate"} {
		require.NotContains(t, cards, no+"</a>", "no card")
	}
}

// TestTheDayOfTheVerdict: the day on which an account fails is not complete, and of all days the one
// that has to be there.
func TestTheDayOfTheVerdict(t *testing.T) {
	allIn := func(ctx context.Context, client *trading.Client) error {
		_, err := client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("7"), Leverage: trading.Dec("5")})
		<-ctx.Done()
		return err
	}
	text := "time,price\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%d\n", 1767225600+3600*(i+6), 60000-40*i)
	}
	data, err := backtest.ReadCSV(strings.NewReader(text), backtest.CSV{Symbol: "BTC", MaxAge: time.Hour})
	require.NoError(t, err)
	r := backtest.Run(t, allIn, backtest.Config{Data: data})
	p := r.Worse()
	require.Equal(t, backtest.Failed, r.Verdict)
	require.Len(t, p.PartDays, 1, "the verdict is on the first day")
	require.Equal(t, p.LowestRoom.String(), p.PartDays[0].LowestRoom.String())
	require.Equal(t, [][]string{{"2026-01-01", "$95,000.00", money(p.LowestRoom), "a part", "0"}}, dayFloors(p))
	require.Contains(t, write(t, r), "<td>a part</td>")
}

// TestWhatItWasMadeFrom: everything that a result depends on is on the page, and what was
// refused or is to be doubted.
func TestWhatItWasMadeFrom(t *testing.T) {
	refusedOnce := func(ctx context.Context, client *trading.Client) error {
		_, _ = client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("9999"), Leverage: trading.Dec("5")})
		return inAndOut(ctx, client)
	}
	r := backtest.Run(t, refusedOnce, backtest.Config{Data: candles(t)})
	page := write(t, r)
	require.Len(t, r.Paths, 2)
	require.NotEmpty(t, r.Warnings)
	require.NotEmpty(t, r.Worse().Refusals)
	all := append([]string{r.Data.SHA256, r.Versions.Library, r.Versions.Go, "ended " + nullMoney(r.Spread().NullDecimal) + " apart",
		"The risk-free rate is 0, and a year has 365 days", "fee share ", "equity - opening"}, r.Warnings...)
	for refusal, n := range r.Worse().Refusals {
		all = append(all, "<td>"+refusal+"</td><td>"+whole(n)+"</td>")
	}
	for _, path := range r.Paths {
		all = append(all, nullMoney(path.Equity))
	}
	for _, text := range all {
		require.Contains(t, html.UnescapeString(page), text)
	}

	walk, err := backtest.Walk(backtest.WalkOptions{Seed: 123456, Length: time.Hour})
	require.NoError(t, err)
	require.Contains(t, write(t, backtest.Run(t, inAndOut, backtest.Config{Data: walk})), "<td>Seed</td><td>123456</td>")
}

// TestMonths compounds: 10 percent twice are 21.
func TestMonths(t *testing.T) {
	day := func(date, profit string, r string) (d backtest.Day) {
		at, err := time.Parse(time.DateOnly, date)
		require.NoError(t, err)
		d = backtest.Day{Date: at, Profit: decimal.NewNullDecimal(decimal.RequireFromString(profit))}
		require.NoError(t, d.Return.UnmarshalText([]byte(r)))
		return d
	}
	unknown := day("2026-03-01", "0", "none: the equity is not known")
	require.Equal(t, [][]string{{"2026-01", "2", "$210.00", "21.00 %"}, {"2026-02", "1", "−$5.00", "−0.50 %"}, {"2026-03", "1", "unknown", "unknown"}},
		months([]backtest.Day{day("2026-01-30", "100", "0.1"), day("2026-01-31", "110", "0.1"), day("2026-02-01", "-5", "-0.005"), unknown}))
}

// TestMoneyRows: the fees as a share of what was won before them, and a sum that adds up.
func TestMoneyRows(t *testing.T) {
	d := decimal.NewFromInt
	p := &backtest.Path{
		Opening: d(1000), Equity: decimal.NewNullDecimal(d(1070)), Gross: d(90), Fees: d(25), Funding: d(-3), Unrealized: decimal.NewNullDecimal(d(8)),
		Trips: []backtest.RoundTrip{{Gross: d(100), Fees: d(10)}, {Gross: d(-10), Fees: d(15)}},
	}
	var texts []string
	for _, r := range moneyRows(p) {
		texts = append(texts, r.Name+" "+r.Value+" "+r.Note)
	}
	require.Equal(t, []string{
		"Gross $90.00 of what was closed", "Fees −$25.00 fee share 27.8 %", "Funding −$3.00 ", "Unrealized $8.00 ", "Sum $70.00 equity - opening",
	}, texts)
}

// TestNothingHappened: an hour without a trade is a report too.
func TestNothingHappened(t *testing.T) {
	data, err := backtest.Walk(backtest.WalkOptions{Length: time.Hour})
	require.NoError(t, err)
	idle := func(ctx context.Context, _ *trading.Client) error { <-ctx.Done(); return nil }
	page := write(t, backtest.Run(t, idle, backtest.Config{Data: data}))
	for text, want := range map[string]bool{"No complete UTC day.": true, "No round trip.": true, "NaN": false} {
		require.Equal(t, want, strings.Contains(page, text), text)
	}
}

// TestFarFloors: floors and a target that no equity comes near to are named, and make no flat line and no
// label that its column cuts.
func TestFarFloors(t *testing.T) {
	r := backtest.Run(t, inAndOut, backtest.Config{Data: candles(t), Account: backtest.Account{DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "100000000"}})
	c, note := equityChart(r, true)
	require.Nil(t, c)
	require.Equal(t, "Too far away to be in the picture: the higher loss floor at $1.00, the profit target at $100,000,000.00.", note)
	require.Contains(t, write(t, r), note)
	near := backtest.Run(t, inAndOut, backtest.Config{Data: candles(t), Account: backtest.Account{ProfitTarget: "100000000"}})
	c, note = equityChart(near, true)
	require.Contains(t, string(c.Body), `class="floor"`)
	require.NotContains(t, string(c.Body), `class="target"`)
	require.Equal(t, "Too far away to be in the picture: the profit target at $100,000,000.00.", note)
	for v, want := range map[float64]string{9999: "$9999", 12_500: "$12.5k", 9_990_000: "$9990k", 100_000_000: "$100M", 25e9: "$25B", -2e7: "\u2212$20M"} {
		require.Equal(t, want, short(v))
	}
}

// TestBars: the range of a chance has the same ink all along, and is never too thin to be seen.
func TestBars(t *testing.T) {
	require.Equal(t, bar{"lose", "down", "4 % to 61 %", "4.00", "57.00"}, newBar("lose", "down", odds.Chance{Low: 0.04, High: 0.61}))
	require.Equal(t, bar{"pass", "up", "<1 %", "0.00", "0.60"}, newBar("pass", "up", odds.Chance{}))
	require.Equal(t, bar{"pass", "up", ">99 %", "99.40", "0.60"}, newBar("pass", "up", odds.Chance{Low: 1, High: 1}))
}

func TestWriteFile(t *testing.T) {
	r := backtest.Run(t, inAndOut, backtest.Config{Data: candles(t)})
	name := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, WriteFile(name, r))
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.True(t, write(t, r) == string(text))
	require.ErrorIs(t, WriteFile(filepath.Join(t.TempDir(), "nowhere", "x"), r), os.ErrNotExist)
}

func TestAResultWithoutACurve(t *testing.T) {
	require.ErrorContains(t, Write(&bytes.Buffer{}, &backtest.Result{}), "no curve")
	_, err := term("Alpha")
	require.ErrorContains(t, err, `"Alpha" is not defined`)
}

func TestMoney(t *testing.T) {
	for text, want := range map[string]string{
		"0": "$0.00", "-0.004": "$0.00", "12.345": "$12.35", "-999.5": "−$999.50", "1000": "$1,000.00", "-1234567.8": "−$1,234,567.80", "100000": "$100,000.00",
	} {
		require.Equal(t, want, money(decimal.RequireFromString(text)), text)
	}
	require.Equal(t, "864,518", whole(864518))
	require.Equal(t, "unknown", nullMoney(decimal.NullDecimal{}))
}

func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "1 s", 61 * time.Second: "1 min 1 s", 90 * time.Minute: "1 h 30 min", 24 * time.Hour: "1 day", 49 * time.Hour: "2 days 1 h", 720 * time.Hour: "30 days",
	} {
		require.Equal(t, want, length(d))
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{95000, 110000}, "$95k $100k $105k $110k"},
		{[]float64{-3, 3}, "−$2 $0 $2"},
		{[]float64{100000}, "$99.9k $99.95k $100k $100.05k $100.1k"},
		{[]float64{0}, "−$1 −$0.50 $0 $0.50 $1"},
	} {
		var texts []string
		for _, l := range newScale(c.values...).ticks(short) {
			texts = append(texts, l.Text)
		}
		require.Equal(t, c.want, strings.Join(texts, " "), c.values)
	}
}

// TestHistogramLabels: the 0 is always named, and an end that is near it is not.
func TestHistogramLabels(t *testing.T) {
	for _, c := range []struct {
		nets []int64
		want string
	}{
		{[]int64{-5000, 300}, "−$5000 $0"},
		{[]int64{-100, 100}, "−$100 $0 $110"},
		{[]int64{-10, 1000}, "$0 $1050"},
		{[]int64{100, 200}, "$0 $210"},
	} {
		var trips []backtest.RoundTrip
		for _, net := range c.nets {
			trips = append(trips, backtest.RoundTrip{Gross: decimal.NewFromInt(net)})
		}
		var texts []string
		for _, l := range histogram(trips).X {
			texts = append(texts, l.Text)
		}
		require.Equal(t, c.want, strings.Join(texts, " "))
	}
}

// days are of an account of 100,000, times a size.
func days(n int, mean, deviation, scale float64) odds.History {
	r, equity := rand.New(rand.NewPCG(2, 1)), decimal.NewFromInt(100_000)
	h := odds.History{Accounts: []odds.Source{{Name: "acc_1", End: "failed", Opening: equity, Days: n}}}
	for i := range n {
		begin := equity
		equity = equity.Add(decimal.NewFromFloat(scale * (mean + deviation*r.NormFloat64())).Round(2))
		h.Days = append(h.Days, odds.Day{
			Date: time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC), Traded: true, Largest: decimal.NewFromInt(40_000),
			Begin: odds.Midnight{Balance: begin, Equity: begin, Flat: true}, End: odds.Midnight{Balance: equity, Equity: equity, Flat: true},
		})
	}
	return h
}

// forecastOf is a forecast with every part of the section.
func forecastOf(t *testing.T, history int) *odds.Forecast {
	t.Helper()
	o := odds.Options{Horizon: 60, Outer: 60, Inner: 100, Size: &odds.Size{}, Rules: odds.Rules{
		Opening: trading.Dec("100000"), DailyFloor: trading.Some(trading.Dec("95000")),
		GlobalFloor: trading.Some(trading.Dec("90000")), Target: trading.Some(trading.Dec("110000")),
	}}
	for _, scale := range []string{"0.5", "1.5", "2"} {
		size := trading.Dec(scale)
		o.Size.Reruns = append(o.Size.Reruns, odds.Rerun{Scale: size, History: days(history, 160, 900, size.InexactFloat64())})
	}
	f, err := odds.Of(days(history, 160, 900, 1), o)
	require.NoError(t, err)
	return f
}

// The section has a picture of the equity, of the ends and of the sizes; a refusal has none, and
// comes first.
func TestOddsInTheReport(t *testing.T) {
	f := forecastOf(t, 2000)
	require.Empty(t, f.Refused)
	result := backtest.Run(t, inAndOut, backtest.Config{Data: candles(t)})
	var page bytes.Buffer
	require.NoError(t, Write(&page, result, f))
	text := page.String()
	for _, want := range []string{"What are the", "half and nine tenths of them are within", "Ended until each day", "times the present size is best", "acc_1 (failed, 2000 days)", "moving with the balance", "Of 100 such accounts between ", `<i class="down" style="left:`, `<i class="up" style="left:`} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "in the mean;")
	require.NotContains(t, text, "<script")

	page.Reset()
	require.NoError(t, Write(&page, result, forecastOf(t, 3)))
	text = page.String()
	require.Contains(t, text, "No chance can be given: 3 days are too few days for an interval.")
	require.NotContains(t, text, `class="ranges"`)
	require.NotContains(t, text, "Ended until each day")
	page.Reset()
	require.NoError(t, Write(&page, result))
	require.NotContains(t, page.String(), "What are the")
}
