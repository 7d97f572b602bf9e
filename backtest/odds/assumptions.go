package odds

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/internal/words"
)

// assumptions are what a forecast takes for granted, in words.
func (f *Forecast) assumptions(h History, o Options, s *series) (list []backtest.Assumption) {
	add := func(name, format string, values ...any) {
		list = append(list, backtest.Assumption{Name: name, Text: fmt.Sprintf(format, values...)})
	}
	add("Future", "days like those of the history, in blocks of them: no other market, no other bot")
	if f.Refused == "" {
		add("Restlessness", "days as restless as these; the years' volatility may differ by a factor of %.1f", math.Exp(1.96*restlessness(f.Seen.Days)))
		if f.Seen.Days < EnoughDays {
			add("Regime", "%s may all be of one calm regime, and do not know the other: of fewer than %d the true number of lost accounts is above the interval more often than 5 times in 100", words.Count(f.Seen.Days, "day"), EnoughDays)
		}
		add("Worse days", "the paths are drawn as the days are, and once more with a day worse than any of them, about once in %s; the interval holds both", words.Count(f.Seen.Days, "day"))
		if n, ok := f.Unseen.Get(); ok {
			add("Not seen", "no day took a tenth of the room to a floor, so the history does not show how an account is lost. %s, and no loss: that allows %s", stretches(n), percent(unseen(n)))
		}
	}
	add("Survivors", "%s", survivors(h))
	if n := len(h.Days) - f.Seen.Days; n > 0 {
		add("Same dates", "%d days are on a date that another account has too: a path takes one of them, and the date counts once", n)
	}
	j := o.jump()
	if j.Size.IsZero() || j.PerYear.IsZero() {
		add("Jumps", "none beyond what the history has seen, which holds no jump that has not happened yet")
	} else {
		add("Jumps", "%s %% of the price against the largest position of a day, %s times a year, beside what the history has seen", j.Size.Shift(2), j.PerYear)
	}
	if s.marked && s.notFlat > 0 {
		add("Positions over midnight", "blocks are cut where positions were held, marked to market: only %d midnights were flat", len(s.flat)-s.notFlat)
	} else if s.notFlat > 0 {
		add("Positions over midnight", "blocks are cut only where the account was flat; at %d midnights it was not", s.notFlat)
	}
	add("Leaving", "at a pass everything is closed at once, for the taker fee of the largest position of the day")
	if o.Rules.Open.IsPositive() {
		add("Open now", "positions worth %s are closed at once, for the taker fee", money(o.Rules.Open))
	}
	if o.Rules.MinDays > 0 {
		add("Minimum days", "the bot goes on as before until it has traded on %d days; what it did before today does not count", o.Rules.MinDays)
	}
	if len(o.Then) > 0 {
		add("Phases", "each of %d accounts begins anew, with the same bot", 1+len(o.Then))
	}
	if o.Horizon == 0 {
		add("Horizon", "none: a path that is not decided after %d days stays undecided", mostDays)
	}
	if p := o.Protection; p != nil {
		add("Protection", "%s", p.text())
	}
	if f.Haircut != nil {
		add("Selected", "the best of %d variants: its mean is cut by %s a day, the Sharpe ratio that the best of as many without an edge has (Bailey and Lopez de Prado 2014)", f.Haircut.Of, dollarText(f.Haircut.Daily))
	} else {
		add("Selected", "not: no other variant was tried on these days. The best of several has to say so")
	}
	for _, note := range h.Notes {
		add("History", "%s", note)
	}
	return list
}

// stretches is how many accounts a history is long.
func stretches(n int) string {
	switch n {
	case 0:
		return "It has fewer days than one account takes"
	case 1:
		return "It has the days of one account"
	}
	return fmt.Sprintf("It has the days of %d accounts", n)
}

// survivors says which accounts a history is of.
func survivors(h History) string {
	var list []string
	dead := false
	for _, a := range h.Accounts {
		end := a.End
		if end == "" {
			end = "end not known"
		}
		list = append(list, fmt.Sprintf("%s (%s, %d days)", a.Name, end, a.Days))
		dead = dead || slices.Contains([]string{"failed", "locked", "archived", "expired"}, strings.ToLower(a.End))
	}
	text := strings.Join(list, ", ")
	if !dead {
		text += ". No account that failed is in the history: if there is one, the chances are worse"
	}
	return text
}

func (p *Protection) text() string {
	after := fmt.Sprintf("resumed after %d days", p.Resume)
	switch p.Resume {
	case 0:
		after = "never resumed"
	case 1:
		after = "resumed the next day"
	}
	return "days that the room is too small for are not traded, and at the line of package protect everything is closed; a flattened account is " + after
}
