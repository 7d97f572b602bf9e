package watch

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/epoch"
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
	rows := csv.NewReader(r)
	rows.ReuseRecord, rows.TrimLeadingSpace = true, true
	names, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("watch: there are no candles: the file is empty")
	} else if err != nil {
		return nil, fmt.Errorf("watch: candles: %w", err)
	}
	at, err := columnsOf(names)
	if err != nil {
		return nil, err
	}
	var all []Candle
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("watch: candles: %w", err)
		}
		line, _ := rows.FieldPos(0)
		c, err := at.candle(cells, symbol, length)
		if err == nil && len(all) > 0 && c.Start.Before(all[len(all)-1].End()) {
			err = fmt.Errorf("time %s is not behind the line before", c.Start.Format(time.RFC3339))
		}
		if err != nil {
			return nil, fmt.Errorf("watch: candles: line %d: %w", line, err)
		}
		if len(all) == 2*logSize {
			all = append(all[:0], all[logSize:]...)
		}
		all = append(all, c)
	}
	return slices.Clone(all[max(0, len(all)-logSize):]), nil
}

// candleColumns are where the members stand in a line.
type candleColumns struct{ time, open, high, low, close int }

func columnsOf(names []string) (at candleColumns, err error) {
	for _, column := range []struct {
		name string
		to   *int
	}{{"time", &at.time}, {"open", &at.open}, {"high", &at.high}, {"low", &at.low}, {"close", &at.close}} {
		*column.to = slices.IndexFunc(names, func(name string) bool {
			return strings.EqualFold(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")), column.name)
		})
		if *column.to < 0 {
			return at, fmt.Errorf("watch: candles: the first line names no column %q", column.name)
		}
	}
	return at, nil
}

func (at candleColumns) candle(cells []string, symbol string, length time.Duration) (c Candle, err error) {
	c = Candle{Symbol: symbol, Length: length}
	if c.Start, err = candleTime(strings.TrimSpace(cells[at.time])); err != nil {
		return c, err
	}
	if !c.Start.Equal(c.Start.Truncate(length)) {
		return c, fmt.Errorf("time %s is no multiple of %s", c.Start.Format(time.RFC3339Nano), length)
	}
	for _, price := range []struct {
		name string
		at   int
		to   *decimal.Decimal
	}{{"open", at.open, &c.Open}, {"high", at.high, &c.High}, {"low", at.low, &c.Low}, {"close", at.close, &c.Close}} {
		if *price.to, err = candlePrice(strings.TrimSpace(cells[price.at])); err != nil {
			return c, fmt.Errorf("%s: %w", price.name, err)
		}
	}
	if c.Low.GreaterThan(decimal.Min(c.Open, c.Close)) || c.High.LessThan(decimal.Max(c.Open, c.Close)) {
		return c, fmt.Errorf("open %s and close %s are not between low %s and high %s", c.Open, c.Close, c.Low, c.High)
	}
	return c, nil
}

// mostDigits bounds a price: nobody quotes one with more.
const mostDigits = 40

func candlePrice(text string) (decimal.Decimal, error) {
	if len(text) > mostDigits || strings.ContainsAny(text, "eE_+") {
		return decimal.Decimal{}, fmt.Errorf("%.50q is no price", text)
	}
	d, err := decimal.NewFromString(text)
	if err != nil || !d.IsPositive() {
		return decimal.Decimal{}, fmt.Errorf("%.50q is no price", text)
	}
	return d, nil
}

// The years that a file can mean, of a number.
const firstYear, lastYear = 1990, 2199

func candleTime(text string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t.UTC(), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if at, _, ok := epoch.Time(n); ok && at.Year() >= firstYear && at.Year() <= lastYear {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.50q is no time: RFC 3339, or a Unix time", text)
}
