package accounting

// A small world: one account, one symbol that matters, and what can happen to it.
// It is written from the contract and imports nothing of the decision. Sizes are
// in quarters of the write's size.

const (
	unit     = 4 // the write's size
	maxRows  = 8
	maxOwn   = 5
	maxIDs   = 6
	idsBurst = 20
)

// The times of slots, in seconds; between slots 2 and 3 the write runs.
var slotTime = [...]int{10, 30, 50, 70, 90, 102, 107, 112}

const (
	fromTime  = 40
	writeTime = 60
	untilTime = 80
	lookTime  = 105
)

type row struct {
	side, cause int8
	t           int8
	burst       int8 // so many rows in another symbol
	copies      int8 // so many rows more, all equal
	size        int
	entry, exit int64
}

type order struct {
	id    uint8
	side  int8
	left  int
	isOwn bool
}

type ownWrite struct {
	t, slot, side        int8
	kind                 ActKind
	answered, inPosition bool
	size                 int // of its fill, or that waits
	percent, after       int
}

type list[T any] struct {
	n  int8
	at [maxIDs]T
}

func (l *list[T]) add(x T) { l.at[l.n] = x; l.n++ }

type world struct {
	pos                      int
	entry                    int64
	opened                   int8
	status                   uint8
	ended, beside, pendingID bool
	orders, runs             list[order]
	finished                 list[uint8] // oldest first
	rows                     [maxRows]row
	nRows                    int8
	own                      [maxOwn]ownWrite
	nOwn                     int8
	known                    uint32
	ran                      bool // the write did something
	filled                   int  // of it

	// How the world is.
	flatPrice, fullFlip bool
}

// IDs: below 4 the baseline's own, 9 the write's, from 10 the events'.
const (
	idOrder = 1
	idRun   = 2
	idWrite = 9
	idBurst = 0 // twenty of other symbols
)

func (w *world) price(t int) int64 {
	if w.flatPrice {
		return 100_000_000
	}
	return int64(100+t/3) * 1_000_000
}

func sign(x int) int8 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func abs(x int) int { return max(x, -x) }

func (w *world) close(size, t int, cause int8) {
	if size == 0 {
		return
	}
	side := sign(w.pos)
	w.rows[w.nRows] = row{side: side, cause: cause, t: int8(t), size: size, entry: w.entry, exit: w.price(t)}
	w.nRows++
	if w.pos -= int(side) * size; w.pos == 0 {
		w.entry, w.opened = 0, 0
	}
}

// trade executes an order and returns what it closed.
func (w *world) trade(side int8, size, t int) (closed int) {
	if sign(w.pos) == -side {
		closed = min(abs(w.pos), size)
		if w.fullFlip {
			closed = abs(w.pos)
		} else {
			size -= closed
		}
		w.close(closed, t, int8(Market))
	}
	if size == 0 {
		return closed
	}
	if w.pos == 0 {
		w.entry, w.opened = w.price(t), int8(t)
	} else {
		w.entry = (w.entry*int64(abs(w.pos)) + w.price(t)*int64(size)) / int64(abs(w.pos)+size)
	}
	w.pos += int(side) * size
	return closed
}

func (w *world) reduce(side int8, size, t int) int {
	if sign(w.pos) != -side {
		return 0
	}
	size = min(size, abs(w.pos))
	w.close(size, t, int8(Market))
	return size
}

func (w *world) note(o ownWrite) {
	w.own[w.nOwn] = o
	w.nOwn++
	if !o.answered {
		w.beside = true
	}
}

func (w *world) remove(l *list[order], i int8) order {
	o := l.at[i]
	copy(l.at[i:], l.at[i+1:])
	l.n--
	l.at[l.n] = order{}
	return o
}

// fill fills a resting order, whole or half.
func (w *world) fill(i int8, whole bool, t int) {
	o := &w.orders.at[i]
	size := o.left
	if !whole {
		size /= 2
	}
	if o.id == idWrite {
		w.filled += size
	}
	side := o.side
	if o.left -= size; o.left == 0 {
		w.remove(&w.orders, i)
	}
	w.trade(side, size, t)
}

func (w *world) halt(t int, status uint8, closeAll bool) {
	if closeAll {
		w.close(abs(w.pos), t, int8(Market))
	}
	w.status = status
	w.orders = list[order]{}
	for w.runs.n > 0 {
		w.finished.add(w.remove(&w.runs, 0).id)
	}
}

// event is something that happens beside the write. do reports whether it can.
type event struct {
	name   string
	others bool // somebody else's: not on an exclusive account
	own    bool // ours, beyond what rests or runs
	order  bool // answered with the position after it
	unans  bool
	do     func(w *world, t int, id uint8) bool
}

