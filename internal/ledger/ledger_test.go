package ledger

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

func market() Terms { return kinds()["market order"] }

// unheard is a write whose only send got no answer.
func unheard(t Terms) Ledger {
	l := New(t)
	l.Note(Fact{Kind: SendBegun, At: at(0)})
	l.Note(Fact{Kind: SendEnded, At: at(0), Answer: silence})
	l.Note(Fact{Kind: SendingOver, At: at(0)})
	return l
}

func (l *Ledger) fenced(from time.Duration, a Answer) {
	l.Note(Fact{Kind: FenceBegun, At: at(from)})
	l.Note(Fact{Kind: FenceEnded, At: at(from), Answer: a})
}

func wantStep(t *testing.T, l *Ledger, now time.Duration, want Step) {
	t.Helper()
	assert.Equal(t, want, l.Next(at(now), Limits{}), "at %v: next", now)
}

func TestWaitsBeforeASend(t *testing.T) {
	slow := unavailable
	slow.RetryAfter = 3 * time.Second
	noWait := tooMany
	noWait.RetryAfter = 0
	for name, c := range map[string]struct {
		answer Answer
		want   Step
	}{
		"backoff":                       {silence, Step{Do: Send, At: 200 * time.Millisecond, Spread: true}},
		"Retry-After in full":           {tooMany, Step{Do: Send, At: 7 * time.Second}},
		"429 that asks for no wait":     {noWait, Step{Do: Send, At: 200 * time.Millisecond, Spread: true}},
		"stored 429, whose wait is old": {replayed(noWait), Step{Do: Rekey, At: 200 * time.Millisecond, Spread: true}},
		"503 that asks for a wait":      {slow, Step{Do: Send, At: 3 * time.Second}},
		"refusal that is stored":        {stalePrice, Step{Do: Rekey, At: 200 * time.Millisecond, Spread: true}},
		"5xx that may have run":         {refusal("no_price", 503, Unknown, SameKey), Step{Do: Fence}},
	} {
		l := New(market())
		l.Note(Fact{Kind: SendBegun, At: at(0)})
		l.Note(Fact{Kind: SendEnded, At: at(0), Answer: c.answer})
		assert.Equal(t, c.want, l.Next(at(0), Limits{}), name)
		if c.want.Do == Rekey {
			l.Note(Fact{Kind: KeyChanged, At: at(time.Second)})
			wantStep(t, &l, time.Second, Step{Do: Send, At: time.Second})
		}
	}
}

func TestLateLooks(t *testing.T) {
	terms := market()
	terms.NoProbe = true
	l := unheard(terms)
	l.fenced(0, reused)
	for _, due := range []time.Duration{10 * time.Minute, 16 * time.Minute, 30 * time.Minute} {
		wantStep(t, &l, due-time.Minute, Step{Do: Fence, At: due})
		l.fenced(due, reused)
		wantStep(t, &l, due, Step{Do: Look, At: due})
		l.Note(Fact{Kind: Looked, At: at(due)})
		wantStep(t, &l, due, Step{Do: Look, At: due + Lag})
		l.Note(Fact{Kind: Looked, At: at(due + Lag), Finding: Finding{Enough: true, Outcome: NotApplied}})
		if done := due == Gone; l.Done() != done {
			t.Errorf("after the looks at %v: done is %v", due, l.Done())
		}
	}
	if l.Outcome() != NotApplied {
		t.Errorf("no trace at the end: %v", l.Outcome())
	}

	l = unheard(terms)
	l.fenced(0, reused)
	l.fenced(10*time.Minute, reused)
	l.Note(Fact{Kind: Looked, At: at(11 * time.Minute), Finding: Finding{Enough: true, Outcome: Applied}})
	if l.Outcome() != Applied {
		t.Error("a trace decides before the write is gone")
	}
}

