package accounting

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

var trailRuns = flag.Int("trail.runs", 5, "runs of ten minutes of trading, for each pace")

// trader trades a symbol at a pace, loses answers, and follows its trail by lists of
// closed trades that lag and are cut. Times are in milliseconds.
type trader struct {
	dice   *rand.Rand
	pace   int
	lists  int // how often the list is read
	world  tale
	now    int
	rows   []Row // of the account, oldest first
	was    []seenAt
	trades Trades
	trail  Trail
	flying []*flight
	next   int // the number of the next write
	clock  int
	still  int  // own writes ended by then
	fronts bool // something in front of the service refuses what has run

	status string // of the account, and as it was read last
	known  string
	ends   int // when the account ends; 0 for never
	how    int // it does

	wrong, decided, open int
	settled              int
	why                  map[Reason]int
	trace                []string
}

type seenAt struct {
	at, pos, rows int
	status        string
}

// flight is a write on its way.
type flight struct {
	id            string
	of            *taleOrder
	sent, runs    int
	ends          int // answered, or held
	lost, ran     bool
	done, refused bool
	after         int
	heldAt        int
	look          seenAt // the first of equal ones
	looked        bool
}

func (s *trader) at(ms int) time.Time { return time.UnixMilli(1_700_000_000_000 + int64(ms)) }

func (s *trader) say(format string, of ...any) {
	s.trace = append(s.trace, fmt.Sprintf("%6.2f ", float64(s.now)/1000)+fmt.Sprintf(format, of...))
	s.trace = s.trace[max(0, len(s.trace)-80):]
}

// moved takes over what the world has closed.
func (s *trader) moved() {
	for _, r := range s.world.rows[:s.world.nRows] {
		s.rows = append(s.rows, Row{
			Digest: uint64(len(s.rows)), Symbol: "X", Side: Direction(r.side), Cause: Cause(r.cause),
			Size: decimal.NewNullDecimal(decimal.NewFromInt(int64(r.size))), ClosedAt: servicetime.Shown(s.at(s.now)),
		})
		s.say("row %d: side %d, size %d, cause %d", len(s.rows)-1, r.side, r.size, r.cause)
	}
	s.world.nRows = 0
	s.was = append(s.was, seenAt{s.now, s.world.pos, len(s.rows), s.status})
}

// lagging is what a read shows that lags by up to five seconds.
func (s *trader) lagging() seenAt {
	at := s.now - s.dice.IntN(5000)
	i := len(s.was) - 1
	for i > 0 && s.was[i].at > at {
		i--
	}
	return s.was[i]
}

func (s *trader) tick() int { s.clock++; return s.clock }

// send sends an order, that may be lost, or run late.
func (s *trader) send(of *taleOrder, lost bool) {
	s.next++
	f := &flight{id: fmt.Sprint(s.next), of: of, sent: s.now, lost: lost}
	f.runs = s.now + 10 + s.dice.IntN(200)
	f.ends = f.runs + 10 + s.dice.IntN(100)
	if lost {
		f.ends = s.now + 1000 + s.dice.IntN(6000)
		switch s.dice.IntN(3) {
		case 0:
			f.runs = f.ends + 1 // never
		case 1:
			f.runs = s.now + s.dice.IntN(f.ends-s.now)
		}
	}
	s.flying = append(s.flying, f)
	place := -1
	if s.trades.Known {
		place = s.trades.End()
	}
	s.trail.Add(Own{ID: f.id, Place: place, Act: Act{
		Kind: of.kind, Side: Direction(of.side), Size: decimal.NewFromInt(int64(of.size)),
		Percent: decimal.NewFromInt(int64(of.percent)), Sent: s.tick(),
	}, Began: s.at(s.now)})
	s.say("%s: send %s, lost %t", f.id, of.name, lost)
}