func ownOrder(side int8, size int, reduceOnly, answered bool) func(*world, int, uint8) bool {
	return func(w *world, t int, _ uint8) bool {
		if w.status != 0 && !reduceOnly || reduceOnly && sign(w.pos) != -side {
			return false
		}
		o := ownWrite{t: int8(t), slot: slotOf(t), kind: Entry, answered: answered, side: side, size: size}
		if reduceOnly {
			o.kind, o.size = ReduceOnly, w.reduce(side, size, t)
		} else {
			w.trade(side, size, t)
		}
		o.after = w.pos
		w.note(o)
		return true
	}
}

// slotOf is the slot of a time.
func slotOf(t int) (slot int8) {
	for i, at := range slotTime {
		if t >= at {
			slot = int8(i)
		}
	}
	return slot
}

func ownClose(pct int, answered bool) func(*world, int, uint8) bool {
	return func(w *world, t int, _ uint8) bool {
		size := abs(w.pos) * pct / 100
		if size == 0 {
			return false
		}
		w.close(size, t, int8(Market))
		w.note(ownWrite{t: int8(t), slot: slotOf(t), kind: Close, answered: answered, percent: pct})
		return true
	}
}

func pnlOf(r row) int64 { return int64(r.side) * int64(r.size) * (r.exit - r.entry) }

func otherTrade(side int8, size int) func(*world, int, uint8) bool {
	return func(w *world, t int, _ uint8) bool {
		if w.status != 0 {
			return false
		}
		w.trade(side, size, t)
		return true
	}
}

// open rests an order or starts a run.
func open(runs, mine, answered, elsewhere bool, side int8) func(*world, int, uint8) bool {
	return func(w *world, t int, id uint8) bool {
		l := &w.orders
		if runs {
			l = &w.runs
		}
		if w.status != 0 || l.n == maxIDs {
			return false
		}
		o := order{id: id, side: side, left: unit, isOwn: mine}
		if elsewhere {
			o.left = 0
		}
		l.add(o)
		if !mine {
			return true
		}
		if answered {
			w.known |= 1 << id
		} else {
			w.pendingID = true
		}
		if !elsewhere {
			o := ownWrite{t: int8(t), kind: Limit, answered: answered, side: side, size: unit}
			if runs {
				o.kind = Pro
			}
			w.note(o)
		}
		return true
	}
}

func burst(n int8) func(*world, int, uint8) bool {
	return func(w *world, t int, _ uint8) bool {
		w.rows[w.nRows] = row{burst: n, t: int8(t)}
		w.nRows++
		return true
	}
}

// unless is an event that happens but in some states.
func unless(not func(*world) bool, do func(w *world, t int, id uint8)) func(*world, int, uint8) bool {
	return func(w *world, t int, id uint8) bool {
		if not(w) {
			return false
		}
		do(w, t, id)
		return true
	}
}

