package hearing

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var depth = flag.Int("hearing.depth", 6, "how many steps a schedule of the search has")

// The search lets one bot, one sidecar and one service do everything that they can do, in every
// order, for so many steps. The bot wants one order at a time. It sends it again when it has not
// heard, in any of four ways, and wants another as soon as it knows that it has the first. When its
// time is over it closes its connection, or goes on while the call runs: then nobody takes the
// answer, which the connection has all the same.

type search struct {
	leave     string
	names     bool
	schedules int
	found     []string
	most      int
}

func (s *search) walk(w *world, left int) {
	if len(s.found) >= s.most {
		return
	}
	if left == 0 {
		s.schedules++
		return
	}
	for _, st := range w.steps() {
		next := w.clone()
		next.trail = append(next.trail, st.name)
		if wrong := st.do(next); wrong != "" {
			s.found = append(s.found, wrong+":\n  "+strings.Join(next.trail, "\n  "))
			return
		}
		s.walk(next, left-1)
	}
}

func (s *search) run(depth int) {
	s.walk(&world{now: t0, book: &Book{}, keys: map[string]Outcome{}, leave: s.leave, names: s.names}, depth)
}

func TestNoBotThatDidNotHearIsMisled(t *testing.T) {
	for name, names := range map[string]bool{"names nothing": false, "names what it has heard": true} {
		t.Run(name, func(t *testing.T) {
			s := &search{most: 1, names: names}
			s.run(*depth)
			t.Logf("%d schedules", s.schedules)
			require.Empty(t, s.found, strings.Join(s.found, "\n"))
		})
	}
}

// TestEachRuleIsNeeded leaves out what the sidecar tells the book, one after the other: the search
// has to find the schedule that it is told for.
func TestEachRuleIsNeeded(t *testing.T) {
	for leave, what := range map[string]string{
		"heard":     "held, and its bot has heard everything", // nothing is ever heard
		"not heard": "ran twice",                              // everything is
		"left":      "ran twice",
		"answered":  "an earlier order",
		"read":      "an earlier order",
		"lag":       "ran twice",
		"file":      "ran twice",
		"goes on":   "ran twice", // a read while a call runs says nothing
		"late":      "ran twice", // it does so once it is answered
		"closes":    "ran twice", // a close does not
		"named":     "ran twice", // whatever was answered counts as named
		"noted":     "ran twice", // the file is told of an answer that a connection took
	} {
		t.Run(leave, func(t *testing.T) {
			s := &search{most: 1, leave: leave}
			s.run(6)
			require.NotEmpty(t, s.found)
			assert.Contains(t, s.found[0], what)
			t.Log(s.found[0])
		})
	}
}
