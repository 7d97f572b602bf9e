package ledger

import (
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
