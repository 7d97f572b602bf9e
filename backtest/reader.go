package backtest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/table"
)

// reader turns a table into series.
type reader struct {
	CSV
	table  rows
	layout *layout // of an export; one without a format otherwise
	data   *Data
	cols   columns
	unit   timeUnit // of the first time
	units  bool     // there were several
	local  bool     // the present time is one of a clock, and names no zone
	called string   // what the file calls the market that Symbol names
	anyOne bool     // and it may call it anything
	fields []string
	rows   int
	shapes []*shape // of each series
}

// columns are where each column stands; -1 is none.
type columns struct {
	time, clock, symbol, price, open, high, low, close, volume int

	names []string
}

func (c columns) candles() bool { return c.open >= 0 }

func (r *reader) read() error {
	bare, err := r.heading()
	if err != nil {
		return err
	}
	for {
		if !bare {
			var fields []string
			if fields, err = r.table.Read(); errors.Is(err, io.EOF) {
				break
			}
			r.fields = fields
		}
		bare = false
		if err == nil {
			err = r.row()
		}
		if err != nil {
			return err
		}
	}
	if r.units {
		r.data.notes = append(r.data.notes, r.Name+": its times are in several units, each follows from its magnitude")
	}
	if r.rows == 0 {
		return r.wrong(-1, "there is a heading and no line below it", "want at least one line of prices")
	}
	for _, s := range r.shapes {
		if err := r.finish(s); err != nil {
			return err
		}
	}
	return nil
}

// wrong is an error at a field of the present line; -1 is the line.
func (r *reader) wrong(field int, wrong, want string) *FeedError {
	e := &FeedError{File: r.Name, Wrong: wrong, Want: want}
	if len(r.fields) == 0 {
		return e
	}
	e.Line, e.Column = r.table.FieldPos(max(0, field))
	if field < 0 {
		e.Column = 0
	} else if field < len(r.cols.names) {
		e.Name = r.cols.names[field]
	}
	return e
}

// explain turns an error of the table's form into one that says what would be right.
func (r *reader) explain(err error) error {
	var bad *FeedError
	var form *csv.ParseError
	switch {
	case errors.As(err, &bad):
		return bad
	case errors.Is(err, table.ErrZeroByte):
		return &FeedError{File: r.Name, Wrong: "it has a zero byte, as a file in UTF-16 or a compressed one has", Want: "want text in UTF-8, or gzip"}
	case errors.Is(err, errJSON):
		return &FeedError{File: r.Name, Wrong: errJSON.Error(), Want: "want [[time, open, high, low, close, volume], …]"}
	case errors.Is(err, errDamaged), errors.Is(err, errDamagedZip):
		return &FeedError{File: r.Name, Wrong: err.Error(), Want: "want the whole file"}
	case errors.Is(err, table.ErrLongLine):
		return &FeedError{File: r.Name, Wrong: fmt.Sprintf("a line is longer than %d bytes", table.MaxLine), Want: "want one line for each time"}
	case errors.As(err, &form):
		return &FeedError{File: r.Name, Line: form.Line, Column: form.Column, Wrong: form.Err.Error(), Want: `want a quoted field to begin and end with ", or no quotes`}
	}
	return fmt.Errorf("backtest: %s: %w", r.Name, err)
}

// aliases are the names that a heading may have, by ours.
var aliases = map[string][]string{
	"time":   {"time", "timestamp", "date", "datetime", "unix"},
	"symbol": {"symbol", "market", "ticker"},
	"price":  {"price", "mark"},
	"open":   {"open"}, "high": {"high"}, "low": {"low"}, "close": {"close"},
	"volume": {"volume"},
}

