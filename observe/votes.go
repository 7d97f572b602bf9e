package observe

import (
	"net/http"

	"github.com/shopspring/decimal"
)

// fresh is the refusal that the first request of a key met; nil if it met something else.
func (r *Round) fresh() *Exchange {
	if x := r.at(stepFirst); x != nil && !x.Replayed && !x.success() && !x.aboutKey() {
		return x
	}
	return nil
}

// odd counts a first answer that no reading foresees: nobody had used the key before, and nothing
// can be cancelled by what cannot exist.
func (r *Round) odd(t *Tally) bool {
	x := r.at(stepFirst)
	switch {
	case x == nil:
		return true
	case x.Replayed:
		t.neither("the first answer to a fresh key is marked as stored: something on the way repeats requests", x)
	case x.success():
		t.neither("a cancel of what cannot exist was answered by success", x)
	case x.aboutKey():
		t.neither("the first answer to a fresh key is "+x.Code, x)
	default:
		return false
	}
	return true
}

func voteStored(r *Round, t *Tally) {
	was, is, other := r.at(stepFirst), r.at(stepAgain), r.at(stepAnother)
	switch {
	case r.odd(t) || is == nil:
	case !is.Replayed && !is.aboutKey() && other != nil && other.Code == codeReused:
		t.neither("the service knows the key, and its answer has no mark: the mark is lost, or something on the way kept the answer", was, is, other)
	default:
		storedOrInFront(t, was, is)
	}
}

// storedOrInFront is stored, unless the account that was named may be refused in front of the key.
func storedOrInFront(t *Tally, was, is *Exchange) {
	if !is.Replayed && sameRefusal(was, is) && was.Code != codeNoOrder && was.Code != codeNoRun {
		t.doubtful(was, is)
		return
	}
	stored(t, pair{was, is})
}

// again votes on a step that goes under a key that is taken.
func (r *Round) again(step int, vote func(pair)) {
	if was, is := r.fresh(), r.at(step); was != nil && is != nil {
		vote(pair{was, is})
	}
}

func voteOtherBytes(r *Round, t *Tally) { r.underTakenKey(t, stepAnother, "other bytes") }

func voteRoutes(r *Round, t *Tally) { r.underTakenKey(t, stepElsewhere, "another route") }

// underTakenKey votes on a step that the key of another request must meet with 422, or that runs
// as if the key were free.
func (r *Round) underTakenKey(t *Tally, step int, what string) {
	r.again(step, func(p pair) {
		switch {
		case p.is.reused(), p.is.Replayed:
			p.another(t, what)
		case sameRefusal(p.was, p.is), p.is.Status == p.was.Status && p.is.ofNothing():
			t.other(p.was, p.is)
		default:
			t.neither(what+" was answered by neither reading", p.was, p.is)
		}
	})
}

func voteMeaning(r *Round, t *Tally) { r.again(stepSpaced, func(p pair) { p.meaning(t) }) }

func voteValidation(r *Round, t *Tally) { r.again(stepBare, func(p pair) { p.validation(t) }) }

func voteReplayBytes(r *Round, t *Tally) { r.again(stepAgain, func(p pair) { p.replayBytes(t) }) }

// voteNothing is about a cancel on an account that could have had the order.
func voteNothing(r *Round, t *Tally) {
	x := r.at(stepFirst)
	if x == nil || !r.own || x.Replayed || x.ofAccount() {
		return
	}
	t.either(x.Status == http.StatusNotFound && x.Code == codeNoOrder, x)
}

func voteBareStored(r *Round, t *Tally) {
	was, is := r.at(0), r.at(1)
	switch {
	case was == nil || is == nil:
	case was.Replayed:
		t.neither("the first answer to a fresh key is marked as stored: something on the way repeats requests", was)
	case !was.refusedForBody():
		t.neither("a cancel without an account was not refused for its fields", was)
	default:
		stored(t, pair{was, is})
	}
}

func voteTwice(r *Round, t *Tally) {
	x := r.at(0)
	switch {
	case x == nil:
	case x.Code == "invalid_idempotency_key":
		t.first(x)
	case x.Replayed || !x.ofNothing():
		t.neither("two keys were answered by neither reading", x)
	default:
		t.other(x)
	}
}

func voteTwoKeys(r *Round, t *Tally) {
	if was, is := r.fresh(), r.at(1); was != nil && is != nil {
		storedOrInFront(t, was, is)
	}
}

// severalWords is what equal requests at once must not meet.
const severalWords = "several equal requests at once were answered each in another way: one may have run, or several"

// joinedOrRan is what equal answers to equal requests at once leave open.
const joinedOrRan = "several equal requests at once were answered as the first: they ran beside each other, or something on the way joined them"

func voteBeside(r *Round, t *Tally) {
	if r.answered() {
		besideOf(r.Steps, t)
	}
}

// answered reports whether each request of a round was.
func (r *Round) answered() bool {
	for i := range r.Steps {
		if r.at(i) == nil {
			return false
		}
	}
	return len(r.Steps) > 0
}

// voteTwins is about equal orders at once, and the position behind them.
func voteTwins(r *Round, t *Tally) {
	last := len(r.Steps) - 1
	orders := &Round{Steps: r.Steps[:max(last, 0)]}
	if r.at(last) == nil || !orders.answered() {
		return
	}
	ran, read := asFirst(orders.Steps), r.Steps[last]
	one, err := decimal.NewFromString(sizeOf(r.Steps[0]))
	_, size, ok := entryOf(read)
	switch {
	case err != nil || !ok || size.LessThan(one):
	case size.GreaterThan(one):
		t.other(append(ran[:min(2, len(ran))], read)...)
	case len(ran) == 1:
		t.first(ran[0], read)
	default:
		t.neither("several equal orders at once were answered as the first, and one was executed: something on the way joined them", append(ran[:min(2, len(ran))], read)...)
	}
}

func voteStays(r *Round, t *Tally) { r.later(t, true) }
func voteGone(r *Round, t *Tally)  { r.later(t, false) }

// later votes on the second visit: whether the stored answer came.
func (r *Round) later(t *Tally, there bool) {
	x := r.at(0)
	switch {
	case x == nil:
	case x.Replayed:
		t.either(there, x)
	case x.ofNothing():
		t.either(!there, x)
	default:
		t.neither("a key of another day was answered by "+word(x), x)
	}
}
