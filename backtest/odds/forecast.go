package odds

import (
	"math"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/internal/words"
)

const (
	// FewestDays is how many days of history an interval takes.
	FewestDays = 4
	// EnoughDays is from how many days on an interval holds whatever regime the days were of: fewer may
	// be of a calm one, and then more accounts are lost.
	EnoughDays = 250
)

// Forecast is what a history says of an account, or why it says nothing.
type Forecast struct {
	// Refused is why there is no chance; empty if there is one.
	Refused string
	// Seen is what the history has, which is no forecast.
	Seen Seen
	// Rules are those that were asked for, Phases how many accounts follow each other, and
	// Horizon the days after which the forecast ends: 0 is none.
	Rules   Rules
	Phases  int
	Horizon int

	// Pass and Lose are the chances that the account, and those of the phases after it, pass, and
	// that one of them is lost. Undecided is neither within the horizon, and Held that a
	// protection has flattened the account for good. Pass has none where there is no target.
	Pass, Lose, Undecided, Held trading.Opt[Chance]
	// Reading is what the daily floor does in the headline, which is the worst of Readings.
	Reading  Anchor
	Readings []Reading
	// Unseen is how many whole stretches of the horizon the history has, where none of its days and
	// moments took a tenth of the room to a floor: then it has not seen how the account is lost, and Lose
	// goes as far as so many stretches without a loss allow.
	Unseen trading.Opt[int]
	// Days is how many days an account takes until it is decided or the horizon ends, in the mean.
	Days trading.Opt[float64]
	// Block is the mean length of a block, and Blocks the chance at half of it and at the double.
	Block  float64
	Blocks []BlockPoint
	// ByDay is the first phase, day by day.
	ByDay []ByDay
	// Size is what was asked for sizes; nil if nothing was.
	Size *SizeCurve
	// Haircut is what was taken off because the history was selected; nil if it was not.
	Haircut *Haircut
	// Assumptions are what the forecast takes for granted.
	Assumptions []backtest.Assumption
	// Outer and Inner are how many histories and paths there were, and Seed what they follow from.
	Outer, Inner int
	Seed         uint64
}

// Seen is what a history has.
type Seen struct {
	// Accounts are whose days they are.
	Accounts []Source
	// Days are the different dates, and Traded those with trades.
	Days, Traded int
	// Mean is the mean profit of a day in dollars, and Deviation the standard deviation of a day. MeanLow
	// and MeanHigh hold the mean with 99 percent confidence; fewer than [FewestDays] have none.
	Mean, Deviation   float64
	MeanLow, MeanHigh trading.Opt[float64]
	// Best and Worst are the best and the worst day, and Deepest the lowest that the equity was
	// below where a day began, all in dollars.
	Best, Worst, Deepest decimal.Decimal
	// NotFlat is at how many midnights a position was held.
	NotFlat int
}

// Reading is the forecast by one reading of the daily floor.
type Reading struct {
	Name       Anchor // what the daily floor does
	Pass, Lose Chance // by it
}

// BlockPoint is the forecast with blocks of another length.
type BlockPoint struct {
	Days       float64 // mean length of a block
	Pass, Lose float64 // means over the histories that might have been
}

// Of forecasts an account from a history. An error is that the question cannot be meant; that the
// history cannot answer it is in [Forecast.Refused].
func Of(h History, o Options) (*Forecast, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	s := newSeries(h)
	f := &Forecast{
		Seen: seen(h, s), Rules: o.Rules, Phases: 1 + len(o.Then), Horizon: o.Horizon,
		Outer: o.Outer, Inner: o.Inner, Seed: o.Seed,
	}
	if f.Haircut, err = o.Selected.haircut(s, h.Accounts[0].Opening.InexactFloat64()); err != nil {
		return nil, err
	}
	if f.Refused = refusal(f.Seen, o); f.Refused != "" {
		f.Assumptions = f.assumptions(h, o, s)
		return f, nil
	}
	f.Block = o.Block
	if f.Block == 0 {
		f.Block = blockLength(s.profits())
	}
	s.cut(f.Block)
	e := o.engine(s)
	if f.Haircut != nil {
		e.haircut = f.Haircut.Daily / s.traded()
	}
	headline := f.judge(e)
	f.Assumptions = f.assumptions(h, o, s)
	f.blocks(e, headline)
	if o.Size != nil {
		f.Size = f.sizes(e, headline, o)
	}
	return f, nil
}

// refusal is why a history cannot answer before anything is drawn from it.
func refusal(s Seen, o Options) string {
	_, target := o.Rules.Target.Get()
	switch {
	case s.Days < FewestDays:
		return words.Are(s.Days, "day") + " too few days for an interval"
	case s.Traded == 0:
		return "no day of the history has a trade"
	case !target && o.Horizon == 0:
		return "the account has no target, so it needs a horizon: without one every account is lost at last"
	}
	return ""
}

