package watch

import (
	"time"

	"github.com/shopspring/decimal"
)

// Candle is what the marks of a market did in one period.
type Candle struct {
	Symbol string        // the market
	Start  time.Time     // in UTC; a multiple of Length
	Length time.Duration // the period is from Start up to, and without, Start + Length

	// The first, highest, lowest and last mark that was seen in the period.
	Open, High, Low, Close decimal.Decimal

	// Marks is how many looks found a price in it; 0 of a candle that was recorded elsewhere.
	Marks int
	// Missing is how much of the period nobody saw: before the first look, where looks
	// failed or were late, and where the market had no price. What the mark did then is in
	// no member of the candle.
	Missing time.Duration
}

// End is where the next candle starts.
func (c Candle) End() time.Time { return c.Start.Add(c.Length) }

// Whole reports whether all of its period was seen.
func (c Candle) Whole() bool { return c.Missing == 0 }

// CandleClosed is a candle whose period is over. Those of one market come in the order of
// time, none twice.
type CandleClosed struct {
	// When the look was done that came after its end, and the candle.
	At     time.Time
	Candle Candle
}

// CandlesMissing says that there are no candles of a market for one period or more: no look
// found a price in them. Nothing is put in their place.
type CandlesMissing struct {
	// When the look was done, the market, and the periods.
	At       time.Time
	Symbol   string
	From, To time.Time
	// Reason explains it to a person.
	Reason string
}

func (CandleClosed) event()   {}
func (CandlesMissing) event() {}

// builder makes the candles of one market.
type builder struct {
	symbol string
	length time.Duration
	next   time.Time // where the next candle starts that can be delivered; zero before the first
	open   *Candle   // the one that is being built
	last   time.Time // the last look
	priced bool      // it found a price
}

// look takes what a look found, and appends what is over. Looks that are at most reach
// apart see all that is between them.
func (b *builder) look(events []Event, at time.Time, price decimal.Decimal, priced bool, reach time.Duration) []Event {
	if at.Before(b.last) {
		return events // the clock of this machine went back: its times are over already
	}
	seen := b.priced && priced && at.Sub(b.last) <= reach
	period := at.Truncate(b.length)
	if c := b.open; c != nil && !at.Before(c.End()) {
		if !seen {
			c.Missing += c.End().Sub(b.last)
		}
		events = append(events, CandleClosed{at, *c})
		b.open, b.next = nil, c.End()
	} else if c != nil && !seen {
		c.Missing += at.Sub(b.last)
	}
	if !b.next.IsZero() && period.After(b.next) {
		events = append(events, CandlesMissing{at, b.symbol, b.next, period, "no look found a price"})
		b.next = period
	}
	if priced && !period.Before(b.next) {
		b.add(at, period, price, seen)
	}
	b.last, b.priced = at, priced
	return events
}

// add adds a mark to the candle of its period.
func (b *builder) add(at, period time.Time, price decimal.Decimal, seen bool) {
	c := b.open
	if c == nil {
		c = &Candle{Symbol: b.symbol, Start: period, Length: b.length, Open: price, High: price, Low: price}
		if !seen {
			c.Missing = at.Sub(period)
		}
		b.open = c
	}
	c.High, c.Low = decimal.Max(c.High, price), decimal.Min(c.Low, price)
	c.Close = price
	c.Marks++
}
