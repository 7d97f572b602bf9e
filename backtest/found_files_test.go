package backtest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// zonedCandles are candles of a broker, with the times of its clock: those of some walls.
func zonedCandles(layout string, walls ...string) string {
	var text strings.Builder
	text.WriteString("time,open,high,low,close\n")
	for i, wall := range walls {
		fmt.Fprintf(&text, "%s,%d,%d,%d,%d\n", wall, 10+i, 12+i, 9+i, 11+i)
	}
	return text.String()
}

// clockOf are the times of a broker's clock from one moment to another, so far apart by that clock or
// by time that passes, without weekends.
func clockOf(zone *time.Location, from, to time.Time, apart time.Duration, passes bool) (walls []string) {
	for wall := from; wall.Before(to); wall = wall.Add(apart) {
		at := wall
		if !passes { // the clock's own time, which a day of 23 hours has 24 of
			at = time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, zone)
		}
		local := at.In(zone)
		if d := local.Weekday(); apart < day && passes || d != time.Saturday && d != time.Sunday {
			walls = append(walls, local.Format("2006.01.02 15:04"))
		}
	}
	return walls
}

func zipped(t *testing.T, files ...string) string {
	t.Helper()
	var text bytes.Buffer
	z := zip.NewWriter(&text)
	for i := 0; i < len(files); i += 2 {
		f, err := z.Create(files[i])
		require.NoError(t, err)
		_, err = f.Write([]byte(files[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return text.String()
}

type peoplesFile struct {
	name, file string
	how        CSV
	want       string // as describe says it, or what the error says
	refused    bool
}

// readsAll reads files that people have: each is loaded as it is meant, or refused with what helps.
func readsAll(t *testing.T, files []peoplesFile) {
	for _, c := range files {
		t.Run(c.name, func(t *testing.T) {
			c.how.Name, c.how.Flags = "x.csv", true
			if c.how.Symbol == "" {
				c.how.Symbol = "BTC"
			}
			data, err := ReadCSV(strings.NewReader(c.file), c.how)
			if c.refused {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, describe(data)+noted(data))
		})
	}
}

// noted are the notes without those of what is left out.
func noted(d *Data) (text string) {
	for _, n := range d.notes {
		if !strings.Contains(n, "columns left out") {
			text += "; " + strings.TrimPrefix(n, "x.csv: ")
		}
	}
	return text
}

func TestFound26_ZonesWithDaylightSaving(t *testing.T) {
	athens, err := time.LoadLocation("Europe/Athens")
	require.NoError(t, err)
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	on := func(y int, m time.Month, d, h int) time.Time { return time.Date(y, m, d, h, 0, 0, 0, time.UTC) }
	in := func(zone *time.Location, y int, m time.Month, d, h int) time.Time {
		return time.Date(y, m, d, h, 0, 0, 0, zone)
	}
	read := CSV{Time: OpenTime, Zone: athens}
	closes := CSV{Time: CloseTime, Zone: athens}
	newest := CSV{Time: OpenTime, Zone: athens, NewestFirst: true}
	days := clockOf(athens, on(2025, 3, 27, 0), on(2025, 4, 2, 0), day, false)
	h4 := clockOf(athens, on(2025, 3, 28, 0), on(2025, 4, 1, 0), 4*time.Hour, false)
	autumn := clockOf(athens, in(athens, 2025, 10, 26, 0), in(athens, 2025, 10, 26, 8), time.Hour, true)
	quarters := clockOf(athens, in(athens, 2025, 10, 26, 2), in(athens, 2025, 10, 26, 6), 15*time.Minute, true)
	backwards := func(walls []string) (list []string) {
		for i := range walls {
			list = append(list, walls[len(walls)-1-i])
		}
		return list
	}
	readsAll(t, []peoplesFile{
		{"days over the spring", zonedCandles("", days...), read, "4 candles of 24h0m0s from 2025-03-26T22:00:00Z to 2025-04-01T21:00:00Z, 10 to 14; 2 candles of BTC are missing: the price before holds one bar, then the market has none", false},
		{"a Sunday of 23 hours", zonedCandles("", "2025.03.29 00:00", "2025.03.30 00:00", "2025.03.31 00:00"), read, "3 candles of 24h0m0s from 2025-03-28T22:00:00Z to 2025-03-31T21:00:00Z, 10 to 13", false},
		{"a Sunday of 25 hours", zonedCandles("", "2025.10.25 00:00", "2025.10.26 00:00", "2025.10.27 00:00"), read, "3 candles of 24h0m0s from 2025-10-24T21:00:00Z to 2025-10-27T22:00:00Z, 10 to 13", false},
		{"days by their close", zonedCandles("", "2025.03.30 00:00", "2025.03.31 00:00", "2025.04.01 00:00"), closes, "3 candles of 24h0m0s from 2025-03-28T22:00:00Z to 2025-03-31T21:00:00Z, 10 to 13", false},
		{"four hours over a weekend", zonedCandles("", h4...), read, "12 candles of 4h0m0s from 2025-03-27T22:00:00Z to 2025-03-31T21:00:00Z, 10 to 22; 12 candles of BTC are missing: the price before holds one bar, then the market has none", false},
		{"hours of an autumn", zonedCandles("", autumn...), read, "9 candles of 1h0m0s from 2025-10-25T21:00:00Z to 2025-10-26T06:00:00Z, 10 to 19", false},
		{"quarters of an autumn", zonedCandles("", quarters...), read, "20 candles of 15m0s from 2025-10-25T23:00:00Z to 2025-10-26T04:00:00Z, 10 to 30", false},
		{"an autumn, newest first", zonedCandles("", backwards(quarters)...), newest, "20 candles of 15m0s from 2025-10-25T23:00:00Z to 2025-10-26T04:00:00Z, 29 to 11", false},
		{"days of New York in UTC", "time,open,high,low,close\n2025-03-08T05:00:00Z,1,1,1,1\n2025-03-09T05:00:00Z,1,1,1,1\n2025-03-10T04:00:00Z,1,1,1,1\n", CSV{Time: OpenTime, Zone: newYork}, "3 candles of 24h0m0s from 2025-03-08T05:00:00Z to 2025-03-11T04:00:00Z, 1 to 1", false},
		{"days of New York, and no zone said", "time,open,high,low,close\n2025-03-08T05:00:00Z,1,1,1,1\n2025-03-09T05:00:00Z,1,1,1,1\n2025-03-10T04:00:00Z,1,1,1,1\n", CSV{Time: OpenTime}, "--zone, if the clock that they follow changes", true},
		{"an hour that repeats for another reason", zonedCandles("", "2025.07.01 00:00", "2025.07.01 01:00", "2025.07.01 01:00"), read, "it repeats", true},
	})
}

// The candle of a day that a clock change shortens ends with it.
func TestDaysOfAClockChange(t *testing.T) {
	athens, err := time.LoadLocation("Europe/Athens")
	require.NoError(t, err)
	for _, c := range []struct {
		walls []string
		hours int64
	}{
		{[]string{"2025.03.29 00:00", "2025.03.30 00:00", "2025.03.31 00:00"}, 23},
		{[]string{"2025.10.25 00:00", "2025.10.26 00:00", "2025.10.27 00:00"}, 25},
	} {
		data, err := ReadCSV(strings.NewReader(zonedCandles("", c.walls...)), CSV{Symbol: "BTC", Time: OpenTime, Zone: athens})
		require.NoError(t, err)
		s := data.series[0]
		require.Equal(t, []int64{24 * int64(time.Hour), c.hours * int64(time.Hour)}, []int64{s.length(0), s.length(1)})
		candles := data.Candles("BTC")
		require.Equal(t, candles[1].To, candles[2].From)
		for _, in := range []inside{{order: highFirst}, {drawn: true, seed: 3}} {
			f := s.feed(in, nil)
			low, high := int64(1<<62), int64(0)
			for at := s.rows[1].at; at < s.rows[2].at; at += int64(time.Second) {
				units, ok := f.units(at)
				require.True(t, ok)
				low, high = min(low, units), max(high, units)
			}
			require.Equal(t, []int64{s.rows[1].low, s.rows[1].high}, []int64{low, high})
			last, _ := f.units(s.rows[2].at - 1)
			require.Equal(t, s.rows[1].close, last)
		}
		require.Len(t, data.Until(candles[1].To.Add(-1)).Candles("BTC"), 1)
		require.Len(t, data.Until(candles[1].To).Candles("BTC"), 2)
	}
}

func TestFound28_FilesThatPeopleHave(t *testing.T) {
	const days = "2025-01-01T00:00:00Z,10,12,9,11\n2025-01-02T00:00:00Z,11,13,10,12\n"
	const marks = "time,price\n2025-01-01T00:00:00Z,10\n2025-01-01T00:00:05Z,11\n"
	const tardis = "exchange,symbol,timestamp,local_timestamp,id,side,price,amount\n"
	open := CSV{Time: OpenTime}
	two := "2 candles of 24h0m0s from 2025-01-01T00:00:00Z to 2025-01-03T00:00:00Z, 10 to 12"
	readsAll(t, []peoplesFile{
		{"pandas, times as its index", ",Open,High,Low,Close,Volume\n2025-01-01 00:00:00+00:00,10,12,9,11,5\n2025-01-02 00:00:00+00:00,11,13,10,12,5\n", open, two, false},
		{"pandas, days without a zone", ",open,high,low,close\n2025-01-01,10,12,9,11\n2025-01-02,11,13,10,12\n", CSV{Time: OpenTime, Zone: time.UTC}, two, false},
		{"pandas, days and no zone said", ",open,high,low,close\n2025-01-01,10,12,9,11\n", open, `"2025-01-01" has no zone; want 2025-01-01T00:00:00Z if it is UTC, or --zone`, true},
		{"pandas, numbers as its index", ",open,high,low,close\n0,10,12,9,11\n1,11,13,10,12\n", open, `the first column has no name, and "0" in it is no time; want the times as the index, or a column called time`, true},
		{"pandas, numbers beside the time", ",time,open,high,low,close\n0," + strings.ReplaceAll(days, "\n2025", "\n1,2025"), open, two, false},
		{"a zip", zipped(t, "BTCUSDT-1m.csv", "time,open,high,low,close\n"+days), open, two, false},
		{"a zip with a folder", zipped(t, "data/", "", "data/a.csv", marks, "__MACOSX/data/._a.csv", "x"), CSV{}, "2 marks from 2025-01-01T00:00:00Z to 2025-01-01T00:00:05Z, 10 to 11", false},
		{"a zip of two", zipped(t, "a.csv", marks, "b.csv", marks), CSV{}, "it is a zip of 2 files, a.csv and b.csv; want one of one file: unzip it, and name each", true},
		{"a zip of none", zipped(t, "a/", ""), CSV{}, "it is a zip of no file", true},
		{"half a zip", zipped(t, "a.csv", marks)[:60], CSV{}, "the zip file is damaged", true},
		{"trades of tardis", tardis + "bitmex,XBTUSD,1735689600000123,1735689600000200,a,buy,64000.5,10\nbitmex,XBTUSD,1735689600000123,1735689600000200,b,buy,64001,10\n", CSV{}, "1 marks from 2025-01-01T00:00:00.000123Z to 2025-01-01T00:00:00.000123Z, 64001 to 64001; read as trades of tardis", false},
		{"trades of tardis by another name", tardis + "cryptofacilities,PI_XBTUSD,1735689600000123,1735689600000200,a,buy,64000.5,10\n", CSV{}, `it is "PI_XBTUSD", and the market is BTC in dollars; want the prices of that market, or --columns symbol=symbol to take that name for it`, true},
		{"and with that", tardis + "cryptofacilities,PI_XBTUSD,1735689600000123,1735689600000200,a,buy,64000.5,10\n", CSV{Columns: map[string]string{"symbol": "symbol"}}, `1 marks from 2025-01-01T00:00:00.000123Z to 2025-01-01T00:00:00.000123Z, 64000.5 to 64000.5; read as trades of tardis; BTC is what the file calls "PI_XBTUSD"`, false},
		{"one market by its exchange's name", "time,symbol,price\n1735689600,BTCUSDT,10\n1735689605,BTCUSDT,11\n", CSV{}, `2 marks from 2025-01-01T00:00:00Z to 2025-01-01T00:00:05Z, 10 to 11; BTC is what the file calls "BTCUSDT"`, false},
		{"two markets, and one is given", "time,symbol,price\n1735689600,BTCUSDT,10\n1735689605,ETHUSDT,11\n", CSV{}, `it is "ETHUSDT", and the line before it "BTCUSDT", and --symbol is BTC; want the lines of one market, or no --symbol for all of them`, true},
		{"minutes of histdata", "20250101 170000;1.0354;1.0355;1.0353;1.0354;0\n20250101 170100;1.0354;1.0355;1.0353;1.0354;0\n", CSV{Symbol: "EURUSD", Format: "histdata"}, "2 candles of 1m0s from 2025-01-01T22:00:00Z to 2025-01-01T22:02:00Z, 1.0354 to 1.0354; read as minutes of histdata", false},
		{"ticks of histdata", "20200101 170000065,1.12,1.1202,0\n20200101 170001565,1.121,1.1212,0\n", CSV{Symbol: "EURUSD", Format: "histdata"}, "2 marks from 2020-01-01T22:00:00.065Z to 2020-01-01T22:00:01.565Z, 1.12 to 1.121; read as ticks of histdata, its bids", false},
		{"such times under a heading", "time,price\n20200101 170000065,1.12\n", CSV{Zone: time.UTC}, "1 marks from 2020-01-01T17:00:00.065Z to 2020-01-01T17:00:00.065Z, 1.12 to 1.12", false},
		{"a month a candle", "time,open,high,low,close\n2025-01-01T00:00:00Z,10,12,9,11\n2025-02-01T00:00:00Z,11,13,10,12\n2025-03-01T00:00:00Z,11,13,10,12\n", open, "candles of BTC are a month long, and months are not of one length; want candles of a week or less", true},
		{"a month a candle, from February", "time,open,high,low,close\n2025-02-01T00:00:00Z,10,12,9,11\n2025-03-01T00:00:00Z,11,13,10,12\n", open, "candles of BTC are a month long", true},
	})
}

func TestFound29_TimesThatAreNumbers(t *testing.T) {
	open := CSV{Time: OpenTime}
	two := "2 candles of 1m0s from 2026-01-01T00:00:00Z to 2026-01-01T00:02:00Z, 10 to 11"
	candles := func(name, a, b string) string {
		return name + ",open,high,low,close\n" + a + ",10,12,8,11\n" + b + ",11,11,11,11\n"
	}
	readsAll(t, []peoplesFile{
		{"seconds", candles("time", "1767225600", "1767225660"), open, two, false},
		{"milliseconds", candles("time", "1767225600000", "1767225660000"), open, two, false},
		{"microseconds", candles("time", "1767225600000000", "1767225660000000"), open, two, false},
		{"nanoseconds", candles("time", "1767225600000000000", "1767225660000000000"), open, two, false},
		{"floats", candles("time", "1767225600.0", "1.76722566e9"), open, two, false},
		{"of no unit", candles("time", "17672256000", "17672256600"), open, "17672256000 is in no unit a time between 2000 and 2100", true},
		{"the last second of a candle", candles("close_time", "1767225659", "1767225719"), CSV{}, two, false},
		{"the last second, in words", candles("close_time", "2026-01-01T00:00:59Z", "2026-01-01T00:01:59Z"), CSV{}, two, false},
		{"the last millisecond", candles("close_time", "1767225659999", "1767225719999"), CSV{}, two, false},
		{"the last microsecond", candles("close_time", "1767225659999999", "1767225719999999"), CSV{}, two, false},
		{"the last nanosecond", candles("close_time", "1767225659999999999", "1767225719999999999"), CSV{}, two, false},
		{"the close", candles("close_time", "1767225660", "1767225720"), CSV{}, two, false},
		{"a close in two forms", candles("close_time", "1767225659", "1767225720") + "1767225780,11,11,11,11\n", CSV{}, "3 candles of 1m0s from 2026-01-01T00:00:00Z to 2026-01-01T00:03:00Z, 10 to 11", false},
	})
}
