package watch

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// LimitFilled is a resting limit that was filled, or a part of it, as far as the account's own
// reads show it: the position moved by its size at its price, or at a better one for a maker's fee.
// The contract shows no fill of a resting limit. Two trades that look the same are not distinguished:
// a limit that was cancelled while another one, that no look saw, was filled for the same size at such a
// price reads like one that was filled.
type LimitFilled struct {
	// When the look was done that showed it, the account, and the record when last seen.
	At      time.Time
	Account trading.AccountID
	Order   trading.RestingOrder
	// Size is what was filled of it, in base units.
	Size decimal.Decimal
	// Price is what it was filled at, as the entry price or a closed trade shows it: its limit, or
	// a better one, of which the balance shows the fee.
	Price decimal.Decimal
	// Fee is its own, in dollars, where the balance moved by what the contract takes of a
	// maker. None is not known.
	Fee trading.Opt[decimal.Decimal]
	// Rests means that the rest of it still waits.
	Rests bool
}

// LimitNotFilled is a resting limit that rests no more, and that nothing was traded of: it was
// cancelled, or dropped by the service.
type LimitNotFilled struct {
	// When the look was done that showed it, the account, and the record when last seen.
	At      time.Time
	Account trading.AccountID
	Order   trading.RestingOrder
}

// LimitUnclear is a resting limit that rests no more, or less of it, and of which the account's
// reads do not show whether it was filled. Read the position.
type LimitUnclear struct {
	// When the look was done that gave it up, the account, and the record when last seen.
	At      time.Time
	Account trading.AccountID
	Order   trading.RestingOrder
	// Reason explains it to a person.
	Reason string
}

func (LimitFilled) event()    {}
func (LimitNotFilled) event() {}
func (LimitUnclear) event()   {}

// Fills watches what becomes of the resting limits of a live account: each that rests no more
// is a [LimitFilled], a [LimitNotFilled] or a [LimitUnclear]. The last two come about ten
// seconds after it was last seen, since reads lag. A limit that was placed and filled between two
// looks is in none: its placement returned its id, and the position shows it.
//
// A look costs one request, and three more while limits rest or one has just gone: positions,
// closed trades and the account's state.
func Fills(a *trading.Account) Watch {
	if a == nil {
		return misuse("fills", "watch: Fills needs an account")
	}
	name := "fills of " + string(a.ID())
	return Watch{name: name, open: func() source {
		return &fillSource{account: a, gone: map[string][]goneLimit{}, from: map[string]base{}, done: map[trading.OrderID]time.Time{}}
	}}
}

type fillSource struct {
	account *trading.Account
	limits  []trading.RestingOrder        // by id, of the last look
	shots   []shot                        // the newest last
	numbers int                           // of shots so far
	gone    map[string][]goneLimit        // by market: whose end is not explained yet
	from    map[string]base               // by market: the first shot that may be compared with
	done    map[trading.OrderID]time.Time // that are explained, and could show again in an older copy
	log     rolling[Event]
}

// mostShots bounds what is kept to compare with.
const mostShots = 64

// base is the first shot that may be compared with. It is explained if what the position had become by
// then was: the fill of a limit that was missed later is not in it.
type base struct {
	shot      int
	explained bool
}

// goneLimit is a limit, or a part of one, that rests no more.
type goneLimit struct {
	order trading.RestingOrder
	size  decimal.Decimal
	rests bool
	seen  time.Time // when it was first missed
	shot  int       // that of the look at which it was missed
}

// shot is what an account held at one look.
type shot struct {
	number    int
	at        time.Time
	positions trading.Positions
	trades    []trading.Trade
	balance   decimal.Decimal
}

func (s *fillSource) look(ctx context.Context, before look) (look, bool, error) {
	open, err := s.account.OpenOrders(ctx)
	if err != nil {
		return nil, false, err
	}
	limits := slices.SortedFunc(slices.Values(open.Limits), func(a, b trading.RestingOrder) int { return cmp.Compare(a.ID, b.ID) })
	if len(limits)+len(s.limits)+len(s.gone) > 0 {
		if err := s.shoot(ctx); err != nil {
			return nil, false, err
		}
	}
	at := time.Now()
	if before != nil {
		s.miss(at, limits)
		s.log = s.log.add(s.explain(at)...)
	}
	s.limits = limits
	return &logLook{at, s.log, "fills"}, false, nil
}

// shoot reads what the account holds.
func (s *fillSource) shoot(ctx context.Context) error {
	positions, err := s.account.Positions(ctx)
	if err != nil {
		return err
	}
	trades, err := s.account.Trades(ctx)
	if err != nil {
		return err
	}
	state, err := s.account.State(ctx)
	if err != nil {
		return err
	}
	s.numbers++
	s.shots = append(s.shots, shot{s.numbers, time.Now(), positions, trades, state.Balance})
	if surplus := len(s.shots) - mostShots; surplus > 0 {
		s.shots = slices.Clone(s.shots[surplus:])
	}
	return nil
}

// miss notes what rests no more.
func (s *fillSource) miss(at time.Time, limits []trading.RestingOrder) {
	walk(s.limits, limits, func(o trading.RestingOrder) trading.OrderID { return o.ID }, func(old, now *trading.RestingOrder) {
		if old == nil {
			s.again(*now)
			return
		}
		if _, explained := s.done[old.ID]; explained {
			return
		}
		size, sized := old.Size.Get()
		if now != nil {
			left, shown := now.Size.Get()
			if !sized || !shown || !left.LessThan(size) {
				return
			}
			size = size.Sub(left)
		}
		s.gone[old.Symbol] = append(s.gone[old.Symbol], goneLimit{*old, size, now != nil, at, s.numbers})
	})
}

