package model

import (
	"fmt"
	"strings"
)

// finding is something that the search looks for.
type finding uint8

const (
	// What must never be.
	falseApplied finding = iota
	falseNotApplied
	ranAfterNotApplied
	contradiction
	staleOrder
	placedByRecovery
	ranTwice
	forgotten
	// What the contract or the network does by itself: counted apart.
	twiceAfter5xx
	twiceByLateCopy
	byRepeat
	findingCount

	apart = twiceAfter5xx
)

var findings = [findingCount]string{
	falseApplied:       "Applied, and it never ran",
	falseNotApplied:    "NotApplied, and it had run",
	ranAfterNotApplied: "it ran after NotApplied",
	contradiction:      "two different verdicts",
	staleOrder:         "an order sent after its lifetime ran",
	placedByRecovery:   "recovery placed the order",
	ranTwice:           "it ran twice",
	forgotten:          "sent, and nobody remembers",
	twiceAfter5xx:      "twice: a 5xx after the work whose answer was lost, then a resend",
	twiceByLateCopy:    "twice: a copy on its way for minutes outlived the first one's claim",
	byRepeat:           "a second copy made by something on the way ran",
}

// goal is something that must be reachable, so that no rule is kept by a client
// that decides nothing.
type goal uint8

const (
	goalApplied goal = iota
	goalRefused
	goalSecondKey
	goalAfter429
	goalFence
	goalFenceReplayed
	goalTrace
	goalNone
	goalUnknownKept
	goalCount
)

var goals = [goalCount]string{
	goalApplied:       "applied by an answer after a doubt",
	goalRefused:       "not applied by an answer",
	goalSecondKey:     "applied under a second key",
	goalAfter429:      "applied although a 429 was stored",
	goalFence:         "not applied by fence and reads",
	goalFenceReplayed: "held by the fence's own answer, replayed",
	goalTrace:         "applied by a trace",
	goalNone:          "not applied without a fence that holds",
	goalUnknownKept:   "unknown, and pending after a crash",
}

// node is a state, and how it was first reached.
type node struct {
	state  packed
	parent int32
	event  event
}

// result is what a search saw.
type result struct {
	states, transitions int
	first               [findingCount]int32 // the node where it was first seen, or 0
	count               [findingCount]int
	goals               [goalCount]bool
	nodes               []node
}

// explorer walks through every state that a world and a set of rules allow.
type explorer struct {
	world
	rules
	result
	seen  map[packed]struct{}
	at    int32
	found []finding
	until uint32 // stop once all of these were found
}

// explore searches breadth first, so that the first schedule found is a shortest
// one. It stops early once every finding of until was seen.
func explore(w world, r rules, until ...finding) *result {
	e := &explorer{world: w, rules: r, seen: map[packed]struct{}{}}
	for _, f := range until {
		e.until |= 1 << f
	}
	start := pack(state{})
	e.seen[start] = struct{}{}
	e.nodes = append(e.nodes, node{state: start, parent: -1})
	for e.at = 0; int(e.at) < len(e.nodes); e.at++ {
		e.expand(unpack(e.nodes[e.at].state))
		if len(until) > 0 && e.until == 0 {
			break
		}
	}
	e.states = len(e.nodes)
	e.seen = nil
	return &e.result
}

// reach records a transition to s and what was seen on it.
func (e *explorer) reach(ev event, s state) {
	e.transitions++
	s.forget()
	if e.durable && forgets(&s) {
		e.found = append(e.found, forgotten)
	}
	at, p := int32(-1), pack(s)
	if _, known := e.seen[p]; !known {
		e.seen[p] = struct{}{}
		e.nodes = append(e.nodes, node{state: p, parent: e.at, event: ev})
		at = int32(len(e.nodes) - 1)
	}
	for _, f := range e.found {
		e.count[f]++
		if e.first[f] == 0 {
			if at < 0 { // the state is known, the way to it is new
				e.nodes = append(e.nodes, node{state: p, parent: e.at, event: ev})
				at = int32(len(e.nodes) - 1)
			}
			e.first[f] = at
		}
		e.until &^= 1 << f
	}
	e.found = e.found[:0]
}

// forgets tells whether an order went out that no call, journal or verdict
// accounts for.
func forgets(s *state) bool {
	living := s.call.phase == open || s.call.phase == awaiting || s.call.phase == grace
	return s.sends > 0 && !living && !s.journal.pending && !s.saidApplied && !s.saidNotApplied
}

// broken lists what must never be and was seen.
func (r *result) broken() []finding {
	var all []finding
	for f := finding(0); f < apart; f++ {
		if r.count[f] > 0 {
			all = append(all, f)
		}
	}
	return all
}

// schedule prints the shortest way to a finding, a line an event.
func (r *result) schedule(f finding) string {
	var lines []string
	for at := r.first[f]; at > 0; at = r.nodes[at].parent {
		lines = append(lines, events[r.nodes[at].event])
	}
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "  %2d. %s\n", i+1, lines[len(lines)-1-i])
	}
	fmt.Fprintf(&b, "      => %s\n", findings[f])
	return b.String()
}