func TestAnAbsenceFromBeforeTheFenceDoesNotCount(t *testing.T) {
	l := unheard(market())
	l.fenced(0, reused)
	l.Note(Fact{Kind: Looked, At: at(10 * time.Minute)})
	l.fenced(11*time.Minute, noOrder)
	none := Finding{Enough: true, Outcome: NotApplied}
	l.Note(Fact{Kind: Looked, At: at(11 * time.Minute), Finding: none})
	require.False(t, l.Done(), "decided by one look after the fence")
	wantStep(t, &l, 11*time.Minute, Step{Do: Look, At: 11*time.Minute + Lag})
	l.Note(Fact{Kind: Looked, At: at(11*time.Minute + Lag - 1), Finding: none})
	require.False(t, l.Done(), "decided by two looks that are too close")
	l.Note(Fact{Kind: Looked, At: at(11*time.Minute + Lag), Finding: none})
	if l.Outcome() != NotApplied {
		t.Errorf("outcome %v", l.Outcome())
	}
	l = unheard(market())
	l.Note(Fact{Kind: Looked, At: at(16 * time.Minute), Finding: none})
	l.Note(Fact{Kind: Looked, At: at(Gone), Finding: none})
	require.False(t, l.Done(), "decided by one look at what is gone")
}

// after is a moment of a process that took the write over long after its decision.
func after(age, mono time.Duration) Instant {
	return Instant{Wall: wallStart.Add(age + mono), Mono: mono, Service: serviceStart.Add(age + mono)}
}

func TestGoneAfterARestart(t *testing.T) {
	hour := 60 * time.Minute
	sent := []Fact{{Kind: SendBegun, At: at(hour)}, {Kind: SendEnded, At: at(hour), Answer: silence}}
	probed := append(sent[:2:2], Fact{Kind: SendingOver, At: at(hour)}, Fact{Kind: ProbeBegun, At: at(hour)})
	early := []Fact{{Kind: SendEnded, At: at(0), Answer: silence}, {Kind: SendingOver, At: at(0)}, {Kind: ProbeBegun, At: at(time.Minute)}}
	undated := append(early[:2:2], Fact{Kind: ProbeBegun, At: Instant{Wall: wallStart}})
	for name, c := range map[string]struct {
		facts []Fact
		age   time.Duration
		date  bool
		want  time.Duration // of the new process
	}{
		"an hour after the TTL's end":   {sent, 92*time.Minute + servicetime.Tolerance, true, -hour},
		"a minute later":                {sent, time.Minute, true, 30 * time.Minute},
		"two minutes and a half later":  {sent, 150 * time.Second, true, 29*time.Minute + 30*time.Second + servicetime.Tolerance},
		"no Date":                       {sent, 3 * hour, false, 30 * time.Minute},
		"a probe after the TTL counts":  {probed, 2 * hour, true, -30*time.Minute + servicetime.Tolerance},
		"one before its end does not":   {early, 2 * hour, true, -88*time.Minute + servicetime.Tolerance},
		"one that nobody can date does": {undated, 2 * hour, true, 30 * time.Minute},
		"a process that ran for longer": {nil, 32 * time.Minute, true, servicetime.Tolerance},
	} {
		now := after(c.age, 0)
		if !c.date {
			now.Service = servicetime.Time{}
		}
		terms := market()
		terms.Decided.Service = serviceStart
		l := Restore(terms, c.facts, now)
		if got := l.goneAt(now); (got - c.want).Abs() > 100*time.Millisecond {
			t.Errorf("%s: gone at %v, want %v", name, got, c.want)
		}
		later := after(c.age, time.Minute)
		l.Note(Fact{Kind: ProbeBegun, At: later})
		assert.Equal(t, Gone+time.Minute, l.goneAt(later), "%s, and a probe of this process", name)
	}
}

// A clock that jumped since the restart says nothing of how long ago the last byte was.
func TestGoneByClocksThatDisagree(t *testing.T) {
	l := Restore(market(), []Fact{{Kind: SendEnded, At: at(0), Answer: silence}}, after(time.Hour, 0))
	now := after(time.Hour, time.Second)
	now.Wall = now.Wall.Add(time.Minute)
	assert.Equal(t, Gone, l.goneAt(now))
	_, ok := l.age(now)
	assert.False(t, ok)
}

func TestQuietAfterARestartOfALongProcess(t *testing.T) {
	terms := market()
	facts := []Fact{
		{Kind: SendBegun, At: at(100 * time.Second)}, {Kind: SendEnded, At: at(100 * time.Second), Answer: silence},
		{Kind: SendingOver, At: at(100 * time.Second)}, {Kind: ProbeBegun, At: at(110 * time.Second)},
	}
	l := Restore(terms, facts, after(2*time.Minute, 0))
	for _, at := range []time.Duration{0, 5 * time.Second} {
		l.Note(Fact{Kind: FenceBegun, At: after(2*time.Minute, at)})
		l.Note(Fact{Kind: FenceEnded, At: after(2*time.Minute, at), Answer: reused})
	}
	now := after(2*time.Minute, 5*time.Second)
	if got := l.Next(now, Limits{}); got.Do != Probe {
		t.Errorf("%+v, want a probe", got)
	}
	now.Wall = now.Wall.Add(3 * time.Second)
	if got := l.Next(now, Limits{}); got.Do == Probe {
		t.Error("a probe although the clocks disagree")
	}
}

