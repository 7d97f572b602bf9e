package largest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// place is where a write is with the service.
type place uint8

const (
	away   place = iota // it may still arrive
	rests               // with the service
	over                // nothing more of it is executed
	served = over
)

// knowledge is what the program knows of it.
type knowledge uint8

const (
	underway knowledge = iota
	doubted
	known
)

// order is a write of the program's, or a limit that somebody else has placed.
type order struct {
	Write
	place    place
	knows    knowledge
	applied  bool
	foreign  bool
	shown    bool // by a look, of a foreign one
	filled   decimal.Decimal
	filledAt time.Duration
	placedAt time.Duration
	after    decimal.Decimal
}

func (o *order) left() decimal.Decimal { return o.Size.Sub(o.filled) }

// id is that of what it leaves with the service.
func (o *order) id() string {
	if o.Kind == Now {
		return ""
	}
	return string(o.Kind) + "_" + o.ID
}

// state is the account at a time.
type state struct {
	at   time.Duration
	held decimal.Decimal
	open trading.OpenOrders
}

// trade is one that somebody else has made.
type trade struct {
	at   time.Duration
	size decimal.Decimal
}

// world is the service, and what has happened there.
type world struct {
	bound  Bound
	now    time.Duration
	held   decimal.Decimal
	orders []*order
	others []trade
	past   []state
	looked time.Duration // when the last look began
	wrong  string
}

var one, two = decimal.NewFromInt(1), decimal.NewFromInt(2)

func newWorld(make func(now func() time.Duration) Bound) *world {
	w := &world{now: 48 * time.Hour}
	w.bound = make(func() time.Duration { return w.now })
	w.past = []state{{}}
	return w
}

// keep notes the account as it is now.
func (w *world) keep() {
	s := state{at: w.now, held: w.held}
	for _, o := range w.orders {
		switch {
		case o.place != rests:
		case o.Kind == Running:
			s.open.Runs = append(s.open.Runs, trading.Run{
				ID: trading.RunID(o.id()), Symbol: Market, Side: trading.Long,
				Extra: trading.Extra{"executedSize": []byte(strconv.Quote(o.filled.String()))},
			})
		default:
			s.open.Limits = append(s.open.Limits, trading.RestingOrder{
				ID: trading.OrderID(o.id()), Symbol: Market, Side: trading.Long, Size: trading.Some(o.Size), LimitPrice: trading.Some(one),
			})
		}
	}
	w.past = append(w.past, s)
}

// seen is the account as a read shows it that lags.
func (w *world) seen(lag time.Duration) *state {
	for i := len(w.past) - 1; i > 0; i-- {
		if w.past[i].at <= w.now-lag {
			return &w.past[i]
		}
	}
	return &w.past[0]
}

// ages are how old what a look shows is: how long it took, and how long ago the orders and the
// positions were as it shows them.
type ages struct{ took, orders, positions time.Duration }

func (a ages) String() string {
	return fmt.Sprintf("a look of %s with orders of %s and positions of %s ago", a.took, a.orders, a.positions)
}

func (w *world) look(a ages) Look {
	open := w.seen(a.orders).open
	l := Look{Began: w.now - a.took, Ended: w.now, Open: &open}
	if held := w.seen(a.positions).held; held.IsPositive() {
		l.Positions = trading.Positions{{Symbol: Market, Side: trading.Long, Size: held, EntryPrice: one}}
	}
	if l.Began < w.looked { // a later one has overtaken it
		return l
	}
	w.looked = l.Began
	for i := range open.Limits {
		for _, o := range w.orders {
			o.shown = o.shown || o.id() == string(open.Limits[i].ID)
		}
	}
	return l
}

// views are the looks that there may be, of those that show the same one.
func (w *world) views() []ages {
	now, old := w.seen(0), w.seen(Lag)
	if now == old {
		return []ages{{}}
	}
	all := []ages{{}, {0, 0, Lag}, {0, Lag, Lag}, {Lag, 0, Lag}}
	if now.held.Equal(old.held) {
		return all
	}
	return append(all, ages{0, Lag, 0})
}

// worst is how large the position may get, without what nobody could see: what others did so
// lately that no read needs to show it.
func (w *world) worst() decimal.Decimal {
	sum := w.held
	for _, t := range w.others {
		if t.at > w.now-Lag {
			sum = sum.Sub(t.size)
		}
	}
	for _, o := range w.orders {
		switch {
		case o.foreign && o.place == rests:
			if o.shown || o.placedAt <= w.now-Lag {
				sum = sum.Add(o.left())
			}
		case o.foreign:
			if !o.shown && o.filledAt > w.now-Lag {
				sum = sum.Sub(o.filled)
			}
		case o.place == rests || o.place == away && w.now-o.Sent < Gone:
			sum = sum.Add(o.left())
		}
	}
	return sum
}

// enter asks for an entry.
func (w *world) enter(kind Kind, size decimal.Decimal, l Look) bool {
	o := &order{Write: Write{ID: fmt.Sprint(len(w.orders) + 1), Kind: kind, Size: size, Sent: w.now}}
	if !w.bound.Enter(l, o.Write) {
		return false
	}
	w.orders = append(w.orders, o)
	if worst := w.worst(); worst.GreaterThan(Limit) {
		w.wrong = fmt.Sprintf("unsafe: %s may be held, and %s are allowed", worst, Limit)
	}
	return true
}

// run lets the service have a write.
func (w *world) run(o *order) {
	o.applied, o.placedAt = true, w.now
	if o.Kind == Now {
		w.fill(o, o.Size)
		return
	}
	o.place = rests
	w.keep()
}

func (w *world) fill(o *order, size decimal.Decimal) {
	o.filled, o.filledAt = o.filled.Add(size), w.now
	w.held = w.held.Add(size)
	o.after = w.held
	if !o.left().IsPositive() {
		o.place = served
	}
	w.keep()
}

func (w *world) answer(o *order, bare bool) {
	a := Answer{Applied: o.applied}
	if o.applied && !bare {
		a.Order = o.id()
		if o.Kind == Now {
			a.After = o.after
		}
	}
	o.knows = known
	w.bound.Known(o.Write, a)
}

func (w *world) doubt(o *order) {
	o.knows = doubted
	w.bound.Doubt(o.Write)
}

// idle reports whether nothing is open; what is in doubt is over once nothing of it arrives any more.
func (w *world) idle() bool {
	for _, o := range w.orders {
		over := o.knows == doubted && w.now-o.Sent >= Gone
		if o.place == rests || o.knows != known && !over {
			return false
		}
	}
	return w.held.LessThan(Limit)
}

// useless lets fresh looks show what is, and asks for an entry within the limit.
func (w *world) useless() {
	for range 3 {
		w.now += Lag
		w.bound.See(w.look(ages{}))
	}
	w.now += Lag
	if size := Limit.Sub(w.held); !w.enter(Now, size, w.look(ages{})) {
		w.wrong = fmt.Sprintf("useless: %s are held, nothing is open, and an entry of %s is refused", w.held, size)
	}
}
