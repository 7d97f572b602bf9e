package backtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const heading = "time,open,high,low,close\n"

// TestBadFeeds has each kind of file that is refused, and what the error says: the file,
// the line, the column, what is wrong and what would be right.
func TestBadFeeds(t *testing.T) {
	candles := CSV{Symbol: "BTC", Time: OpenTime}
	marks := CSV{Symbol: "BTC"}
	for _, c := range []struct {
		name, file string
		how        CSV
		want       string
	}{
		{"empty", "", marks, `x.csv: it is empty; want a heading such as "time,open,high,low,close" and lines below it`},
		{"heading alone", "time,price\n", marks, "x.csv:1: there is a heading and no line below it; want at least one line"},
		{"no heading", "1767225600,64000\n", marks, `x.csv:1: the first line begins with "1767225600", which is no name of a column; want a heading such as "time,open,high,low,close"; or CSV.Format, if it is a known export; or CSV.Heading`},
		{"bars", "time|price\n", marks, "has no comma; want columns that are separated by commas"},
		{"decimal commas", "time;price\n1767225600;64000,5\n", marks, `x.csv:2:12: column "price": "64000,5" is not a number; want a plain decimal`},
		{"zip", "PK\x03\x04etc", marks, `x.csv: the zip file is damaged: zip: not a valid zip file; want the whole file`},
		{"feather", "ARROW1\x00\x00", marks, "x.csv: it is a feather file; want CSV or JSON: freqtrade convert-data --format-from feather --format-to json"},
		{"parquet", "PAR1\x15", marks, "x.csv: it is a parquet file; want CSV or JSON"},
		{"half a gzip", "\x1f\x8b\x08\x00", marks, "x.csv: the gzip file is damaged: unexpected EOF; want the whole file"},
		{"UTF-16", "t\x00i\x00m\x00e\x00", marks, "it has a zero byte, as a file in UTF-16 or a compressed one has; want text in UTF-8, or gzip"},
		{"a long line", "time,price\n" + strings.Repeat("1", 5000), marks, "a line is longer than 4096 bytes"},
		{"a quote", "time,price\n\"1767225600,64000\n", marks, `x.csv:`},
		{"no time", "when,price\n", marks, `x.csv:1: there is no column "time"; want one called time, timestamp`},
		{"no prices", "time,volume\n", marks, `x.csv:1: there is no column of prices; want "price", or "open"`},
		{"half a candle", "time,open,close\n", candles, "x.csv:1: columns of the candle are missing: high, low; want open, high, low and close"},
		{"both", "time,price,open,high,low,close\n", candles, `x.csv:1:6: column "price": there is a price beside columns of candles; want either`},
		{"twice", "time,price,mark\n", marks, `x.csv:1:12: column "mark": two columns can be the price: "price" and "mark"; want one of them`},
		{"undeclared", heading + "1767225600,1,1,1,1\n", marks, `x.csv:1:1: column "time": it is not said whether a candle's time is its opening or its close; want CSV{Time: backtest.OpenTime} or CloseTime`},
		{"contradiction", "close_time,open,high,low,close\n", candles, `column "close_time": its name contradicts CSV.Time`},
		{"no symbol", "time,price\n", CSV{}, `there is no column "symbol", and CSV.Symbol is empty; want one of them`},
		{"a bad symbol", "time,symbol,price\n1767225600,BTC USD,1\n", CSV{}, `x.csv:2:12: column "symbol": "BTC USD" is no symbol; want the plain symbol`},
		{"Columns of nothing", "time,price\n", CSV{Symbol: "BTC", Columns: map[string]string{"last": "x", "bid": "x", "ask": "x", "mid": "x", "index": "x"}}, `CSV.Columns names "ask"; want time, symbol`},
		{"Columns that are not there", "time,price\n", CSV{Symbol: "BTC", Columns: map[string]string{"price": "Last"}}, `there is no column "Last", which CSV.Columns names for the price; want one of ["time" "price"]`},
		{"fields", "time,price\n1767225600,64,000\n", marks, "x.csv:2: the line has 3 fields; want 2, as the heading has (decimals with a point, no separators of thousands)"},
		{"no time in a line", "time,price\n,64000\n", marks, `x.csv:2:1: column "time": it is empty; want RFC 3339 with a zone`},
		{"no unit", "time,price\n64000,64000\n", marks, `x.csv:2:1: column "time": 64000 is in no unit a time between 2000 and 2100; want Unix seconds, milliseconds, microseconds or nanoseconds`},
		{"before 2000", "time,price\n1999-12-31T00:00:00Z,64000\n", marks, `"1999-12-31T00:00:00Z" is not between 2000 and 2100`},
		{"no zone", "time,price\n2026-01-31 12:00:00,64000\n", marks, `x.csv:2:1: column "time": "2026-01-31 12:00:00" has no zone; want 2026-01-31T12:00:00Z if it is UTC, or CSV.Zone`},
		{"a date", "time,price\n2026-01-31,64000\n", marks, `"2026-01-31" has no zone; want 2026-01-31T00:00:00Z if it is UTC, or CSV.Zone`},
		{"days first", "time,price\n31/01/2026,64000\n", marks, `"31/01/2026" is no time; want RFC 3339 with a zone, such as 2026-01-31T00:00:00Z, or a Unix time`},
		{"times beyond", "time,price\n1e19,64000\n", marks, `"1e19" is no time`},
		{"mixed forms", "time,price\n1767225600,1\n2026-01-01T00:01:00Z,1\n", marks, `is in RFC 3339, and the times before it in Unix seconds`},
		{"back in time", "time,price\n1767225600,1\n1767225599,1\n", marks, `x.csv:3:1: column "time": it is before the time of the line before it of BTC, 2026-01-01T00:00:00Z; want lines in order of time, oldest first, or CSV.NewestFirst`},
		{"twice the same time", "time,price\n1767225600,1\n1767225600,1\n", marks, `it repeats the time of the line before it of BTC, 2026-01-01T00:00:00Z; want each time once`},
		{"letters", "time,price\n1767225600,n/a\n", marks, `x.csv:2:12: column "price": "n/a" is not a number; want a plain decimal such as 64000.5`},
		{"thousands", "time,price\n1767225600,\"64,000\"\n", marks, `"64,000" is not a number; want a plain decimal`},
		{"zero", "time,price\n1767225600,0\n", marks, `0 is not greater than 0; want a price, or an empty field where the market had none`},
		{"negative", "time,price\n1767225600,-1\n", marks, `-1 is not greater than 0`},
		{"infinite", "time,price\n1767225600,Inf\n", marks, `"Inf" is not a number`},
		{"huge", "time,price\n1767225600,1e400\n", marks, `1e400 is out of range; want a price of at most 15 digits`},
		{"fine", "time,price\n1767225600,1.00000000000000000001\n", marks, `1.00000000000000000001 has too many digits`},
		{"wide apart", "time,price\n1767225600,100000000\n1767225601,0.00000001\n", marks, `x.csv:3:12: column "price": 0.00000001 has too many digits beside the other prices of BTC; want at most 15 digits in all`},
		{"long", "time,price\n1767225600," + strings.Repeat("1", 60) + "\n", marks, "is too long"},
		{"a hole in a candle", heading + "1767225600,1,2,,1\n", candles, `x.csv:2:16: column "low": it is empty beside prices that are not; want all four prices`},
		{"a low high", heading + "1767225600,10,9,8,9\n", candles, `column "high": the high 9 is below another price of the candle; want the highest of the four`},
		{"a high low", heading + "1767225600,10,12,11,12\n", candles, `column "low": the low 11 is above another price of the candle; want the lowest of the four`},
		{"a volume", "time,open,high,low,close,volume\n1767225600,1,1,1,1,-3\n", candles, `x.csv:2:20: column "volume": "-3" is no volume; want a number that is 0 or more`},
		{"one candle", heading + "1767225600,1,1,1,1\n", candles, `x.csv:2: column "time": of one candle alone the length is not known; want CSV.Interval, or more candles`},
		{"a candle that is too short", heading + "1767225600,1,1,1,1\n1767225602,1,1,1,1\n", candles, `candles of BTC are 2s long; want whole seconds, from 4 s to a week`},
		{"off the grid", heading + "1767225600,1,1,1,1\n1767225660,1,1,1,1\n1767225730,1,1,1,1\n", candles, `x.csv:4: column "time": the candle is 1m10s after the one before it of BTC, and a candle is 1m0s long; want candles one interval apart`},
		{"off the second", heading + "1767225600500,1,1,1,1\n1767225660500,1,1,1,1\n", candles, `the candle opens at 2026-01-01T00:00:00.5Z; want whole seconds`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.how.Name = "x.csv"
			_, err := ReadCSV(strings.NewReader(c.file), c.how)
			var bad *FeedError
			require.ErrorAs(t, err, &bad)
			require.ErrorContains(t, err, c.want)
			require.Contains(t, err.Error(), "; want", "it says what would be right")
		})
	}
}

