package books

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// Programs that are killed, whatever their books say then, and go on from their journal.

// kept is the journal of a write.
type kept struct {
	began bool
	notes [][]byte
}

func (k *kept) note(n Note) { k.notes = append(k.notes, encoded(n)) }

func encoded(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// fold is what the next run reads.
func (k *kept) fold() (all Note) {
	for i, text := range k.notes {
		var n Note
		if err := json.Unmarshal(text, &n); err != nil {
			panic(err)
		}
		if i == 0 {
			all = n
			continue
		}
		all.Add(n)
	}
	return all
}

// books enters a write, and puts it into its journal; missing: that takes nothing meanwhile.
func (w *world) books(b *Booked, missing bool) *kept {
	of := &kept{}
	b.Note = func(n Note) error {
		if !w.broken && w.takes() {
			of.note(n)
		}
		return nil
	}
	n := w.Enter(b)
	if missing {
		w.say("%s is in no journal", b.ID)
		w.broken, w.gap = true, true
		return of
	}
	hears := w.waits && !w.dead && w.dice.IntN(30) == 0 // of its beginning, but later: another one goes meanwhile
	if hears && w.dice.IntN(2) == 0 {
		w.beside()
	}
	if of.began = w.takes(); !of.began {
		return of
	}
	of.notes = slices.Insert(of.notes, 0, encoded(n))
	if hears && !w.dead {
		w.beside()
		w.dead = w.dead || w.dice.IntN(2) == 0
	}
	return of
}

// beside writes while another write is under way.
func (w *world) beside() {
	w.deep++
	defer func() { w.deep-- }()
	next := anOrder + w.dice.IntN(2)
	if w.waits && w.blind { // no entry goes before the journal was read
		next = aClose
	}
	w.write(next)
}

// takes reports whether the program lives to see that a journal takes a record, which may be the last.
func (w *world) takes() bool {
	if w.dead || !w.waits {
		return !w.dead
	}
	w.dead = w.dice.IntN(60) == 0
	return !w.dead || w.dice.IntN(2) == 0
}

// leaves takes a write out, and reports whether its end is in the journal then.
func (w *world) leaves(b *Booked, did *Did) bool {
	_ = w.Leave(b, did)
	w.broken = false
	if !w.takes() {
		return false
	}
	w.still = w.Still()
	return true
}

// each has the books see a read, and those of the run before.
func (w *world) each(saw func(*Books)) {
	saw(w.Books)
	if w.shadow != nil {
		saw(w.shadow)
	}
}

// begin begins another run.
func (w *world) begin(by Earlier) {
	w.Books = New(time.Now(), by, nil)
	if !w.shared {
		w.Declare(declared)
	}
}

// restart kills the program. Whatever its books were, the verdicts of the next one by the same
// looks are the same or Unknown, or decide what was Unknown, and are true.
func (w *world) restart() {
	w.say("is killed, gap %t", w.gap)
	left := slices.DeleteFunc(slices.Concat(w.doubt, w.left), func(l *lost) bool { return !l.journal.began })
	w.doubt = slices.DeleteFunc(w.doubt, func(l *lost) bool { return !l.journal.began })
	w.found["restarts"]++
	w.dead = false
	w.gap = w.gap && len(left) > 0
	before, by, ended := w.Books, Earlier{}, w.wrote
	if len(left) == 0 {
		by.Still = w.still
		by.Since = func(at time.Time) (time.Duration, bool) { return at.Sub(ended), !ended.IsZero() }
	}
	w.pass([]int{1000, 30_000}[w.dice.IntN(2)])
	w.begin(by)
	for w.dice.IntN(3) == 0 { // it reads before it goes on
		w.read(w.dice.IntN(3))
	}
	if len(left) > 0 && w.dice.IntN(12) == 0 { // an exit goes although the journal cannot be read
		w.blind = true
		w.write(aClose)
		w.blind = false
	}
	var all []Left
	for _, l := range left {
		note := l.journal.fold()
		if l.gap = w.gap; l.gap {
			note.Gap()
		}
		b := l.Booked
		l.before = b
		l.Booked = &Booked{ID: b.ID, Asked: b.Asked, Places: b.Places, Entry: b.Entry, Run: b.Run, Note: b.Note}
		b.Note = func(Note) error { return nil } // it is dead
		l.given = note.MarketOpen
		l.look, l.held = nil, time.Now()
		all = append(all, Left{l.Booked, note})
		w.found["left"]++
	}
	w.Restore(all...)
	if w.dice.IntN(3) == 0 {
		w.lookAhead()
	} else {
		w.compare(left, before)
	}
}

// lookAhead has a program that has begun touch its account, read it as far as its first entry needs that,
// and enter. It may read more, get out, or lose its patience meanwhile, and what waits may trade.
func (w *world) lookAhead() {
	moves := w.moves
	w.moves = 2
	defer func() { w.moves, w.losing = moves, false }()
	w.read(w.dice.IntN(4))
	for !w.Looked(mine) && w.dice.IntN(20) > 0 {
		switch left, orders := w.FirstLook(mine, "", time.Now()); {
		case left > 0:
			part := time.Duration(w.dice.Int64N(int64(left))) + 1
			time.Sleep(part)
			switch w.dice.IntN(8) {
			case 0:
				w.write(aClose)
			case 1, 2:
				w.read(w.dice.IntN(3))
			case 3:
				w.byItself()
			}
			time.Sleep(left - part)
		case orders:
			w.read(2)
		default:
			w.look()
			w.found["looked ahead"]++
		}
	}
	w.losing = true
	w.write(anOrder)
}

// compare judges what was left by the books of the run before and by those of this one.
func (w *world) compare(left []*lost, before *Books) {
	for _, l := range left {
		before.Doubt(l.before)
	}
	w.shadow = before
	defer func() { w.shadow = nil }()
	var looks []*look
	for range 3 {
		time.Sleep(ledger.Lag)
		looks = append(looks, w.look())
	}
	for _, l := range left {
		was, before := judged(w, before, l.before, l, looks...)
		is, why := judged(w, w.Books, l.Booked, l, looks...)
		w.say("%s: before the restart %d, %s, after it %d, %s", l.ID, was, before, is, why)
		switch {
		case is == ledger.Applied && !l.ran, is == ledger.NotApplied && l.ran, is != ledger.Unknown && was != ledger.Unknown && is != was:
			w.wrong = true
		case is != ledger.Unknown && was == ledger.Unknown: // its journal has an older baseline, which fewer histories fit
			w.found["a restart decides it"]++
		}
		w.found["compared"]++
		if was != ledger.Unknown && is == ledger.Unknown {
			w.found["a restart makes it unknown"]++
		}
	}
}

// judged is a verdict by some looks: of an order or a close by the last two.
func judged(w *world, b *Books, of *Booked, l *lost, looks ...*look) (ledger.Outcome, accounting.Reason) {
	if !of.Asked.Kind.Acts() {
		began, last := []time.Time{looks[0].at}, looks[0]
		for _, next := range looks[1:] {
			if !last.of(l.market).Equal(next.of(l.market), markets[l.market]) {
				began = nil
			}
			began, last = append(began, next.at), next
		}
		return w.byID(b, of, l, began, last, true)
	}
	first, second := looks[len(looks)-2], looks[len(looks)-1]
	c, ok := b.Course(of, true, !w.shared && !l.gap, "ACTIVE")
	if !ok {
		return ledger.Unknown, accounting.NoBaseline
	}
	w.say("%s", &c)
	show := second.of(l.market)
	if !first.of(l.market).Equal(show, markets[l.market]) || !c.still(first.at, show.Position.Size, show.Rows) {
		return ledger.Unknown, accounting.LookAgain
	}
	return c.Of(c.asked, accounting.NoAct).Verdict()
}

// byID is the verdict on what waits, by the last of some equal looks.
func (w *world) byID(b *Books, of *Booked, l *lost, began []time.Time, last *look, again bool) (ledger.Outcome, accounting.Reason) {
	began = began[max(0, len(began)-3):]
	from := time.Time{}
	if len(began) > 1 {
		from = began[0]
	}
	beside := slices.ContainsFunc(slices.Concat(w.doubt, w.left), func(o *lost) bool {
		return o != l && !o.over && !o.given && (o.market == l.market || !o.Asked.Kind.Acts())
	})
	f := b.Known(of, true, !w.shared && !l.gap, last.of(l.market), from)
	f.EqualLooks, f.Symbol, f.Held, f.Again, f.PendingBeside = len(began), markets[l.market], true, again, beside
	v := accounting.Judge(f)
	w.found["by id "+v.Outcome.String()]++
	return v.Outcome, v.Reason
}
