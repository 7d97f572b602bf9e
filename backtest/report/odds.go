package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/internal/words"
	"github.com/tradingapi/trading-go/backtest/odds"
)

// oddsView is the section of a forecast.
type oddsView struct {
	Headline    string
	Bars        []bar
	Fan         *chart
	FanNote     string
	Outcomes    *chart
	Size        *chart
	SizeText    string
	Readings    [][]string
	Rows        []row
	Assumptions []backtest.Assumption
}

// bar is the range of a chance on a line from 0 to 100.
type bar struct{ Name, Class, Text, Left, Width string }

func newOdds(f *odds.Forecast) *oddsView {
	v := &oddsView{Headline: f.Headline(), Assumptions: f.Assumptions}
	for _, one := range []struct {
		name, class string
		of          trading.Opt[odds.Chance]
	}{{"lose", "down", f.Lose}, {"pass", "up", f.Pass}} {
		if c, ok := one.of.Get(); ok {
			v.Bars = append(v.Bars, newBar(one.name, one.class, c))
		}
	}
	for _, r := range f.Readings {
		v.Readings = append(v.Readings, []string{r.Name.String(), between(r.Lose), between(r.Pass)})
	}
	v.rows(f)
	if len(f.ByDay) > 1 {
		v.Fan, v.FanNote = fanChart(f)
		v.Outcomes = outcomeChart(f.ByDay)
	}
	if s := f.Size; s != nil {
		v.SizeText = "No size is named: " + s.Refused + "."
		if best, ok := s.Best.Get(); ok {
			v.SizeText = fmt.Sprintf("%.2f times the present size is best at %s.", best, s.By)
			v.Size = sizeChart(s.Points)
		}
	}
	return v
}

// newBar has the same ink all along: nowhere in the range is the chance more likely to be.
func newBar(name, class string, c odds.Chance) bar {
	const least = 0.6 // per cent, so that it can be seen
	width := max(100*c.Width(), least)
	left := min(100*c.Low, 100-width)
	return bar{name, class, between(c), fmt.Sprintf("%.2f", left), fmt.Sprintf("%.2f", width)}
}

func (v *oddsView) rows(f *odds.Forecast) {
	s := f.Seen
	v.Rows = []row{
		{"Seen", fmt.Sprintf("%s, %d with trades", words.Count(s.Days, "day"), s.Traded), ""},
		{"A day", floatMoney(s.Mean), ""},
		{"Best and worst day", money(s.Best) + ", " + money(s.Worst), "deepest within a day " + money(s.Deepest.Neg())},
	}
	if low, ok := s.MeanLow.Get(); ok {
		high, _ := s.MeanHigh.Get()
		v.Rows[1].Note = "99 %: " + floatMoney(low) + " to " + floatMoney(high)
	}
	for _, one := range []struct {
		name string
		of   trading.Opt[odds.Chance]
	}{{"Undecided", f.Undecided}, {"Held", f.Held}} {
		if c, ok := one.of.Get(); ok && c.High >= 0.0005 {
			v.Rows = append(v.Rows, row{one.name, between(c), ""})
		}
	}
	for _, b := range f.Blocks {
		v.Rows = append(v.Rows, row{fmt.Sprintf("Blocks of %.1f days", b.Days), "lose " + points(b.Lose) + ", pass " + points(b.Pass), fmt.Sprintf("in the mean, instead of %.1f", f.Block)})
	}
	if h := f.Haircut; h != nil {
		v.Rows = append(v.Rows, row{"Selected", fmt.Sprintf("best of %d, cut by %s a day", h.Of, floatMoney(h.Daily)),
			"deflated Sharpe " + number(h.Overfit.DeflatedSharpe) + ", probability of overfitting " + number(h.Overfit.Overfitting)})
	}
}

