package backtest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/backtest/internal/candle"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Data are the prices that a run trades on, of one symbol or of several. They come from
// [ReadCSV], [ReadFile], [Walk] or [Join], and never change.
type Data struct {
	name      string
	source    string
	hash      string // of the bytes that it was read from
	synthetic bool
	seed      uint64
	series    []*series // in the order in which their symbols came
	notes     []string
	asked     *atomic.Bool // somebody has taken its candles; nil where nobody wants to know
}

// Symbols are the symbols, in the order of the file.
func (d *Data) Symbols() []string {
	list := make([]string, len(d.series))
	for i, s := range d.series {
		list[i] = s.symbol
	}
	return list
}

// Span is from when to when there are prices.
func (d *Data) Span() (from, to time.Time) {
	for i, s := range d.series {
		first, last := s.span()
		if i == 0 || first.Before(from) {
			from = first
		}
		if last.After(to) {
			to = last
		}
	}
	return from, to
}

// Synthetic reports whether the prices were computed and are no market's.
func (d *Data) Synthetic() bool { return d.synthetic }

// Candle is a bar of the recording, or a mark, of which the four prices are the same.
type Candle struct {
	// Open is the first price, High the highest, Low the lowest and Close the last.
	Open, High, Low, Close decimal.Decimal
	// From is when the candle opens and To when it closes; both are the time of a mark.
	From, To time.Time
}

// Candles are what the recording holds of a symbol: candles, or marks. A synthetic series
// has none. A bot that computes on history takes it from here, so that [LookaheadCheck]
// can cut it.
func (d *Data) Candles(symbol string) []Candle {
	if d.asked != nil {
		d.asked.Store(true)
	}
	s := d.find(symbol)
	if s == nil {
		return nil
	}
	list := make([]Candle, 0, len(s.rows))
	for i := range s.rows {
		r := &s.rows[i]
		if r.close == 0 {
			continue
		}
		at := time.Unix(0, r.at).UTC()
		list = append(list, Candle{
			Open: s.price(r.open), High: s.price(r.high), Low: s.price(r.low), Close: s.price(r.close),
			From: at, To: at.Add(time.Duration(s.length(i))),
		})
	}
	return list
}

// Until is what was known at a time: the marks until then, and the candles that had
// closed.
func (d *Data) Until(t time.Time) *Data {
	cut := *d
	cut.series = make([]*series, len(d.series))
	for i, s := range d.series {
		cut.series[i] = s.until(t)
	}
	return &cut
}

// mirrored are the data with p0²/p in the place of each price p: what rises falls.
func (d *Data) mirrored() *Data {
	made := *d
	made.series = make([]*series, len(d.series))
	for i, s := range d.series {
		made.series[i] = s.mirrored()
	}
	return &made
}

func (s *series) mirrored() *series {
	one := *s
	if s.walk != nil {
		first, _, _ := s.walk.Units(walkOrigin)
		one.walk, one.pages = mirroredWalk{s.walk, float64(first)}, &walkPages{}
		return &one
	}
	square := 0.0
	one.rows = make([]row, len(s.rows))
	turn := func(v int64) int64 { return max(1, int64(math.Round(square/float64(v)))) }
	for i, r := range s.rows {
		if r.close > 0 && square == 0 {
			square = float64(r.open) * float64(r.open)
		}
		one.rows[i] = row{at: r.at}
		if r.close > 0 {
			one.rows[i] = row{at: r.at, open: turn(r.open), high: turn(r.low), low: turn(r.high), close: turn(r.close)}
		}
	}
	one.seal()
	return &one
}

type mirroredWalk struct {
	walker
	first float64
}

// Units is the mirrored mark.
func (m mirroredWalk) Units(t time.Time) (units int64, places int32, ok bool) {
	units, places, ok = m.walker.Units(t)
	return max(1, int64(math.Round(m.first*m.first/float64(max(1, units))))), places, ok
}

