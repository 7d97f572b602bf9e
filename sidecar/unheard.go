package sidecar

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/answers"
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
	written bool       // one of them was written, by an earlier run too
}

// read is a read of an account.
type read struct {
	account string
	what    hearing.Reads
	began   time.Time
	over    bool
	answer  answered // nil until it was answered with what it shows, and after it was heard
	heard   bool     // it was, now
}

// unheard knows which writes their bots may not have heard of.
type unheard struct {
	file record

	mu     sync.Mutex
	book   hearing.Book
	writes map[string]*write  // by id, while the book may name them
	read   map[string][]*read // by bot, newest last
}

func newUnheard(file record) *unheard {
	return &unheard{file: file, writes: map[string]*write{}, read: map[string][]*read{}}
}

// mostReads is how many reads of a bot are kept.
const mostReads = 16

// ticks is how exactly the kernel says when a request has come.
const ticks = 20 * time.Millisecond

// arrive judges a write that has come to this machine at a time. other is the one that it joins, or
// that holds it.
func (u *unheard) arrive(w *write, came, now time.Time) (v hearing.Verdict, other *write) {
	at := func(p hearing.Place) bool { return p == w.Place }
	u.listen(at, w.Place)
	u.leave(at, now)
	u.mu.Lock()
	defer u.mu.Unlock()
	overtaken := false // by a read that is under way, or that came later and was taken first
	for _, r := range u.read[w.Place.Bot] {
		overtaken = overtaken || r.account == w.Place.Account && (!r.over || r.began.Sub(came) > ticks)
		if !r.heard {
			continue
		}
		r.heard, r.answer = false, nil // it says nothing of what comes
		for _, id := range u.book.Read(w.Place.Bot, r.account, r.what, r.began) {
			u.file.heard(id)
		}
	}
	v, id := u.book.Arrive(w.Write, now, func(id string) bool { return u.writes[id] != nil && u.writes[id].heard })
	if v == hearing.Carry {
		u.sweep(now)
		u.writes[w.ID] = w
	}
	if overtaken {
		u.book.GoesOn(w.Place.Bot, w.Place.Account)
	}
	if other = u.writes[id]; v == hearing.Join && other != nil {
		other.waiting = append(other.waiting, w.waiting...)
	}
	return v, other
}

// listen finds out which answers in some markets were heard, and which reads of an account by its
// bot. To look at a connection can take a moment, so that is done without the lock.
func (u *unheard) listen(in func(hearing.Place) bool, by hearing.Place) {
	u.mu.Lock()
	writes := map[*write][]answered{}
	for _, w := range u.writes {
		if in(w.Place) && !w.Kind.Always() && !w.heard {
			writes[w] = slices.Clone(w.answers)
		}
	}
	reads := slices.DeleteFunc(slices.Clone(u.read[by.Bot]), func(r *read) bool { return r.account != by.Account || r.answer == nil })
	u.mu.Unlock()
	for w, answers := range writes {
		if slices.ContainsFunc(answers, answered.Heard) {
			u.hears(w)
		}
	}
	reads = slices.DeleteFunc(reads, func(r *read) bool { return !r.answer.Heard() })
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, r := range reads {
		r.heard = true
	}
}

// leave finds out for which writes in some markets no bot waits any more, without the lock too.
func (u *unheard) leave(in func(hearing.Place) bool, now time.Time) {
	u.mu.Lock()
	waiting := map[*write][]peer{}
	for _, w := range u.writes {
		if in(w.Place) && !w.Kind.Always() && w.ended.IsZero() {
			waiting[w] = slices.Clone(w.waiting)
		}
	}
	u.mu.Unlock()
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
}

// hears notes that a connection of a bot has taken what became of a write.
func (u *unheard) hears(w *write) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if w.heard {
		return
	}
	w.heard = true
	if u.book.Heard(w.Place, w.ID) {
		u.file.heard(w.ID)
	}
}

