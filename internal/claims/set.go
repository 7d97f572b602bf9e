package claims

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// Snapshot is what reads show that began and ended at a time: first the orders and then the
// positions, so that what is filled between the two counts twice.
type Snapshot struct {
	Began, Ended time.Duration
	Open         *trading.OpenOrders
	Positions    trading.Positions
}

// Set has the claims of one account. It is for one user at a time.
type Set[T any] struct {
	// Elsewhere makes what its user keeps with an order or a run that was placed elsewhere; nil keeps
	// nothing.
	Elsewhere func(o *trading.RestingOrder) T

	all  []*Claim[T]
	last *Snapshot
}

// Add begins a claim, before anything of it is sent.
func (s *Set[T]) Add(c *Claim[T]) { s.all = append(s.all, c) }

// Drop ends a claim of which nothing is carried out.
func (s *Set[T]) Drop(c *Claim[T]) { s.DropFunc(func(o *Claim[T]) bool { return o == c }) }

// DropFunc ends the claims of which it is said to be so.
func (s *Set[T]) DropFunc(over func(c *Claim[T]) bool) { s.all = slices.DeleteFunc(s.all, over) }

// All are the claims; the caller changes no slice of them.
func (s *Set[T]) All() []*Claim[T] { return s.all }

// Positions are those of the last look.
func (s *Set[T]) Positions() trading.Positions {
	if s.last == nil {
		return nil
	}
	return s.last.Positions
}

// Waiting is the claim of an order or a run; nil if there is none.
func (s *Set[T]) Waiting(order string) *Claim[T] {
	for _, c := range s.all {
		if c.Order == order && order != "" {
			return c
		}
	}
	return nil
}

// Due reports whether a look that begins now may end a claim that the last one could not.
func (s *Set[T]) Due(now time.Duration) bool {
	return s.last != nil && slices.ContainsFunc(s.all, func(c *Claim[T]) bool { return c.due(s.last.Began, now) })
}

// See takes over what a look shows. One that began before the last changes nothing: what that has
// ended may not be in the positions of this one.
func (s *Set[T]) See(l Snapshot) {
	if s.last != nil && l.Began < s.last.Began {
		return
	}
	s.last = &l
	shown := map[string]bool{}
	for i := range l.Open.Limits {
		shown[s.shows(&l.Open.Limits[i], &l)] = true
	}
	for i := range l.Open.Runs {
		r := &l.Open.Runs[i]
		shown[s.shows(&trading.RestingOrder{ID: trading.OrderID(r.ID), Symbol: r.Symbol, Side: r.Side}, &l)] = true // its size is not known
		if filled, is := r.Extra.Decimal("executedSize"); is {                                                      // which the contract does not show
			for _, c := range s.all {
				if c.Order == string(r.ID) {
					c.fills(filled, &l)
				}
			}
		}
	}
	own := map[string]bool{}
	for _, c := range s.all {
		own[c.Order] = own[c.Order] || !c.Elsewhere
	}
	s.all = slices.DeleteFunc(s.all, func(c *Claim[T]) bool {
		switch {
		case c.Elsewhere && own[c.Order]:
			return true // its answer came after the look that showed it
		case shown[c.Order]:
			c.missing = false
			return false
		default:
			return c.over(&l)
		}
	})
}

// unnamed is the name of all that a look shows without one: it may be in any market.
const unnamed = "without an id"

// shows begins the claim of what a look shows and was placed elsewhere, and returns its name.
func (s *Set[T]) shows(o *trading.RestingOrder, l *Snapshot) (name string) {
	name, symbol := string(o.ID), o.Symbol
	if name == "" {
		name, symbol = unnamed, ""
	}
	if s.Waiting(name) != nil {
		return name
	}
	size, sized := o.Size.Get()
	c := &Claim[T]{
		Symbol: symbol, Side: o.Side, Size: size, Exit: string(o.Extra["reduceOnly"]) == "true", Order: name, Waits: true, Elsewhere: true,
		Unsized: symbol == "" || !sized || size.IsNegative() || o.Side != trading.Long && o.Side != trading.Short,
	}
	if s.Elsewhere != nil {
		c.Of = s.Elsewhere(o)
	}
	c.Applied(l.Began - Lag)
	s.all = append(s.all, c)
	return name
}

// Unsized is the name of an order or a run that may be in a market, and of which it is not known how
// much it may do; of any market if none is named.
func (s *Set[T]) Unsized(symbol string) (order string, is bool) {
	for _, c := range s.all {
		if c.Unsized && (symbol == "" || c.Symbol == "" || c.Symbol == symbol) {
			return c.Order, true
		}
	}
	return "", false
}

// Largest is how large the position on one side of a market may get, by the last look and all that may
// still be carried out. An opposite position makes up for nothing: an exit may have taken it. Of a
// run that was changed its largest size counts.
func (s *Set[T]) Largest(symbol string, side trading.Side) decimal.Decimal {
	held, coming := decimal.Zero, decimal.Zero
	if p, is := s.Positions().In(symbol); is && p.Side == side {
		held = p.Size
	}
	waits := map[string]decimal.Decimal{}
	for _, c := range s.all {
		switch {
		case c.Symbol != symbol || c.Side != side || c.Exit:
		case c.After.IsPositive():
			held = decimal.Max(held, c.After)
		case c.Order != "":
			waits[c.Order] = decimal.Max(waits[c.Order], c.Left())
		default:
			coming = coming.Add(c.Left())
		}
	}
	for _, size := range waits {
		coming = coming.Add(size)
	}
	return held.Add(coming)
}
