package tradingsim

import (
	"time"

	"github.com/shopspring/decimal"
)

// Drawdown is the deepest fall of an account's equity from a peak, in percent of
// the peak. It is judged at every sample and every change; moments without
// an equity are left out. A reset begins a new peak.
type Drawdown struct {
	// Pct is the fall in percent of the peak, to four places: 2.5 is 2.5 percent.
	Pct decimal.Decimal
	// Amount is the fall in dollars.
	Amount decimal.Decimal
	// From is when the equity was last at the peak, and To when it was lowest;
	// both are zero while the equity has never fallen.
	From, To time.Time
	// Longest is the longest time that the equity was below an earlier peak, the
	// present one included. It need not be that of the deepest fall.
	Longest time.Duration
}

// drawdown follows an equity.
type drawdown struct {
	worst     Drawdown
	worstPeak decimal.Decimal
	known     bool // there is a peak
	peak      decimal.Decimal
	peakAt    time.Time
	low       decimal.Decimal // the lowest since the peak
}

// restart forgets the peak and keeps the worst.
func (d *drawdown) restart() { d.known = false }

func (d *drawdown) judge(p Point) {
	equity := p.Equity.Decimal
	switch {
	case !p.Equity.Valid:
		return
	case !d.known || equity.GreaterThanOrEqual(d.peak):
		if d.known && d.low.LessThan(d.peak) {
			d.worst.Longest = max(d.worst.Longest, p.At.Sub(d.peakAt))
		}
		d.known, d.peak, d.peakAt, d.low = true, equity, p.At, equity
		return
	}
	d.worst.Longest = max(d.worst.Longest, p.At.Sub(d.peakAt))
	if !equity.LessThan(d.low) {
		return
	}
	d.low = equity
	fall := d.peak.Sub(equity)
	// fall / peak > worst / its peak, without a quotient.
	deeper := d.worst.To.IsZero() || fall.Mul(d.worstPeak).GreaterThan(d.worst.Amount.Mul(d.peak))
	if !deeper || !d.peak.IsPositive() {
		return
	}
	d.worstPeak = d.peak
	d.worst.Amount, d.worst.Pct = fall, fall.Mul(hundred).DivRound(d.peak, 4)
	d.worst.From, d.worst.To = d.peakAt, p.At
}
