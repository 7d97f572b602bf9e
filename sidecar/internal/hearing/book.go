// Package hearing decides what a write means that comes after one whose answer its bot may
// not have heard: a repeat of it, or something new. It is a pure book of times, without
// clock, connection or file, so that a search can walk through what bots and crashes do.
package hearing

import (
	"slices"
	"time"
)

// How long.
const (
	// Repeats is how long a write without a key is taken for a repeat of an equal one that was
	// not heard.
	Repeats = time.Minute
	// Lag is how long after an outcome a read of the account shows it for certain.
	Lag = 5 * time.Second
	// Forgotten is how long an entry that was not heard holds its market at the most, from its
	// outcome or its connection's end.
	Forgotten = 10 * time.Minute
)

// Kind is what a write can do.
type Kind uint8

// The kinds.
const (
	// Exit is what is carried out as often as it is asked for: cancels and levels.
	Exit Kind = iota
	// Partial closes a part, so a repeat closes more.
	Partial
	// Entry can add exposure.
	Entry
	// Close closes a whole position. It is carried out as an Exit is.
	Close
)

// Always reports whether a write is carried out as often as it is asked for.
func (k Kind) Always() bool { return k == Exit || k == Close }

// Outcome is what is known of a write.
type Outcome uint8

// The outcomes.
const (
	Unknown Outcome = iota
	Applied
	NotApplied
)

// Place is the market of one bot: what is not heard there concerns no other.
type Place struct{ Bot, Account, Market string }

// Write is a write as the book sees it. A field of its JSON is in files.
type Write struct {
	ID     string
	Place  Place
	Digest string // of operation and bytes
	Key    string // the bot's Idempotency-Key; empty without one
	Kind   Kind
	Waits  bool // it rests or runs, so orders have to be read too
}

// SameKey reports whether a write is the same decision as another: under one key, with the same bytes.
func (w Write) SameKey(of Write) bool {
	return w.Key != "" && w.Key == of.Key && w.Place == of.Place && w.Digest == of.Digest
}

// Verdict is what to do with a write.
type Verdict uint8

// The verdicts.
const (
	Carry Verdict = iota // it is carried out
	Join                 // it is a repeat: it waits for the other, and gets its answer
	Hold                 // nothing is sent: the bot has to read its account first
)

// open is a write that is not known to be heard.
type open struct {
	Write
	outcome Outcome
	known   time.Time // when the outcome was known; zero before
	left    time.Time // when its bot was gone, or its answer written; zero before
	joined  bool      // a repeat waits for it since its bot was gone
	behind  bool      // its bot has gone on while a call for it ran: who takes its answer may be nobody
	passed  bool      // its bot has heard something since that it may have acted on
	lost    bool      // an earlier run carried it out, and its answer is not known
	read    Reads     // what was read of the account since, and heard
}

// Reads are what a bot has read.
type Reads uint8

// The reads.
const (
	Positions Reads = 1 << iota
	Orders
)

// Book has what is open. It is not safe for concurrent use.
type Book struct {
	of map[Place][]*open
}

// Arrive judges a write, and notes it if it is to be carried out. heard says of an open write
// whether its bot has heard the answer, now that it matters. other is the write that it joins,
// or that holds it.
func (b *Book) Arrive(w Write, now time.Time, heard func(id string) bool) (v Verdict, other string) {
	v, other = b.judge(w, now, heard)
	if w.Kind == Close {
		b.goesOn(w.Place)
	}
	if v == Carry && !w.Kind.Always() {
		if b.of == nil {
			b.of = make(map[Place][]*open)
		}
		b.of[w.Place] = append(b.of[w.Place], &open{Write: w})
	}
	return v, other
}

func (b *Book) judge(w Write, now time.Time, heard func(id string) bool) (Verdict, string) {
	b.prune(w.Place, now, heard)
	if w.Kind.Always() {
		return Carry, ""
	}
	there := b.of[w.Place]
	for _, o := range slices.Backward(there) {
		if o.Kind != w.Kind || o.Digest != w.Digest {
			continue
		}
		if w.Key != "" && w.Key == o.Key {
			if o.lost {
				return Carry, "" // under its key, which executes once
			}
			o.repeated()
			return Join, o.ID
		}
		if w.Key == "" && o.repeatable(now) {
			o.repeated()
			return Join, o.ID
		}
	}
	for _, o := range there {
		switch {
		case w.Kind != Entry || o.Kind != Entry:
		case !o.holds() && o.Digest == w.Digest: // the same once more while it runs, under another key
			o.behind = true
			return Hold, o.ID
		case !o.holds():
		case w.Key != "" && w.Key == o.Key: // the service has it, and refuses other bytes
		default:
			return Hold, o.ID
		}
	}
	return Carry, ""
}

// repeatable reports whether an equal write without a key is this one again.
func (o *open) repeatable(now time.Time) bool {
	switch {
	case o.lost, o.passed, o.behind && !o.known.IsZero(): // that it was heard could not be seen
		return false
	case o.known.IsZero():
		return true // it runs: what it comes to is an answer for both
	}
	return now.Sub(latest(o.known, o.left)) <= Repeats
}

