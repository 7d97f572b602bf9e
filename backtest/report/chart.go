package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
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
