// Package table reads CSV files whose first line names the columns. It knows nothing of what they hold.
package table

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

// LineError is what is wrong with a field, or with a line as a whole.
type LineError struct {
	Line, Column int    // from 1; the column in bytes, 0 without a field
	Name         string // of the column, as the file writes it; empty without a field
	Wrong        string
}

// Error names the line and the column.
func (e *LineError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Wrong)
	}
	return fmt.Sprintf("line %d, column %s: %s", e.Line, e.Name, e.Wrong)
}

// Table is a file that is read line by line. The first thing that is wrong stays, and no line is read behind it.
type Table struct {
	csv     *csv.Reader
	names   []string       // as the file writes them
	columns map[string]int // by name in small letters
	fields  []string
	again   bool // the present line is the next one, too
	err     error
}

// Open reads the names. Where bare is given, a file without them has these columns: its first field
// begins as no name does. A file without a line is an io.EOF.
func Open(r io.Reader, bare ...string) (*Table, error) {
	t := &Table{csv: csv.NewReader(Lines(r)), columns: map[string]int{}}
	t.csv.ReuseRecord, t.csv.TrimLeadingSpace, t.csv.Comment = true, true, '#'
	fields, err := t.csv.Read()
	if err != nil {
		return nil, err
	}
	t.fields = fields
	fields[0] = strings.TrimPrefix(fields[0], "\ufeff")
	t.names = slices.Clone(fields)
	if first := fields[0]; len(bare) > 0 && first != "" && strings.ContainsAny(first[:1], "-0123456789") {
		if t.names, t.again = bare, true; len(fields) != len(bare) {
			line, _ := t.csv.FieldPos(0)
			return nil, &LineError{Line: line, Wrong: fmt.Sprintf("want %q", strings.Join(bare, ","))}
		}
	}
	for i, name := range t.names {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := t.columns[name]; twice {
			return nil, fmt.Errorf("column %q is there twice", name)
		}
		t.columns[name] = i
	}
	return t, nil
}

// Names are those of the columns, as the file writes them.
func (t *Table) Names() []string { return t.names }

// Has reports whether all of some columns are there.
func (t *Table) Has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := t.columns[name]; return !ok })
}

// Next goes on to the next line; an error is io.EOF behind the last.
func (t *Table) Next() (err error) {
	if t.err != nil {
		return t.err
	}
	if t.again {
		t.again = false
		return nil
	}
	t.fields, err = t.csv.Read()
	return err
}

// Place is where a field is, and its name as the file writes it; without a field, which line it is.
func (t *Table) Place(name string) (line, column int, written string) {
	line, _ = t.csv.FieldPos(0)
	if i, ok := t.columns[name]; ok {
		line, column = t.csv.FieldPos(i)
		written = t.names[i]
	}
	return line, column, written
}

// Fail notes what is wrong with a field, or with the line where the name is empty.
func (t *Table) Fail(name, format string, values ...any) {
	if t.err != nil {
		return
	}
	e := &LineError{Wrong: fmt.Sprintf(format, values...)}
	e.Line, e.Column, e.Name = t.Place(name)
	t.err = e
}

// Err is what is wrong with the line; nil if nothing is.
func (t *Table) Err() error { return t.err }

// Text is a field; empty where there is no such column.
func (t *Table) Text(name string) string {
	i, ok := t.columns[name]
	if !ok {
		return ""
	}
	return strings.TrimSpace(t.fields[i])
}

// The years that a time can be of.
const firstYear, lastYear = 1970, 2200

// Time is the time of a field, in RFC 3339 with a zone, or in a Unix time whose unit its size shows.
func (t *Table) Time(name string) time.Time {
	text := t.Text(name)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		at, _, _ = epoch.Time(n)
	}
	if err != nil || at.UTC().Year() < firstYear || at.UTC().Year() > lastYear {
		t.Fail(name, "%.40q is no time; want RFC 3339 such as 2026-03-01T12:00:00Z, or a Unix time, from %d to %d", text, firstYear, lastYear)
	}
	return at.UTC()
}

// mostDigits bounds a number: nobody quotes a price with more.
const mostDigits = 40

// Number is the number of a field.
func (t *Table) Number(name string) decimal.Decimal {
	text := t.Text(name)
	if len(text) > mostDigits {
		t.Fail(name, "%.40q… is too long", text)
		return decimal.Zero
	}
	d, err := decimal.NewFromString(text)
	if err != nil || strings.ContainsAny(text, "eE_+") {
		t.Fail(name, "%q is not a number; want a plain one such as -12.50", text)
		return decimal.Zero
	}
	return d
}

// Price is a number greater than 0.
func (t *Table) Price(name string) decimal.Decimal {
	d := t.Number(name)
	if !d.IsPositive() {
		t.Fail(name, "%s is not greater than 0", d)
	}
	return d
}

// MaxLine bounds a line, in bytes, with those that a quoted field goes on over.
const MaxLine = 4096

// What no such file has.
var (
	ErrLongLine = errors.New("the line is too long")
	ErrZeroByte = errors.New("there is a zero byte")
)

// Lines refuses what no table has, before it fills the memory.
func Lines(r io.Reader) io.Reader { return &lines{r: r} }

type lines struct {
	r      io.Reader
	length int   // of the present line
	quoted bool  // in a quoted field
	remark bool  // a quote in it is none
	err    error // for good
}

func (l *lines) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(p)
	for _, b := range p[:n] {
		switch l.length++; {
		case b == '#' && l.length == 1:
			l.remark = true
		case b == '"' && !l.remark:
			l.quoted = !l.quoted
		case b == '\n' && !l.quoted:
			l.length, l.remark = 0, false
		}
		switch {
		case b == 0:
			l.err = ErrZeroByte
		case l.length > MaxLine:
			l.err = ErrLongLine
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	return n, err
}
