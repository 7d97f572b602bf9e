package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/backtest"
)

// chart is a picture with its labels beside it in HTML, so that the picture can be stretched
// to any width and its text cannot.
type chart struct {
	Low    bool // a lower picture
	Y, X   []label
	Body   template.HTML // of the SVG, in a square of 1000 units
	Legend []legend
}

type label struct {
	Text string
	At   string // percent from the top, or from the left
	Edge string // "start" or "end" where it must not be centred
}

type legend struct{ Class, Text string }

// size is the width and the height of a picture in its own units.
const size = 1000.0

// scale maps values to heights.
type scale struct{ low, high float64 }

// newScale leaves a little room at both ends.
func newScale(values ...float64) scale {
	s := scale{math.Inf(1), math.Inf(-1)}
	for _, v := range values {
		s.low, s.high = min(s.low, v), max(s.high, v)
	}
	room := (s.high - s.low) * 0.06
	if room <= 0 {
		room = max(math.Abs(s.high)*0.001, 1)
	}
	return scale{s.low - room, s.high + room}
}

func (s scale) y(v float64) float64 { return size * (s.high - v) / (s.high - s.low) }

// ticks are some round values.
func (s scale) ticks(format func(float64) string) (list []label) {
	raw := (s.high - s.low) / 4
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	step := power
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if step = m * power; step >= raw {
			break
		}
	}
	for i := math.Ceil(s.low / step); i*step <= s.high; i++ {
		v := i * step
		if v == 0 {
			v = 0 // and not -0
		}
		list = append(list, label{Text: format(v), At: fmt.Sprintf("%.2f", s.y(v)/size*100)})
	}
	return list
}

// grid draws a line at each tick.
func grid(b *strings.Builder, ticks []label) {
	for _, t := range ticks {
		fmt.Fprintf(b, `<line class="grid" x1="0" x2="1000" y1="%s0" y2="%s0"/>`, times10(t.At), times10(t.At))
	}
}

// times10 is a percentage in units, less the last digit.
func times10(percent string) string {
	whole, part, _ := strings.Cut(percent, ".")
	text := strings.TrimLeft(whole+part[:1], "0")
	if text == "" {
		text = "0"
	}
	return text + "." + part[1:]
}

// point is a place in a picture; it is not valid where a line has a gap.
type point struct {
	x, y  float64
	valid bool
}

// line draws what is known of some points.
func line(b *strings.Builder, class string, points []point) {
	var piece []point
	end := func() {
		if len(piece) > 0 {
			fmt.Fprintf(b, `<polyline class="%s" points="%s"/>`, class, joined(piece))
		}
		piece = nil
	}
	for _, p := range points {
		if !p.valid {
			end()
			continue
		}
		piece = append(piece, p)
	}
	end()
}

func joined(points []point) string {
	var b strings.Builder
	for i, p := range points {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%.1f,%.1f", p.x, p.y)
	}
	return b.String()
}

// area fills between two lines of the same length; a gap in either is one in both.
func area(b *strings.Builder, class string, over, under []point) {
	from := 0
	for i := 0; i <= len(over); i++ {
		if i < len(over) && over[i].valid && under[i].valid {
			continue
		}
		if i > from {
			back := make([]point, 0, i-from)
			for k := i - 1; k >= from; k-- {
				back = append(back, under[k])
			}
			fmt.Fprintf(b, `<polygon class="%s" points="%s %s"/>`, class, joined(over[from:i]), joined(back))
		}
		from = i + 1
	}
}

func level(b *strings.Builder, class string, y float64) {
	fmt.Fprintf(b, `<line class="%s" x1="0" x2="1000" y1="%.1f" y2="%.1f"/>`, class, y, y)
}

// dates are the labels of a time axis.
func dates(from, to time.Time) (list []label) {
	layout, n := "2 Jan", 4
	switch length := to.Sub(from); {
	case length <= 3*24*time.Hour:
		layout, n = "2 Jan 15:04", 3 // a fourth has no room on a phone
	case length > 300*24*time.Hour:
		layout = "Jan 2006"
	}
	for i := range n {
		at := from.Add(to.Sub(from) / time.Duration(n-1) * time.Duration(i))
		l := label{Text: at.UTC().Format(layout), At: fmt.Sprintf("%.2f", 100*float64(i)/float64(n-1))}
		switch i {
		case 0:
			l.Edge = "start"
		case n - 1:
			l.Edge = "end"
		}
		list = append(list, l)
	}
	return list
}

// bars are the heights of some columns; a column that is not known is left out.
func bars(values []float64, known []bool, format func(float64) string) *chart {
	c := &chart{Low: true}
	s := newScale(append([]float64{0}, values...)...)
	c.Y = s.ticks(format)
	var b strings.Builder
	grid(&b, c.Y)
	width := size / float64(len(values))
	for i, v := range values {
		if !known[i] || v == 0 {
			continue
		}
		class, top, bottom := "up", s.y(v), s.y(0)
		if v < 0 {
			class, top, bottom = "down", bottom, top
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, float64(i)*width+width*0.1, top, width*0.8, bottom-top)
	}
	level(&b, "zero", s.y(0))
	c.Body = template.HTML(b.String())
	return c
}

func short(v float64) string {
	sign := ""
	if v < 0 {
		sign, v = minus, -v
	}
	switch {
	case v >= 10_000_000_000:
		return sign + "$" + digits(v/1e9) + "B"
	case v >= 10_000_000:
		return sign + "$" + digits(v/1e6) + "M"
	case v >= 10_000:
		return sign + "$" + digits(v/1000) + "k"
	case v == math.Trunc(v):
		return fmt.Sprintf("%s$%.0f", sign, v)
	}
	return fmt.Sprintf("%s$%.2f", sign, v)
}

// digits are two places at most.
func digits(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// lines are a floor or a target.
type lines struct {
	class, text string
	at          float64
}

// nearTo are the levels that a picture of some values has room for, the first of which is where they begin,
// and which ones are far away, in words: they would make a flat line of the values. Half of the account is
// far, unless the values go as far themselves.
func nearTo(values []float64, levels []lines) (near []lines, note string) {
	low, high := slices.Min(values), slices.Max(values)
	room := max(values[0]/2, high-low)
	var far []string
	for _, l := range levels {
		if l.at >= low-room && l.at <= high+room {
			near = append(near, l)
			continue
		}
		far = append(far, "the "+l.text+" at "+floatMoney(l.at))
	}
	if len(far) > 0 {
		note = "Too far away to be in the picture: " + strings.Join(far, ", ") + "."
	}
	return near, note
}

func shortPercent(v float64) string {
	text := strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
	return strings.Replace(text, "-", minus, 1) + " %"
}

// value is for pictures alone: a float has more digits than a picture has points.
func value(d decimal.NullDecimal) float64 { return d.Decimal.InexactFloat64() }

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

func abs(n int) int { return max(n, -n) }

// niceStep is the next round value.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v {
			return m * power
		}
	}
	return 10 * power
}

// leastForHours is how many round trips the hours of entry take: of fewer each has a handful.
const leastForHours = 100

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
