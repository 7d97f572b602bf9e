package watch

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/table"
)

// ReadCandles reads the candles of a market from CSV, for [CandlesAfter]. A line of names
// comes first: time, open, high, low and close, in any order and any case; what else there is
// is not read. A time is RFC 3339, or a Unix time whose unit its size shows, and the start
// of the period. Lines are in the order of time. Of a file that has more, the newest 4,096
// candles are returned.
//
// A hole in the file stays a hole. An error names the line.
func ReadCandles(r io.Reader, symbol string, length time.Duration) ([]Candle, error) {
	if length <= 0 {
		return nil, fmt.Errorf("watch: the length of a candle is %s: it must be greater than 0", length)
	}
	t, err := table.Open(r)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("watch: there are no candles: the file is empty")
	}
	for _, name := range []string{"time", "open", "high", "low", "close"} {
		if err == nil && !t.Has(name) {
			err = fmt.Errorf("the first line names no column %q", name)
		}
	}
	var all []Candle
	for err == nil {
		if err = t.Next(); err != nil {
			break
		}
		c := candleOf(t, symbol, length)
		if len(all) > 0 && c.Start.Before(all[len(all)-1].End()) {
			t.Fail("time", "%s is not behind the line before", c.Start.Format(time.RFC3339))
		}
		if len(all) == 2*logSize {
			all = append(all[:0], all[logSize:]...)
		}
		all, err = append(all, c), t.Err()
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("watch: candles: %w", err)
	}
	return slices.Clone(all[max(0, len(all)-logSize):]), nil
}

// candleOf is the candle of a line.
func candleOf(t *table.Table, symbol string, length time.Duration) Candle {
	c := Candle{
		Symbol: symbol, Length: length, Start: t.Time("time"),
		Open: t.Price("open"), High: t.Price("high"), Low: t.Price("low"), Close: t.Price("close"),
	}
	if !c.Start.Equal(c.Start.Truncate(length)) {
		t.Fail("time", "%s is no multiple of %s", c.Start.Format(time.RFC3339Nano), length)
	}
	if c.Low.GreaterThan(decimal.Min(c.Open, c.Close)) || c.High.LessThan(decimal.Max(c.Open, c.Close)) {
		t.Fail("", "open %s and close %s are not between low %s and high %s", c.Open, c.Close, c.Low, c.High)
	}
	return c
}
