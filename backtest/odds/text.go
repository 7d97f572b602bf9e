package odds

import (
	"fmt"
	"strings"

	"github.com/tradingapi/trading-go"
)

// String is a summary of a few lines. Why there is no probability comes before any number.
func (f *Forecast) String() string {
	var b strings.Builder
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "%-13s %s\n", name, fmt.Sprintf(format, values...))
	}
	if f.Refused != "" {
		line("refused", "%s", f.Refused)
	}
	for _, one := range []struct {
		name string
		of   trading.Opt[Chance]
	}{{"pass", f.Pass}, {"lose", f.Lose}, {"undecided", f.Undecided}, {"held", f.Held}} {
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
			line("", "%s: pass %s, lose %s", r.Name, r.Pass, r.Lose)
		}
	}
	for _, p := range f.Blocks {
		line("blocks", "of %.1f days instead of %.1f: pass %s, lose %s", p.Days, f.Block, percent(p.Pass), percent(p.Lose))
	}
	f.sizeLines(line)
	s := f.Seen
	line("seen", "%d days, %d with trades; %s a day (99 %%: %s to %s), deviation %s", s.Days, s.Traded, dollarText(s.Mean), dollarText(s.MeanLow), dollarText(s.MeanHigh), dollarText(s.Deviation))
	line("", "best day %s, worst day %s, deepest within a day -%s", money(s.Best), money(s.Worst), money(s.Deepest))
	if h := f.Haircut; h != nil {
		line("selected", "best of %d: deflated Sharpe %s, probability of overfitting %s", h.Of, h.Overfit.DeflatedSharpe, h.Overfit.Overfitting)
	}
	for _, a := range f.Assumptions {
		line("assumed", "%s: %s", strings.ToLower(a.Name), a.Text)
	}
	return b.String()
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

// String is such as "61 % to 84 %, 73 % in the mean"; where all three read the same, it is said once.
func (c Chance) String() string {
	low, high := percent(c.Low), percent(c.High)
	if low == high {
		return low
	}
	return fmt.Sprintf("%s to %s, %s in the mean", low, high, percent(c.Mean))
}