// step lets a hundredth of a second pass.
func (s *trader) step() {
	s.now += 10
	for _, f := range s.flying {
		if !f.done && f.runs <= s.now && f.runs <= f.ends {
			f.done = true
			f.ran = s.status != "LOCKED" && s.world.execute(f.of)
			f.refused, f.after = !f.ran, s.world.pos
			s.say("%s: runs: %t", f.id, f.ran)
			s.moved()
		}
	}
	s.flying = slices.DeleteFunc(s.flying, func(f *flight) bool {
		if f.heldAt > 0 || f.ends > s.now {
			return false
		}
		a := s.trail.Find(f.id)
		switch {
		case f.lost:
			f.heldAt = s.now
			if a != nil {
				a.Ended = s.tick()
			}
			s.say("%s: held", f.id)
			return false
		case s.fronts && (f.refused && s.dice.IntN(5) == 0 || s.dice.IntN(20) == 0):
			s.say("%s: refused, ran: %t", f.id, f.ran)
			if a != nil {
				a.Ended, a.Heard = s.tick(), s.at(s.now)
				s.trail.Unsure(a)
			}
		case f.refused:
			s.trail.Remove(f.id)
		case a != nil:
			a.Ended, a.Ran, a.Heard = s.tick(), true, s.at(s.now)
			if f.of.kind != Close {
				a.After = decimal.NewNullDecimal(decimal.NewFromInt(int64(f.after)))
			}
		}
		s.trail.Ended(a == nil)
		s.still = s.now
		return true
	})
}

// end ends the account: the service closes what is open, or leaves it to the program, or to nobody.
func (s *trader) end() {
	switch s.how {
	case 0:
		s.status = "FAILED"
		s.world.byItself(passes)
		s.world.triggers = 0
	case 1:
		s.status, s.world.halted = "PASSED", true
	default:
		s.status = "LOCKED"
	}
	s.say("the account is %s", s.status)
	s.moved()
}

// read reads the list, beside a write in doubt all, and says what that decides.
func (s *trader) read() {
	look := slices.ContainsFunc(s.flying, func(f *flight) bool { return f.heldAt > 0 })
	if look {
		s.known = s.lagging().status
	}
	shown := s.lagging()
	list := slices.Clone(s.rows[max(0, shown.rows-20):shown.rows])
	slices.Reverse(list)
	reach := s.trades.Take(list, s.at(s.now), 20)
	if s.trail.Keep(reach); reach != All {
		s.say("the list does not reach back")
	}
	s.trail.Follow("X", &s.trades, func(time.Time) []Waiting { return nil }, s.known)
	if s.trail.Base != nil {
		s.say("baseline %s at %d", s.trail.Base.Position, s.trail.Base.Place)
	}
	if look {
		s.judge(seenAt{s.now, s.lagging().pos, shown.rows, s.known})
	}
	s.trades.Forget(s.trail.Needs(s.trades.End()))
}

// judge judges what is held, by the list and, where two looks are equal a lag apart, by
// the position.
func (s *trader) judge(look seenAt) {
	s.flying = slices.DeleteFunc(s.flying, func(f *flight) bool {
		if f.heldAt == 0 || s.now < f.heldAt+5000 {
			return false
		}
		r, asked, ok := s.trail.Replay("X", &s.trades, nil, look.status, f.id)
		if !ok || asked < 0 {
			s.why[NoBaseline]++
			s.open++
			s.giveUp(f)
			return true
		}
		quiet := max(s.still, f.heldAt) + 5000
		if f.look.at < quiet || f.look.pos != look.pos || f.look.rows != look.rows || f.look.status != look.status {
			f.look = look
		}
		equal := f.look.at >= quiet && s.now >= f.look.at+5000
		again := f.looked
		f.looked = true
		if r.Halted = r.Halted || !equal; equal {
			r.To = decimal.NewNullDecimal(decimal.NewFromInt(int64(look.pos)))
		}
		o, why := r.Of(asked, -1).Verdict()
		if !equal && !again {
			o, why = ledger.Unknown, LookAgain
		}
		s.say("%s: %d, %s", f.id, o, why)
		switch {
		case o == ledger.Unknown && !equal && s.now < f.heldAt+60_000:
			return false
		case o == ledger.Unknown:
			s.open++
			s.why[why]++
			if equal && s.beginsAnyway(f) {
				return true
			}
		case o == ledger.Applied != f.ran:
			s.wrong++
		default:
			s.decided++
		}
		if a := s.trail.Find(f.id); o == ledger.Applied {
			a.Ran, a.Heard = true, s.at(s.now)
		} else if o == ledger.NotApplied {
			s.trail.Remove(f.id)
		} else {
			s.giveUp(f)
		}
		return true
	})
}

