package backtest

import "github.com/shopspring/decimal"

// extremes are the lows and highs of a day, in order.
type extremes struct {
	low, high decimal.Decimal
	begun     bool
	last      int // 1 if the last of the list is a high, -1 if it is a low
	list      []decimal.Decimal
}

// see notes an equity. The first is the one that the day begins with.
func (e *extremes) see(equity decimal.Decimal) {
	switch {
	case !e.begun:
		e.low, e.high, e.begun = equity, equity, true
	case equity.LessThan(e.low):
		e.low = equity
		e.note(equity, -1)
	case equity.GreaterThan(e.high):
		e.high = equity
		e.note(equity, 1)
	}
}

func (e *extremes) note(equity decimal.Decimal, kind int) {
	if e.last == kind {
		e.list[len(e.list)-1] = equity
		return
	}
	e.list, e.last = append(e.list, equity), kind
}

// exposure notes what is held at what it was opened for.
func (w *walk) exposure() {
	sum := decimal.Zero
	for _, h := range w.book.markets {
		sum = sum.Add(h.cost.Abs())
	}
	if sum.IsPositive() {
		w.held = true
	}
	w.largest = decimal.Max(w.largest, sum)
	w.steps.Largest = max(w.steps.Largest, sum.InexactFloat64())
}
