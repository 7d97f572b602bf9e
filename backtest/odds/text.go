package odds

import (
	"fmt"
	"math"
	"strings"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest/internal/words"
)

// Headline is the forecast in a sentence or two, for somebody who reads nothing else.
func (f *Forecast) Headline() string {
	lose, ok := f.Lose.Get()
	if !ok {
		return "No chance can be given: " + f.Refused + "."
	}
	low, high := lose.ofHundred()
	short := f.Seen.Days < EnoughDays
	upTo := fmt.Sprint(high)
	if short && high < 100 {
		upTo = "at least " + upTo
	}
	days := words.Count(f.Seen.Days, "day")
	text := fmt.Sprintf("Of 100 such accounts between %d and %s are lost%s; %s cannot say it closer, and a more restless market would lose more.", low, upTo, f.within(), days)
	if pass, ok := f.Pass.Get(); ok {
		low, high = pass.ofHundred()
		orFewer := ""
		if short && low > 0 {
			orFewer = " (or fewer)"
		}
		text += fmt.Sprintf(" Between %d%s and %d pass.", low, orFewer, high)
	}
	return text
}

func (f *Forecast) within() string {
	if f.Horizon == 0 {
		return ""
	}
	return " within " + words.Count(f.Horizon, "day")
}

// ofHundred is a chance in accounts of a hundred, rounded outward.
func (c Chance) ofHundred() (low, high int) {
	return int(math.Floor(100*c.Low + 1e-9)), int(math.Ceil(100*c.High - 1e-9))
}

// String is the headline, and a summary of a few lines.
func (f *Forecast) String() string {
	var b strings.Builder
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "%-13s %s\n", name, fmt.Sprintf(format, values...))
	}
	line("chances", "%s", f.Headline())
	for _, one := range []struct {
		name string
		of   trading.Opt[Chance]
	}{{"lose", f.Lose}, {"pass", f.Pass}, {"undecided", f.Undecided}, {"held", f.Held}} {
		if c, ok := one.of.Get(); ok && (c.High >= 0.0005 || one.name == "pass" || one.name == "lose") {
			line(one.name, "%s", c)
		}
	}
	if days, ok := f.Days.Get(); ok {
		line("days", "%.0f in the mean%s", days, f.horizonText())
	}
	if len(f.Readings) > 1 {
		line("daily floor", "%s, the worst of %d readings", f.Reading, len(f.Readings))
		for _, r := range f.Readings {
			line("", "%s: lose %s, pass %s", r.Name, r.Lose, r.Pass)
		}
	}
	for _, p := range f.Blocks {
		line("blocks", "in the mean with blocks of %.1f days instead of %.1f: lose %s, pass %s", p.Days, f.Block, percent(p.Lose), percent(p.Pass))
	}
	f.sizeLines(line)
	s := f.Seen
	line("seen", "%s, %d with trades; %s", words.Count(s.Days, "day"), s.Traded, s.day())
	line("", "best day %s, worst day %s, deepest within a day %s", money(s.Best), money(s.Worst), money(s.Deepest.Neg()))
	if h := f.Haircut; h != nil {
		line("selected", "best of %d: deflated Sharpe %s, probability of overfitting %s", h.Of, h.Overfit.DeflatedSharpe, h.Overfit.Overfitting)
	}
	for _, a := range f.Assumptions {
		line("assumed", "%s: %s", strings.ToLower(a.Name), a.Text)
	}
	return b.String()
}

// day is what a day made, with what its mean may be.
func (s Seen) day() string {
	text := dollarText(s.Mean) + " a day"
	low, ok := s.MeanLow.Get()
	high, _ := s.MeanHigh.Get()
	if !ok {
		return text
	}
	return fmt.Sprintf("%s (99 %%: %s to %s), deviation %s", text, dollarText(low), dollarText(high), dollarText(s.Deviation))
}

func (f *Forecast) horizonText() string {
	if f.Horizon == 0 {
		return ""
	}
	return fmt.Sprintf(", at most %d", f.Horizon)
}

func (f *Forecast) sizeLines(line func(name, format string, values ...any)) {
	c := f.Size
	if c == nil {
		return
	}
	if best, ok := c.Best.Get(); ok {
		line("size", "%.2f times the present one is best at %s", best, c.By)
	} else {
		line("size", "none: %s", c.Refused)
	}
	for _, r := range c.Reruns {
		agrees := "agree"
		if !r.Agrees {
			agrees = "do not agree"
		}
		line("", "at %.2f: profits times the size pass %s, the bot %s: they %s", r.Scale, percent(r.Scaled), percent(r.Bot), agrees)
	}
}

// String is such as "61 % to 84 %", rounded outward; where both read the same, it is said once.
func (c Chance) String() string {
	at, to := c.ofHundred()
	low, high := percent(float64(at)/100), percent(float64(to)/100)
	switch {
	case c.High < 0.01:
		return "under 1 %"
	case c.Low > 0.99:
		return "over 99 %"
	case low == high:
		return low
	}
	return low + " to " + high
}
