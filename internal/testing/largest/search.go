package largest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/testing/depth"
)

// Search says what the search may do.
type Search struct {
	Depth   int
	Others  bool // somebody else trades the account
	Restart bool // the process may be ended
	First   Kind // what the program's first entry is; the others are orders
	New     func(now func() time.Duration) Bound
}

// Found is a schedule in which a property does not hold.
type Found struct {
	Steps []string
	What  string
}

func (f Found) String() string { return strings.Join(f.Steps, "; ") + ": " + f.What }

// step is something that can happen.
type step struct {
	name string
	do   func(w *world)
}

// Run returns the shortest schedules that break each property, and how many schedules it has tried.
func (s Search) Run() (found []Found, tried int) {
	for depth := 1; depth <= s.Depth; depth++ {
		at := s
		at.Depth = depth
		at.deeper(nil, &found, &tried)
	}
	return found, tried
}

// deeper tries all schedules that begin with some steps.
func (s Search) deeper(path []int, found *[]Found, tried *int) {
	w, names := s.replay(path)
	if w == nil {
		return
	}
	if len(path) == s.Depth && w.wrong == "" { // the shorter ones were tried before
		*tried++
		if w.idle() {
			w.useless()
		}
	}
	if w.wrong != "" {
		if !slices.ContainsFunc(*found, func(f Found) bool { return f.What[:3] == w.wrong[:3] }) {
			*found = append(*found, Found{names, w.wrong})
		}
		return
	}
	if len(path) == s.Depth {
		return
	}
	for i := range s.steps(w) {
		s.deeper(append(path[:len(path):len(path)], i), found, tried)
	}
}

// replay makes the world that some steps lead to; nil where the last of them changes nothing.
func (s Search) replay(path []int) (w *world, names []string) {
	w = newWorld(s.New)
	w.keep()
	for _, i := range path {
		steps := s.steps(w)
		before := len(w.orders)
		steps[i].do(w)
		names = append(names, steps[i].name)
		if strings.HasPrefix(steps[i].name, "enter") && len(w.orders) == before && w.wrong == "" {
			return nil, nil // it was refused: a look that the search has without it
		}
	}
	return w, names
}

// steps are what can happen now. Of a world that steps lead to they are always the same.
func (s Search) steps(w *world) (all []step) {
	add := func(do func(w *world), format string, args ...any) {
		all = append(all, step{fmt.Sprintf(format, args...), do})
	}
	own, underways := 0, false
	for i, o := range w.orders {
		underways = underways || o.knows == underway
		if !o.foreign {
			own++
		}
		s.ofOrder(w, i, add)
	}
	for _, as := range w.views() {
		if len(w.past) > 2 {
			add(func(w *world) { w.bound.See(w.look(as)) }, "%s", as)
		}
		switch own {
		case 0:
			add(func(w *world) { w.enter(s.First, two, w.look(as)) }, "enter %s of 2 by %s", s.First, as)
		case 1, 2:
			add(func(w *world) { w.enter(Now, one, w.look(as)) }, "enter order of 1 by %s", as)
			add(func(w *world) { w.enter(Now, two, w.look(as)) }, "enter order of 2 by %s", as)
		}
	}
	if w.held.IsPositive() {
		add(func(w *world) { w.held = decimal.Zero; w.keep() }, "close")
	}
	add(func(w *world) { w.now += Lag }, "wait 5s")
	if own > 0 && !underways { // a call has ended by then
		add(func(w *world) { w.now += Gone }, "wait 45m")
	}
	if s.Others && len(w.others) == 0 {
		add(func(w *world) {
			w.held = w.held.Add(one)
			w.others = append(w.others, trade{w.now, one})
			w.keep()
		}, "another buys 1")
	}
	if s.Others && len(w.orders) == own {
		add(func(w *world) {
			o := &order{Write: Write{ID: "other", Kind: Resting, Size: one}, knows: known, foreign: true}
			w.orders = append(w.orders, o)
			w.run(o)
		}, "another places a limit of 1")
	}
	if s.Restart && own > 0 {
		add(func(w *world) { w.bound.Restart() }, "restart")
	}
	return all
}

// ofOrder are the steps of one order.
func (s Search) ofOrder(w *world, i int, add func(do func(w *world), format string, args ...any)) {
	o := w.orders[i]
	step := func(do func(w *world, o *order), format string) {
		add(func(w *world) { do(w, w.orders[i]) }, format, o.ID)
	}
	late := w.now-o.Sent >= Gone
	switch {
	case o.knows == underway:
		step(func(w *world, o *order) { w.run(o); w.answer(o, false) }, "%s is executed and answered")
		step(func(w *world, o *order) { w.run(o); w.doubt(o) }, "%s is executed and its answer is lost")
		step(func(w *world, o *order) { w.doubt(o) }, "%s is in doubt")
		step(func(w *world, o *order) { o.place = over; w.answer(o, false) }, "%s is refused")
	case o.place == away && !late:
		step(func(w *world, o *order) { w.run(o) }, "%s is executed late")
		step(func(w *world, o *order) { o.place = over; w.answer(o, true) }, "%s is found not to be executed")
	case o.knows == doubted && o.applied:
		step(func(w *world, o *order) { w.answer(o, false) }, "the answer of %s is found")
		step(func(w *world, o *order) { w.answer(o, true) }, "%s is found to be executed")
	}
	if o.place == rests {
		step(func(w *world, o *order) { w.fill(o, o.left()) }, "%s fills")
		if o.left().Equal(two) {
			step(func(w *world, o *order) { w.fill(o, one) }, "%s fills by half")
		}
		step(func(w *world, o *order) { o.place = over; w.keep() }, "%s is canceled")
	}
}

// Check searches with each kind of a first entry, alone, beside somebody else, and over restarts. One
// that goes deep takes minutes in full.
func Check(t *testing.T, deep, restart bool, make func(now func() time.Duration) Bound) {
	t.Helper()
	for _, first := range []Kind{Now, Resting, Running} {
		for _, s := range []Search{{}, {Others: true}, {Restart: true}} {
			if s.Restart && !restart {
				continue
			}
			s.New, s.First, s.Depth = make, first, 4
			switch {
			case depth.Race: // one goroutine: it goes deeper without the detector
				s.Depth = 3
			case deep:
				s.Depth = depth.Of(4, 5)
			}
			if deep && depth.Full() && !s.Others && !s.Restart { // which can do less
				s.Depth++
			}
			found, tried := s.Run()
			t.Logf("%s, others %t, restarts %t: %d schedules", first, s.Others, s.Restart, tried)
			for _, f := range found {
				t.Error(f)
			}
		}
	}
}