func TestTimes(t *testing.T) {
	want := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, text := range []string{
		"1767225600", "1767225600000", "1767225600000000", "1767225600000000000",
		"1767225600.0", "1767225600000.000", "1.7672256e9", "1.7672256E+12",
		"2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01 00:00:00+00:00",
	} {
		data, err := ReadCSV(strings.NewReader("time,price\n"+text+",64000\n"), CSV{Symbol: "BTC"})
		require.NoError(t, err, text)
		from, _ := data.Span()
		require.Equal(t, want, from, text)
	}
}

func TestSeveralSymbolsAndNames(t *testing.T) {
	data, err := ReadCSV(strings.NewReader("\ufeff# from somewhere\nDate, Ticker ,Last,trades\n"+
		"2026-01-01T00:00:00Z,BTC,64000.5,9\n2026-01-01T00:00:00Z,ETH,3200,9\n2026-01-01T00:00:05Z,BTC,,9\n"),
		CSV{Name: "x.csv", Columns: map[string]string{"price": "Last"}})
	require.NoError(t, err)
	require.Equal(t, []string{"BTC", "ETH"}, data.Symbols())
	require.Equal(t, []string{"x.csv: columns left out: trades"}, data.notes)
	btc := data.series[0].feed(inside{order: highFirst}, nil)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	_, ok := btc.At(start.Add(-time.Nanosecond))
	require.False(t, ok, "before the first mark")
	price, ok := btc.At(start.Add(4 * time.Second))
	require.True(t, ok)
	require.Equal(t, "64000.5", price.String())
	_, ok = btc.At(start.Add(5 * time.Second))
	require.False(t, ok, "an empty price is an unpriced market")
}

