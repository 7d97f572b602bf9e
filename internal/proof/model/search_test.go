package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// option is one way in which a moment can go on. An ordinary one costs nothing, an
// accident one.
type option struct {
	name string
	cost int
}

// choice is a moment that can go on in several ways.
type choice struct {
	options []option
	taken   int
	at      time.Duration
}

// chooser walks through all choices that cost no more than a number of accidents,
// by running a world anew for each.
type chooser struct {
	path      []choice
	pos       int
	accidents int
	left      int
	only      []string // the accidents that there are; all if there is none
}

func (c *chooser) pick(options []option, at time.Duration) int {
	if c.pos == len(c.path) {
		c.path = append(c.path, choice{options: options})
	}
	p := &c.path[c.pos]
	p.at = at
	c.pos++
	c.left -= p.options[p.taken].cost
	return p.taken
}

// begin readies the chooser for another run.
func (c *chooser) begin() { c.pos, c.left = 0, c.accidents }

// next moves on to the next path, and reports whether there is one.
func (c *chooser) next() bool {
	c.path = c.path[:c.pos]
	for i := len(c.path) - 1; i >= 0; i-- {
		p := &c.path[i]
		c.left += p.options[p.taken].cost
		for p.taken+1 < len(p.options) {
			p.taken++
			if o := p.options[p.taken]; o.cost <= c.left && c.allows(o) {
				c.path = c.path[:i+1]
				return true
			}
		}
	}
	return false
}

func (c *chooser) allows(o option) bool {
	return len(c.only) == 0 || o.cost == 0 || slices.ContainsFunc(c.only, func(part string) bool { return strings.Contains(o.name, part) })
}

// schedule tells what was not ordinary.
func (c *chooser) schedule() string {
	var b strings.Builder
	for _, p := range c.path[:c.pos] {
		if p.taken > 0 {
			fmt.Fprintf(&b, "  %10v  %s\n", p.at, p.options[p.taken].name)
		}
	}
	return b.String()
}

// finding is something that the search looks for.
type finding uint8

const (
	// What must never be.
	falseApplied finding = iota
	falseNotApplied
	ranAfterNotApplied
	ranTwice
	lateUntold
	staleSend
	staleProbe
	forgotten
	stuck
	overwritten
	untold
	// What RECOVERY names: counted apart.
	probeRan
	probeRanTwice
	after5xx
	outlived
	clocks
	longDelay
	named24h
	acrossJournals
	latePaper
	cancelled
	inItsWords
	paused
	brokenDisk
	findingCount

	apart = probeRan
)

var findings = [findingCount]string{
	falseApplied:       "Applied, and it never ran",
	falseNotApplied:    "NotApplied, and it had run",
	ranAfterNotApplied: "it ran after NotApplied",
	ranTwice:           "it ran twice",
	lateUntold:         "the probe ran it, and the verdict does not say so",
	staleSend:          "sent after its TTL",
	staleProbe:         "a probe left ten minutes after the decision, or later",
	forgotten:          "sent, and nobody remembers",
	stuck:              "it goes on for ever",
	untold:             "answers contradict what was said or one another, and nobody says so",
	overwritten:        "an older level replaced a newer one for good",
	probeRan:           rig.LateProbe,
	probeRanTwice:      "the probe ran it a second time",
	after5xx:           rig.FailedAfterWork,
	outlived:           rig.Outlived,
	clocks:             rig.Jumped,
	longDelay:          rig.LateRequest,
	named24h:           rig.Forgotten,
	acrossJournals:     rig.Unstored,
	cancelled:          rig.Cancelled,
	latePaper:          rig.LatePaper,
	inItsWords:         rig.InItsWords,
	paused:             rig.Paused,
	brokenDisk:         rig.BrokenDisk,
}

// result is what the search of a scenario saw.
type result struct {
	runs     int
	count    [findingCount]int
	schedule [findingCount]string
	applied  int
	not      int
	unknown  int

	worst         time.Duration // that an older level was in force
	worstSchedule string
}

// search runs a scenario for every path of at most so many accidents. It stops early
// once it has found what it looks for.
func search(s scenario, accidents int, until ...finding) *result {
	r := &result{}
	c := &chooser{accidents: accidents, only: s.only}
	for {
		c.begin()
		w := newWorld(s, c)
		w.run()
		r.take(w, c)
		for _, f := range until {
			if r.count[f] > 0 {
				return r
			}
		}
		if !c.next() {
			return r
		}
	}
}

func (r *result) take(w *world, c *chooser) {
	r.runs++
	for f, seen := range w.found {
		if !seen {
			continue
		}
		r.count[f]++
		text := c.schedule()
		if old := r.schedule[f]; old == "" || strings.Count(text, "\n") < strings.Count(old, "\n") {
			r.schedule[f] = text + w.log()
		}
	}
	if w.worst > r.worst && !w.found[overwritten] && w.cause == 0 {
		r.worst, r.worstSchedule = w.worst, c.schedule()
	}
	switch w.programs[0].lastSaid() {
	case saidApplied:
		r.applied++
	case saidNot:
		r.not++
	default:
		r.unknown++
	}
}
