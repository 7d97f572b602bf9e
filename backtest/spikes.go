package backtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Spike is a price that is far from those before and after it, which agree: most likely a bad
// tick.
type Spike struct {
	File   string          // the file that it is in
	Line   int             // of the file
	Symbol string          // of the market
	At     time.Time       // of the mark, or of its candle's opening
	Price  decimal.Decimal // the spike
	Before decimal.Decimal // the price before it
}

// String names the place of the spike, and its price.
func (s Spike) String() string {
	return fmt.Sprintf("%s:%d: %s is at %s for one tick, between %s and prices like it", s.File, s.Line, s.Symbol, s.Price, s.Before)
}

// spike is one as a series keeps it: the row without it.
type spike struct {
	Spike
	row     int
	without row
}

const (
	// A spike is at least a hundredth of the price, and so many usual moves.
	spikeShare = 100
	spikeMoves = 12
	// It comes back by all but a quarter.
	spikeBack = 4
	// Beyond so many they are the market's.
	maxSpikes = 100
)

// noteSpikes finds the spikes of a series.
func (r *reader) noteSpikes(s *shape) {
	usual := s.usualMove()
	add := func(i int, price, before int64, without row) {
		s.spikes = append(s.spikes, spike{
			Spike:   Spike{r.Name, int(s.lines[i]), s.symbol, time.Unix(0, s.rows[i].at).UTC(), s.price(price), s.price(before)},
			row:     i,
			without: without,
		})
	}
	far := func(a, b int64) bool {
		d := max(a-b, b-a)
		return d >= min(a, b)/spikeShare && d > spikeMoves*usual
	}
	for i := 1; i+1 < len(s.rows); i++ {
		before, here, after := s.rows[i-1], s.rows[i], s.rows[i+1]
		if before.close == 0 || here.close == 0 || after.close == 0 {
			continue
		}
		if !s.candles {
			jump, back := here.close-before.close, here.close-after.close
			if far(here.close, before.close) && jump*back > 0 && max(back, -back) >= max(jump, -jump)*(spikeBack-1)/spikeBack {
				without := here
				without.open, without.high, without.low, without.close = before.close, before.close, before.close, before.close
				add(i, here.close, before.close, without)
			}
			continue
		}
		top, bottom := max(here.open, here.close, before.high, after.high), min(here.open, here.close, before.low, after.low)
		without := here
		switch {
		case far(here.high, top) && here.high > top:
			without.high = max(here.open, here.close)
			add(i, here.high, top, without)
		case far(here.low, bottom) && here.low < bottom:
			without.low = min(here.open, here.close)
			add(i, here.low, bottom, without)
		}
	}
	if len(s.spikes) > maxSpikes {
		r.data.notes = append(r.data.notes, fmt.Sprintf("%s: %d prices of %s look like spikes of one tick; so many are taken for the market's", r.Name, len(s.spikes), s.symbol))
		s.spikes = nil
	}
}

// usualMove is the median of how far neighbours are apart, or of how long candles are.
func (s *shape) usualMove() int64 {
	var moves []int64
	for i := range s.rows {
		switch r := s.rows[i]; {
		case r.close == 0:
		case s.candles:
			moves = append(moves, r.high-r.low)
		case i > 0 && s.rows[i-1].close > 0:
			moves = append(moves, max(r.close-s.rows[i-1].close, s.rows[i-1].close-r.close))
		}
	}
	if len(moves) == 0 {
		return 0
	}
	slices.Sort(moves)
	return moves[len(moves)/2]
}

// spikesIn are those inside a run.
func (p plan) spikesIn() (list []Spike) {
	for _, s := range p.Data.series {
		for _, one := range s.spikes {
			if !one.At.Add(s.interval).Before(p.From) && one.At.Before(p.To) {
				list = append(list, one.Spike)
			}
		}
	}
	return list
}

// withoutSpikes are the data with the price before in the place of each spike.
func (d *Data) withoutSpikes() *Data {
	clean := *d
	clean.series = make([]*series, len(d.series))
	for i, s := range d.series {
		one := *s
		if len(s.spikes) > 0 {
			one.rows = slices.Clone(s.rows)
			for _, sp := range s.spikes {
				one.rows[sp.row] = sp.without
			}
			one.spikes = nil
			one.seal()
		}
		clean.series[i] = &one
	}
	return &clean
}