// holds reports whether other entries wait: its bot waits for no answer, or nobody knows what
// became of it. While its bot waits for it, another entry is one that the bot wants beside it.
func (o *open) holds() bool { return o.behind || !o.left.IsZero() }

// runs reports whether a connection waits for its answer.
func (o *open) runs() bool { return o.joined || o.left.IsZero() }

// repeated notes that a repeat waits for it. If a call for it runs, its bot has left that behind.
func (o *open) repeated() {
	o.behind = o.behind || o.runs()
	o.joined = true
}

// prune drops what was heard, and what is too old.
func (b *Book) prune(p Place, now time.Time, heard func(id string) bool) {
	b.keep(p, func(o *open) bool {
		switch {
		case o.outcome == NotApplied:
			return false
		case !o.known.IsZero() && !o.left.IsZero() && now.Sub(latest(o.known, o.left)) > Forgotten:
			return false
		}
		return o.lost || o.behind || o.known.IsZero() || o.left.IsZero() || !heard(o.ID)
	})
}

func (b *Book) keep(p Place, kept func(*open) bool) {
	if there := slices.DeleteFunc(b.of[p], func(o *open) bool { return !kept(o) }); len(there) > 0 {
		b.of[p] = there
	} else {
		delete(b.of, p)
	}
}

// Known notes what a write came to.
func (b *Book) Known(p Place, id string, outcome Outcome, now time.Time) {
	for _, o := range b.of[p] {
		if o.ID == id && outcome != Unknown && o.known.IsZero() {
			o.outcome, o.known = outcome, now
		}
	}
	if outcome == NotApplied {
		b.keep(p, func(o *open) bool { return o.ID != id })
	}
}

// Left notes that the answer of a write was written, or that its bot has gone before.
func (b *Book) Left(p Place, id string, now time.Time) {
	for _, o := range b.of[p] {
		if o.ID == id {
			o.left, o.joined = latest(o.left, now), false
		}
	}
}

// GoesOn notes that a bot asks for a read of an account. One that waits for an answer there does not:
// it has left that call behind, and nobody may take what it is answered. It is noted before the
// read is sent, which may not show what is executed after that.
func (b *Book) GoesOn(bot, account string) {
	for p := range b.of {
		if p.Bot == bot && p.Account == account {
			b.goesOn(p)
		}
	}
}

func (b *Book) goesOn(p Place) {
	for _, o := range b.of[p] {
		o.behind = o.behind || o.runs()
	}
}

// Answered notes that a write was answered with what it came to. The others in its market are no
// longer the last that its bot has asked for, those that run neither: a close may have closed
// what one of them opened.
func (b *Book) Answered(p Place, id string) {
	for _, o := range b.of[p] {
		if o.ID != id {
			o.passed = true
		}
	}
}

// Heard notes that a connection of its bot has taken the outcome of a write, and reports whether
// that closes it.
func (b *Book) Heard(p Place, id string) (closes bool) {
	closes = true
	b.keep(p, func(o *open) bool {
		if o.ID == id {
			closes = !o.behind && !o.known.IsZero()
			return !closes
		}
		return true
	})
	return closes
}

// Named notes that a bot names a write as one whose outcome it has heard, and reports whether that
// closes it. Who has not heard the answer does not know its name.
func (b *Book) Named(p Place, id string) (closes bool) {
	for _, o := range b.of[p] {
		if o.ID == id && !o.known.IsZero() {
			o.behind = false
		}
	}
	return b.Heard(p, id)
}

// Read notes that a bot has heard a read of an account, which began at a time. It closes what
// the read shows for certain, and returns that. What it may show or not is no longer repeated: it
// is held.
func (b *Book) Read(bot, account string, what Reads, began time.Time) (closed []string) {
	for p := range b.of {
		if p.Bot != bot || p.Account != account {
			continue
		}
		b.keep(p, func(o *open) bool {
			o.passed = true // it may show the write already, and the bot may want another
			if o.known.IsZero() || began.Sub(o.known) < Lag {
				return true
			}
			o.read |= what
			if o.read&Positions == 0 || o.Waits && o.read&Orders == 0 {
				return true
			}
			closed = append(closed, o.ID)
			return false
		})
	}
	return closed
}

// Restore notes a write that an earlier run of the program began and that is not noted as heard.
// The outcome may be known.
func (b *Book) Restore(w Write, outcome Outcome, now time.Time) {
	if outcome == NotApplied || w.Kind != Entry {
		return // an exit is carried out again
	}
	o := &open{Write: w, outcome: outcome, left: now, lost: true}
	if outcome == Applied {
		o.known = now
	}
	if b.of == nil {
		b.of = make(map[Place][]*open)
	}
	b.of[w.Place] = append(b.of[w.Place], o)
}

// Open are the writes that hold their market, for people.
func (b *Book) Open() (ids []string) {
	for _, there := range b.of {
		for _, o := range there {
			if o.Kind == Entry && o.holds() {
				ids = append(ids, o.ID)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids) // one of an earlier run is there again once its bot has repeated it
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
