package backtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestExports reads a small file in the form of each export: how many candles or marks it has, from
// when to when, and the first and the last price.
func TestExports(t *testing.T) {
	athens, err := time.LoadLocation("Europe/Athens")
	require.NoError(t, err)
	for _, c := range []struct {
		file string
		how  CSV
		want string
	}{
		{"binance-klines.csv", CSV{Format: Binance}, "4 candles of 1m0s from 2024-12-31T23:58:00Z to 2025-01-01T00:02:00Z, 64000.1 to 63998"},
		{"binance-trades.csv", CSV{Format: Binance}, "2 marks from 2025-01-01T00:00:00.000123Z to 2025-01-01T00:00:01.5Z, 64000.2 to 64001"},
		{"binance-aggtrades.csv", CSV{Format: Binance}, "2 marks from 2025-01-01T00:00:00.123Z to 2025-01-01T00:00:01.5Z, 64000.1 to 64001"},
		{"binance-futures-trades.csv", CSV{}, "2 marks from 2025-01-01T00:00:00.031Z to 2025-01-01T00:00:00.115Z, 64000.1 to 64000"},
		{"bybit-trades.csv", CSV{}, "2 marks from 2025-01-01T00:00:00.0974Z to 2025-01-01T00:00:01Z, 64000.2 to 63999.9"},
		{"bybit-trades.csv.gz", CSV{}, "2 marks from 2025-01-01T00:00:00.0974Z to 2025-01-01T00:00:01Z, 64000.2 to 63999.9"},
		{"bybit-trades-newest-first.csv", CSV{}, "2 marks from 2020-03-25T23:58:19.1Z to 2020-03-25T23:58:20.3Z, 6700 to 6699.5"},
		{"bybit-spot.csv", CSV{}, "2 marks from 2025-01-01T00:00:00.662Z to 2025-01-01T00:00:03.02Z, 64000.6 to 64000.1"},
		{"bybit-v5-klines.csv", CSV{}, "3 candles of 1m0s from 2025-01-01T00:00:00Z to 2025-01-01T00:03:00Z, 64019 to 64000"},
		{"bybit-metatrader.csv", CSV{Format: Bybit}, "2 candles of 1m0s from 2020-03-25T10:36:00Z to 2020-03-25T10:38:00Z, 6500 to 6502"},
		{"okx-trades.csv", CSV{}, "2 marks from 2023-08-20T16:01:02.958Z to 2023-08-20T16:01:03.001Z, 64000.1 to 63999.9"},
		{"okx-trades-in-words.csv", CSV{}, "2 marks from 2023-04-25T14:48:23.856Z to 2023-04-25T14:48:23.9Z, 26000 to 26000.5"},
		{"okx-candles.csv", CSV{}, "2 candles of 1m0s from 2025-01-01T00:00:00Z to 2025-01-01T00:02:00Z, 64019 to 63998"},
		{"kraken-ohlcvt.csv", CSV{Format: Kraken}, "3 candles of 1m0s from 2025-01-01T00:00:00Z to 2025-01-01T00:04:00Z, 64019 to 63998"},
		// The last trade of a second is the price once the second is over.
		{"kraken-trades.csv", CSV{Format: Kraken}, "2 marks from 2013-10-06T21:34:16Z to 2013-10-07T20:50:31Z, 122.5 to 123.61"},
		{"cryptodatadownload.csv", CSV{}, "3 candles of 1h0m0s from 2025-01-01T00:00:00Z to 2025-01-01T03:00:00Z, 64010 to 64050"},
		{"cryptodatadownload-binance.csv", CSV{}, "2 candles of 1h0m0s from 2025-01-01T00:00:00Z to 2025-01-01T02:00:00Z, 64010 to 64000"},
		{"yahoo.csv", CSV{}, "3 candles of 24h0m0s from 2025-01-01T00:00:00Z to 2025-01-04T00:00:00Z, 93425.101563 to 98107.429688"},
		{"metatrader5.csv", CSV{Zone: athens}, "2 candles of 15m0s from 2025-01-01T22:00:00Z to 2025-01-01T22:30:00Z, 64019 to 63998"},
		{"metatrader4.csv", CSV{Format: MetaTrader, Zone: time.UTC}, "2 candles of 15m0s from 2025-01-02T00:00:00Z to 2025-01-02T00:30:00Z, 64019 to 63998"},
		{"tradingview.csv", CSV{Format: TradingView}, "2 candles of 1m0s from 2025-01-01T00:00:00Z to 2025-01-01T00:02:00Z, 64019 to 63998"},
		{"tradingview-iso.csv", CSV{Format: TradingView}, "2 candles of 15m0s from 2025-01-01T00:00:00Z to 2025-01-01T00:30:00Z, 64019 to 63998"},
		{"freqtrade.json", CSV{Format: Freqtrade}, "2 candles of 5m0s from 2025-01-01T00:00:00Z to 2025-01-01T00:10:00Z, 64019 to 63998"},
		{"tardis-trades.csv", CSV{}, "2 marks from 2025-01-01T00:00:00.000123Z to 2025-01-01T00:00:01.5Z, 64000.5 to 64001"},
		{"histdata-minutes.csv", CSV{Format: HistData}, "2 candles of 1m0s from 2025-01-01T22:00:00Z to 2025-01-01T22:02:00Z, 1.0354 to 1.0355"},
		{"histdata-ticks.csv", CSV{Format: HistData}, "2 marks from 2020-01-01T22:00:00.065Z to 2020-01-01T22:00:01.565Z, 1.12 to 1.121"},
		{"semicolons.zip", CSV{}, "2 marks from 2025-01-01T00:00:00Z to 2025-01-01T00:00:05Z, 64000 to 64000.5"},
		{"semicolons.csv", CSV{}, "2 marks from 2025-01-01T00:00:00Z to 2025-01-01T00:00:05Z, 64000 to 64000.5"},
		{"kraken-ohlcvt.csv", CSV{Heading: []string{"time", "open", "high", "low", "close", "volume", ""}, Time: CloseTime}, "3 candles of 1m0s from 2024-12-31T23:59:00Z to 2025-01-01T00:03:00Z, 64019 to 63998"},
	} {
		t.Run(c.file, func(t *testing.T) {
			c.how.Symbol = "BTC"
			data, err := ReadFile(filepath.Join("testdata", "exports", c.file), c.how)
			require.NoError(t, err)
			require.Equal(t, c.want, describe(data))
			if c.how.Format != AnyFormat {
				require.Contains(t, strings.Join(data.notes, "\n"), " of "+string(c.how.Format))
			}
		})
	}
}

