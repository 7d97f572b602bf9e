package ledger

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

// The moments and the counts at which something begins or ends, each on both sides.

func TestClocksOfOneProcess(t *testing.T) {
	const hour = time.Hour
	for _, c := range []struct {
		mono, wall time.Duration // how far each clock ran
		agree      bool
		since      time.Duration
	}{
		{hour, hour, true, hour},
		{hour, hour + ClocksAgree, true, hour + ClocksAgree},
		{hour, hour + ClocksAgree + 1, false, hour + ClocksAgree + 1},
		{hour, hour - ClocksAgree, true, hour},
		{hour, hour - ClocksAgree - 1, false, hour},
		{hour, -hour, false, hour},
	} {
		then := Instant{Wall: wallStart, Mono: 10 * hour}
		now := Instant{Wall: wallStart.Add(c.wall), Mono: then.Mono + c.mono}
		if agree(then, now) != c.agree || since(then, now) != c.since {
			t.Errorf("%+v: agree %v, since %v", c, agree(then, now), since(then, now))
		}
	}
}

func TestInstantsThatAreTaken(t *testing.T) {
	most := maxMono.Milliseconds()
	for ms, taken := range map[int64]bool{-1: false, 0: true, most: true, most + 1: false} {
		var i Instant
		err := json.Unmarshal(fmt.Appendf(nil, "[1,%d,0]", ms), &i)
		if (err == nil) != taken || taken && i.Mono.Milliseconds() != ms {
			t.Errorf("%d ms: %v, %v", ms, i.Mono, err)
		}
	}
}

// decidedLate is a write that its process decided after an hour.
func decidedLate() Terms {
	terms := market()
	terms.Decided = at(time.Hour)
	terms.Decided.Service = serviceStart
	return terms
}

func TestAgeAfterARestart(t *testing.T) {
	day := (Forgotten - servicetime.Tolerance) * 100 / 101 // by a clock that loses a hundredth
	for _, c := range []struct {
		passed    time.Duration // by the service's clock
		age       time.Duration
		ok        bool
		forgotten bool
	}{
		{-servicetime.Tolerance, 0, true, false},
		{-servicetime.Tolerance - time.Millisecond, -time.Millisecond, false, false},
		{10*time.Minute - 5*time.Second, 10*time.Minute + 3950*time.Millisecond, true, false},
		{day - time.Second, Forgotten - 1010*time.Millisecond, true, false},
		{day + time.Second, Forgotten + 1010*time.Millisecond, true, true},
	} {
		now := Instant{Wall: wallStart.Add(time.Hour), Service: serviceStart.Add(c.passed)}
		l := Restore(decidedLate(), nil, now)
		age, ok := l.age(now)
		if ok != c.ok || (age-c.age).Abs() > time.Millisecond || l.isForgotten(now) != c.forgotten {
			t.Errorf("%v: age %v, %v, forgotten %v", c.passed, age, ok, l.isForgotten(now))
		}
	}
}

func TestWhenAKeyMayBeForgotten(t *testing.T) {
	for _, c := range []struct {
		wall, mono time.Duration
		want       bool
	}{
		{Forgotten - 1, Forgotten - 1, false},
		{Forgotten, 0, true},
		{0, Forgotten, true},
		{0, Forgotten - 1, false},
	} {
		l := New(decidedLate())
		now := Instant{Wall: wallStart.Add(time.Hour + c.wall), Mono: time.Hour + c.mono}
		if l.isForgotten(now) != c.want {
			t.Errorf("%+v: %v", c, !c.want)
		}
	}
}

// Over a restart no clock of the process before says how old a key is.
func TestWhenAKeyMayBeForgottenAfterARestart(t *testing.T) {
	for wall, want := range map[time.Duration]bool{Forgotten - 1: false, Forgotten: true} {
		now := Instant{Wall: wallStart.Add(time.Hour + wall), Mono: 2 * Forgotten}
		l := Restore(decidedLate(), nil, now)
		assert.Equal(t, want, l.isForgotten(now), wall)
	}
}