// again notes that a limit rests after all: the look that missed it read an older copy.
func (s *fillSource) again(o trading.RestingOrder) {
	left := slices.DeleteFunc(s.gone[o.Symbol], func(g goneLimit) bool { return g.order.ID == o.ID && !g.rests })
	if s.gone[o.Symbol] = left; len(left) == 0 {
		delete(s.gone, o.Symbol)
	}
}

// explain says of what is gone what became of it, as far as that is known by now.
func (s *fillSource) explain(at time.Time) (events []Event) {
	for _, symbol := range slices.Sorted(maps.Keys(s.gone)) {
		found, left := s.explainMarket(symbol, s.gone[symbol], at)
		if len(found) == 0 {
			continue
		}
		events = append(events, found...)
		unclear := slices.ContainsFunc(found, func(e Event) bool { _, is := e.(LimitUnclear); return is })
		s.from[symbol] = base{s.numbers, !unclear}
		for i := range left {
			left[i].shot = s.numbers + 1 // what the account held now is before its fill, if it was filled
		}
		if s.gone[symbol] = left; len(left) == 0 {
			delete(s.gone, symbol)
		}
	}
	maps.DeleteFunc(s.done, func(_ trading.OrderID, since time.Time) bool { return at.Sub(since) > forget })
	maps.DeleteFunc(s.from, func(_ string, b base) bool { return b.shot < s.numbers-mostShots })
	return events
}

// explainMarket returns the ends of what is gone in a market, and what may have to show yet.
func (s *fillSource) explainMarket(symbol string, gone []goneLimit, at time.Time) (events []Event, left []goneLimit) {
	for _, g := range gone {
		if !readable(g.order) {
			return s.ends(gone, at, "its record shows no market, side, size or price"), nil
		}
	}
	if len(gone) > mostGone {
		return s.ends(gone, at, "many limits of the market have gone at once"), nil
	}
	now := s.shots[len(s.shots)-1]
	befores := s.befores(symbol, gone)
	for _, before := range befores {
		if fills, ok := fit(symbol, before, now, gone); ok {
			return s.filled(gone, fills, at)
		}
	}
	if at.Sub(gone[len(gone)-1].seen) < readLag {
		return nil, gone
	}
	if len(befores) == 0 {
		return s.ends(gone, at, "what the account held before is not known"), nil
	}
	oldest := befores[len(befores)-1]
	switch old := gone[0].seen.Sub(oldest.at) >= readLag; {
	case !s.quiet(symbol, oldest.number):
	case old, s.from[symbol] == base{oldest.number, true}:
		return s.ends(gone, at, ""), nil
	default:
		return s.ends(gone, at, "what the account held ten seconds before is not known"), nil
	}
	return s.ends(gone, at, "the market was traded, and not as the limit would have been filled alone"), nil
}

// quiet reports whether no shot since one differs in a market from the last.
func (s *fillSource) quiet(symbol string, since int) bool {
	now := s.shots[len(s.shots)-1]
	return !slices.ContainsFunc(s.shots, func(b shot) bool { return b.number >= since && !quiet(symbol, b, now) })
}

func readable(o trading.RestingOrder) bool {
	size, sized := o.Size.Get()
	price, priced := o.LimitPrice.Get()
	return o.Symbol != "" && (o.Side == trading.Long || o.Side == trading.Short) && sized && size.IsPositive() && priced && price.IsPositive()
}

// befores are the shots that what is gone may not show in yet, the newest first: the last one
// at which it rested, and those before, since positions may show a fill sooner than orders do.
func (s *fillSource) befores(symbol string, gone []goneLimit) (list []shot) {
	first := gone[0].shot
	var newest time.Time
	for _, b := range slices.Backward(s.shots) {
		if b.number >= first || b.number < s.from[symbol].shot {
			continue
		}
		if newest.IsZero() {
			newest = b.at
		}
		list = append(list, b)
		if newest.Sub(b.at) > readLag {
			break
		}
	}
	return list
}

// filled returns the events of what was filled, and the rest: it may have to show yet.
func (s *fillSource) filled(gone []goneLimit, fills map[int]fillOf, at time.Time) (events []Event, left []goneLimit) {
	for i, g := range gone {
		f, filled := fills[i]
		if !filled {
			left = append(left, g)
			continue
		}
		s.end(g, at)
		events = append(events, LimitFilled{at, s.account.ID(), g.order, g.size, f.price, f.fee, g.rests})
	}
	return events, left
}

// ends are those of limits that were not filled, or are unclear for a reason.
func (s *fillSource) ends(gone []goneLimit, at time.Time, reason string) (events []Event) {
	for _, g := range gone {
		s.end(g, at)
		switch {
		case reason != "":
			events = append(events, LimitUnclear{at, s.account.ID(), g.order, reason})
		case g.rests:
			events = append(events, LimitUnclear{at, s.account.ID(), g.order, "it rests with less, and nothing was traded of it"})
		default:
			events = append(events, LimitNotFilled{at, s.account.ID(), g.order})
		}
	}
	return events
}

// end remembers a limit that is explained.
func (s *fillSource) end(g goneLimit, at time.Time) {
	if !g.rests {
		s.done[g.order.ID] = at
	}
}