// heading reads the names of the columns; bare reports whether the line holds prices instead.
func (r *reader) heading() (bare bool, err error) {
	r.fields, err = r.table.Read()
	if err == nil && isTitle(r.fields[0]) {
		r.fields, err = r.table.Read()
	}
	if errors.Is(err, io.EOF) {
		r.fields = nil
		return false, r.wrong(-1, "it is empty", `want a heading such as "time,open,high,low,close" and lines below it`)
	}
	if err != nil {
		return false, err
	}
	names := make([]string, len(r.fields))
	for i, f := range r.fields {
		names[i] = strings.Clone(strings.TrimSpace(f))
	}
	first, named := names[0], r.Columns
	if _, r.anyOne = r.Columns["symbol"]; r.anyOne && len(r.Columns) == 1 {
		r.Columns = nil // it is recognised all the same
	}
	bare = first != "" && (first[0] >= '0' && first[0] <= '9' || first[0] == '-')
	switch {
	case len(r.Heading) > 0 && r.Format != AnyFormat, len(r.Columns) > 0 && r.Format != AnyFormat:
		return bare, r.wrong(-1, fmt.Sprintf("%s is set beside %s or %s", r.setting("Format"), r.setting("Columns"), r.setting("Heading")), "want one of them")
	case len(r.Heading) > 0 && !bare:
		return bare, r.wrong(-1, fmt.Sprintf("%s is set, and the first line begins with %.40q", r.setting("Heading"), first), "want a file without a heading, or "+r.setting("Columns"))
	case len(r.Heading) > 0:
		r.cols.names = r.Heading
		return bare, r.findColumns()
	case len(r.Columns) == 0:
		err = r.recognise(names, !bare)
	}
	if r.layout.format == AnyFormat && r.anyOne {
		r.Columns = named
	}
	switch {
	case err != nil:
		return bare, err
	case r.layout.format != AnyFormat:
		return bare, r.apply(names, bare)
	case len(names) == 1 && strings.Contains(first, "|"):
		return bare, r.wrong(-1, fmt.Sprintf("the heading %.60q has no comma", first), "want columns that are separated by commas, semicolons or tabs")
	case bare:
		return bare, r.wrong(-1, fmt.Sprintf("the first line begins with %.40q, which is no name of a column", first),
			fmt.Sprintf(`want a heading such as "time,open,high,low,close"; or %s, if it is a known export; or %s`, r.setting("Format"), r.setting("Heading")))
	}
	r.cols.names = names
	return bare, r.findColumns()
}

// apply takes the columns from a layout.
func (r *reader) apply(names []string, bare bool) error {
	if r.Time != Undeclared && r.layout.means != r.Time {
		return r.wrong(-1, fmt.Sprintf("the times of %s of %s contradict %s", r.layout.what, r.layout.format, r.setting("Time")), "want no declaration")
	}
	if r.cols.names = names; bare {
		r.cols.names = r.layout.columns(len(names))
	} else if r.layout.inWords {
		for i, name := range names {
			names[i], _, _ = strings.Cut(name, "/")
		}
	}
	r.Time, r.Columns = r.layout.means, map[string]string{"time": r.layout.own("time")}
	for ours := range aliases {
		if own := r.layout.own(ours); own != ours {
			r.Columns[ours] = own
		}
	}
	return r.findColumns()
}

func (r *reader) findColumns() (err error) {
	for _, ours := range slices.Sorted(maps.Keys(r.Columns)) {
		if _, ok := aliases[ours]; !ok {
			return r.wrong(-1, fmt.Sprintf("%s names %q", r.setting("Columns"), ours), "want time, symbol, price, open, high, low, close or volume")
		}
	}
	c := &r.cols
	for _, at := range []struct {
		ours string
		to   *int
	}{
		{"symbol", &c.symbol}, {"price", &c.price}, {"volume", &c.volume},
		{"open", &c.open}, {"high", &c.high}, {"low", &c.low}, {"close", &c.close},
	} {
		if *at.to, err = r.find(at.ours, aliases[at.ours]); err != nil {
			return err
		}
	}
	if err := r.findTime(); err != nil {
		return err
	}
	c.clock = -1
	if own := r.layout.own("clock"); own != "clock" {
		c.clock = slices.IndexFunc(c.names, func(name string) bool { return strings.EqualFold(name, own) })
	}
	if err := r.judgePrices(); err != nil {
		return err
	}
	switch {
	case r.Symbol == "" && r.layout.format != AnyFormat:
		return r.wrong(c.symbol, r.setting("Symbol")+" is empty", "want the symbol of the service, such as BTC")
	case c.symbol < 0 && r.Symbol == "":
		return r.wrong(-1, fmt.Sprintf("there is no column \"symbol\", and %s is empty", r.setting("Symbol")), "want one of them, such as BTC")
	}
	r.noteOthers()
	return nil
}

