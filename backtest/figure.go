package backtest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/backtest/internal/words"
)

// Figure is a number, or the reason why there is none. It is never a sentinel: a ratio
// without losses is no number, and not infinite or 0.
type Figure struct {
	value float64
	none  string
}

func figure(v float64) Figure {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none("not a number")
	}
	return Figure{value: v}
}

func none(why string) Figure { return Figure{none: why} }

// Value is the number; ok is false where there is none.
func (f Figure) Value() (v float64, ok bool) { return f.value, f.none == "" }

// None is why there is no number; empty where there is one.
func (f Figure) None() string { return f.none }

// String is the number with two places, or why there is none.
func (f Figure) String() string {
	if f.none != "" {
		return f.none
	}
	return strconv.FormatFloat(f.value, 'f', 2, 64)
}

// MarshalText writes the number exactly, or "none: " and the reason.
func (f Figure) MarshalText() ([]byte, error) {
	if f.none != "" {
		return []byte("none: " + f.none), nil
	}
	return strconv.AppendFloat(nil, f.value, 'g', -1, 64), nil
}

// UnmarshalText reads what MarshalText writes.
func (f *Figure) UnmarshalText(text []byte) error {
	*f = Figure{}
	const prefix = "none: "
	if s := string(text); len(s) > len(prefix) && s[:len(prefix)] == prefix {
		f.none = s[len(prefix):]
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("backtest: figure: %w", err)
	}
	f.value = v
	return nil
}

// minDays is how many complete days an annual figure takes.
const minDays = 30

// Day is a complete UTC day.
type Day struct {
	Date   time.Time           // its beginning
	Equity decimal.NullDecimal // at its end; not valid while a market that was held had no price
	Profit decimal.NullDecimal // since the last end of a day at which the equity was known
	Return Figure              // Profit as a share of the equity then
	// LowestRoom is the least that the equity was above Floor, the higher loss floor of the day.
	LowestRoom, Floor decimal.Decimal
	Trips             int // round trips that ended on it

	// Balance is that at its end, and Flat whether nothing was held then. Traded reports whether
	// something was held on the day, and Largest is the largest notional value of it at a time.
	Balance      decimal.Decimal
	Flat, Traded bool
	Largest      decimal.Decimal
	// Extremes are the equities that were lower or higher than all before them that day, the last
	// of each run of lows or highs, in order.
	Extremes []decimal.Decimal
}

// annual are the figures by day.
type annual struct {
	sharpe, sortino, cagr, calmar Figure

	sharpeIn Interval
}

// byDay computes them from the equity at the beginning of the first complete day, and at the end of
// each. The days at whose end the equity is not known do not count: on them a market that was held had
// no price, such as at weekends. A year has fewer days that count by as much.
func byDay(opening decimal.NullDecimal, days []Day, drawdown Figure) annual {
	all := func(why string) annual { f := none(why); return annual{f, f, f, f, noInterval(why)} }
	returns, last := returnsOf(days)
	if len(returns) < minDays {
		return all(tooShort(len(days), len(returns), minDays))
	}
	a, year := annual{}, 365*float64(len(returns))/float64(len(days))
	a.sharpe = ratio(mean(returns)*math.Sqrt(year), deviation(returns), "no two days differ")
	a.sortino = ratio(mean(returns)*math.Sqrt(year), downside(returns), "no day lost")
	a.sharpeIn = sharpeInterval(a.sharpe, len(returns), year)
	a.cagr = none("the equity is not greater than 0")
	switch first := opening.Decimal.InexactFloat64(); {
	case !opening.Valid:
		a.cagr = none("the equity at the beginning of the first day is not known")
	case first > 0 && last > 0:
		a.cagr = figure(math.Pow(last/first, 365/float64(len(days))) - 1)
	}
	a.calmar = quotient(a.cagr, drawdown, "the equity never fell")
	return a
}

// returnsOf are the returns of the days that count, and the equity at the end of the last of them.
func returnsOf(days []Day) (list []float64, last float64) {
	for _, d := range days {
		if r, ok := d.Return.Value(); ok {
			list, last = append(list, r), d.Equity.Decimal.InexactFloat64()
		}
	}
	return list, last
}

// tooShort says how many days there are, and how many of them count.
func tooShort(days, count, of int) string {
	text := words.Count(days, "complete day")
	if count < days {
		text += fmt.Sprintf(" (%d with a known equity)", count)
	}
	return fmt.Sprintf("too short to quote: %s of %d", text, of)
}

// DaysThatCount says of how many days the figures by day are; empty where it is of all complete ones.
func (p *Path) DaysThatCount() string {
	returns, _ := returnsOf(p.Days)
	if len(returns) == len(p.Days) {
		return ""
	}
	return fmt.Sprintf("of the %d of %d days at whose end the equity is known", len(returns), len(p.Days))
}