func TestHowLongItIsSent(t *testing.T) {
	ttl, asks := market().TTL, func(wait time.Duration) Answer {
		a := unavailable
		a.RetryAfter = wait
		return a
	}
	once := kinds()["sent once"]
	for name, c := range map[string]struct {
		terms  Terms
		at     time.Duration
		answer Answer // of a send at that time
		want   Action
	}{
		"in time":                         {terms: market(), at: ttl - 1, want: Send},
		"its time is over":                {terms: market(), at: ttl},
		"sent once, in time":              {terms: once, at: Window - 1, want: Send},
		"sent once, its time is over":     {terms: once, at: Window},
		"sent once, and once it was":      {terms: once, answer: asks(0), want: Stop},
		"again before its time is over":   {terms: market(), at: ttl - 10*time.Second, answer: asks(9 * time.Second), want: Send},
		"again when its time is over":     {terms: market(), at: ttl - 10*time.Second, answer: asks(10 * time.Second)},
		"again after its time is over":    {terms: market(), at: ttl - 10*time.Second, answer: asks(11 * time.Second)},
		"a 500 that may have run":         {terms: market(), answer: refusal("x", 500, Unknown, SameKey), want: Fence},
		"a 500 that has done nothing":     {terms: market(), answer: refusal("x", 500, NotApplied, SameKey), want: Send},
		"it failed part-way, and may not": {terms: market(), answer: partWay, want: Look},
	} {
		l := New(c.terms)
		if c.answer.Class != 0 {
			l.Note(Fact{Kind: SendBegun, At: at(c.at)})
			l.Note(Fact{Kind: SendEnded, At: at(c.at), Answer: c.answer})
		}
		if got := l.Next(at(c.at), Limits{}); got.Do != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestHowOftenItIsSent(t *testing.T) {
	hurried := market()
	hurried.Retry.FailFast = true
	once, exit, paper := market(), market(), kinds()["paper"]
	for _, t := range []*Terms{&once, &exit, &paper} {
		t.Without.Resend = true
	}
	exit.Entry = false
	for name, c := range map[string]struct {
		terms  Terms
		answer Answer
		want   int
	}{
		"no answer":                              {market(), silence, 3},
		"no answer, to be sent once":             {once, silence, 1},
		"an exit that would be":                  {exit, silence, 3},
		"a paper order that would be":            {paper, tooMany, 3},
		"a full close that is limited":           {kinds()["full close"], tooMany, 3},
		"no price":                               {market(), stalePrice, 2},
		"a rate limit":                           {market(), tooMany, 3},
		"a rate limit, and nobody waits":         {hurried, tooMany, 1},
		"no answer, and nobody waits for limits": {hurried, silence, 3},
	} {
		l := New(c.terms)
		now := time.Duration(0)
		for {
			step := l.Next(at(now), Limits{})
			now = step.At
			if step.Do == Rekey {
				l.Note(Fact{Kind: KeyChanged, At: at(now)})
				continue
			}
			if step.Do != Send || !l.Sending() {
				break
			}
			l.Note(Fact{Kind: SendBegun, At: at(now)})
			l.Note(Fact{Kind: SendEnded, At: at(now), Answer: c.answer})
		}
		if l.Sends() != c.want {
			t.Errorf("%s: sent %d times, want %d", name, l.Sends(), c.want)
		}
	}
}

// A refusal that asks for another key has none on paper.
func TestNoOtherKeyOnPaper(t *testing.T) {
	l := New(kinds()["paper"])
	l.take(begun(0), ended(0, stalePrice))
	assert.Equal(t, Send, l.Next(at(0), Limits{}).Do)
}

func TestBackoff(t *testing.T) {
	r := market().Retry
	for sends, want := range map[int]time.Duration{
		0: 200 * time.Millisecond, 1: 200 * time.Millisecond, 2: 400 * time.Millisecond, 5: 3200 * time.Millisecond,
		6: r.MaxWait, 20: r.MaxWait, 1000: r.MaxWait,
	} {
		assert.Equal(t, want, r.Backoff(sends), "after %d sends", sends)
	}
}

// A wait that the service asked for is kept in full, also one as long as the backoff.
func TestAWaitThatWasAskedFor(t *testing.T) {
	for asked, want := range map[time.Duration]Step{
		0:                      {Do: Send, At: 200 * time.Millisecond, Spread: true},
		199 * time.Millisecond: {Do: Send, At: 200 * time.Millisecond, Spread: true},
		200 * time.Millisecond: {Do: Send, At: 200 * time.Millisecond},
		201 * time.Millisecond: {Do: Send, At: 201 * time.Millisecond},
	} {
		l := New(market())
		a := unavailable
		a.RetryAfter = asked
		l.Note(Fact{Kind: SendBegun, At: at(0)})
		l.Note(Fact{Kind: SendEnded, At: at(0), Answer: a})
		assert.Equal(t, want, l.Next(at(0), Limits{}), "%v", asked)
	}
}

// A send of which nothing left is none of the sends under its key.
func TestASendOfWhichNothingLeft(t *testing.T) {
	l := New(market())
	for _, a := range []Answer{unsent, silence, replayed(refused)} {
		l.Note(Fact{Kind: SendBegun, At: at(0)})
		l.Note(Fact{Kind: SendEnded, At: at(0), Answer: a})
	}
	if l.Outcome() != NotApplied {
		t.Errorf("the refusal of the one send that was in doubt: %v", l.Outcome())
	}
}

func TestWhenFencesAndProbesAreDue(t *testing.T) {
	fenced := func(terms Terms, when ...time.Duration) Ledger {
		l := unheard(terms)
		for _, from := range when {
			l.fenced(from, reused)
		}
		return l
	}
	spent := unheard(market())
	spent.fenced(2*time.Second, noOrder)
	quiet := unheard(market())
	quiet.fenced(Gone-time.Second/2, silence)
	noProbe := market()
	noProbe.NoProbe = true
	looked := fenced(noProbe, 0, 10*time.Minute)
	looked.Note(Fact{Kind: Looked, At: at(10*time.Minute - Lag)})
	looked.Note(Fact{Kind: Looked, At: at(10 * time.Minute), Finding: Finding{Enough: true}})
	for name, c := range map[string]struct {
		l    Ledger
		now  time.Duration
		want Step
	}{
		"a gap after one 422":             {fenced(market(), 4*time.Second), 4 * time.Second, Step{Do: Fence, At: 4*time.Second + Gap}},
		"a second after the last 422":     {fenced(market(), 2*time.Second, 5*time.Second), 6 * time.Second, Step{Do: Probe, At: 6 * time.Second}},
		"more than a second after it":     {fenced(market(), 2*time.Second, 5*time.Second), 6*time.Second + 1, Step{Do: Fence, At: 5*time.Second + Gap}},
		"the last probe of the Window":    {fenced(market(), Window-Gap-1, Window-1), Window - 1, Step{Do: Probe, At: Window - 1}},
		"after the Window":                {fenced(market(), Window-Gap, Window), Window, Step{Do: Look, At: Window}},
		"a lag after a fence that holds":  {spent, 2 * time.Second, Step{Do: Look, At: 2*time.Second + Lag}},
		"when it is gone":                 {quiet, Gone, Step{Do: Fence, At: Gone}},
		"before it is gone":               {quiet, Gone - 1, Step{Do: Fence, At: Gone + time.Second/2}},
		"the second late look":            {fenced(noProbe, 0, 12*time.Minute), 16 * time.Minute, Step{Do: Fence, At: 16 * time.Minute}},
		"a late look, after its fence":    {fenced(noProbe, 0, 12*time.Minute), 16*time.Minute - 1, Step{Do: Look, At: 12 * time.Minute}},
		"an overdue look":                 {spent, time.Minute, Step{Do: Look, At: 2*time.Second + Lag}},
		"a late look that was just taken": {looked, 10*time.Minute + 1, Step{Do: Fence, At: 16 * time.Minute}},
	} {
		assert.Equal(t, c.want, c.l.Next(at(c.now), Limits{}), name)
	}
}

// A probe whose answer shows what it did has not placed the write.
func TestAProbeThatWasAnswered(t *testing.T) {
	derived := kinds()["derived key"]
	for name, answer := range map[string]Answer{"part-way": partWay, "other bytes": reused} {
		l := received(derived)
		l.probed(5*time.Second, answer)
		l.Note(Fact{Kind: Looked, At: at(Gone), Finding: Finding{Enough: true, Outcome: Applied}})
		if l.Outcome() != Applied || l.MaybeLate() {
			t.Errorf("%s: %v, maybe late %v", name, l.Outcome(), l.MaybeLate())
		}
	}
	l := received(market())
	l.probed(5*time.Second, replayed(failed))
	if l.Done() || l.Held() {
		t.Error("a stored 500 decides nothing")
	}
}

// A probe that was taken back does not count after a restart either.
func TestAProbeTakenBackBeforeARestart(t *testing.T) {
	sent := at(0)
	sent.Service = servicetime.Time{}
	terms := market()
	terms.Decided.Service = serviceStart
	facts := []Fact{
		{Kind: SendBegun, At: sent}, {Kind: SendEnded, At: sent, Answer: silence}, {Kind: SendingOver, At: sent},
		{Kind: ProbeBegun, At: sent}, {Kind: ProbeEnded, At: sent, Answer: inFlight},
	}
	now := after(time.Hour, 0)
	l := Restore(terms, facts, now)
	assert.True(t, l.IsGone(now), "gone at %v", l.goneAt(now))
}