// findTime finds the column of the time. One called open_time or close_time declares what
// it is; of both the first is taken.
func (r *reader) findTime() error {
	c := &r.cols
	for _, as := range []struct {
		names []string
		means CandleTime
	}{
		{[]string{"open_time", "open time", "opentime"}, OpenTime},
		{aliases["time"], r.Time},
		{[]string{"close_time", "close time", "closetime"}, CloseTime},
	} {
		at, err := r.find("time", as.names)
		if err != nil {
			return err
		}
		if at < 0 {
			c.time = at
			continue
		}
		if _, renamed := r.Columns["time"]; renamed {
			as.means = r.Time
		}
		if r.Time != Undeclared && as.means != r.Time {
			return r.wrong(at, "its name contradicts "+r.setting("Time"), fmt.Sprintf("want the declaration that the name makes, or %s to name another column", r.setting("Columns")))
		}
		c.time, r.Time = at, as.means
		return nil
	}
	if c.names[0] == "" { // as pandas writes an index
		c.time = 0
		return nil
	}
	return r.wrong(-1, `there is no column "time"`, fmt.Sprintf("want one called time, timestamp, date, datetime, open_time or close_time, or %s to name it", r.setting("Columns")))
}

func (r *reader) judgePrices() error {
	c := &r.cols
	var missing []string
	for i, at := range []int{c.open, c.high, c.low, c.close} {
		if at < 0 {
			missing = append(missing, [...]string{"open", "high", "low", "close"}[i])
		}
	}
	switch {
	case c.price >= 0 && len(missing) < 4:
		return r.wrong(c.price, "there is a price beside columns of candles", "want either price, or open, high, low and close")
	case c.price >= 0:
		c.open = -1
		return nil
	case len(missing) == 4:
		return r.wrong(-1, "there is no column of prices", `want "price", or "open", "high", "low" and "close"`)
	case len(missing) > 0:
		return r.wrong(-1, "columns of the candle are missing: "+strings.Join(missing, ", "), "want open, high, low and close")
	case r.Time == Undeclared:
		want := "want CSV{Time: backtest.OpenTime} or CloseTime"
		if r.Flags {
			want = "want --candles open or --candles close"
		}
		return r.wrong(c.time, "it is not said whether a candle's time is its opening or its close", want)
	}
	return nil
}

// find finds a column; the name that the user gives comes before the usual ones.
func (r *reader) find(ours string, usual []string) (int, error) {
	given, named := r.Columns[ours]
	if named {
		usual = []string{given}
	}
	found := -1
	for i, name := range r.cols.names {
		if !slices.ContainsFunc(usual, func(u string) bool { return strings.EqualFold(u, name) }) {
			continue
		}
		if found >= 0 {
			return -1, r.wrong(i, fmt.Sprintf("two columns can be the %s: %q and %q", ours, r.cols.names[found], name), fmt.Sprintf("want one of them, or %s to choose", r.setting("Columns")))
		}
		found = i
	}
	if named && found < 0 {
		return -1, r.wrong(-1, fmt.Sprintf("there is no column %q, which %s names for the %s", given, r.setting("Columns"), ours), fmt.Sprintf("want one of %q", r.cols.names))
	}
	return found, nil
}

// noteOthers keeps what is left out for the report.
func (r *reader) noteOthers() {
	c := r.cols
	used := []int{c.time, c.clock, c.symbol, c.price, c.open, c.high, c.low, c.close, c.volume}
	var others []string
	for i, name := range c.names {
		if !slices.Contains(used, i) {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		r.data.notes = append(r.data.notes, fmt.Sprintf("%s: columns left out: %s", r.Name, strings.Join(others, ", ")))
	}
}

func (r *reader) shape() (*shape, error) {
	name := r.Symbol
	if at := r.cols.symbol; at >= 0 && name != "" {
		if err := r.calls(at, strings.TrimSpace(r.fields[at])); err != nil {
			return nil, err
		}
	} else if at >= 0 {
		name = strings.TrimSpace(r.fields[at])
		if name == "" || strings.ContainsAny(name, " \t\"'\n") || len(name) > 40 {
			return nil, r.wrong(at, fmt.Sprintf("%.60q is no symbol", name), `want the plain symbol of the service, such as BTC`)
		}
	}
	for _, s := range r.shapes {
		if s.symbol == name {
			return s, nil
		}
	}
	s := &shape{series: &series{symbol: strings.Clone(name)}}
	r.shapes = append(r.shapes, s)
	r.data.series = append(r.data.series, s.series)
	return s, nil
}

const (
	minInterval = 4 * time.Second
	maxInterval = 7 * 24 * time.Hour
	month       = 28 * 24 * time.Hour // the shortest
)
