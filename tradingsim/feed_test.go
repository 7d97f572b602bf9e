package tradingsim_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestRandomWalkTakesStepsOfTheAskedSize(t *testing.T) {
	walk := tradingsim.RandomWalk(1, "64000", 10)
	sum, n := decimal.Zero, 20_000
	last, _ := walk.At(bubbleStart)
	for i := 1; i <= n; i++ {
		p, _ := walk.At(bubbleStart.Add(time.Duration(i) * time.Second))
		sum = sum.Add(p.Sub(last).Abs().Div(last))
		last = p
	}
	mean, _ := sum.Div(decimal.NewFromInt(int64(n))).Mul(decimal.NewFromInt(10_000)).Float64()
	require.InDelta(t, 8, mean, 2) // the mean size of a step whose spread is 10
}

func TestRandomWalkStaysPositive(t *testing.T) {
	walk := tradingsim.RandomWalk(3, "0.0000001", 100)
	for day := range 60 {
		p, ok := walk.At(bubbleStart.AddDate(0, 0, day))
		require.True(t, ok)
		require.True(t, p.IsPositive(), p)
	}
}

func TestRandomWalkRefusesNonsense(t *testing.T) {
	for _, f := range []func(){
		func() { tradingsim.RandomWalk(1, "0", 1) },
		func() { tradingsim.RandomWalk(1, "x", 1) },
		func() { tradingsim.RandomWalk(1, "1", -1) },
		func() { tradingsim.RandomWalk(1, "1", 101) },
	} {
		require.Panics(t, f)
	}
}

func TestWalkStartsWithTheSimulation(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	sim := tradingsim.New(tradingsim.WithFeed("BTC", tradingsim.RandomWalk(1, "64000", 2)),
		tradingsim.WithClock(func() time.Time { return now }))
	b := sandboxBot(t, sim)
	require.Equal(t, "64000", b.get("/sandbox/prices").ok().text("prices.BTC"))
	now = now.Add(time.Hour)
	require.NotEqual(t, "64000", b.get("/sandbox/prices").ok().text("prices.BTC"))
	sim.SetMark("BTC", "1")
	require.Equal(t, "1", b.get("/sandbox/prices").ok().text("prices.BTC"), "a set mark ends the feed")
}

func TestReadCSV(t *testing.T) {
	feed, err := tradingsim.ReadCSV(strings.NewReader("\n# a comment\nTime,Price\n# another\n\n2000-01-01T00:00:01Z,64000.5\n946684802000,\n2000-01-01T00:00:03.5Z, 64001\n"))
	require.NoError(t, err)
	for _, c := range []struct {
		after time.Duration
		price string // "" is unpriced
	}{
		{0, ""},
		{time.Second, "64000.5"},
		{1999 * time.Millisecond, "64000.5"},
		{2 * time.Second, ""},
		{3500 * time.Millisecond, "64001"},
		{time.Hour, "64001"},
	} {
		p, ok := feed.At(bubbleStart.Add(c.after))
		require.Equal(t, c.price != "", ok, c.after)
		if ok {
			require.Equal(t, c.price, p.String())
		}
	}
}

// A number is a time whatever its unit.
func TestReadCSVTellsUnits(t *testing.T) {
	for _, when := range []string{"946684801", "946684801000", "946684801000000", "946684801000000000"} {
		feed, err := tradingsim.ReadCSV(strings.NewReader(when + ",64000.5\n"))
		require.NoError(t, err)
		_, before := feed.At(bubbleStart.Add(time.Second - 1))
		_, then := feed.At(bubbleStart.Add(time.Second))
		require.Equal(t, []bool{false, true}, []bool{before, then}, when)
	}
}

func TestRecordingFromStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed, err := tradingsim.ReadCSV(strings.NewReader("2026-05-04T03:02:01Z,1\n2026-05-04T03:02:03Z,2\n"))
		require.NoError(t, err)
		sim := tradingsim.New(tradingsim.WithFeed("BTC", tradingsim.FromStart(feed)), tradingsim.WithFeed("ETH", feed))
		b := sandboxBot(t, sim)
		for _, want := range []string{"1", "1", "2", "2"} {
			g := b.get("/sandbox/prices").ok()
			require.Equal(t, want, g.text("prices.BTC"))
			require.NotContains(t, g.Text, "ETH", "at its own times it has not begun")
			time.Sleep(time.Second)
		}
		g := b.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":10}`).ok()
		require.Equal(t, "2000", g.text("fill.ageMs"))
	})
	require.Panics(t, func() { tradingsim.FromStart(tradingsim.RandomWalk(1, "1", 1)) })
}

func TestReadCSVNamesTheLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "without a row"},
		{"only a heading", "time,price\n", "without a row"},
		{"one field", "1\n", `line 1: want "time,price"`},
		{"bad time", "time,price\nyesterday,1\n", "line 2, column time: \"yesterday\" is no time"},
		{"bad price", "1,2\n2,x\n", "line 2, column price: \"x\" is not a number"},
		{"negative", "1,-2\n", "line 1, column price: -2 is not greater than 0"},
		{"zero", "1,0\n", "line 1, column price: 0 is not greater than 0"},
		{"endless", "1,1e999999999\n", "line 1, column price: \"1e999999999\" is not a number"},
		{"backwards", "2,1\n1,1\n", "line 2, column time: it is not after"},
		{"twice", "2,1\n2,1\n", "line 2, column time: it is not after"},
		{"of no unit", "9223372036854775807,64000\n", "line 1, column time: \"9223372036854775807\" is no time"},
		{"another heading", "# from a vendor\nTimestamp,Close\n1763800000000,1\n", `the columns are "Timestamp,Close"; they must be "time,price"`},
		{"two headings", "time,price\ntime,price\n", "line 2, column time"},
		{"long line", "1,1\n2," + strings.Repeat("1", 5000) + "\n", "the line is too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tradingsim.ReadCSV(strings.NewReader(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzReadCSV(f *testing.F) {
	for _, name := range []string{"testdata/marks.csv"} {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		feed, err := tradingsim.ReadCSV(strings.NewReader(string(text)))
		if err != nil {
			require.Nil(t, feed)
			return
		}
		for _, at := range []time.Time{{}, bubbleStart, time.Now()} {
			if p, ok := feed.At(at); ok {
				require.True(t, p.IsPositive())
			}
		}
	})
}
