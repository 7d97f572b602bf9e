package sidecar

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// answered says whether an answer that was written to a bot was heard.
type answered interface {
	Heard() bool
	// OnHeard sets what is called once that is known by itself.
	OnHeard(func())
}

// write is a write on its way, or one that its bot may not have heard of.
type write struct {
	hearing.Write
	over  chan struct{} // closed when the call has ended
	begun bool          // it is in the file
	lost  bool          // an earlier run carried it out
	asks  *asks         // of a live entry

	// What follows is the lock's of [unheard].
	reply   reply
	outcome trading.Outcome
	whole   bool // the reply is what the service answered
	intent  trading.IntentID
	ended   time.Time
	known   time.Time  // when the outcome was
	waiting []peer     // who has asked for it, until its call has ended
	answers []answered // by which its bot was answered the outcome
	heard   bool       // one of them was heard
}

// read is a read of an account that was answered.
type read struct {
	account string
	what    hearing.Reads
	began   time.Time
	answer  answered
	heard   bool
}

// unheard knows which writes their bots may not have heard of.
type unheard struct {
	file record

	mu     sync.Mutex
	book   hearing.Book
	writes map[string]*write  // by id, while the book may name them
	reads  map[string][]*read // by bot, newest last
}

func newUnheard(file record) *unheard {
	return &unheard{file: file, writes: map[string]*write{}, reads: map[string][]*read{}}
}

// mostReads is how many reads of a bot are kept until it is known whether they were heard.
const mostReads = 16

// arrive judges a write. other is the one that it joins, or that holds it.
func (u *unheard) arrive(w *write, now time.Time) (v hearing.Verdict, other *write) {
	u.listen(w.Place, now)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reads[w.Place.Bot] = slices.DeleteFunc(u.reads[w.Place.Bot], func(r *read) bool {
		if r.heard {
			u.book.Read(w.Place.Bot, r.account, r.what, r.began)
		}
		return r.heard
	})
	v, id := u.book.Arrive(w.Write, now, func(id string) bool { return u.writes[id] != nil && u.writes[id].heard })
	if v == hearing.Carry {
		u.sweep(now)
		u.writes[w.ID] = w
	}
	if other = u.writes[id]; v == hearing.Join && other != nil {
		other.waiting = append(other.waiting, w.waiting...)
	}
	return v, other
}

