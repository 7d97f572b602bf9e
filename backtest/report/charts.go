package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/backtest"
)

func (v *view) charts(r *backtest.Result) {
	p := r.Worse()
	v.Between, v.BetweenNote = equityChart(r, true)
	v.Equity, _ = equityChart(r, false)
	v.Drawdown = drawdownChart(r)
	v.Daily = dailyChart(p.Days, func(d backtest.Day) decimal.NullDecimal { return d.Profit })
	v.Room = dailyChart(allDays(p), func(d backtest.Day) decimal.NullDecimal { return decimal.NewNullDecimal(d.LowestRoom) })
	v.Histogram = histogram(p.Trips)
	v.Leverage = leverageChart(r)
	if len(p.Trips) >= leastForHours {
		v.Hours = hourChart(p.Trips)
	}
	v.Against = againstChart(r)
}

// equityChart is the equity, alone or between the floor and the target; nil if both of these are far away.
// The note says which are.
func equityChart(r *backtest.Result, between bool) (c *chart, note string) {
	p := r.Worse()
	values := []float64{p.Opening.InexactFloat64()}
	floors := []float64{}
	for _, one := range p.Curve {
		if one.Low.Valid {
			values = append(values, value(one.Low), value(one.High))
		}
		floors = append(floors, one.Floor.InexactFloat64())
	}
	c = &chart{X: dates(r.From, p.Until)}
	var near []lines
	if between {
		c.Low = true
		near, note = nearTo(values, []lines{{"floor", "higher loss floor", slices.Max(floors)}, {"target", "profit target", r.Terms.ProfitTarget.InexactFloat64()}})
		if len(near) == 0 {
			return nil, note
		}
	}
	all := values
	for _, l := range near {
		if all = append(all, l.at); l.class == "floor" {
			all = append(all, floors...)
		}
	}
	s := newScale(all...)
	c.Y = s.ticks(short)
	var high, low, last, floor []point
	last = append(last, point{0, s.y(values[0]), true})
	for i, one := range p.Curve {
		x := size * float64(i+1) / float64(len(p.Curve))
		high = append(high, point{x, s.y(value(one.High)), one.Low.Valid})
		low = append(low, point{x, s.y(value(one.Low)), one.Low.Valid})
		last = append(last, point{x, s.y(value(one.Last)), one.Last.Valid})
		floor = append(floor, point{x, s.y(floors[i]), true})
	}
	var b strings.Builder
	grid(&b, c.Y)
	level(&b, "opening", s.y(values[0]))
	area(&b, "band", high, low)
	c.Legend = []legend{{"equity", "equity; the band is its lowest and highest in each stretch"}, {"opening", "opening balance"}}
	if between {
		c.Legend[0].Text = "equity"
	}
	for _, l := range near {
		if l.class == "floor" {
			line(&b, "floor", floor)
		} else {
			level(&b, l.class, s.y(l.at))
		}
		c.Legend = append(c.Legend, legend{l.class, l.text})
	}
	line(&b, "equity", last)
	c.Body = template.HTML(b.String())
	return c, note
}

// drawdownChart is the distance to the last peak.
func drawdownChart(r *backtest.Result) *chart {
	p := r.Worse()
	c := &chart{X: dates(r.From, p.Until), Low: true}
	peak := p.Opening.InexactFloat64()
	falls, valid := []float64{0}, []bool{true}
	for _, one := range p.Curve {
		if !one.Low.Valid {
			falls, valid = append(falls, 0), append(valid, false)
			continue
		}
		// The peak of this stretch may be before its low, or after it.
		fall := value(one.Low)/peak - 1
		peak = max(peak, value(one.High))
		falls, valid = append(falls, 100*min(fall, 0)), append(valid, true)
	}
	s := newScale(append(falls, 0)...)
	s.high = 0
	c.Y = s.ticks(shortPercent)
	var top, bottom []point
	for i := range falls {
		x := size * float64(i) / float64(len(falls)-1)
		top = append(top, point{x, 0, valid[i]})
		bottom = append(bottom, point{x, s.y(falls[i]), valid[i]})
	}
	var b strings.Builder
	grid(&b, c.Y)
	area(&b, "fall", top, bottom)
	line(&b, "falling", bottom)
	c.Body = template.HTML(b.String())
	return c
}

func dailyChart(days []backtest.Day, of func(backtest.Day) decimal.NullDecimal) *chart {
	if len(days) == 0 {
		return nil
	}
	values, known := make([]float64, len(days)), make([]bool, len(days))
	for i, d := range days {
		values[i], known[i] = value(of(d)), of(d).Valid
	}
	c := bars(values, known, short)
	c.X = dates(days[0].Date, days[len(days)-1].Date)
	if len(days) < 4 {
		c.X = nil
		for i, d := range days {
			c.X = append(c.X, label{Text: d.Date.Format("2 Jan"), At: fmt.Sprintf("%.2f", 100*(float64(i)+0.5)/float64(len(days)))})
		}
	}
	return c
}