// TestCandleTimes reads the same candles by their opening and by their close, also by the
// last millisecond inside it, as some exchanges write it.
func TestCandleTimes(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		time CandleTime
	}{
		"open":       {"time,open,high,low,close\n1767225600,10,12,8,11\n1767225660,11,11,11,11\n", OpenTime},
		"close":      {"time,open,high,low,close\n1767225660,10,12,8,11\n1767225720,11,11,11,11\n", CloseTime},
		"open_time":  {"open_time,open,high,low,close,close_time\n1767225600000,10,12,8,11,x\n1767225660000,11,11,11,11,x\n", Undeclared},
		"close_time": {"close_time,open,high,low,close\n1767225659999,10,12,8,11\n1767225719999,11,11,11,11\n", Undeclared},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := ReadCSV(strings.NewReader(c.file), CSV{Symbol: "BTC", Time: c.time})
			require.NoError(t, err)
			from, to := data.Span()
			require.Equal(t, "2026-01-01T00:00:00Z", from.Format(time.RFC3339))
			require.Equal(t, "2026-01-01T00:02:00Z", to.Format(time.RFC3339))
		})
	}
}

func minuteCandles(t *testing.T, text string) *Data {
	t.Helper()
	data, err := ReadCSV(strings.NewReader("time,open,high,low,close\n"+text), CSV{Symbol: "BTC", Time: OpenTime, Interval: time.Minute})
	require.NoError(t, err)
	return data
}

