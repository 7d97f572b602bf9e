package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// D 39: a refusal that turned a write away before its route decides only if a second question
// is answered in the same way, and nothing was in doubt before.
func TestARefusalIsConfirmed(t *testing.T) {
	denied := refusal("invalid_api_key", 401, NotApplied, End)
	denied.Confirm, denied.InFront = true, true
	other := denied
	other.Code = "revoked_api_key"
	elsewhere := denied
	elsewhere.Status = 403
	turnedAway := func(terms Terms, before ...Answer) Ledger {
		l := New(terms)
		for _, a := range append(before, denied) {
			l.Note(Fact{Kind: SendBegun, At: at(0)})
			l.Note(Fact{Kind: SendEnded, At: at(0), Answer: a})
		}
		l.Note(Fact{Kind: SendingOver, At: at(0)})
		return l
	}
	for name, c := range map[string]struct {
		second Answer
		done   bool
	}{
		"the same":           {denied, true},
		"another code":       {other, false},
		"another status":     {elsewhere, false},
		"a success":          {success, false},
		"no answer":          {silence, false},
		"something in front": {Answer{Class: Foreign, Status: 401}, false},
		"a rate limit":       {tooMany, false},
		"not sent":           {Answer{Class: Unsent}, false},
	} {
		l := turnedAway(market())
		if l.Done() || l.Outcome() != Unknown {
			t.Fatalf("%s: %v before it is confirmed", name, l.Outcome())
		}
		wantStep(t, &l, time.Second, Step{Do: Confirm, At: time.Second})
		l.Note(Fact{Kind: Confirmed, At: at(time.Second), Answer: c.second})
		if l.Done() != c.done || c.done != (l.Outcome() == NotApplied) {
			t.Errorf("%s: done %t, %v", name, l.Done(), l.Outcome())
		}
		if !c.done {
			wantStep(t, &l, time.Second, Step{Do: Fence, At: time.Second})
		}
	}
	if l := turnedAway(market(), silence); l.Denied() {
		t.Error("it was in doubt before")
	}
	unknown := market()
	unknown.Source, unknown.FirstUseKnown = Given, false
	l := turnedAway(unknown)
	assert.False(t, l.Done(), "it is asked first")
	if l.Note(Fact{Kind: Confirmed, At: at(time.Second), Answer: denied}); l.Outcome() != Unknown || !l.Forget() || !l.Done() {
		t.Error("what became of an earlier use is not this write's to find out")
	}
	l = turnedAway(unknown)
	if l.Note(Fact{Kind: Confirmed, At: at(time.Second), Answer: success}); l.Done() {
		t.Error("it may have run, and would be forgotten")
	}
	if l := turnedAway(unknown, silence); l.Denied() {
		t.Error("it was in doubt before, whoever used the key")
	}
	if l := turnedAway(market(), unavailable); !l.Denied() {
		t.Error("a 503 that has done nothing leaves no doubt")
	}
	if l := turnedAway(kinds()["given, not used since"]); l.Denied() {
		t.Error("a fence tells more")
	}
	restarted := Restore(market(), []Fact{{Kind: SendBegun, At: at(0)}, {Kind: SendEnded, At: at(0), Answer: denied}}, at(time.Hour))
	assert.False(t, restarted.Denied(), "a second question of another day confirms nothing")
	paper := market()
	paper.Keyed = false
	l = turnedAway(paper)
	wantStep(t, &l, time.Second, Step{Do: Confirm, At: time.Second})
	if l.Note(Fact{Kind: Confirmed, At: at(time.Second), Answer: denied}); l.Outcome() != NotApplied {
		t.Errorf("the paper account: %v", l.Outcome())
	}
	cancel := market()
	cancel.Resolves = false
	for _, second := range []Answer{denied, success, {}} {
		l := turnedAway(cancel)
		wantStep(t, &l, time.Second, Step{Do: Confirm, At: time.Second})
		l.Note(Fact{Kind: Confirmed, At: at(time.Second), Answer: second})
		if same := second == denied; !l.Done() || same != (l.Outcome() == NotApplied) {
			t.Errorf("a cancel, after %v: %v", second, l.Outcome())
		}
	}
}

// D 1, D 42: what looks like a failure of the service is not sent again, and holds nothing.
func TestWhatIsUnclearIsNotSentAgain(t *testing.T) {
	unclear := Answer{Class: Unclear, Status: 500}
	l := New(market())
	l.Note(Fact{Kind: SendBegun, At: at(0)})
	l.Note(Fact{Kind: SendEnded, At: at(0), Answer: unclear})
	if l.Outcome() != Unknown || l.Sending() {
		t.Fatalf("%v, sending %t", l.Outcome(), l.Sending())
	}
	l.fenced(time.Second, Answer{Class: Unclear, Status: 404})
	assert.False(t, l.Held(), "a fence that nobody gives a meaning holds")
	l = received(market())
	l.probed(5500*time.Millisecond, unclear)
	if l.Done() || l.Outcome() != Unknown {
		t.Error("a probe that may have run decides")
	}
}