// points is a share in whole percents; no history shows that something is certain.
func points(share float64) string {
	switch {
	case share < 0.005:
		return "<1 %"
	case share > 0.995:
		return ">99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// between is from where to where a chance is, in a narrow column.
func between(c odds.Chance) string { return narrow.Replace(c.String()) }

var narrow = strings.NewReplacer("under ", "<", "over ", ">")

func floatMoney(v float64) string { return money(decimal.NewFromFloat(v)) }

// fanChart is the equity of the paths by day, against floors and target; and which of those are too far
// away to be in it.
func fanChart(f *odds.Forecast) (c *chart, note string) {
	days := f.ByDay
	c = &chart{X: dayLabels(days), Legend: []legend{{"equity", "half of the paths are above"}, {"fan", "half and nine tenths of them are within"}}}
	values := []float64{days[0].Equity[2]}
	for _, d := range days {
		values = append(values, d.Equity[0], d.Equity[4])
	}
	var levels []lines
	for _, l := range []struct {
		class, text string
		of          trading.Opt[decimal.Decimal]
	}{{"floor", "global floor", f.Rules.GlobalFloor}, {"floor daily", "today's daily floor", f.Rules.DailyFloor}, {"target", "target", f.Rules.Target}} {
		if at, ok := l.of.Get(); ok {
			levels = append(levels, lines{l.class, l.text, at.InexactFloat64()})
		}
	}
	near, note := nearTo(values, levels)
	for _, l := range near {
		values = append(values, l.at)
		c.Legend = append(c.Legend, legend{l.class, l.text})
	}
	s := newScale(values...)
	c.Y = s.ticks(short)
	var b strings.Builder
	grid(&b, c.Y)
	quantile := func(k int) (list []point) {
		for _, d := range days {
			list = append(list, point{dayAt(days, d.Day), s.y(d.Equity[k]), true})
		}
		return list
	}
	area(&b, "band", quantile(4), quantile(0))
	area(&b, "band", quantile(3), quantile(1))
	line(&b, "equity", quantile(2))
	for _, l := range near {
		level(&b, l.class, s.y(l.at))
	}
	c.Body = template.HTML(b.String())
	return c, note
}

// outcomeChart is how many of the paths have ended until a day.
func outcomeChart(days []odds.ByDay) *chart {
	c := &chart{Low: true, X: dayLabels(days), Legend: []legend{{"up", "passed"}, {"down", "lost"}}}
	s := scale{0, 100}
	c.Y = s.ticks(shortPercent)
	var passed, lost, zero, whole []point
	for _, d := range days {
		x := dayAt(days, d.Day)
		passed = append(passed, point{x, s.y(100 * d.Passed), true})
		lost = append(lost, point{x, s.y(100 - 100*d.Lost), true})
		zero, whole = append(zero, point{x, s.y(0), true}), append(whole, point{x, s.y(100), true})
	}
	var b strings.Builder
	grid(&b, c.Y)
	area(&b, "ended up", passed, zero)
	area(&b, "ended down", whole, lost)
	c.Body = template.HTML(b.String())
	return c
}

// dayAt is where a day is in a picture.
func dayAt(days []odds.ByDay, n int) float64 {
	first, last := days[0].Day, days[len(days)-1].Day
	return size * float64(n-first) / float64(last-first)
}

func dayLabels(days []odds.ByDay) []label {
	last := days[len(days)-1].Day
	return []label{
		{Text: "today", At: "0.00", Edge: "start"},
		{Text: fmt.Sprintf("day %d", last/2), At: fmt.Sprintf("%.2f", dayAt(days, max(last/2, days[0].Day))/size*100)},
		{Text: fmt.Sprintf("day %d", last), At: "100.00", Edge: "end"},
	}
}

// sizeChart is the chance to pass and to lose by size.
func sizeChart(sizes []odds.SizePoint) *chart {
	c := &chart{Low: true, Legend: []legend{{"up", "pass"}, {"down", "lose"}}}
	s := scale{0, 100}
	c.Y = s.ticks(shortPercent)
	low, high := math.Log(sizes[0].Scale), math.Log(sizes[len(sizes)-1].Scale)
	var pass, lose []point
	for _, p := range sizes {
		x := size * (math.Log(p.Scale) - low) / (high - low)
		pass, lose = append(pass, point{x, s.y(100 * p.Pass), true}), append(lose, point{x, s.y(100 * p.Lose), true})
	}
	var b strings.Builder
	grid(&b, c.Y)
	line(&b, "passing", pass)
	line(&b, "falling", lose)
	c.Body = template.HTML(b.String())
	middle := math.Exp((low + high) / 2)
	c.X = []label{
		{Text: fmt.Sprintf("%.2f×", math.Exp(low)), At: "0.00", Edge: "start"},
		{Text: fmt.Sprintf("%.2f×", middle), At: "50.00"},
		{Text: fmt.Sprintf("%.2f×", math.Exp(high)), At: "100.00", Edge: "end"},
	}
	return c
}