func TestCandlePaths(t *testing.T) {
	data := minuteCandles(t, "1767225600,10,16.5,4,12\n1767225720,12,12,12,12\n1767225900,7,7,7,7\n")
	require.Equal(t, []string{"csv: 3 candles of BTC are missing: the price before holds one bar, then the market has none"}, data.notes)
	start := time.Unix(1767225600, 0)
	for order, points := range map[string]map[int]string{
		highFirst: {0: "10", 19: "16.5", 39: "4", 59: "12", 60: "12", 119: "12", 120: "12", 180: "12", 239: "12", 240: "", 299: "", 300: "7", 420: ""},
		lowFirst:  {0: "10", 19: "4", 39: "16.5", 59: "12"},
	} {
		f := data.series[0].feed(inside{order: order}, nil)
		for second, want := range points {
			price, ok := f.At(start.Add(time.Duration(second)*time.Second + 300*time.Millisecond))
			require.Equal(t, want != "", ok, "%s %d", order, second)
			if ok {
				require.Equal(t, want, price.String(), "%s %d", order, second)
			}
		}
	}
	// Whatever the order, the path stays inside the candle.
	for _, order := range []string{highFirst, lowFirst} {
		f := data.series[0].feed(inside{order: order}, nil)
		for second := range 60 {
			price, _ := f.At(start.Add(time.Duration(second) * time.Second))
			require.True(t, price.InexactFloat64() >= 4 && price.InexactFloat64() <= 16.5)
		}
	}
}

func TestUntilKnowsNoOpenCandle(t *testing.T) {
	data := minuteCandles(t, "1767225600,10,16,4,12\n1767225660,12,12,12,12\n")
	at := func(s int64) *Data { return data.Until(time.Unix(1767225600+s, 0)) }
	require.Empty(t, at(59).Candles("BTC"))
	require.Len(t, at(60).Candles("BTC"), 1)
	require.Len(t, at(119).Candles("BTC"), 1)
	require.Len(t, at(120).Candles("BTC"), 2)
	require.Equal(t, "16", at(60).Candles("BTC")[0].High.String())
	require.Empty(t, data.Candles("ETH"))
}

func TestAFeedKnowsNothingPastTheClock(t *testing.T) {
	now := time.Unix(1767225600, 0)
	f := minuteCandles(t, "1767225600,10,16,4,12\n").series[0].feed(inside{order: highFirst}, func() time.Time { return now })
	_, ok := f.At(now.Add(time.Second))
	require.False(t, ok)
	require.True(t, f.ahead)
}

func TestJoin(t *testing.T) {
	btc, err := Walk(WalkOptions{Seed: 1})
	require.NoError(t, err)
	eth, err := Walk(WalkOptions{Symbol: "ETH", Price: "3200", Seed: 2})
	require.NoError(t, err)
	both, err := Join(btc, eth)
	require.NoError(t, err)
	require.Equal(t, []string{"BTC", "ETH"}, both.Symbols())
	require.True(t, both.Synthetic())
	_, err = Join(btc, btc)
	require.ErrorContains(t, err, "already a series of BTC")
	_, err = Join()
	require.Error(t, err)
}

func TestBadWalks(t *testing.T) {
	for _, o := range []WalkOptions{{Price: "x"}, {Price: "-1"}, {Price: "12345678901234.5"}, {StepBps: 2000}, {Length: -1}, {Start: time.Unix(0, 0)}} {
		_, err := Walk(o)
		require.Error(t, err)
	}
}

func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "btc.csv")
	require.NoError(t, os.WriteFile(name, []byte("time,price\n1767225600,x\n"), 0o600))
	_, err := ReadFile(name, CSV{Symbol: "BTC"})
	require.ErrorContains(t, err, `btc.csv:2:12: column "price"`)
	_, err = ReadFile(name+"x", CSV{Symbol: "BTC"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// FuzzReadCSV reads anything: it is refused with a place, or every price that it gives is
// greater than 0 and the same each time.
func FuzzReadCSV(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string, candleTime uint8) {
		data, err := ReadCSV(strings.NewReader(text), CSV{Name: "x.csv", Symbol: "BTC", Time: CandleTime(candleTime % 3)})
		if err != nil {
			var bad *FeedError
			if !errors.As(err, &bad) || bad.Want == "" || bad.Wrong == "" {
				t.Fatalf("refused without saying what would be right: %v", err)
			}
			return
		}
		from, to := data.Span()
		require.False(t, to.Before(from), "from %s to %s", from, to)
		for _, s := range data.series {
			once, again := s.feed(inside{order: highFirst}, nil), s.feed(inside{order: highFirst}, nil)
			step := max(to.Sub(from)/97, 1)
			for at := from; !at.After(to); at = at.Add(step) {
				price, ok := once.At(at)
				same, okToo := again.At(at)
				if ok != okToo || !price.Equal(same) || ok && !price.IsPositive() {
					t.Fatalf("%s: %s %t, and then %s %t", at, price, ok, same, okToo)
				}
			}
		}
	})
}
