package odds

import (
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/backtest"
)

// FromResult makes a history of the headline path of a backtest. The figures of a path end at its
// verdict, and so does the history: run the bot on an account whose floors and target are far away
// to have all its days.
func FromResult(r *backtest.Result) (History, error) {
	if r == nil || len(r.Paths) == 0 {
		return History{}, fmt.Errorf("odds: the result has no path")
	}
	p := r.Worse()
	if !p.DayOpening.Valid && len(p.Days) > 0 {
		return History{}, fmt.Errorf("odds: the equity at the first midnight is not known")
	}
	h := History{Accounts: []Source{{Name: sourceName(r), End: string(p.Continuous), Opening: r.Terms.Opening, Days: len(p.Days)}}}
	before := Midnight{Balance: p.DayBalance, Equity: p.DayOpening.Decimal, Flat: p.DayFlat}
	for _, d := range p.Days {
		if !d.Equity.Valid {
			return History{}, fmt.Errorf("odds: the equity at the end of %s is not known: a market that was held had no price", d.Date.Format(time.DateOnly))
		}
		end := Midnight{Balance: d.Balance, Equity: d.Equity.Decimal, Flat: d.Flat}
		h.Days = append(h.Days, Day{Date: d.Date.UTC(), Begin: before, End: end, Extremes: d.Extremes, Largest: d.Largest, Traded: d.Traded})
		before = end
	}
	if len(h.Days) == 0 {
		return History{}, fmt.Errorf("odds: the result has no complete UTC day")
	}
	h.note(r, p)
	return h, nil
}

// note says what the days of a result leave out.
func (h *History) note(r *backtest.Result, p *backtest.Path) {
	if p.Continuous != backtest.Open {
		h.Notes = append(h.Notes, fmt.Sprintf("the days end with the verdict, %s on %s, whose own day is not complete: a history that ends so is not a fair sample. Run the bot on an account whose floors and target are far away", p.Continuous, p.Decided.Format(time.DateOnly)))
	}
	if p.Unpriced > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("for %s a market that was held had no price: lows and highs of that time are missing", p.Unpriced))
	}
	if r.Data.Synthetic {
		h.Notes = append(h.Notes, "the prices are synthetic: the forecast says nothing of a market")
	}
}

func sourceName(r *backtest.Result) string {
	if r.Name != "" {
		return r.Name
	}
	if r.Terms.ID != "" {
		return r.Terms.ID
	}
	return "backtest of " + r.Data.Name
}