// Join makes one of several data, each with symbols of its own.
func Join(parts ...*Data) (*Data, error) {
	if len(parts) == 0 {
		return nil, errors.New("backtest: Join needs data to join")
	}
	all := &Data{}
	var names, sources []string
	hash := sha256.New()
	for _, p := range parts {
		for _, s := range p.series {
			if all.find(s.symbol) != nil {
				return nil, fmt.Errorf("backtest: %s: there is already a series of %s; each symbol must be in one file", p.name, s.symbol)
			}
			all.series = append(all.series, s)
		}
		names = append(names, p.name)
		if p.source != "" && !slices.Contains(sources, p.source) {
			sources = append(sources, p.source)
		}
		all.synthetic = all.synthetic || p.synthetic
		all.seed = max(all.seed, p.seed)
		all.notes = append(all.notes, p.notes...)
		hash.Write([]byte(p.hash))
	}
	all.name, all.source = strings.Join(names, ", "), strings.Join(sources, "; ")
	all.hash = hex.EncodeToString(hash.Sum(nil))
	return all, nil
}

func (d *Data) find(symbol string) *series {
	for _, s := range d.series {
		if s.symbol == symbol {
			return s
		}
	}
	return nil
}

// hasCandles reports whether the path inside a bar is open, so that a run is made twice.
func (d *Data) hasCandles() bool {
	return slices.ContainsFunc(d.series, func(s *series) bool { return s.interval > 0 })
}

// series are the prices of one symbol, as whole numbers of 10^-places.
type series struct {
	symbol   string
	places   int32
	interval time.Duration // of a candle; 0 for marks
	odd      map[int]int64 // the lengths of candles that a clock change makes longer or shorter
	rows     []row
	maxAge   time.Duration                      // of a mark that fills happen at, if it is set
	apart    func() (usual, most time.Duration) // of marks

	spikes []spike

	plain, jumping func() *candle.Volatility // of the candles

	// Of a synthetic series, which has no rows.
	walk     walker
	pages    *walkPages
	from, to time.Time
}

// walker is what a feed of tradingsim.RandomWalk is besides: its marks as whole numbers of
// 10^-places.
type walker interface {
	Units(t time.Time) (units int64, places int32, ok bool)
}

// row is a candle or a mark. Its time is Unix nanoseconds, that of a candle its opening.
// A close of 0 is an unpriced market.
type row struct {
	at                     int64
	open, high, low, close int64
}

// seal ends the reading of a series.
func (s *series) seal() {
	s.apart = sync.OnceValues(s.distances)
	steps := int(s.interval/time.Second) - 1
	s.plain = sync.OnceValue(func() *candle.Volatility { return candle.NewVolatility(s.ranges(), steps) })
	s.jumping = sync.OnceValue(func() *candle.Volatility { return candle.NewJumpVolatility(s.ranges(), steps) })
}

// volatility is that of the candles, which may have jumps.
func (s *series) volatility(jumps bool) *candle.Volatility {
	if jumps {
		return s.jumping()
	}
	return s.plain()
}

// ranges are ln(high ÷ low) of each candle.
func (s *series) ranges() []float64 {
	ranges := make([]float64, len(s.rows))
	for i, r := range s.rows {
		if r.close > 0 {
			ranges[i] = math.Log(float64(r.high) / float64(r.low))
		}
	}
	return ranges
}

// length is that of a candle, in nanoseconds.
func (s *series) length(row int) int64 {
	if s.odd != nil {
		if length, odd := s.odd[row]; odd {
			return length
		}
	}
	return int64(s.interval)
}

func (s *series) price(v int64) decimal.Decimal { return decimal.New(v, -s.places) }

func (s *series) span() (from, to time.Time) {
	if s.walk != nil {
		return s.from, s.to
	}
	if len(s.rows) == 0 {
		return from, to
	}
	last := time.Unix(0, s.rows[len(s.rows)-1].at).UTC()
	return time.Unix(0, s.rows[0].at).UTC(), last.Add(time.Duration(s.length(len(s.rows) - 1)))
}

