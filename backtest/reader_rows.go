package backtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func (r *reader) row() error {
	c := r.cols
	if got, want := len(r.fields), len(c.names); got != want {
		return r.wrong(-1, fmt.Sprintf("the line has %d fields", got), fmt.Sprintf("want %d, as the heading has (decimals with a point, no separators of thousands)", want))
	}
	if r.rows++; r.rows > maxRows {
		return r.wrong(-1, fmt.Sprintf("there are more than %d lines", maxRows), "want several files, or candles of a longer interval")
	}
	at, err := r.time()
	if err != nil {
		return err
	}
	s, err := r.shape()
	if err != nil {
		return err
	}
	made := row{at: at}
	if c.candles() {
		err = r.candle(s, &made)
	} else {
		err = r.mark(s, &made)
	}
	if err != nil {
		return err
	}
	return r.add(s, made)
}

// shape is what is known of a series while it is read.
type shape struct {
	*series
	lines []int32 // of each row, to name it later
	step  int64   // the shortest distance of two candles
	most  int64   // the largest whole number of its prices

	candles bool // it has candles, and no marks

	order int64 // 1 where the oldest comes first, -1 where the newest does; 0 is not known yet
	first row   // the first of those with the same time, while the order is not known
}

// calls judges what the file calls the market that is named: a name of an exchange for it in dollars, or
// one other that all lines have.
func (r *reader) calls(at int, market string) error {
	switch {
	case market == r.called:
		return nil
	case r.called != "":
		return r.wrong(at, fmt.Sprintf("it is %.40q, and the line before it %.40q, and %s is %s", market, r.called, r.setting("Symbol"), r.Symbol),
			"want the lines of one market, or no "+r.setting("Symbol")+" for all of them")
	case !isMarket(market, r.Symbol) && r.layout.format != AnyFormat && !r.anyOne:
		return r.wrong(at, fmt.Sprintf("it is %.40q, and the market is %s in dollars", market, r.Symbol),
			fmt.Sprintf("want the prices of that market, or %s to take that name for it", r.columnSetting("symbol", r.cols.names[at])))
	}
	r.called = strings.Clone(market)
	if market != r.Symbol && (r.anyOne || r.layout.format == AnyFormat) {
		r.data.notes = append(r.data.notes, fmt.Sprintf("%s: %s is what the file calls %.40q", r.Name, r.Symbol, market))
	}
	return nil
}

// columnSetting is what names a column, as an error says it.
func (r *reader) columnSetting(ours, name string) string {
	if r.Flags {
		return fmt.Sprintf("%s %s=%s", r.setting("Columns"), ours, name)
	}
	return fmt.Sprintf("%s{%q: %q}", r.setting("Columns"), ours, name)
}

func (r *reader) add(s *shape, made row) error {
	line, _ := r.table.FieldPos(0)
	if n := len(s.rows); n > 0 {
		made.at = r.again(made.at, s.rows[n-1].at)
		r.orders(s, made.at-s.rows[n-1].at)
		apart := (made.at - s.rows[n-1].at) * s.order // of the same time while there is no order
		before := func() string {
			return fmt.Sprintf(" the time of the line before it of %s, %s", s.symbol, stamp(s.rows[n-1].at))
		}
		switch {
		case apart == 0 && r.layout.trades:
			if s.order >= 0 { // the last one is the price
				s.rows[n-1], s.lines[n-1] = made, int32(line)
			}
			return nil
		case apart == 0:
			return r.wrong(r.cols.time, "it repeats"+before(), "want each time once")
		case apart < 0 && s.order > 0:
			return r.wrong(r.cols.time, "it is before"+before(), fmt.Sprintf("want lines in order of time, oldest first, or %s", r.setting("NewestFirst")))
		case apart < 0:
			return r.wrong(r.cols.time, "it is after"+before(), "want lines in order of time, newest first")
		}
		if apart = r.apart(s.rows[n-1].at, made.at); s.step == 0 || apart < s.step {
			s.step = apart
		}
	} else {
		made.at = r.again(made.at, 0)
		s.first = made
	}
	s.rows, s.lines = append(s.rows, made), append(s.lines, int32(line))
	return nil
}

// orders finds out which end of time a series begins with, from how far a line is from the one
// before it.
func (r *reader) orders(s *shape, apart int64) {
	switch {
	case s.order != 0:
	case r.NewestFirst:
		s.order = -1
	case !r.layout.newest || apart > 0:
		s.order = 1
	case apart < 0:
		s.order, s.rows[0] = -1, s.first // of trades of one time the first was the last one made
	}
}

// finish judges a series as a whole.
func (r *reader) finish(s *shape) error {
	s.candles = r.cols.candles()
	s.maxAge = r.MaxAge
	if s.order < 0 {
		slices.Reverse(s.rows)
		slices.Reverse(s.lines)
	}
	if err := r.finishTimes(s); err != nil {
		return err
	}
	s.seal()
	r.noteSpikes(s)
	return nil
}

// finishTimes turns times into openings, and judges that candles are one interval apart, or
// several.
func (r *reader) finishTimes(s *shape) error {
	if !r.cols.candles() {
		return nil
	}
	bad := func(i int, wrong, want string) error {
		return &FeedError{File: r.Name, Line: int(s.lines[i]), Name: r.cols.names[r.cols.time], Wrong: wrong, Want: want}
	}
	s.interval = r.Interval
	if s.interval == 0 {
		s.interval = time.Duration(s.step)
	}
	switch {
	case s.interval == 0:
		return bad(0, "of one candle alone the length is not known", "want "+r.setting("Interval")+", or more candles")
	case s.interval >= month && s.interval < month+4*day:
		return bad(0, fmt.Sprintf("candles of %s are a month long, and months are not of one length", s.symbol), "want candles of a week or less")
	case s.interval < minInterval || s.interval%time.Second != 0 || s.interval > maxInterval:
		return bad(0, fmt.Sprintf("candles of %s are %s long", s.symbol, s.interval), "want whole seconds, from 4 s to a week")
	}
	if r.Time == CloseTime {
		r.opened(s)
	}
	return r.gaps(s, bad)
}

func stamp(at int64) string { return time.Unix(0, at).UTC().Format(time.RFC3339Nano) }
