package books

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/testing/defects"
	"github.com/tradingapi/trading-go/internal/testing/depth"
)

var (
	searchWorlds = flag.Int("books.worlds", 12, "how many worlds TestVerdictsHold plays")
	searchFirst  = flag.Uint64("books.first", 0, "the dice of the first")
)

// TestVerdictsHold has a program trade a declared account with orders, closes, limits and runs,
// and read it one read at a time. Some of its answers are lost. What has happened is one of the
// courses that are replayed for these, by every look that follows.
func TestVerdictsHold(t *testing.T) { searched(t, newWorld) }

func searched(t *testing.T, begins func(seed uint64) *world) {
	found, worlds := map[string]int{}, uint64(*searchWorlds)
	if depth.Race { // one goroutine at a time
		worlds = min(worlds, 2)
	}
	for seed := range worlds {
		searchOne(t, begins, *searchFirst+seed, found)
	}
	t.Log(found)
}

// searchOne plays a world, and counts what is found.
func searchOne(t *testing.T, begins func(seed uint64) *world, seed uint64, found map[string]int) {
	synctest.Test(t, func(t *testing.T) {
		w := begins(seed)
		w.play()
		for what, n := range w.found {
			found[what] += n
		}
		if w.wrong {
			for _, line := range w.trace {
				t.Log(line())
			}
			t.Fatalf("world %d: a wrong verdict", seed)
		}
	})
}

// TestDefects plays the worlds in which the search has found something.
func TestDefects(t *testing.T) {
	for _, d := range defects.Of(defects.Books) {
		t.Run(d.String(), func(t *testing.T) {
			searchOne(t, map[string]func(uint64) *world{"orders": newWorld, "what waits": newWaits}[d.Play], d.Seed, map[string]int{})
			if t.Failed() {
				t.Log(d.Was)
			}
		})
	}
}

// TestVerdictsHoldOfWhatWaits has the answers about limits and runs lost too. They are judged by their ids, and by courses
// where a limit is gone. The programs are killed at any record of their journals, and go on from these.
func TestVerdictsHoldOfWhatWaits(t *testing.T) { searched(t, newWaits) }

// judge looks once for each write in doubt that is due.
func (w *world) judge() {
	w.doubt = slices.DeleteFunc(w.doubt, func(l *lost) bool {
		from := l.held
		if l.look != nil {
			from = l.look.ended
		}
		if time.Since(from) < ledger.Lag {
			return false
		}
		again := l.look != nil
		shown := w.look()
		if again && l.look.of(l.market).Equal(shown.of(l.market), markets[l.market]) {
			l.began, l.equal = append(l.began, shown.at), l.equal+1
		} else {
			l.began, l.equal = []time.Time{shown.at}, 1
		}
		l.look = shown
		outcome, why := w.verdict(l, again)
		w.say("%s: %d, %s", l.ID, outcome, why)
		switch {
		case w.wrong:
		case outcome == ledger.Unknown && time.Since(l.held) < time.Minute && why != accounting.NoBaseline:
			return false
		case outcome == ledger.Unknown && l.Asked.Kind.Acts() && w.opens(l):
			w.found["given up, its market open"]++
			l.given = true
			w.left = append(w.left, l)
		case outcome == ledger.Unknown && w.dice.IntN(2) == 0: // it stays in doubt, given up
			l.held = time.Now()
			return false
		case outcome == ledger.Unknown: // a person sees what became of it
			w.found[string(why)]++
			l.over = w.leaveLost(l, l.ran, time.Now())
		default:
			w.found[fmt.Sprint("outcome ", outcome)]++
			l.over = w.leaveLost(l, outcome == ledger.Applied, shown.at)
		}
		return l.over || l.given
	})
}