// beginsAnyway goes on from what equal looks show, with what the write did unknown.
func (s *trader) beginsAnyway(f *flight) bool {
	at := Base{Position: decimal.NewFromInt(int64(f.look.pos)), Place: f.look.rows, Status: "ACTIVE"}
	over := func(id string) bool { return id == f.id }
	if f.look.rows != s.trades.End() || !Open(f.look.status) || !s.trail.BeginAnyway(at, s.at(f.look.at-5000), s.at(s.now), over) {
		return false
	}
	s.settled++
	s.say("%s: nobody finds out, and %d at %d is known", f.id, f.look.pos, f.look.rows)
	return true
}

// giveUp has a person say that nobody will find out.
func (s *trader) giveUp(f *flight) {
	a := s.trail.Find(f.id)
	if a != nil {
		a.Heard = s.at(s.now)
		s.trail.Unsure(a)
		s.trail.Drop()
	}
	s.trail.Ended(a == nil)
}

// trade trades for ten minutes.
func (s *trader) trade() {
	s.status, s.known = "ACTIVE", "ACTIVE"
	s.was = []seenAt{{0, s.world.pos, 0, s.status}}
	if s.dice.IntN(4) > 0 {
		s.ends, s.how = 10_000+s.dice.IntN(300_000), s.dice.IntN(3)
	}
	s.trades.Take(nil, s.at(0), 20)
	for due, read := 0, 0; s.now < 600_000 && s.wrong == 0 && (s.ends == 0 || s.now < s.ends+60_000); s.step() {
		if s.now == s.ends/10*10 && s.ends > 0 {
			s.end()
		}
		if s.dice.IntN(200_000) < 100 && s.world.pos != 0 {
			s.world.byItself(s.dice.IntN(2))
			s.world.triggers = 0
			s.moved()
		}
		if s.now >= read {
			read = s.now + s.lists
			s.read()
		}
		if s.now < due {
			continue
		}
		due = s.now + s.pace
		doubt := slices.ContainsFunc(s.flying, func(f *flight) bool { return f.lost })
		of := &taleOrders[s.dice.IntN(len(taleOrders))]
		lost := s.dice.IntN(12) == 0 && (!doubt || s.dice.IntN(4) == 0)
		if doubt && (of.kind == Entry || s.dice.IntN(3) > 0) {
			continue
		}
		s.send(of, lost)
	}
}

// TestTrailsHold judges lost writes of bots that trade fast: nothing may be wrong. With
// refusals that something in front of the service writes, less is decided.
func TestTrailsHold(t *testing.T) {
	for _, pace := range []struct{ pace, lists int }{{200, 1500}, {250, 1500}, {500, 2500}, {1000, 4000}, {2000, 6000}, {3000, 8000}, {6000, 10_000}} {
		for _, fronts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d ms, refused by something in front: %t", pace.pace, fronts), func(t *testing.T) {
				decided, open, settled, why := 0, 0, 0, map[Reason]int{}
				for seed := range *trailRuns {
					s := &trader{dice: rand.New(rand.NewPCG(uint64(seed), uint64(pace.pace))), pace: pace.pace, lists: pace.lists, why: why, fronts: fronts}
					s.world.fullFlip, s.world.roundUp, s.world.shownLate = seed%3 == 0, seed%2 == 0, false
					s.trade()
					decided, open, settled = decided+s.decided, open+s.open, settled+s.settled
					if s.wrong > 0 {
						for _, line := range s.trace {
							t.Log(line)
						}
						t.Fatalf("seed %d: a wrong verdict", seed)
					}
				}
				t.Logf("%d judgments, %.1f %% decided, Unknown: %v, %d settled", decided+open, 100*float64(decided)/float64(decided+open), why, settled)
			})
		}
	}
}