func TestAKeyWhoseFirstUseIsUnknown(t *testing.T) {
	end := func(facts ...Fact) Ledger {
		l := New(kinds()["derived, shared"])
		for _, f := range facts {
			f.At = at(0)
			l.Note(f)
		}
		l.Note(Fact{Kind: SendingOver, At: at(0)})
		return l
	}
	send := Fact{Kind: SendBegun}
	heard := func(a Answer) Fact { return Fact{Kind: SendEnded, Answer: a} }
	for name, c := range map[string]struct {
		l      Ledger
		forget bool
	}{
		"nothing sent":          {end(), true},
		"not a byte left":       {end(send, heard(unsent)), true},
		"one refusal":           {end(send, heard(refused)), true},
		"429s":                  {end(send, heard(tooMany), send, heard(tooMany)), true},
		"429s and a refusal":    {end(send, heard(tooMany), send, heard(refused)), true},
		"a 429 after doubt":     {end(send, heard(silence), send, heard(tooMany), send, heard(refused)), false},
		"a refusal after doubt": {end(send, heard(silence), send, heard(replayed(refused))), false},
		"in flight":             {end(send, heard(inFlight)), false},
		"503":                   {end(send, heard(unavailable)), false},
		"500":                   {end(send, heard(refusal("internal_error", 500, NotApplied, End))), false},
		"left in flight":        {end(send), false},
		"part-way":              {end(send, heard(partWay)), false},
	} {
		if c.l.Outcome() != Unknown || c.l.Forget() != c.forget || c.l.Done() != c.forget {
			t.Errorf("%s: outcome %v, forget %v, done %v", name, c.l.Outcome(), c.l.Forget(), c.l.Done())
		}
	}
	l := end(send, heard(silence))
	day := 25 * time.Hour
	if step := l.Next(at(day), Limits{}); step.Do != Look {
		t.Errorf("after a day: %+v, want a look without a fence", step)
	}
}

func TestFactsAreShortJSON(t *testing.T) {
	for _, f := range []Fact{
		{Kind: SendBegun, At: at(12345 * time.Millisecond)},
		{Kind: FenceEnded, At: at(time.Second), Answer: replayed(locked), OwnRoute: true},
		{Kind: Looked, At: Instant{Wall: wallStart}, Finding: Finding{Enough: true, Outcome: NotApplied}},
	} {
		text, err := json.Marshal(f)
		require.NoError(t, err)
		var again Fact
		require.NoError(t, json.Unmarshal(text, &again))
		again.At.Wall, f.At.Wall = again.At.Wall.UTC(), f.At.Wall.UTC()
		assert.Equal(t, f, again, "%s", text)
		if len(text) > 120 {
			t.Errorf("%d bytes: %s", len(text), text)
		}
	}
	assert.Error(t, json.Unmarshal([]byte(`{"k":1,"t":"now"}`), &Fact{}), "a time that is no array was taken")
}

func TestASuccessAllocatesNothing(t *testing.T) {
	terms := market()
	var l Ledger
	if n := testing.AllocsPerRun(100, func() {
		l = New(terms)
		if l.Next(at(0), Limits{}).Do == Send {
			l.Note(Fact{Kind: SendBegun, At: at(0)})
			l.Note(Fact{Kind: SendEnded, At: at(0), Answer: success})
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if l.Outcome() != Applied {
		t.Errorf("outcome %v", l.Outcome())
	}
}

func TestALookInPlaceOfAFence(t *testing.T) {
	full := Limits{NoProbe: true, NoFence: true}
	for name, c := range map[string]struct {
		before time.Duration // the write is gone
		limits Limits
		want   Action
	}{
		"there is a place":            {0, Limits{NoProbe: true}, Fence},
		"there is none":               {0, full, Look},
		"none, and a later one helps": {1, full, Fence},
	} {
		l := received(market())
		now := l.goneAt(at(0)) - c.before
		assert.Equal(t, c.want, l.Next(at(now), c.limits).Do, name)
	}
}
