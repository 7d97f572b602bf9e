package model

import (
	"testing"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// without leaves a rule out, and names what the search must find then, and does not
// find otherwise.
type without struct {
	rule      string
	world     scenario
	leave     func(l *lies)
	accidents []string // that the schedule consists of
	find      finding
}

// turned is a lie that tells the ledger another answer.
func turned(kind ledger.FactKind, match func(a ledger.Answer) bool, to ledger.Answer) func(l *lies) {
	return func(l *lies) {
		l.fact = func(_ *program, f *ledger.Fact) bool {
			if f.Kind == kind && match(f.Answer) {
				f.Answer = to
			}
			return true
		}
	}
}

// decides is a lie that takes a fact for the end.
func decides(match func(p *program, f *ledger.Fact) bool) func(l *lies) {
	return func(l *lies) {
		l.fact = func(p *program, f *ledger.Fact) bool {
			if match(p, f) {
				f.Kind, f.Finding = ledger.Acknowledged, ledger.Finding{Outcome: ledger.NotApplied}
			}
			return true
		}
	}
}

func is(want ledger.Answer) func(a ledger.Answer) bool {
	return func(a ledger.Answer) bool { return a == want }
}

func class(want ledger.Class) func(a ledger.Answer) bool {
	return func(a ledger.Answer) bool { return a.Class == want }
}

func freshRefusal(a ledger.Answer) bool {
	return a.Class == ledger.Refusal && !a.Replayed && a.Code != reused.Code && a.Says == ledger.NotApplied
}

func notDurable(kind ledger.FactKind) func(l *lies) {
	return func(l *lies) { l.volatile = map[ledger.FactKind]bool{kind: true} }
}

// young is a lie about the age.
func young(l *lies) {
	l.terms = func(t *ledger.Terms) {
		t.Decided.Wall = t.Decided.Wall.Add(time.Hour)
		t.Decided.Mono += time.Hour
		t.Decided.Service = t.Decided.Service.Add(time.Hour)
	}
}

func attempts(n int) func(s *scenario) {
	return func(s *scenario) { s.terms.Retry.Attempts = n }
}

func youngWorld(s *scenario) { young(&s.lies) }

var unsent = ledger.Answer{Class: ledger.Unsent}

var needed = []without{
	// The call.
	{"a send that got no answer may have run", with("", attempts(1)),
		turned(ledger.SendEnded, class(ledger.Silence), unsent), []string{"reply lost"}, falseNotApplied},
	{"an answer of something in front proves nothing", with("", attempts(1)),
		turned(ledger.SendEnded, class(ledger.Foreign), unsent), []string{"becomes a page"}, falseNotApplied},
	{"behind a send in doubt, a fresh refusal settles nothing", market(),
		decides(func(_ *program, f *ledger.Fact) bool { return f.Kind == ledger.SendEnded && freshRefusal(f.Answer) }),
		[]string{"request delayed 7 s", "refused in front"}, ranAfterNotApplied},
	{"a refusal that is replayed settles nothing behind two sends", market(),
		decides(func(_ *program, f *ledger.Fact) bool {
			return f.Kind == ledger.SendEnded && f.Answer.Replayed && f.Answer.Class == ledger.Refusal
		}),
		[]string{"5xx after the work", "reply lost", "reply lost"}, falseNotApplied},
	{"no new key beside a send in doubt", market(),
		func(l *lies) {
			l.step = func(p *program, s ledger.Step) ledger.Step {
				if s.Do == ledger.Send && p.l.InDoubt() && p.on.key == p.on.firstKey {
					s.Do = ledger.Rekey
				}
				return s
			}
		}, []string{"reply lost"}, ranTwice},
	{"a 5xx that may have run ends the sending", market(),
		turned(ledger.SendEnded, is(failed), silence), []string{"5xx after the work"}, ranTwice},
	{"the TTL is judged before every send", market(), young, []string{"the machine sleeps"}, staleSend},
	{"the decision is durable before the first byte", market(),
		func(l *lies) { l.journalLate = true }, []string{"CRASH after the byte, facts lost; again at once"}, forgotten},
	{"a new key is durable before its first byte", market(), notDurable(ledger.KeyChanged),
		[]string{"refuses for its price", "CRASH after the byte, facts lost; again at once"}, falseNotApplied},
	{"a second send is durable before its byte", market(), notDurable(ledger.SendBegun),
		[]string{"5xx after the work", "reply lost", "CRASH after the byte, facts lost; again at once"}, falseNotApplied},
	{"nothing is sent after a restart", market(), func(l *lies) { l.sendsAgain = true },
		[]string{"again after 25 h"}, ranTwice},
	// Fence and probe.
	{"a fence that is answered 422 does not hold", market(),
		turned(ledger.FenceEnded, is(reused), noOrder), []string{"takes 14 min", "caller leaves"}, ranAfterNotApplied},
	{"a fence that is refused in front does not hold", with("", attempts(1)),
		turned(ledger.FenceEnded, freshRefusal, noOrder), []string{"request delayed 9 min", "refused in front"}, ranAfterNotApplied},
	{"a fence that fails does not hold", with("", attempts(1)),
		turned(ledger.FenceEnded, is(failed), noOrder), []string{"request delayed 9 min", "fence: 5xx"}, ranAfterNotApplied},
	{"a fence that is not heard does not hold", with("", attempts(1)),
		turned(ledger.FenceEnded, class(ledger.Silence), noOrder), []string{"request delayed 9 min", "request lost"}, ranAfterNotApplied},
	{"where keys are per route, the fence goes to the write's own", with("", ownRoute),
		nil, []string{"takes 14 min", "caller leaves"}, ranAfterNotApplied},
	{"a probe only after two answers 422", market(),
		func(l *lies) {
			l.step = func(p *program, s ledger.Step) ledger.Step {
				if s.Do == ledger.Fence && p.reused > 0 && !p.probed {
					return ledger.Step{Do: ledger.Probe, At: p.reused + 5*time.Second}
				}
				return s
			}
		}, []string{"takes 2 s", "caller leaves", "5xx before the work"}, probeRan},
	{"a probe only in the first 10 minutes", market(), young, []string{"dies before the work"}, probeRan},
	{"a probe is durable before its byte", with("", exclusive, youngWorld), notDurable(ledger.ProbeBegun),
		[]string{"dies before the work", "CRASH after the byte, facts lost; again at once"}, lateUntold},
	{"a replayed refusal settles only if it was sent once", with("", attempts(2)),
		func(l *lies) {
			l.fact = func(p *program, f *ledger.Fact) bool {
				if f.Kind == ledger.SendBegun {
					p.sends++
				}
				return f.Kind > ledger.SendEnded || p.sends == 1
			}
			l.step = func(p *program, s ledger.Step) ledger.Step {
				if s.Do == ledger.Send && p.sends == 2 {
					s.Do = ledger.Stop
				}
				return s
			}
		}, []string{"5xx after the work", "reply lost", "reply lost"}, falseNotApplied},
	// What ages, and codes of no table.
	{"a send is judged again right before its first byte", with("", edges, attempts(1)),
		func(l *lies) { l.noGate = true }, []string{"a sync takes 1 min"}, staleSend},
	{"by both clocks", with("", edges, attempts(1)),
		func(l *lies) { l.noGate = true }, []string{"the machine is suspended for 10 min"}, staleSend},
	{"a probe is judged again right before its first byte", with("", edges, attempts(1)),
		func(l *lies) { l.noGate = true }, []string{"reply lost", "a sync takes 10 min"}, staleProbe},
	{"a refusal of the key settles only where a second question confirms it", with("", edges),
		turned(ledger.SendEnded, is(turnedAway), refused), []string{"a refusal of the key"}, falseNotApplied},
	{"which is answered in the same way", with("", edges),
		decides(func(_ *program, f *ledger.Fact) bool { return f.Kind == ledger.Confirmed }),
		[]string{"a refusal of the key"}, falseNotApplied},
	{"an error with a code of no table proves nothing", with("", edges, attempts(1)),
		turned(ledger.SendEnded, is(unheardOf), unsent), []string{"a code of no table"}, falseNotApplied},
	{"and is not sent again", with("", edges),
		turned(ledger.SendEnded, is(unheardOf), silence), []string{"5xx after the work", "a code of no table"}, after5xx},
	// Late answers.
	{"a late answer is of the send that had it", with("", asksTwice),
		func(l *lies) {
			l.fact = func(p *program, f *ledger.Fact) bool {
				for n := 1; f.Kind == ledger.SendHeard && n <= p.l.Sends(); n++ {
					other := *f
					other.Send = n
					p.l.Note(other)
				}
				return true
			}
		}, []string{"refused in front", "reply 3 s late", "caller leaves"}, falseNotApplied},
	{"a late refusal settles only once each send has its own answer", with("", asksTwice),
		decides(func(_ *program, f *ledger.Fact) bool { return f.Kind == ledger.SendHeard && freshRefusal(f.Answer) }),
		[]string{"refused in front", "reply 3 s late", "reply swallowed"}, falseNotApplied},
	{"and each says that it did nothing", with("", asksTwice),
		turned(ledger.SendHeard, is(failed), unavailable),
		[]string{"5xx after the work", "reply 3 s late", "refused in front", "reply 12 s late"}, falseNotApplied},
	{"a late 5xx that may have run ends the sending", with("", listens),
		func(l *lies) {
			l.fact = func(_ *program, f *ledger.Fact) bool { return f.Kind != ledger.SendHeard || f.Answer != failed }
		}, []string{"takes 6 s", "5xx after the work"}, ranTwice},
	{"also one that waits for its byte", with("", leased, asksTwice),
		func(l *lies) { l.leavesLate = true },
		[]string{"5xx after the work", "reply 3 s late", "TAKEN OVER, facts lost; held up until the deadline"}, ranTwice},
	{"a second send beside a first one is durable before its byte", with("", asksTwice), notDurable(ledger.SendBegun),
		[]string{"5xx after the work", "reply 3 s late", "reply lost", "CRASH after the byte, facts lost; again at once"}, falseNotApplied},
	{"an answer that comes once it is decided is held against it", with("", asksTwice),
		func(l *lies) {
			l.fact = func(p *program, f *ledger.Fact) bool { return f.Kind != ledger.SendHeard || !p.l.Done() }
		}, []string{"5xx after the work", "reply 3 s late"}, untold},
	// Looks.
	{"before it is gone, absence decides nothing under 422", market(),
		decides(func(_ *program, f *ledger.Fact) bool {
			return f.Kind == ledger.Looked && f.Finding.Enough && f.Finding.Outcome == ledger.NotApplied
		}), []string{"takes 14 min", "caller leaves"}, ranAfterNotApplied},
	// Named keys.
	{"a key whose first use is unknown begins in doubt", with("", derived, firstUse, noJournal),
		func(l *lies) { l.terms = func(t *ledger.Terms) { t.FirstUseKnown = true } },
		[]string{"CRASH after the byte, facts lost; again at once", "refused in front"}, falseNotApplied},
	{"a baseline younger than the first use proves no absence", with("", derived, firstUse, twoJournals),
		func(l *lies) {
			l.look = func(v *ledger.Finding) {
				if v.Outcome == ledger.Unknown {
					v.Outcome, v.Stays = ledger.NotApplied, false
				}
			}
		}, []string{"part-way, after the work"}, falseNotApplied},
	{"a decision goes to its next key only from NotApplied", with("", derived),
		func(l *lies) { l.nextKey = true }, []string{"CRASH after the byte, all facts kept; again at once"}, ranTwice},
	// Paper.
	{"a paper order is not sent again after a byte", with("", paper),
		turned(ledger.SendEnded, class(ledger.Silence), unsent), []string{"reply lost"}, ranTwice},
	{"a paper order is looked for 30 s after its send", with("", paper),
		func(l *lies) {
			l.step = func(_ *program, s ledger.Step) ledger.Step {
				if s.Do == ledger.Look {
					s.At = 0
				}
				return s
			}
			decides(func(_ *program, f *ledger.Fact) bool { return f.Kind == ledger.Looked })(l)
		}, []string{"request delayed 7 s"}, ranAfterNotApplied},
	// A journal under a lease.
	{"behind a taking without a release, no send counts as the only one", with("", leased, exit), func(l *lies) { l.noGap = true },
		[]string{"5xx after the work", "reply lost", "TAKEN OVER, an exit without an append"}, falseNotApplied},
	{"nothing leaves once the lease may be another's", with("", leased, paper), func(l *lies) { l.noLease = true },
		[]string{"TAKEN OVER, facts lost; held up for 50 s"}, ranAfterNotApplied},
	{"who has lost the lease does not know what became of a decision", with("", leased, derived), func(l *lies) { l.knowsDecision = true },
		[]string{"429, stored", "TAKEN OVER, facts lost; held up for 50 s", "decides the same again"}, falseNotApplied},
}

func TestNeeded(t *testing.T) {
	for _, c := range needed {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			s := c.world
			s.only = c.accidents
			if r := search(s, len(c.accidents), c.find); r.count[c.find] > 0 {
				t.Fatalf("found with the rule too: %s\n%s", findings[c.find], r.schedule[c.find])
			}
			if c.leave == nil {
				s.ownRoute = false
			} else {
				c.leave(&s.lies)
			}
			r := search(s, len(c.accidents), c.find)
			if r.count[c.find] == 0 {
				t.Fatalf("not found in %d schedules: %s", r.runs, findings[c.find])
			}
			t.Logf("%s\n%s", findings[c.find], r.schedule[c.find])
		})
	}
}
