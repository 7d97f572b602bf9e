package books

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// What a program of the search reads.

// read has the program read one thing.
func (w *world) read(what int) accountState {
	begun := time.Now()
	w.pass(100)
	s := w.seen([...]int{0, 1, 2, 2, whatEnded}[what])
	w.pass(100)
	at := Read{begun, time.Now()}
	switch what {
	case 0:
		var held []Held
		for i, pos := range s.pos {
			if pos != 0 {
				held = append(held, Held{Symbol: markets[i], Holding: positionOf(pos)})
			}
		}
		w.held = s.pos
		w.each(func(b *Books) { b.SawPositions(mine, at, held) })
		w.say("read positions: %d", s.pos)
	case 1:
		w.each(func(b *Books) { b.SawTrades(mine, at, s.list) })
		w.say("read trades: %d", len(s.rows))
	case 2:
		resting, running := s.waiting()
		w.each(func(b *Books) { b.SawOrders(mine, at, resting, running) })
		w.say("read what waits: %v", s.rests)
	case 4:
		w.each(func(b *Books) { b.SawFinished(mine, at, s.finished()) })
		w.say("read what has ended: %v", s.ended)
	default:
		w.each(func(b *Books) { b.SawStatus(mine, begun, "ACTIVE") })
	}
	return s
}

func positionOf(pos int) accounting.Holding {
	return accounting.Holding{Size: decimal.NewFromInt(int64(pos))}
}

func (s accountState) list(most int) []accounting.Row {
	list := slices.Clone(s.rows[max(0, len(s.rows)-min(most, s.cut)):])
	slices.Reverse(list)
	return list
}

func (s accountState) finished() accounting.Newest {
	return accounting.NewestOf(len(s.ended), func(i int) string { return s.ended[i] })
}

func (s accountState) waiting() (resting, running []accounting.Waiting) {
	for _, o := range s.rests {
		if o.run {
			running = append(running, accounting.Waiting{ID: o.id, Symbol: markets[o.market], Side: accounting.Direction(o.side)})
		} else {
			resting = append(resting, accounting.Waiting{ID: o.id, Symbol: markets[o.market], Side: accounting.Direction(o.side), Size: decimal.NewNullDecimal(decimal.NewFromInt(int64(o.left)))})
		}
	}
	return resting, running
}

// look reads everything, in the client's order.
func (w *world) look() *look {
	l := &look{at: time.Now()}
	w.read(3)
	l.shows.Status = "ACTIVE"
	l.pos = w.read(0).pos
	resting, running := w.read(2).waiting()
	l.shows.Orders, l.shows.Runs = IDsOf(resting), IDsOf(running)
	if w.waits {
		l.shows.Finished = w.read(4).finished()
	}
	l.shows.Rows = w.read(1).list(512)
	l.ended = time.Now()
	return l
}
