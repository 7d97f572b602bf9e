package ledger

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

// What a process before has not waited for is waited for.
func TestWhatARestartBeginsAnew(t *testing.T) {
	now := after(time.Hour, 0)
	l := Restore(market(), []Fact{{Kind: SendEnded, At: at(0), Answer: unsent}}, now)
	assert.Equal(t, quietFor, l.quietAt(now), "a send may be lost behind one of which nothing left")
	probed := []Fact{
		{Kind: SendEnded, At: at(0), Answer: silence}, {Kind: Restarted, At: at(0)}, {Kind: ProbeBegun, At: at(0)},
		{Kind: ProbeEnded, At: at(0), Answer: silence}, {Kind: FenceBegun, At: at(0)},
	}
	l = Restore(market(), probed, now)
	assert.Equal(t, quietFor, l.quietAt(now), "the process that probed may have gone on for a moment")
	l.fenced(now.Mono, reused)
	l.probed(time.Second, inFlight)
	assert.Equal(t, time.Second+fenceWait, l.known().fence.next, "the wait behind a probe")

	none := Finding{Enough: true, Outcome: NotApplied}
	l = unheard(market())
	l.Note(Fact{Kind: Looked, At: at(Gone), Finding: none})
	l.Note(Fact{Kind: Restarted, At: after(2*Gone, 0)})
	l.Note(Fact{Kind: Looked, At: after(2*Gone, 0), Finding: none})
	assert.False(t, l.Done(), "the first look of a process shows no absence")
	l.Note(Fact{Kind: Looked, At: after(2*Gone, Lag), Finding: none})
	assert.Equal(t, NotApplied, l.Outcome())

	unsure := kinds()["derived, shared"]
	l = Restore(unsure, []Fact{{Kind: SendEnded, At: at(0), Answer: unsent}, {Kind: SendingOver, At: at(0)}}, now)
	assert.False(t, l.Sent(), "what was over without a byte stays so")
}

// What a process has waited for since its restart counts for the next one: how long nothing of the write has been
// sent, since when the service knows its key, and by when it has run or never will. The clock of the service
// is the measure, as far as it may be off.
func TestWhatAProcessBeforeHasWaitedFor(t *testing.T) {
	const off = 2 * servicetime.Tolerance
	undated := market()
	undated.Decided.Service = servicetime.Time{}
	noTime := func(f Fact) Fact {
		f.At.Service = servicetime.Time{}
		return f
	}
	sent := []Fact{
		noTime(Fact{Kind: SendBegun, At: at(0)}), noTime(Fact{Kind: SendEnded, At: at(0), Answer: silence}), {Kind: Restarted},
		noTime(Fact{Kind: FenceBegun, At: at(0)}),
	}
	known := append(sent[:4:4], Fact{Kind: FenceEnded, At: at(0), Answer: reused})
	runs := append(sent[:4:4], Fact{Kind: FenceEnded, At: at(0), Answer: inFlight})
	lost := append(known[:5:5], noTime(Fact{Kind: FenceBegun, At: at(time.Second)}))
	other := append(lost[:6:6], Fact{Kind: FenceEnded, At: at(time.Second), Answer: silence})
	probed := append(known[:5:5], Fact{Kind: ProbeBegun, At: at(time.Second)}, Fact{Kind: ProbeEnded, At: at(time.Second), Answer: silence})
	for name, c := range map[string]struct {
		terms Terms
		facts []Fact
		later time.Duration // by the service's clock
		do    Action        // behind another answer 422
		wait  time.Duration
		gone  bool
	}{
		"long enough for both":                      {terms: market(), facts: known, later: 5*time.Second + off, do: Probe},
		"long enough for the key alone":             {terms: market(), facts: known, later: Gap + off, do: Fence, wait: Gap},
		"the answer to another fence is lost":       {terms: market(), facts: lost, later: 5*time.Second + off, do: Fence, wait: Gap},
		"another fence was not answered 422":        {terms: market(), facts: other, later: 5*time.Second + off, do: Fence, wait: Gap},
		"it was asked for its answer since":         {terms: market(), facts: probed, later: 5*time.Second + off, do: Fence, wait: 5 * time.Second},
		"it ran, and a key that runs is told apart": {terms: market(), facts: runs, later: 5*time.Second + off, do: Probe},
		"ten minutes, and it has no age":            {terms: undated, facts: known, later: 10*time.Minute + off, do: Look},
		"less":                                      {terms: undated, facts: known, later: 10*time.Minute + off - time.Second, do: Fence, wait: time.Second},
		"half an hour":                              {terms: undated, facts: known, later: Gone + off, do: Look, gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			now := after(c.later, 0)
			l := Restore(c.terms, c.facts, noTime(Fact{At: now}).At)
			l.Note(noTime(Fact{Kind: FenceBegun, At: now}))
			l.Note(Fact{Kind: FenceEnded, At: now, Answer: reused})
			if next := l.Next(now, Limits{}); next.Do != c.do || (next.At-now.Mono-c.wait).Abs() > 100*time.Millisecond {
				t.Errorf("next %+v, want %v after %s", next, c.do, c.wait)
			}
			if l.IsGone(now) != c.gone {
				t.Errorf("gone: %v", !c.gone)
			}
		})
	}
}