// listen finds out which answers a bot has heard that matter in a market, and for which it does not
// wait any more; of all bots and markets at the end. To look at a connection can take a moment, so
// that is done without the lock.
func (u *unheard) listen(at hearing.Place, now time.Time) {
	all := at == hearing.Place{}
	u.mu.Lock()
	writes, waiting := map[*write][]answered{}, map[*write][]peer{}
	for _, w := range u.writes {
		if (all || w.Place == at) && w.Kind != hearing.Exit && !w.heard {
			writes[w] = slices.Clone(w.answers)
			if w.ended.IsZero() {
				waiting[w] = slices.Clone(w.waiting)
			}
		}
	}
	reads := slices.Clone(u.reads[at.Bot])
	u.mu.Unlock()
	for w, answers := range writes {
		if slices.ContainsFunc(answers, answered.Heard) {
			u.hears(w)
		}
	}
	reads = slices.DeleteFunc(reads, func(r *read) bool { return r.account != at.Account || !r.answer.Heard() })
	for w, peers := range waiting {
		if slices.ContainsFunc(peers, func(p peer) bool { return !p.left() }) {
			delete(waiting, w)
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for w := range waiting {
		u.book.Left(w.Place, w.ID, now)
	}
	for _, r := range reads {
		r.heard = true
	}
}

// hears notes that a bot has heard what became of a write.
func (u *unheard) hears(w *write) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !w.heard {
		w.heard = true
		u.book.Heard(w.Place, w.ID)
		u.file.heard(w.ID)
	}
}

// sweep forgets the writes that the book does not name any more.
func (u *unheard) sweep(now time.Time) {
	for id, w := range u.writes {
		if w.ended.IsZero() || w.outcome == trading.Unknown {
			continue
		}
		if w.outcome == trading.NotApplied || now.Sub(w.ended) > hearing.Forgotten+hearing.Repeats {
			delete(u.writes, id)
		}
	}
}

// end notes what the call of a write came to. It returns what its bot is answered, which a
// resolution that came meanwhile may have decided.
func (u *unheard) end(ctx context.Context, w *write, r reply, whole bool, intent trading.IntentID, now time.Time) reply {
	u.mu.Lock()
	defer u.mu.Unlock()
	defer close(w.over)
	w.ended, w.intent = now, intent
	if r.outcome == trading.Unknown && w.outcome != trading.Unknown { // it was found out a moment ago
		return w.reply
	}
	u.know(ctx, w, r, whole, now)
	return r
}

// know notes what a write came to.
func (u *unheard) know(ctx context.Context, w *write, r reply, whole bool, now time.Time) {
	if !w.whole {
		w.reply, w.whole = r, whole
	}
	if w.outcome = r.outcome; r.unsent {
		w.outcome = trading.NotApplied
	}
	if w.outcome != trading.Unknown && w.known.IsZero() {
		w.known = now
	}
	u.book.Known(w.Place, w.ID, bookOutcome(w.outcome), now)
	if w.begun {
		u.file.known(ctx, w.ID, r, whole, now)
	}
}

// found notes what the client found out about a write later. It is the write's own answer if
// there is one.
func (u *unheard) found(ctx context.Context, id string, r reply, whole bool, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	w := u.writes[id]
	if w == nil || r.outcome == trading.Unknown {
		return
	}
	u.know(ctx, w, r, whole, now)
}

// again returns the write of an earlier run that a request repeats under its key.
func (u *unheard) again(q *request) (id string, ok bool) {
	if q.key == "" {
		return "", false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, w := range u.writes {
		if w.lost && w.Key == q.key && w.Place == q.place() && w.Digest == q.digest() {
			return id, true
		}
	}
	return "", false
}

// byID returns a write that the book may name.
func (u *unheard) byID(id string) *write {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.writes[id]
}

// of returns what is known of a write whose call has ended.
func (u *unheard) of(w *write) (r reply, outcome trading.Outcome, intent trading.IntentID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return w.reply, w.outcome, w.intent
}

// outcomeOf returns what is known of a write, and since when.
func (u *unheard) outcomeOf(w *write) (r reply, outcome trading.Outcome, known time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return w.reply, w.outcome, w.known
}

// delivered notes that an answer to a write was written, or that its bot is gone. The answer is
// nil if it does not say what became of it.
func (u *unheard) delivered(w *write, a answered, now time.Time) {
	u.mu.Lock()
	says := a != nil && w.outcome != trading.Unknown
	u.book.Left(w.Place, w.ID, now)
	if says {
		w.answers = append(w.answers, a)
		u.book.Answered(w.Place, w.ID)
	}
	u.mu.Unlock()
	if says && w.Kind != hearing.Exit {
		a.OnHeard(func() { u.hears(w) })
	}
}

// readBy notes that a bot was answered a read of an account.
func (u *unheard) readBy(bot string, r *read) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reads[bot] = append(u.reads[bot], r)
	u.reads[bot] = u.reads[bot][max(0, len(u.reads[bot])-mostReads):]
}

// open lists the writes that hold their market.
func (u *unheard) open() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.book.Open()
}

// restore notes a write of an earlier run.
func (u *unheard) restore(w *write, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.writes[w.ID] = w
	u.book.Restore(w.Write, bookOutcome(w.outcome), now)
}

func bookOutcome(o trading.Outcome) hearing.Outcome {
	switch o {
	case trading.Applied:
		return hearing.Applied
	case trading.NotApplied:
		return hearing.NotApplied
	default:
		return hearing.Unknown
	}
}