// engine is that of the options on a series.
func (o Options) engine(s *series) engine {
	e := engine{series: s, days: o.days(), outer: o.Outer, inner: o.Inner, seed: o.Seed}
	e.rate = o.jump().PerYear.InexactFloat64() / 365
	if o.jump().Size.IsZero() {
		e.rate = 0
	}
	same := s.notFlat == 0
	e.phases = append(e.phases, o.Rules.rules(o, same))
	for _, r := range o.Then {
		e.phases = append(e.phases, r.rules(o, same))
	}
	widest := e.phases[0]
	for _, p := range e.phases[1:] {
		if len(p) > len(widest) {
			widest = p
		}
	}
	for i, p := range e.phases { // each phase by each reading that any has
		full := make([]rule, len(widest))
		for k := range full {
			full[k] = p[min(k, len(p)-1)]
		}
		e.phases[i] = full
	}
	return e
}

// judge makes the forecast, and returns which reading is the headline.
func (f *Forecast) judge(e engine) (headline int) {
	_, target := f.Rules.Target.Get()
	plain := e // for means and pictures, which take fewer paths than the ends of an interval
	plain.watch, plain.inner = newWatch(len(e.phases[0]), e.days), max(20, e.inner/5)
	all := plain.run()
	seen, worse := e.twice()
	worst := math.Inf(1)
	for i, r := range e.phases[0] {
		one := Reading{Name: r.reading}
		one.Pass, one.Lose = e.chances(seen, worse, i, f.stretch(all, i))
		one.Pass, one.Lose = one.Pass.around(all.chance(i, plain.inner, passedShare)), one.Lose.around(all.chance(i, plain.inner, lostShare))
		f.Readings = append(f.Readings, one)
		bad := one.Pass.Mean
		if !target {
			bad = -one.Lose.Mean
		}
		if bad < worst {
			worst, headline = bad, i
		}
	}
	f.Reading = f.Readings[headline].Name
	if target {
		f.Pass = trading.Some(f.Readings[headline].Pass)
	}
	f.Lose = trading.Some(f.Readings[headline].Lose)
	both := func(what func(share) float64) trading.Opt[Chance] {
		c := seen.chance(headline, e.inner, what).or(worse.chance(headline, e.inner, what))
		return trading.Some(c.around(all.chance(headline, plain.inner, what)))
	}
	f.Held = both(func(s share) float64 { return s.held })
	f.Undecided = both(func(s share) float64 { return max(0, 1-s.passed-s.lost-s.held) })
	f.Days = trading.Some(mean(all.of(headline, func(s share) float64 { return s.days })))
	if e.quiet(headline) {
		f.Unseen = trading.Some(len(e.series.dates) / f.stretch(all, headline))
	}
	f.ByDay = plain.watch.byDay(headline)
	return headline
}

// stretch is how many days an account takes: the horizon, or without one what paths take in the mean.
func (f *Forecast) stretch(all shares, reading int) int {
	if f.Horizon > 0 {
		return f.Horizon
	}
	return max(1, int(math.Ceil(mean(all.of(reading, func(s share) float64 { return s.days })))))
}

func passedShare(s share) float64 { return s.passed }

func lostShare(s share) float64 { return s.lost }

// blocks is the forecast with blocks of other lengths.
func (f *Forecast) blocks(e engine, headline int) {
	block := e.series.block
	e.phases, e.inner, e.watch = narrowed(e.phases, headline), max(20, e.inner/5), nil
	for _, length := range []float64{max(1, block/2), 2 * block} {
		e.series.cut(length)
		all := e.run()
		f.Blocks = append(f.Blocks, BlockPoint{Days: length, Pass: mean(all.of(0, passedShare)), Lose: mean(all.of(0, lostShare))})
	}
	e.series.cut(block)
}

func narrowed(phases [][]rule, reading int) [][]rule {
	list := make([][]rule, len(phases))
	for i, p := range phases {
		list[i] = p[reading : reading+1]
	}
	return list
}

// sizes answers what was asked for sizes.
func (f *Forecast) sizes(e engine, headline int, o Options) *SizeCurve {
	if len(o.Then) > 0 {
		return &SizeCurve{Refused: "a size is of one phase: ask for each by itself"}
	}
	return o.Size.curve(e, e.phases[0][headline], o)
}

// seen is what a history has.
func seen(h History, s *series) Seen {
	profits := s.profits()
	v := Seen{Accounts: h.Accounts, Days: h.dates(), Mean: mean(profits), Deviation: deviation(profits), NotFlat: s.notFlat}
	if len(profits) >= FewestDays {
		low, high := meanInterval(profits, 0)
		v.MeanLow, v.MeanHigh = trading.Some(low), trading.Some(high)
	}
	for i, d := range h.Days {
		profit := d.End.Equity.Sub(d.Begin.Equity)
		if i == 0 {
			v.Best, v.Worst = profit, profit
		}
		v.Best, v.Worst = decimal.Max(v.Best, profit), decimal.Min(v.Worst, profit)
		for _, e := range d.Extremes {
			v.Deepest = decimal.Max(v.Deepest, d.Begin.Equity.Sub(e))
		}
		v.Deepest = decimal.Max(v.Deepest, profit.Neg())
	}
	for _, days := range s.dates {
		for _, d := range days {
			if s.days[d].traded {
				v.Traded++
				break
			}
		}
	}
	return v
}