// A restart goes on with a key that is spent, and looks once reads show all that ran until then, by
// the service's clock where that is known. A key that may be forgotten counts no more.
func TestARestartGoesOnWithASpentKey(t *testing.T) {
	facts := []Fact{{Kind: SendBegun, At: at(0)}, {Kind: SendEnded, At: at(0), Answer: silence}}
	spent := append(slices.Clone(facts), Fact{Kind: FenceBegun, At: at(0)}, Fact{Kind: FenceEnded, At: at(0), Answer: noOrder})
	undated := at(0)
	undated.Service = servicetime.Time{}
	for name, c := range map[string]struct {
		facts []Fact
		now   Instant
		do    Action
		wait  time.Duration
	}{
		"it is not spent":                      {facts, at(time.Minute), Fence, 0},
		"it is":                                {spent, after(time.Second, 0), Look, Lag},
		"some of a lag ago":                    {spent, after(Lag+2*servicetime.Tolerance-time.Second, 0), Look, 930 * time.Millisecond},
		"less than clocks may be off":          {spent, after(2*servicetime.Tolerance-time.Second, 0), Look, Lag},
		"a lag ago":                            {spent, after(Lag+2*servicetime.Tolerance, 0), Look, 0},
		"nobody knows when":                    {spent, undated, Look, Lag},
		"so long ago that it may be forgotten": {spent, after(Forgotten, 0), Fence, 0},
	} {
		l := Restore(market(), c.facts, c.now)
		next := l.Next(c.now, Limits{})
		if l.Held() != (c.do == Look) || next.Do != c.do || next.At-c.now.Mono != c.wait {
			t.Errorf("%s: held %v, next %+v at %s", name, l.Held(), next, c.now.Mono)
		}
	}
}

func TestADecisionIsDatedByALaterAnswer(t *testing.T) {
	terms := market()
	terms.Decided.Service = servicetime.Time{}
	heard := at(10 * time.Second)
	facts := []Fact{{Kind: SendBegun, At: at(0)}, {Kind: SendEnded, At: heard, Answer: silence}}
	facts[0].At.Service = servicetime.Time{}
	now := after(time.Minute, 0)
	l := Restore(terms, facts, now)
	if age, ok := l.age(now); !ok || (age-time.Minute-servicetime.Tolerance).Abs() > time.Second {
		t.Errorf("age %v, %v", age, ok)
	}
	alike := Restore(terms, nil, Instant{Wall: wallStart})
	alike.Note(Fact{Kind: FenceBegun, At: heard})
	assert.True(t, alike.Decided.Service.IsZero(), "another process dates nothing")
	dated := l.Decided.Service
	l.restored = false
	l.Date(Instant{Wall: now.Wall, Mono: now.Mono, Service: now.Service.Add(time.Second)})
	assert.Equal(t, dated, l.Decided.Service, "once")
	facts[1].At.Wall = facts[1].At.Wall.Add(time.Hour)
	l = Restore(terms, facts, now)
	if age, ok := l.age(now); ok {
		t.Errorf("age %v although the clocks disagreed", age)
	}
}

// The first send under a key is not on disk before its byte. Its answer counts as a
// send all the same: of three, a repeated refusal can be the second's, while the first
// was executed.
func TestRestoreCountsTheFirstSend(t *testing.T) {
	refused := Answer{Class: Refusal, Status: 403, Says: NotApplied}
	replayed := refused
	replayed.Replayed = true
	var facts []Fact
	for i, a := range []Answer{{Class: Silence}, {Class: Silence}, replayed} {
		if i > 0 {
			facts = append(facts, Fact{Kind: SendBegun})
		}
		facts = append(facts, Fact{Kind: SendEnded, Answer: a})
	}
	l := Restore(Terms{Keyed: true, Entry: true, Resolves: true, Lasting: true, TTL: time.Minute, FirstUseKnown: true}, facts, Instant{})
	if l.Done() || l.Outcome() != Unknown {
		t.Errorf("the write is %v, done %t", l.Outcome(), l.Done())
	}
}

