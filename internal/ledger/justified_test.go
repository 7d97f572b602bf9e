package ledger

import (
	"maps"
	"slices"
	"time"
)

// unplaced reports whether every send under the present key has an answer by which
// nothing was placed.
func unplaced(facts []Fact) bool {
	sends, doubts := 0, 0
	for _, f := range facts {
		switch {
		case f.Kind == KeyChanged:
			sends, doubts = 0, 0
		case f.Kind == SendBegun:
			sends++
			doubts++
		case f.Kind != SendEnded:
		case f.Answer.Class == Unsent:
			sends--
			doubts--
		case f.Answer.Class == Refusal && f.Answer.Replayed && f.Answer.Says == NotApplied && sends == 2:
			doubts = 0
		case f.Answer.Class == Refusal && f.Answer.Says == NotApplied:
			doubts--
		}
	}
	return doubts == 0
}

// eachRefused reports whether each send under the present key has an answer of its own by which
// it did nothing, and one of them is the service's no to the write.
func eachRefused(t *Terms, facts []Fact) bool {
	if !t.FirstUseKnown {
		return false
	}
	own, sends, first, no := map[int]bool{}, 0, 1, false
	for _, f := range facts {
		n := sends
		switch f.Kind {
		case KeyChanged:
			own, first, no = map[int]bool{}, sends+1, false
			continue
		case SendBegun:
			sends++
			continue
		case SendHeard:
			n = f.Send
		case SendEnded:
		default:
			continue
		}
		switch a := f.Answer; {
		case a == inFlight:
			others := 0
			for i := first; i <= sends; i++ {
				if i != n && own[i] {
					others++
				}
			}
			own[n] = own[n] || others < sends-first
		case a.Class == Unsent, a.Class == Refusal && (a.Replayed || a.Says == NotApplied):
			own[n] = true
			no = no || a.Class == Refusal && a.Says == NotApplied && a.Status != 429 && a.Status != 503 && a != reused
		}
	}
	return no && len(own) == sends-first+1 && !slices.Contains(slices.Collect(maps.Values(own)), false)
}

// justified holds an outcome against the facts, in the words of the rules.
func justified(t *Terms, facts []Fact, o Outcome) bool {
	if o == Applied {
		for _, f := range facts {
			if f.Answer.Class == Success && f.Kind != FenceEnded || f.Kind == Looked && f.Finding.Outcome == Applied {
				return true
			}
		}
		return false
	}
	return t.FirstUseKnown && unplaced(facts) && (!restarted(facts) || !t.Keyed) ||
		unplacedAfterRestart(t, facts) || eachRefused(t, facts) || storedRefusal(t, facts) || absent(t, facts)
}

func restarted(facts []Fact) bool { return find(facts, Restarted) >= 0 }

func find(facts []Fact, kind FactKind) int {
	for i, f := range facts {
		if f.Kind == kind {
			return i
		}
	}
	return -1
}

// unplacedAfterRestart: what the earlier process had sent was answered or had not
// left. (The walk gives the whole facts, also those that were lost.)
func unplacedAfterRestart(t *Terms, facts []Fact) bool {
	return t.FirstUseKnown && restarted(facts) && unplaced(facts)
}

// storedRefusal: the probe brought the refusal of the only send.
func storedRefusal(t *Terms, facts []Fact) bool {
	sends, open := 0, 0
	for _, f := range facts {
		switch f.Kind {
		case KeyChanged:
			sends = 0
		case SendBegun:
			sends++
		case SendEnded:
			if f.Answer.Class == Unsent {
				sends--
			}
		case ProbeBegun:
			open++
		case ProbeEnded:
			if f.Answer.Class == Refusal && f.Answer.Replayed {
				return t.FirstUseKnown && sends <= 1 && open == 1
			}
			if f.Answer.tookNothing() || f.Answer == reused {
				open--
			}
		}
	}
	return false
}

// absent: two looks saw nothing after nothing could run any more.
func absent(t *Terms, facts []Fact) bool {
	heldAt, lastByte := time.Duration(-1), time.Duration(0)
	for i, f := range facts {
		switch f.Kind {
		case SendBegun, SendEnded, ProbeBegun, ProbeEnded:
			lastByte = f.At.Mono
		case Restarted:
			heldAt, lastByte = -1, 0
		}
		stored := f.Answer.Class == Refusal && f.Answer.Status < 500 && f.Answer.Replayed && f.Answer.Code != codeNoAccount
		fence := f.Kind == FenceEnded && (f.Answer == success || f.Answer == noOrder || stored)
		probe := f.Kind == ProbeEnded && stored
		if fence || probe || f.Answer == partWay {
			heldAt = f.At.Mono
		}
		if f.Kind != Looked || i == 0 || !f.Finding.Enough || f.Finding.Outcome != NotApplied {
			continue
		}
		from := heldAt
		switch {
		case !t.Keyed:
			from = lastByte + paperHeld
		case from < 0 && (t.Lasting || t.Exclusive):
			from = lastByte + Gone - 3*time.Minute // after a restart from the TTL's end
		}
		for _, earlier := range facts[:i] {
			if from >= 0 && earlier.Kind == Looked && earlier.At.Mono >= from && f.At.Mono-earlier.At.Mono >= Lag {
				return true
			}
		}
	}
	return false
}
