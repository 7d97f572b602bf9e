package accounting

import (
	"cmp"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// seen is what a program has seen of an account, from which the books make the facts.
type seen struct {
	Facts
	At   time.Time // when the first of the equal looks began
	Base *seenBase // nil without one
	Own  []Own     // those that its baseline does not show, and what waited then
	// Known are ids that were known before the write, or are other writes'.
	Known map[string]bool
	// InSymbol: another own write is pending in the symbol itself.
	InSymbol bool
}

// seenBase is what reads showed before the write.
type seenBase struct {
	Base
	Rows []Row
	IDs
	Apart bool // its position and its rows are of two moments
}

// facts are what the books make of it: a trail that begins at the reads, and goes on by the looks.
func (s *seen) facts() Facts {
	f := s.Facts
	if s.Base == nil || !f.Asked.Kind.Acts() && s.Base.Shows(f.Asked.Sent) {
		return f
	}
	f.IDs = &IDs{Finished: s.Base.Finished, FinishedLags: s.Base.FinishedLags}
	for id := range s.Known {
		f.IDs.Orders, f.IDs.Runs = append(f.IDs.Orders, id), append(f.IDs.Runs, id)
	}
	f.IDs.Orders, f.IDs.Runs = append(f.IDs.Orders, s.Base.Orders...), append(f.IDs.Runs, s.Base.Runs...)

	alone := f.Exclusive && !s.InSymbol
	longest := 0
	if !alone {
		longest = ListCut
	}
	var trades Trades
	trades.Take(s.Base.Rows, s.At.Add(-time.Hour), longest)
	base := s.Base.Base
	if base.Place = trades.End(); alone {
		if base.Near = s.Base.Apart; base.Near {
			base.Place, base.Newer = trades.Nearby(base.Place, f.Symbol, 20*time.Second)
		}
	} else {
		base.Others, base.Newer = true, s.Base.Apart
	}
	trail := Trail{Base: &base}
	if f.Asked.Kind.Acts() {
		trail.Acts = []Own{{ID: "asked", Act: f.Asked, Place: -1}}
	}
	var waiting []Waiting
	for _, o := range s.Own {
		switch {
		case o.Waits():
			f.Runs = f.Runs || o.Kind != Limit
			waiting = append(waiting, o.Left())
		default:
			trail.Acts = append(trail.Acts, o)
		}
	}
	if alone && s.Base.Apart && len(waiting) > 0 {
		return f
	}
	slices.SortStableFunc(trail.Acts, func(a, b Own) int { return cmp.Compare(a.Sent, b.Sent) })
	trail.Keep(trades.Take(f.Look.Rows, s.At, max(longest, len(s.Base.Rows))))
	r, at, ok := trail.Replay(f.Symbol, &trades, waiting, f.Look.Status, "asked")
	if !ok {
		return f
	}
	if at < 0 {
		at = r.Rests(f.Asked)
	}
	f.Still = f.EqualLooks >= 2
	for i := range trail.Acts {
		f.Still = f.Still && !trail.Acts[i].Heard.After(s.At.Add(-ledger.Lag))
	}
	if f.Still {
		for i := range r.Acts {
			r.Acts[i].Late = false
		}
		r.To = decimal.NewNullDecimal(f.Look.Position.Size)
	}
	r.Halted = r.Halted || !f.Still
	r.Part = !alone
	f.Course, f.At = &r, at
	return f
}

// judged is the verdict of what was seen.
func judged(s seen) Verdict { return Judge(s.facts()) }
