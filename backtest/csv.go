package backtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// CandleTime says what the time of a candle is.
type CandleTime uint8

// Read wrong, a bot sees each candle one bar before it happened, so there is no default.
const (
	// Undeclared is refused, unless the column's own name declares it.
	Undeclared CandleTime = iota
	// OpenTime is the time at which the candle opens.
	OpenTime
	// CloseTime is the time at which it closes, or the last millisecond before.
	CloseTime
)

// CSV says how to read a file.
type CSV struct {
	// Name is what errors call the file; [ReadFile] sets it.
	Name string
	// Symbol is the market, of a file without a column "symbol".
	Symbol string
	// Time is what a candle's time is. Marks need none, nor does a file whose column is
	// called open_time or close_time.
	Time CandleTime
	// Interval is the length of a candle; unless set it is the shortest distance between
	// two candles of a symbol.
	Interval time.Duration
	// MaxAge is how old a mark may be that orders fill at; the service refuses a fill at an older
	// one with STALE_PRICE. Unless set it is 10 seconds, and beside a market that is recorded
	// more often as long as the marks of that one are apart.
	MaxAge time.Duration
	// Source says where the data come from; it is printed on each report.
	Source string
	// Columns are the file's names of columns, by the names used here: {"close": "Last"}. With
	// them a file is not recognised by its heading.
	Columns map[string]string
	// Heading names the columns of a file without a heading: {"time", "open", "high", "low",
	// "close"}. Names that mean nothing here are left out.
	Heading []string
	// Format is where the file was exported from. Unless set, it is recognised by its heading
	// where no other file has it.
	Format Format
	// Zone is that of times which name none; unless set, such a time is refused.
	Zone *time.Location
	// NewestFirst reads a file whose lines go back in time.
	NewestFirst bool
	// Flags makes errors speak of the flags of "trading backtest" in place of these fields.
	Flags bool
}

// flags are the flags of the command, by fields of CSV.
var flags = map[string]string{
	"Symbol": "--symbol", "Time": "--candles", "Interval": "--interval", "Columns": "--columns", "Heading": "--heading",
	"Format": "--format", "Zone": "--zone", "NewestFirst": "--newest-first",
}

// setting is a field of CSV as an error names it.
func (c CSV) setting(field string) string {
	if c.Flags {
		return flags[field]
	}
	return "CSV." + field
}

const maxRows = 5_000_000

// ReadFile reads prices from a file; see [ReadCSV].
func ReadFile(name string, c CSV) (*Data, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("backtest: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if c.Name == "" {
		c.Name = filepath.Base(name)
	}
	return ReadCSV(file, c)
}

// ReadCSV reads prices: a heading, then a line each, in order of time for each symbol. Columns are
// separated by commas, semicolons or tabs; the file may be compressed by gzip.
//
// Marks have the columns time and price; a mark holds until the next. Candles have time,
// open, high, low, close, and may have volume, which is judged and not used: the service
// shows none. Either may have symbol. Other columns are left out. A line whose prices are
// all empty is a market without a price. [Format] has the exports that are known besides.
//
// A time is RFC 3339 with a zone, or Unix seconds, milliseconds, microseconds or nanoseconds
// between 2000 and 2100; the unit follows from the magnitude of each. What is wrong is a
// [*FeedError], with the place and what would be right.
func ReadCSV(r io.Reader, c CSV) (*Data, error) {
	if c.Name == "" {
		c.Name = "csv"
	}
	sum := sha256.New()
	rd := &reader{CSV: c, layout: &layout{}, data: &Data{name: c.Name, source: c.Source}}
	rows, err := open(c.Name, io.TeeReader(r, sum))
	if err == nil {
		rd.table = rows
		err = rd.read()
	}
	if err != nil {
		return nil, rd.explain(err)
	}
	rd.data.hash = hex.EncodeToString(sum.Sum(nil))
	return rd.data, nil
}

// FeedError is what is wrong with a file of prices.
type FeedError struct {
	File   string // its name
	Line   int    // from 1; 0 where it is the file as a whole
	Column int    // in bytes, from 1; 0 where it is the line as a whole
	Name   string // of the column, as the file writes it
	Wrong  string // what is wrong
	Want   string // what would be right
}

// Error has the form file:line:column, which editors follow.
func (e *FeedError) Error() string {
	text := "backtest: " + e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			text += fmt.Sprintf(":%d", e.Column)
		}
	}
	if e.Name != "" {
		text += fmt.Sprintf(": column %q", e.Name)
	}
	return text + ": " + e.Wrong + "; " + e.Want
}