// sharpeInterval is after Lo 2002, for days that do not depend on each other.
func sharpeInterval(annual Figure, days int, year float64) Interval {
	v, ok := annual.Value()
	if !ok {
		return noInterval(annual.None())
	}
	daily := v / math.Sqrt(year)
	half := z * math.Sqrt((1+float64(daily*daily)/2)/float64(days)) * math.Sqrt(year)
	return Interval{figure(v - half), figure(v + half)}
}

func quotient(a, b Figure, zero string) Figure {
	switch {
	case a.none != "":
		return a
	case b.none != "":
		return b
	}
	return ratio(a.value, b.value, zero)
}

func ratio(a, b float64, zero string) Figure {
	if b == 0 {
		return none(zero)
	}
	return figure(a / b)
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// deviation is the standard deviation of a sample; 0 of fewer than two.
func deviation(list []float64) float64 {
	if len(list) < 2 || slices.Min(list) == slices.Max(list) {
		return 0 // exactly, whatever the mean was rounded to
	}
	m, sum := mean(list), 0.0
	for _, v := range list {
		sum += float64((v - m) * (v - m)) // the conversion keeps it from being fused
	}
	return math.Sqrt(sum / float64(len(list)-1))
}

// downside is the root of the mean square of the losses, over all days.
func downside(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		loss := min(v, 0)
		sum += float64(loss * loss)
	}
	return math.Sqrt(sum / float64(len(list)))
}

// tripFigures are the figures over round trips.
type tripFigures struct {
	profitFactor, expectancy, winRate, sqn Figure

	expectancyIn, winRateIn Interval
}

// byTrip computes them. A position that is open at a loss counts as one that lost.
func byTrip(trips []RoundTrip, openLosers int) tripFigures {
	f := none("no round trip")
	figures := tripFigures{f, f, f, f, noInterval("no round trip"), noInterval("no round trip")}
	won, lost, wins := decimal.Zero, decimal.Zero, 0
	nets := make([]float64, len(trips))
	for i, t := range trips {
		net := t.Net()
		nets[i] = net.InexactFloat64()
		if net.IsPositive() {
			won, wins = won.Add(net), wins+1
		} else {
			lost = lost.Sub(net)
		}
	}
	if judged := len(trips) + openLosers; judged > 0 {
		share := wilson(wins, judged)
		figures.winRate, figures.winRateIn = figure(float64(wins)/float64(judged)), Interval{share.Low, share.High}
	}
	if len(trips) == 0 {
		return figures
	}
	n := float64(len(trips))
	figures.profitFactor = ratio(won.InexactFloat64(), lost.InexactFloat64(), "no round trip lost")
	figures.expectancy = figure(won.Sub(lost).InexactFloat64() / n)
	figures.expectancyIn, figures.sqn = noInterval("fewer than two round trips"), none("fewer than two round trips")
	if len(trips) > 1 {
		figures.sqn = ratio(math.Sqrt(n)*mean(nets), deviation(nets), "no two round trips differ")
		half := z * deviation(nets) / math.Sqrt(n)
		figures.expectancyIn = Interval{figure(mean(nets) - half), figure(mean(nets) + half)}
	}
	return figures
}

// Interval is where a figure lies with 95 percent confidence, between Low and High, if what was
// seen is a fair sample.
type Interval struct{ Low, High Figure }

// String is such as " (-1.20 to 2.31)"; empty where there is none.
func (i Interval) String() string { return i.text(func(f Figure) string { return f.String() }) }

func (i Interval) percent() string { return i.text(percent) }

func (i Interval) text(of func(Figure) string) string {
	if i.Low.none != "" || i.High.none != "" {
		return ""
	}
	return " (" + of(i.Low) + " to " + of(i.High) + ")"
}

func noInterval(why string) Interval { return Interval{none(why), none(why)} }

// Share is a share of trials with the interval that it lies in with 95 percent confidence,
// after Wilson.
type Share struct {
	// Count is how many of the trials there were, and Of the number of all.
	Count, Of int
	// Low and High are the ends of the interval, none without a trial.
	Low, High Figure
}

// z is the 97.5th percentile of the normal distribution.
const z = 1.959963984540054

func wilson(count, of int) Share {
	s := Share{Count: count, Of: of, Low: none("no runs"), High: none("no runs")}
	if of == 0 {
		return s
	}
	n := float64(of)
	p := float64(count) / n
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(float64(p*(1-p)/n)+float64(z*z/(4*n*n)))
	s.Low, s.High = figure(max(0, middle-half)), figure(min(1, middle+half))
	if count == 0 {
		s.Low = figure(0)
	}
	if count == of {
		s.High = figure(1)
	}
	return s
}

// String is such as "3 of 20 (5 % to 36 %)".
func (s Share) String() string {
	low, ok := s.Low.Value()
	high, _ := s.High.Value()
	if !ok {
		return "none of none"
	}
	return fmt.Sprintf("%d of %d (%.0f %% to %.0f %%)", s.Count, s.Of, 100*low, 100*high)
}