// opens goes on from what equal looks show, whatever the write did.
func (w *world) opens(l *lost) bool {
	if l.equal < 2 {
		return false
	}
	looks, show := l.look.read(), l.look.of(l.market)
	looks.Begun = l.began[len(l.began)-2]
	if _, opens := w.GiveUp(l.Booked, looks, l.look.at, show); !opens || l.gap {
		return false
	}
	if !w.takes() {
		return false
	}
	l.journal.note(Note{NoIDs: true, NoTrail: true})
	opened, _ := w.OpenMarket(l.Booked, looks, l.look.at, show)
	if opened && w.takes() && w.dice.IntN(8) > 0 { // else it is killed between the two
		l.journal.note(Note{MarketOpen: true})
	}
	return opened
}

func (w *world) leaveLost(l *lost, ran bool, from time.Time) (ended bool) {
	if !ran {
		return w.leaves(l.Booked, nil)
	}
	return w.leaves(l.Booked, &Did{ShownFrom: from, Own: accounting.Own{Act: accounting.Act{Ran: true}, Heard: time.Now()}})
}

// verdict is what the driver makes of a course.
func (w *world) verdict(l *lost, again bool) (ledger.Outcome, accounting.Reason) {
	if !l.Asked.Kind.Acts() {
		outcome, why := w.byID(w.Books, l.Booked, l, l.began, l.look, again)
		w.wrong = w.wrong || outcome == ledger.Applied && !l.ran || outcome == ledger.NotApplied && l.ran
		return outcome, why
	}
	c, ok := w.Course(l.Booked, true, !w.shared && !l.gap, "ACTIVE")
	if !ok {
		return ledger.Unknown, accounting.NoBaseline
	}
	equal := l.equal >= 2 && c.still(l.began[0], positionOf(l.look.pos[l.market]).Size, l.look.shows.Rows)
	f := c.Of(c.asked, -1)
	outcome, why := f.Verdict()
	w.say("%s", &c)
	w.wrong = w.wrong || f.Failed == "" && (l.ran && !f.With || !l.ran && !f.Without)
	if outcome != ledger.Unknown && !equal && !again {
		return ledger.Unknown, accounting.LookAgain
	}
	if why == accounting.NothingFits {
		w.Lost(l.Booked)
	}
	return outcome, why
}

// play lets the program trade.
func (w *world) play() {
	pace := []int{400, 2000, 6000, 12_000}[w.dice.IntN(4)]
	if w.dice.IntN(2) == 0 {
		w.lookAhead()
	} else {
		time.Sleep(time.Minute)
		w.look()
	}
	for range 120 {
		w.pass(pace)
		if w.judge(); w.wrong {
			return
		}
		if !w.dead && len(w.doubt)+len(w.left) == 0 && w.dice.IntN(w.ends) == 0 {
			w.handOver()
		}
		if w.dead || w.dice.IntN(w.kills) == 0 {
			w.restart()
		}
		if n := len(w.left); n > 0 && w.dice.IntN(20) == 0 { // a person sees what became of them
			w.left = nil
		}
		switch n := w.draw(); {
		case n < 3:
			w.read(n)
			if w.waits && n == 2 && w.dice.IntN(2) == 0 {
				w.read(4)
			}
		case n == 3:
			w.look()
		case n < aLimit || len(w.now.rests) < 2:
			w.write(n)
		}
	}
}

// String is what is replayed.
func (c *course) String() string {
	text := fmt.Sprintf("    from %s, near %t, cut %t, halted %t, to %v", c.From, c.Near, c.Cut, c.Halted, c.To)
	for i := range c.acts {
		a := &c.acts[i]
		text += fmt.Sprintf("\n      %s %d %d %s %s%% sent %d ended %d ran %t unsure %t late %t after %v", a.ID, a.Kind, a.Side, a.Size, a.Percent, a.Sent, a.Ended, a.Ran, a.Unsure, c.Acts[i].Late, a.After)
	}
	for _, r := range c.Rows {
		text += fmt.Sprintf("\n      row %d: side %d, cause %d, size %s", r.Digest, r.Side, r.Cause, r.Size.Decimal)
	}
	return fmt.Sprintf("%s, resting %v", text, c.Waiting)
}

// read is when a look was read.
func (l *look) read() Read {
	return Read{Begun: l.at, Ended: l.ended}
}
