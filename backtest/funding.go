package backtest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/table"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Funding is what positions pay and get, from a file. It never changes.
type Funding struct {
	name  string
	rates map[string][]tradingsim.FundingRate // of each market, in order of time
}

// MarshalText is the name of the file: a result that is written and read again knows no more of it.
func (f *Funding) MarshalText() ([]byte, error) { return []byte(f.name), nil }

// UnmarshalText reads what MarshalText writes.
func (f *Funding) UnmarshalText(text []byte) error {
	*f = Funding{name: string(text)}
	return nil
}

// ReadFundingFile reads the funding rates of a market from a file; see [ReadFunding].
func ReadFundingFile(name, symbol string) (*Funding, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("backtest: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	return ReadFunding(file, filepath.Base(name), symbol)
}

// ReadFunding reads funding rates: a heading with the columns time and rate, and symbol unless
// the file is of one market, then a line each in order of time. A rate is the share of the
// notional that longs pay shorts at that time: 0.0001 is a hundredth of a percent. Other columns
// are left out. What is wrong is a [*FeedError].
func ReadFunding(r io.Reader, name, symbol string) (*Funding, error) {
	f := &fundingReader{Funding: Funding{name: name, rates: map[string][]tradingsim.FundingRate{}}, symbol: symbol, at: map[string]string{}}
	if err := f.read(r); err != nil {
		var bad *FeedError
		if !errors.As(err, &bad) {
			err = (&reader{CSV: CSV{Name: name}}).explain(err)
		}
		return nil, err
	}
	return &f.Funding, nil
}

// fundingColumns are the names that files have for a column.
var fundingColumns = map[string][]string{
	"time":   {"time", "timestamp", "fundingtime", "funding_time", "calc_time"},
	"rate":   {"rate", "fundingrate", "funding_rate", "last_funding_rate"},
	"symbol": {"symbol"},
}

type fundingReader struct {
	Funding
	*table.Table
	symbol string
	at     map[string]string // the file's names of the columns
	unit   timeUnit
}

func (f *fundingReader) wrong(column, wrong, want string) error {
	e := &FeedError{File: f.name, Wrong: wrong, Want: want}
	if f.Table != nil {
		e.Line, e.Column, e.Name = f.Place(f.at[column])
	}
	return e
}

const wantFunding = `want a heading such as "time,rate" and lines below it`

func (f *fundingReader) read(r io.Reader) (err error) {
	if f.Table, err = table.Open(r); errors.Is(err, io.EOF) {
		return f.wrong("", "it is empty", wantFunding)
	} else if err != nil {
		return err
	}
	if err := f.heading(); err != nil {
		return err
	}
	for {
		switch err := f.Next(); {
		case errors.Is(err, io.EOF):
			return f.whole()
		case err != nil:
			return err
		}
		if err := f.line(); err != nil {
			return err
		}
	}
}

func (f *fundingReader) heading() error {
	for _, column := range []string{"time", "rate", "symbol"} {
		for _, name := range fundingColumns[column] {
			switch {
			case !f.Has(name):
			case f.at[column] != "":
				return f.wrong(column, "two columns can be the "+column, "want one of them")
			default:
				f.at[column] = name
			}
		}
	}
	for _, column := range []string{"time", "rate"} {
		if f.at[column] == "" {
			return f.wrong("", fmt.Sprintf("there is no column %q", column), wantFunding)
		}
	}
	if f.at["symbol"] == "" && f.symbol == "" {
		return f.wrong("", `there is no column "symbol", and no symbol is given`, "want one of them")
	}
	return nil
}

func (f *fundingReader) line() error {
	at, unit, wrong, want := readTime(f.Text(f.at["time"]), nil)
	if wrong != "" {
		return f.wrong("time", wrong, want)
	}
	if f.unit == unitUnknown {
		f.unit = unit
	}
	if unit != f.unit {
		return f.wrong("time", fmt.Sprintf("it is in %s, and the times before it in %s", unit, f.unit), "want one unit in the whole file")
	}
	symbol := f.symbol
	if name := f.at["symbol"]; name != "" {
		if symbol = f.Text(name); symbol == "" || len(symbol) > 40 {
			return f.wrong("symbol", fmt.Sprintf("%.40q is no market", symbol), "want its symbol")
		}
	}
	text := f.Text(f.at["rate"])
	rate, err := decimal.NewFromString(text)
	if len(text) > 40 || err != nil || rate.Exponent() < -20 || rate.Exponent() > 0 || rate.Abs().GreaterThan(decimal.New(1, -1)) {
		return f.wrong("rate", fmt.Sprintf("%.40q is no rate", text), "want a share from -0.1 to 0.1, such as 0.0001 for a hundredth of a percent")
	}
	list := f.rates[symbol]
	when := time.Unix(0, at).UTC()
	if n := len(list); n > 0 && !when.After(list[n-1].At) {
		return f.wrong("time", "it is not after the one before", "want the lines of a market in order of time")
	}
	f.rates[symbol] = append(list, tradingsim.FundingRate{At: when, Rate: rate})
	return nil
}

// percentRate is more than markets pay in the median: a file with such rates is in percent.
var percentRate = decimal.New(2, -3)

func (f *fundingReader) whole() error {
	if len(f.rates) == 0 {
		return &FeedError{File: f.name, Wrong: "there is a heading and no line below it", Want: wantFunding}
	}
	for _, symbol := range slices.Sorted(maps.Keys(f.rates)) {
		sizes := make([]decimal.Decimal, len(f.rates[symbol]))
		for i, one := range f.rates[symbol] {
			sizes[i] = one.Rate.Abs()
		}
		slices.SortFunc(sizes, decimal.Decimal.Cmp)
		if half := sizes[len(sizes)/2]; half.GreaterThan(percentRate) {
			return &FeedError{File: f.name, Wrong: fmt.Sprintf("half of the rates of %s are %s and more, as in percent", symbol, half), Want: "want shares, such as 0.0001 for a hundredth of a percent"}
		}
	}
	return nil
}

func (f *Funding) symbols() []string { return slices.Sorted(maps.Keys(f.rates)) }

// gaps says where the rates do not cover a run.
func (f *Funding) gaps(symbols []string, from, to time.Time) (list []string) {
	for _, symbol := range symbols {
		rates := f.rates[symbol]
		if len(rates) == 0 {
			list = append(list, fmt.Sprintf("%s has no funding of %s: it is taken for none.", f.name, symbol))
			continue
		}
		usual := 8 * time.Hour
		if len(rates) > 1 {
			usual = rates[1].At.Sub(rates[0].At)
		}
		first, last := rates[0].At, rates[len(rates)-1].At
		if first.Sub(from) > usual || to.Sub(last) > usual {
			list = append(list, fmt.Sprintf("The funding of %s is from %s to %s, and beyond it taken for none.", symbol, first.Format(time.DateTime), last.Format(time.DateTime)))
		}
	}
	return list
}
