package accounting

// A world for replays: one account, one symbol, a price that stands still, so that rows
// of one side and size are equal. It is written from the contract and imports nothing of
// the replay. Sizes are in the service's smallest unit.

// tale is what can happen, and what has.
type tale struct {
	// How the world is.
	fullFlip bool
	roundUp  bool // the share that a close takes
	// shownLate: the position in an answer is read after the order has run.
	shownLate bool
	late      bool // also where something that rests, or somebody else, has traded since
	last      int  // the write that ran last, until something else happens but a stop

	pos      int
	rows     [8]taleRow
	nRows    int
	writes   [5]taleWrite
	nWrites  int
	clock    int // counts sends, answers and holds
	halted   bool
	resting  [2]int // left of an own order that buys, and of one that sells
	triggers int
}

type taleRow struct {
	side, cause int8
	size        int
}

// order is what a write asks for.
type taleOrder struct {
	name    string
	kind    ActKind
	side    int8
	size    int
	percent int
}

type taleWrite struct {
	of          int // an order
	lost        bool
	sent, ended int
	ran         bool
	refused     bool
	after       int
	filled      int // of an order
}

const taleUnit = 4

var taleOrders = []taleOrder{
	{"buy", Entry, 1, taleUnit, 0},
	{"sell", Entry, -1, taleUnit, 0},
	{"buy two", Entry, 1, 2 * taleUnit, 0},
	{"sell two", Entry, -1, 2 * taleUnit, 0},
	{"close", Close, 0, 0, 100},
	{"close half", Close, 0, 0, 50},
	{"close 8 %", Close, 0, 0, 8},
	{"reduce-only buy", ReduceOnly, 1, taleUnit, 0},
	{"reduce-only sell", ReduceOnly, -1, taleUnit, 0},
}

func (w *tale) close(size int, cause Cause) {
	w.rows[w.nRows] = taleRow{side: sign(w.pos), cause: int8(cause), size: size}
	w.nRows++
	w.pos -= int(sign(w.pos)) * size
}

// trade fills an order.
func (w *tale) trade(side int8, size int) {
	if sign(w.pos) == -side {
		closed := min(abs(w.pos), size)
		if w.fullFlip {
			closed = abs(w.pos)
		} else {
			size -= closed
		}
		w.close(closed, Market)
	}
	w.pos += int(side) * size
}

// execute carries a write out; false if the service refuses it.
func (w *tale) execute(o *taleOrder) bool {
	switch o.kind {
	case Entry:
		if w.halted {
			return false
		}
		w.trade(o.side, o.size)
	case ReduceOnly:
		if sign(w.pos) != -o.side {
			return false
		}
		w.close(min(abs(w.pos), o.size), Market)
	default:
		if w.pos == 0 {
			return false
		}
		share := abs(w.pos) * o.percent
		if w.roundUp {
			share += 99
		}
		if share /= 100; share == 0 {
			share = abs(w.pos)
		}
		w.close(share, Market)
	}
	return true
}

// tick is the next place in the order of sends and answers.
func (w *tale) tick() int { w.clock++; return w.clock }

func (w *tale) send(of int, lost bool) {
	w.writes[w.nWrites] = taleWrite{of: of, lost: lost, sent: w.tick()}
	w.nWrites++
}

// run lets a write that was sent run.
func (w *tale) run(i int) {
	t := &w.writes[i]
	t.ran = w.execute(&taleOrders[t.of])
	t.refused = !t.ran
	t.after, w.last = w.pos, i+1
	if t.filled = taleOrders[t.of].size; t.ran && taleOrders[t.of].kind == ReduceOnly {
		t.filled = w.rows[w.nRows-1].size
	}
}

// end answers a write, or holds one that is lost.
func (w *tale) end(i int) {
	w.writes[i].ended = w.tick()
}

// byItself lets happen what no write is; false if it cannot.
func (w *tale) byItself(what int) bool {
	switch {
	case what == stopFires && w.pos != 0:
		w.close(abs(w.pos), StopLoss)
	case what == halfFires && abs(w.pos) > 1:
		w.close(abs(w.pos)/2, TakeProfit)
	case what == passes && !w.halted:
		if w.halted = true; w.pos != 0 {
			w.close(abs(w.pos), Market)
		}
		w.resting = [2]int{}
	case what == restingBuys && w.resting[0] > 0:
		w.resting[0] -= 2
		w.trade(1, 2)
	case what == restingSells && w.resting[1] > 0:
		w.resting[1] -= 2
		w.trade(-1, 2)
	default:
		return false
	}
	if what > halfFires && !w.late {
		w.last = 0
	}
	if w.shownLate && w.last > 0 && w.writes[w.last-1].ended == 0 {
		w.writes[w.last-1].after = w.pos
	}
	w.triggers++
	return true
}

const (
	stopFires = iota
	halfFires
	passes
	restingBuys
	restingSells
	manyEvents
)