// histogram counts the round trips by their net, 0 being an edge.
func histogram(trips []backtest.RoundTrip) *chart {
	if len(trips) == 0 {
		return nil
	}
	low, high := 0.0, 0.0
	for _, t := range trips {
		low, high = min(low, t.Net().InexactFloat64()), max(high, t.Net().InexactFloat64())
	}
	if low == high {
		return nil
	}
	const most = 24
	width := niceStep((high - low) / most)
	first := int(math.Floor(low / width))
	n := int(math.Floor(high/width)) - first + 1
	counts, known := make([]float64, n), make([]bool, n)
	for _, t := range trips {
		i := int(math.Floor(t.Net().InexactFloat64()/width)) - first
		counts[i]++
		known[i] = true
	}
	c := bars(counts, known, func(v float64) string {
		if v != math.Trunc(v) || v < 0 {
			return ""
		}
		return fmt.Sprintf("%.0f", v)
	})
	body := string(c.Body)
	for i := range n { // those that lost are red
		if first+i < 0 {
			x := fmt.Sprintf(`<rect class="up" x="%.1f"`, float64(i)*size/float64(n)+size/float64(n)*0.1)
			body = strings.Replace(body, x, strings.Replace(x, "up", "down", 1), 1)
		}
	}
	c.Body = template.HTML(body)
	for _, at := range slices.Compact([]int{0, -first, n}) {
		if at != -first && abs(at+first)*5 < n { // on a phone it would stand on the 0
			continue
		}
		l := label{Text: short(float64(first+at) * width), At: fmt.Sprintf("%.2f", 100*float64(at)/float64(n))}
		switch at {
		case 0:
			l.Edge = "start"
		case n:
			l.Edge = "end"
		}
		c.X = append(c.X, l)
	}
	return c
}

// leverageChart is the largest leverage in each stretch.
func leverageChart(r *backtest.Result) *chart {
	p := r.Worse()
	if p.Leverage.At.IsZero() {
		return nil
	}
	c := &chart{X: dates(r.From, p.Until), Low: true}
	most, _ := p.Leverage.Most.Value()
	s := newScale(0, most)
	s.low = 0
	c.Y = s.ticks(func(v float64) string { return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".") })
	var top, bottom []point
	width := size / float64(len(p.Curve))
	for i, one := range p.Curve {
		v, ok := one.Leverage.Value()
		for _, x := range []float64{float64(i) * width, float64(i+1) * width} {
			top, bottom = append(top, point{x, s.y(v), ok}), append(bottom, point{x, size, ok})
		}
	}
	var b strings.Builder
	grid(&b, c.Y)
	area(&b, "held", top, bottom)
	c.Body = template.HTML(b.String())
	return c
}

// hourChart is the net of the round trips by the hour that they began in.
func hourChart(trips []backtest.RoundTrip) *chart {
	sums := make([]decimal.Decimal, 24)
	for _, t := range trips {
		sums[t.Opened.UTC().Hour()] = sums[t.Opened.UTC().Hour()].Add(t.Net())
	}
	values, known := make([]float64, 24), make([]bool, 24)
	for i, s := range sums {
		values[i], known[i] = s.InexactFloat64(), true
	}
	c := bars(values, known, short)
	for _, hour := range []int{0, 6, 12, 18} {
		c.X = append(c.X, label{Text: fmt.Sprintf("%d h", hour), At: fmt.Sprintf("%.2f", 100*(float64(hour)+0.5)/24)})
	}
	c.X = append(c.X, label{Text: "23 h", At: "100.00", Edge: "end"})
	return c
}

// againstChart is the account beside its markets, in percent since the beginning.
func againstChart(r *backtest.Result) *chart {
	p := r.Worse()
	c := &chart{X: dates(r.From, p.Until), Low: true, Legend: []legend{{"equity", "account"}}}
	type series struct {
		class  string
		points []point
	}
	var all []series
	values := []float64{0}
	account := series{class: "equity", points: []point{{0, 0, true}}}
	for i, one := range p.Curve {
		v := 100 * (value(one.Last)/p.Opening.InexactFloat64() - 1)
		account.points = append(account.points, point{size * float64(i+1) / float64(len(p.Curve)), v, one.Last.Valid})
	}
	for i, m := range p.Markets[:min(4, len(p.Markets))] {
		one := series{class: fmt.Sprintf("market m%d", i)}
		first := m.First.InexactFloat64()
		for k, price := range m.Points {
			one.points = append(one.points, point{size * float64(k) / float64(len(m.Points)-1), 100 * (value(price)/first - 1), price.Valid})
		}
		all = append(all, one)
		c.Legend = append(c.Legend, legend{one.class, m.Symbol})
	}
	all = append(all, account)
	for _, one := range all {
		for _, q := range one.points {
			if q.valid {
				values = append(values, q.y)
			}
		}
	}
	s := newScale(values...)
	c.Y = s.ticks(shortPercent)
	var b strings.Builder
	grid(&b, c.Y)
	level(&b, "zero", s.y(0))
	for _, one := range all {
		for i := range one.points {
			one.points[i].y = s.y(one.points[i].y)
		}
		line(&b, one.class, one.points)
	}
	c.Body = template.HTML(b.String())
	return c
}