// What an earlier process was answered last, however often it would have sent.
func TestRestoreOfARepeatedRefusal(t *testing.T) {
	facts := []Fact{
		{Kind: SendBegun, At: at(0)}, {Kind: SendEnded, At: at(0), Answer: silence},
		{Kind: SendBegun, At: at(1)}, {Kind: SendEnded, At: at(1), Answer: replayed(refused)},
	}
	terms := market()
	terms.Retry = Bounds{} // which no journal has
	l := Restore(terms, facts, at(2))
	assert.Equal(t, NotApplied, l.Outcome())
}

// The journal may have lost how a send ended, and have that the next did not leave.
func TestRestoreOfASendWhoseEndIsLost(t *testing.T) {
	terms := market()
	terms.TTL = time.Minute
	for name, later := range map[string]Answer{"unsent": {Class: Unsent}, "refused": refusal("MIN_NOTIONAL", 400, NotApplied, End)} {
		facts := []Fact{{Kind: SendBegun, At: at(0)}, {Kind: SendBegun, At: at(1)}, {Kind: SendEnded, At: at(1), Answer: later}}
		l := Restore(terms, facts, at(2))
		if l.Done() || l.Outcome() != Unknown {
			t.Errorf("%s: the write is %v, done %t", name, l.Outcome(), l.Done())
		}
	}
}

// An exit may have been sent once more without a record of it: so what the journal has of it says
// nothing of the last send.
func TestRestoreOfAnExitWhoseSendsMayBeMissing(t *testing.T) {
	terms := market()
	terms.Entry, terms.TTL = false, time.Minute
	facts := []Fact{{Kind: SendBegun, At: at(0)}, {Kind: SendEnded, At: at(1), Answer: refusal("idempotency_unavailable", 503, NotApplied, SameKey)}}
	for _, missing := range []bool{false, true} {
		terms.SendsMissing = missing
		l := Restore(terms, facts, at(2))
		if l.Done() == missing {
			t.Errorf("sends may be missing %t: the write is %v, done %t", missing, l.Outcome(), l.Done())
		}
	}
}

// A journal that hangs for a moment takes neither the end of the first send nor the beginning of the second, which did not leave: that
// this one ended says nothing of the first. Nor is the end of a question whose beginning is missing one of another.
func TestRestoreOfAnEndWhoseBeginningIsMissing(t *testing.T) {
	begun, over := Fact{Kind: SendBegun, At: at(0)}, Fact{Kind: SendingOver, At: at(6 * time.Second)}
	unsent := Fact{Kind: SendEnded, At: at(5 * time.Second), Answer: Answer{Class: Unsent}}
	for name, c := range map[string]struct {
		send  int
		facts []Fact
		want  Outcome
	}{
		"of the second, and its beginning is missing": {2, []Fact{begun}, Unknown},
		"of the second, and it is there":              {2, []Fact{begun, begun}, Unknown},
		"of the first":                                {1, []Fact{begun}, NotApplied},
	} {
		end := unsent
		end.Send = c.send
		l := Restore(market(), append(c.facts, end, over), at(time.Minute))
		assert.Equal(t, c.want, l.Outcome(), name)
	}
	l := New(market())
	before := l.known().probe
	l.Note(Fact{Kind: ProbeEnded, At: at(time.Second), Answer: Answer{Class: Unsent}})
	assert.Equal(t, before, l.known().probe)
}

// A journal that hangs for a moment lacks the answer that a second question was about. That this one got none confirms nothing.
func TestRestoreOfAQuestionWhoseAnswerIsMissing(t *testing.T) {
	denied := Answer{Class: Refusal, Code: "revoked_api_key", Status: 401, Says: NotApplied, Confirm: true}
	for name, said := range map[string]Answer{
		"silence": {Class: Silence}, "nothing left": {Class: Unsent}, "a refusal": denied, "a success": {Class: Success},
	} {
		l := Restore(market(), []Fact{{Kind: SendBegun, At: at(0)}, {Kind: Confirmed, At: at(time.Second), Answer: said}}, at(time.Minute))
		assert.Equal(t, Unknown, l.Outcome(), name)
	}
}
