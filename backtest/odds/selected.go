package odds

import (
	"errors"
	"fmt"

	"github.com/tradingapi/trading-go/backtest"
)

// Selected says that a history is that of the best of several variants. The best of ten without an
// edge looks like one that passes.
type Selected struct {
	// Of is how many variants were tried, the best among them.
	Of int
	// Others are the histories of all the others, over the same days.
	Others []History
}

// Haircut is what a forecast takes off for the choice.
type Haircut struct {
	// Of is how many variants there were.
	Of int
	// Daily is what is taken off the mean of a day, in dollars: the Sharpe ratio that the best of
	// as many without an edge is expected to have, after Bailey and Lopez de Prado 2014, times
	// the deviation of a day.
	Daily float64
	// Overfit has the deflated Sharpe ratio and the probability of overfitting.
	Overfit backtest.Overfit
}

func (s *Selected) check() error {
	switch {
	case s == nil:
		return nil
	case s.Of < 2:
		return fmt.Errorf("odds: Selected.Of is %d: it must be 2 at least", s.Of)
	case len(s.Others) != s.Of-1:
		return fmt.Errorf("odds: Selected.Of is %d, and Others has %d histories: the days of every other variant are needed", s.Of, len(s.Others))
	}
	var wrong []error
	for _, h := range s.Others {
		wrong = append(wrong, h.check())
	}
	return errors.Join(wrong...)
}

// haircut is that of the best of the variants.
func (s *Selected) haircut(best *series, opening float64) (*Haircut, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // nothing was selected, and nothing is wrong
	}
	returns := [][]float64{shareOf(best.profits(), opening)}
	for _, h := range s.Others {
		other := newSeries(h)
		if len(other.dates) != len(best.dates) {
			return nil, fmt.Errorf("odds: the best variant has %d days and %q %d: all must have the same", len(best.dates), h.Accounts[0].Name, len(other.dates))
		}
		returns = append(returns, shareOf(other.profits(), h.Accounts[0].Opening.InexactFloat64()))
	}
	h := &Haircut{Of: s.Of, Overfit: backtest.OverfitOf(returns)}
	expected, ok := h.Overfit.ExpectedBest.Value()
	if !ok {
		return nil, fmt.Errorf("odds: no haircut for the choice: %s", h.Overfit.ExpectedBest.None())
	}
	h.Daily = max(0, expected) * deviation(best.profits())
	return h, nil
}

func shareOf(profits []float64, of float64) []float64 {
	list := make([]float64, len(profits))
	for i, p := range profits {
		list[i] = p / of
	}
	return list
}