// named notes that a bot names writes of which it says that it has heard the outcome.
func (u *unheard) named(bot string, ids []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range ids {
		if w := u.writes[id]; w != nil && w.Place.Bot == bot && w.written && u.book.Named(w.Place, id) {
			u.file.heard(id)
		}
	}
}

// sweep forgets the writes that the book does not name any more, and of exits those that the file
// has forgotten.
func (u *unheard) sweep(now time.Time) {
	for id, w := range u.writes {
		kept, unknown := hearing.Forgotten+hearing.Repeats, w.outcome == trading.Unknown
		if unknown {
			kept = answers.Kept
		}
		if !w.ended.IsZero() && (w.Kind.Always() || !unknown) && (w.outcome == trading.NotApplied || now.Sub(w.ended) > kept) {
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
	if r.outcome == trading.Applied || whole && r.outcome != trading.Unknown { // a refusal of the sidecar's own is none of the key's
		u.file.settle(ctx, w.ID, r.outcome, now)
	}
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

// found notes what the client, or a person, found out about a write later. It is the write's own answer
// if there is one. It returns false of a write that is known no more.
func (u *unheard) found(ctx context.Context, id string, r reply, whole bool, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	w := u.writes[id]
	if w == nil || r.outcome == trading.Unknown {
		return false
	}
	u.know(ctx, w, r, whole, now)
	u.file.settle(ctx, id, r.outcome, now)
	return true
}

// runs reports whether the call of a write has not ended.
func (u *unheard) runs(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	w := u.writes[id]
	return w != nil && w.ended.IsZero()
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

// since returns when the outcome of a write was known, and whether its call has ended.
func (u *unheard) since(w *write) (known time.Time, ended bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return w.known, !w.ended.IsZero()
}

// outcomeOf returns what is known of a write, and since when: of one in doubt when its call ended.
func (u *unheard) outcomeOf(w *write) (r reply, outcome trading.Outcome, since time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if w.outcome == trading.Unknown {
		return w.reply, w.outcome, w.ended
	}
	return w.reply, w.outcome, w.known
}

// delivered notes that an answer to a write was written, or that its bot is gone. The answer is
// nil if it does not say what became of it.
func (u *unheard) delivered(w *write, a answered, now time.Time) {
	u.mu.Lock()
	says := a != nil && w.outcome != trading.Unknown
	u.book.Left(w.Place, w.ID, now)
	if says {
		w.written = true
		w.answers = append(w.answers, a)
		u.book.Answered(w.Place, w.ID)
	}
	u.mu.Unlock()
	if says && !w.Kind.Always() {
		a.OnHeard(func() { u.hears(w) })
	}
}

// reads notes that a bot asks for a read of an account, before it is sent; nil of what is none.
func (u *unheard) reads(q *request, now time.Time) *read {
	p := q.place()
	if p.Account == "" || q.op == trading.OpMarkets || q.op == trading.OpPrices {
		return nil
	}
	u.leave(func(of hearing.Place) bool { return of.Bot == p.Bot && of.Account == p.Account }, now)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.book.GoesOn(p.Bot, p.Account)
	r := &read{account: p.Account, what: shows[q.op], began: now}
	u.read[p.Bot] = append(u.read[p.Bot], r)
	u.read[p.Bot] = u.read[p.Bot][max(0, len(u.read[p.Bot])-mostReads):]
	return r
}

// readBy notes that a read is over. The answer is nil where it shows nothing of what writes did.
func (u *unheard) readBy(r *read, a answered) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r.over, r.answer = true, a
}

// open lists the writes that hold their market.
func (u *unheard) open() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.book.Open()
}

// markets are those in which a bot's further entries are held, but for some writes.
func (u *unheard) markets(but map[string]bool) (all []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range u.book.Open() {
		if w := u.writes[id]; w != nil && !but[id] {
			all = append(all, w.Place.Account+" "+w.Place.Market+" ("+w.Place.Bot+")")
		}
	}
	return all
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