func (s *series) until(t time.Time) *series {
	cut := *s
	if s.walk != nil {
		return &cut
	}
	end := t.Add(-s.interval).UnixNano()
	n, _ := slices.BinarySearchFunc(s.rows, end+1, func(r row, at int64) int { return int(max(-1, min(1, r.at-at))) })
	for n < len(s.rows) && s.rows[n].at+s.length(n) <= t.UnixNano() {
		n++
	}
	for n > 0 && s.rows[n-1].at+s.length(n-1) > t.UnixNano() {
		n--
	}
	cut.rows = s.rows[:n:n]
	cut.seal()
	return &cut
}

// WalkOptions describe a synthetic series.
type WalkOptions struct {
	Symbol  string        // "BTC" unless set
	Price   string        // where it begins: "64000" unless set
	Seed    uint64        // what it follows from
	StepBps int           // how far it moves a second, in hundredths of a percent: 1 unless set
	Start   time.Time     // 2000-01-01T00:00:00Z unless set
	Length  time.Duration // 30 days unless set
}

// Walk is synthetic data: a random walk without end, tradingsim.RandomWalk, that moves once a
// second and on which nobody can earn. Its mean stays where it begins, and its median falls by
// half the square of a step each second, at 1 basis point by 0.04 % a day. Every result that is made with it says that it is synthetic.
func Walk(o WalkOptions) (*Data, error) {
	if o.Symbol == "" {
		o.Symbol = "BTC"
	}
	if o.Price == "" {
		o.Price = "64000"
	}
	if o.StepBps == 0 {
		o.StepBps = 1
	}
	if o.Start.IsZero() {
		o.Start = walkOrigin
	}
	if o.Length == 0 {
		o.Length = 30 * 24 * time.Hour
	}
	price, err := decimal.NewFromString(o.Price)
	switch {
	case err != nil || !price.IsPositive():
		return nil, fmt.Errorf("backtest: WalkOptions.Price is %q; it must be a number greater than 0", o.Price)
	case o.StepBps < 0 || o.StepBps > 100:
		return nil, fmt.Errorf("backtest: WalkOptions.StepBps is %d; it must be 1 to 100", o.StepBps)
	case o.Start.Before(walkOrigin):
		return nil, fmt.Errorf("backtest: WalkOptions.Start is %s; it must not be before %s", o.Start.Format(time.RFC3339), walkOrigin.Format(time.RFC3339))
	case o.Length < 0:
		return nil, fmt.Errorf("backtest: WalkOptions.Length is %s; it must be greater than 0", o.Length)
	}
	walk := tradingsim.RandomWalk(o.Seed, o.Price, o.StepBps).(walker)
	first, places, ok := walk.Units(walkOrigin)
	if !ok || !decimal.NewFromInt(first).LessThan(tooLarge) {
		return nil, fmt.Errorf("backtest: WalkOptions.Price is %q; it must have at most %d digits, before and after the point", o.Price, maxDigits)
	}
	name := fmt.Sprintf("random walk of %s, seed %d", o.Symbol, o.Seed)
	hash := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", o.Symbol, o.Price, o.Seed, o.StepBps))
	s := &series{
		symbol: o.Symbol, from: o.Start.UTC(), to: o.Start.Add(o.Length).UTC(),
		walk: walk, pages: &walkPages{}, places: places,
	}
	return &Data{
		name: name, source: "computed by tradingsim.RandomWalk; no market's prices", hash: hex.EncodeToString(hash[:]),
		synthetic: true, seed: o.Seed, series: []*series{s},
	}, nil
}

// walkOrigin is where a random walk begins that no simulation has anchored, and the
// first moment that virtual time can show.
var walkOrigin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