var events = []event{
	{name: "own buy", own: true, order: true, do: ownOrder(1, unit, false, true)},
	{name: "own buy, unanswered", own: true, unans: true, do: ownOrder(1, unit, false, false)},
	{name: "own sell", own: true, order: true, do: ownOrder(-1, unit, false, true)},
	{name: "own sell, unanswered", own: true, unans: true, do: ownOrder(-1, unit, false, false)},
	{name: "own buy of twice the size", own: true, order: true, do: ownOrder(1, 2*unit, false, true)},
	{name: "own sell of twice the size", own: true, order: true, do: ownOrder(-1, 2*unit, false, true)},
	{name: "own close", own: true, do: ownClose(100, true)},
	{name: "own close, unanswered", own: true, unans: true, do: ownClose(100, false)},
	{name: "own close of a half", own: true, do: ownClose(50, true)},
	{name: "own reduce-only buy", own: true, order: true, do: ownOrder(1, unit/2, true, true)},
	{name: "own reduce-only sell", own: true, order: true, do: ownOrder(-1, unit/2, true, true)},
	{name: "stop loss", do: func(w *world, t int, _ uint8) bool {
		w.close(abs(w.pos), t, int8(StopLoss))
		return w.nRows > 0 && w.rows[w.nRows-1].t == int8(t)
	}},
	{name: "take profit of a half", do: unless(
		func(w *world) bool { return abs(w.pos) < 2 },
		func(w *world, t int, _ uint8) { w.close(abs(w.pos)/2, t, int8(TakeProfit)) })},
	{name: "first order fills", do: unless(
		func(w *world) bool { return w.orders.n == 0 || w.orders.at[0].left == 0 },
		func(w *world, t int, _ uint8) { w.fill(0, true, t) })},
	{name: "half of the first order fills", do: unless(
		func(w *world) bool { return w.orders.n == 0 || w.orders.at[0].left < 2 },
		func(w *world, t int, _ uint8) { w.fill(0, false, t) })},
	{name: "last order fills", do: unless(
		func(w *world) bool { return w.orders.n < 2 || w.orders.at[w.orders.n-1].left == 0 },
		func(w *world, t int, _ uint8) { w.fill(w.orders.n-1, true, t) })},
	{name: "half of the last order fills", do: unless(
		func(w *world) bool { return w.orders.n < 2 || w.orders.at[w.orders.n-1].left < 2 },
		func(w *world, t int, _ uint8) { w.fill(w.orders.n-1, false, t) })},
	{name: "a run's clip", do: unless(func(w *world) bool { return w.runs.n == 0 || w.runs.at[0].left < 2 }, func(w *world, t int, _ uint8) {
		w.runs.at[0].left -= 2
		w.trade(w.runs.at[0].side, 2, t)
	})},
	{name: "a run ends", do: unless(
		func(w *world) bool { return w.runs.n == 0 },
		func(w *world, _ int, _ uint8) { w.finished.add(w.remove(&w.runs, 0).id) })},
	{name: "a run rests an order", do: unless(func(w *world) bool { return w.runs.n == 0 || w.runs.at[0].left < 2 || w.orders.n == maxIDs }, func(w *world, _ int, id uint8) {
		w.runs.at[0].left -= 2
		w.orders.add(order{id: id, side: w.runs.at[0].side, left: 2, isOwn: true})
	})},
	{name: "other buys", others: true, do: otherTrade(1, unit)},
	{name: "other sells", others: true, do: otherTrade(-1, unit)},
	{name: "other buys a quarter", others: true, do: otherTrade(1, 1)},
	{name: "other sells a quarter", others: true, do: otherTrade(-1, 1)},
	{name: "other closes", others: true, do: unless(
		func(w *world) bool { return w.pos == 0 },
		func(w *world, t int, _ uint8) { w.close(abs(w.pos), t, int8(Market)) })},
	{name: "other closes a half", others: true, do: unless(
		func(w *world) bool { return abs(w.pos) < 2 },
		func(w *world, t int, _ uint8) { w.close(abs(w.pos)/2, t, int8(Market)) })},
	{name: "other cancels an order", others: true, do: unless(
		func(w *world) bool { return w.orders.n == 0 },
		func(w *world, _ int, _ uint8) { w.remove(&w.orders, w.orders.n-1) })},
	{name: "other rests an order", others: true, do: open(false, false, false, false, 1)},
	{name: "other starts a run", others: true, do: open(true, false, false, false, 1)},
	{name: "pass", do: unless(func(w *world) bool { return w.status != 0 }, func(w *world, t int, _ uint8) { w.halt(t, 1, true) })},
	{name: "pass that leaves the book", do: unless(
		func(w *world) bool { return w.status != 0 },
		func(w *world, t int, _ uint8) { w.halt(t, 1, false) })},
	{name: "liquidation", do: unless(func(w *world) bool { return w.status == 2 }, func(w *world, t int, _ uint8) { w.halt(t, 2, true) })},
	{name: "reset", do: func(w *world, _ int, _ uint8) bool {
		w.pos, w.entry, w.opened, w.nRows, w.status, w.ended = 0, 0, 0, 0, 0, true
		w.orders, w.runs, w.finished = list[order]{}, list[order]{}, list[uint8]{}
		return true
	}},
	{name: "own limit", own: true, do: open(false, true, true, false, 1)},
	{name: "own limit to sell", own: true, do: open(false, true, true, false, -1)},
	{name: "own limit, unanswered", own: true, unans: true, do: open(false, true, false, false, 1)},
	{name: "own limit in another symbol, unanswered", own: true, unans: true, do: open(false, true, false, true, 1)},
	{name: "own run", own: true, do: open(true, true, true, false, 1)},
	{name: "own run in another symbol, unanswered", own: true, unans: true, do: open(true, true, false, true, 1)},
	{name: "nineteen rows in another symbol", do: burst(19)},
	{name: "twenty rows in another symbol", do: burst(20)},
	{name: "twenty runs end in another symbol", do: func(w *world, _ int, _ uint8) bool {
		w.finished.add(idBurst)
		return true
	}},
}

// run executes the asked write, and reports whether the service accepts it.
func (w *world) run(a asked, fillAtOnce int) bool {
	if w.status == 2 || w.status == 1 && a.kind != Close && a.kind != ReduceOnly {
		return false
	}
	switch a.kind {
	case Entry:
		w.trade(1, unit, writeTime)
	case ReduceOnly:
		if w.reduce(1, unit, writeTime) == 0 {
			return false
		}
	case Close:
		size := abs(w.pos) * a.pct / 100
		if size == 0 {
			return false
		}
		w.close(size, writeTime, int8(Market))
	case Limit:
		if w.orders.n == maxIDs {
			return false
		}
		w.orders.add(order{id: idWrite, side: 1, left: unit, isOwn: true})
		switch fillAtOnce {
		case 1:
			w.fill(w.orders.n-1, false, writeTime)
		case 2:
			w.fill(w.orders.n-1, true, writeTime)
		}
	case Pro:
		if w.runs.n == maxIDs {
			return false
		}
		w.runs.add(order{id: idWrite, side: 1, left: unit, isOwn: true})
	case EditRun:
		if w.runs.n == 0 {
			return false
		}
		w.runs.at[0].left += unit
	}
	w.ran = true
	return true
}