func describe(d *Data) string {
	s := d.series[0]
	kind := "marks"
	if s.interval > 0 {
		kind = "candles of " + s.interval.String()
	}
	from, to := d.Span()
	return fmt.Sprintf("%d %s from %s to %s, %s to %s", len(s.rows), kind, from.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano),
		s.price(s.rows[0].open), s.price(s.rows[len(s.rows)-1].close))
}

// A day that Yahoo has no prices of is a market without a price.
func TestYahooWithoutADay(t *testing.T) {
	data, err := ReadFile("testdata/exports/yahoo.csv", CSV{Symbol: "BTC"})
	require.NoError(t, err)
	_, ok := data.series[0].feed(inside{order: highFirst}, nil).At(time.Date(2025, 1, 2, 12, 0, 0, 0, time.UTC))
	require.False(t, ok)
}

// TestUnsureExports has files that could be read in two ways, or as another market: each is refused
// with what would settle it.
func TestUnsureExports(t *testing.T) {
	btc := CSV{Symbol: "BTC"}
	with := func(f Format) CSV { return CSV{Symbol: "BTC", Format: f} }
	for _, c := range []struct {
		name, file string
		how        CSV
		want       string
	}{
		{"no heading and no format", "1735689600,64019.0,64019.0,63980.0,63985.2,15,402\n", btc, "CSV.Format, if it is a known export"},
		{"no heading, at the command", "1735689600,64019.0\n", CSV{Symbol: "BTC", Flags: true}, "or --format, if it is a known export; or --heading"},
		{"another exchange's", "1735689600,64019.0,64019.0,63980.0,63985.2,15,402\n", with(Binance), `the first line is that of no binance file that is known: "1735689600,64019.0`},
		{"neither trades nor aggTrades", "1,64000,1,4301000001,4301000002,1735689600123,x\n", with(Binance), "the first line is that of no binance file"},
		{"no such format", "time,price\n", with("coinbase"), "want one of the formats that are known"},
		{"any chart", "time,open,high,low,close\n1735689600,1,1,1,1\n", CSV{Symbol: "BTC", Flags: true}, "it is not said whether a candle's time is its opening or its close; want --candles open or --candles close"},
		{"a broker's clock", "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\n2025.01.02\t00:00:00\t1\t1\t1\t1\n", CSV{Symbol: "BTC", Flags: true},
			`x.csv:2:1: column "<DATE>": "2025.01.02 00:00:00" has no zone; want 2025-01-02T00:00:00Z if it is UTC, or --zone`},
		{"another market", "instrument_name,trade_id,side,price,size,created_time\nETH-USDT,1,buy,3000,1,1692547262958\n", btc,
			`x.csv:2:1: column "instrument_name": it is "ETH-USDT", and the market is BTC in dollars; want the prices of that market`},
		{"another currency", "instrument_name,trade_id,side,price,size,created_time\nBTC-EUR,1,buy,3000,1,1692547262958\n", btc, `it is "BTC-EUR", and the market is BTC in dollars`},
		{"a longer name", "instrument_name,trade_id,side,price,size,created_time\nBTCDOM-USDT,1,buy,3000,1,1692547262958\n", btc, `it is "BTCDOM-USDT"`},
		{"no market", "instrument_name,trade_id,side,price,size,created_time\nBTC-USDT,1,buy,3000,1,1692547262958\n", CSV{}, "CSV.Symbol is empty; want the symbol of the service"},
		{"both ways through time", "startTime,openPrice,highPrice,lowPrice,closePrice\n1735689720,1,1,1,1\n1735689660,1,1,1,1\n1735689780,1,1,1,1\n", btc, "x.csv:4:1: column \"startTime\": it is after the time of the line before it of BTC, 2025-01-01T00:01:00Z; want lines in order of time, newest first"},
		{"newest first, and not said", "time,price\n1735689660,1\n1735689600,1\n", CSV{Symbol: "BTC", Flags: true}, "oldest first, or --newest-first"},
		{"a contradiction", "startTime,openPrice,highPrice,lowPrice,closePrice\n1735689720,1,1,1,1\n", CSV{Symbol: "BTC", Time: CloseTime}, "the times of klines of bybit contradict CSV.Time"},
		{"a format and columns", "time,price\n", CSV{Symbol: "BTC", Format: Kraken, Columns: map[string]string{"price": "x"}}, "CSV.Format is set beside CSV.Columns or CSV.Heading; want one of them"},
		{"two headings", "time,price\n", CSV{Symbol: "BTC", Heading: []string{"time", "price"}}, `CSV.Heading is set, and the first line begins with "time"`},
		{"JSON of somebody", "[[1735689600000,1,1,1,1,1]]", btc, "want a heading"},
		{"JSON of something else", `[{"time":1}]`, with(Freqtrade), "it is no array of arrays of numbers; want [[time, open, high, low, close, volume], …]"},
		{"JSON behind JSON", "[[1735689600000,1,1,1,1,1],[1735689660000,1,1,1,1,1]] x", with(Freqtrade), "it is no array of arrays"},
		{"half of JSON", "[[1735689600000,1,1,1,1,1],", with(Freqtrade), "it is no array of arrays"},
		{"JSON of one long row", "[[" + strings.Repeat("1", 9000), with(Freqtrade), "a line is longer than 4096 bytes"},
		{"a price of JSON", "[[1735689600000,1,1,1,1,1],\n[1735689660000,1,1,x,1,1]]", with(Freqtrade), `x.csv:2:1: column "low": "x" is not a number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.how.Name = "x.csv"
			_, err := ReadCSV(strings.NewReader(c.file), c.how)
			var bad *FeedError
			require.ErrorAs(t, err, &bad)
			require.ErrorContains(t, err, c.want)
			require.Contains(t, err.Error(), "; want")
		})
	}
}

func TestNewestFirst(t *testing.T) {
	data, err := ReadCSV(strings.NewReader("time,price\n1735689660,2\n1735689600,1\n"), CSV{Symbol: "BTC", NewestFirst: true})
	require.NoError(t, err)
	require.Equal(t, "2 marks from 2025-01-01T00:00:00Z to 2025-01-01T00:01:00Z, 1 to 2", describe(data))
}

// FuzzExports reads anything as each export: it is refused with what would be right, or its times go
// forward and its prices are greater than 0.
func FuzzExports(f *testing.F) {
	athens, err := time.LoadLocation("Europe/Athens")
	require.NoError(f, err)
	files, err := filepath.Glob("testdata/exports/*")
	if err != nil || len(files) == 0 {
		f.Fatal("no exports: ", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		for i := range formats() {
			f.Add(text, i, i%2 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, format int, newest bool) {
		list := formats()
		c := CSV{Name: "x.csv", Symbol: "BTC", Format: list[uint(format)%uint(len(list))], Zone: time.UTC, NewestFirst: newest}
		if len(text)%2 == 0 {
			c.Zone = athens
		}
		data, err := ReadCSV(strings.NewReader(string(text)), c)
		if err != nil {
			var bad *FeedError
			if !errors.As(err, &bad) || bad.Want == "" || bad.Wrong == "" {
				t.Fatalf("refused without saying what would be right: %v", err)
			}
			return
		}
		for _, s := range data.series {
			for i, r := range s.rows {
				if i > 0 && r.at <= s.rows[i-1].at || r.close < 0 || r.close > 0 && (r.low <= 0 || r.high < r.low) {
					t.Fatalf("row %d: %+v", i, r)
				}
			}
		}
	})
}

// formats are all there are, and none.
func formats() []Format {
	list := []Format{AnyFormat}
	for _, l := range layouts {
		if list[len(list)-1] != l.format {
			list = append(list, l.format)
		}
	}
	return list
}
