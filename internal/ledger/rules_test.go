package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// received is a write whose send went unheard and whose fences were answered 422, the
// last of them at a time at which a probe may follow.
func received(t Terms) Ledger {
	l := unheard(t)
	l.fenced(2*time.Second, reused)
	l.fenced(5*time.Second, reused)
	return l
}

func (l *Ledger) probed(from time.Duration, answers ...Answer) {
	l.Note(Fact{Kind: ProbeBegun, At: at(from)})
	for _, a := range answers {
		l.Note(Fact{Kind: ProbeEnded, At: at(from), Answer: a})
	}
}

func TestWhenAProbeMayFollow(t *testing.T) {
	const now = 5500 * time.Millisecond
	exit, without := market(), market()
	exit.Entry, without.Without.Probe = false, true
	close422 := unheard(market())
	close422.fenced(4*time.Second, reused)
	close422.fenced(now, reused)
	begun := received(market())
	begun.probed(5 * time.Second)
	left := unheard(market())
	left.fenced(2*time.Second, reused)
	left.fenced(3*time.Second, inFlight)
	left.fenced(now, reused)
	for name, c := range map[string]struct {
		l      Ledger
		now    time.Duration
		limits Limits
		want   Action
	}{
		"in time":                {received(market()), now, Limits{}, Probe},
		"a second too late":      {received(market()), now + time.Second, Limits{}, Fence},
		"an entry that is held":  {received(market()), now, Limits{NoProbe: true}, Fence},
		"without a probe":        {received(without), now, Limits{}, Fence},
		"an exit beside a halt":  {received(exit), now, Limits{NoProbe: true}, Probe},
		"two 422 too close":      {close422, now, Limits{}, Fence},
		"one 422 after a 409":    {left, now, Limits{}, Fence},
		"one has just begun":     {begun, now, Limits{}, Fence},
		"after the tenth minute": {received(market()), 10 * time.Minute, Limits{}, Fence},
	} {
		assert.Equal(t, c.want, c.l.Next(at(c.now), c.limits).Do, name)
	}
	useless := received(market())
	useless.Note(Fact{Kind: FenceEnded, At: at(5 * time.Second), Useless: true})
	assert.Equal(t, Look, useless.Next(at(now), Limits{}).Do, "fences prove nothing")
	told := unheard(market())
	told.fenced(0, inFlight)
	told.fenced(now, reused)
	if got := told.Next(at(now), Limits{}).Do; got != Probe {
		t.Errorf("one 422 where the service tells a running write apart: %v", got)
	}
}

func TestWhatAProbeBrings(t *testing.T) {
	exclusive, derived := market(), kinds()["derived key"]
	exclusive.Exclusive = true
	for name, c := range map[string]struct {
		terms   Terms
		before  []Answer // of a probe before it
		answer  Answer
		outcome Outcome
		held    bool
		next    Action
	}{
		"the stored success":                   {market(), nil, replayed(success), Applied, false, Stop},
		"a success of its own":                 {market(), nil, success, Applied, false, Stop},
		"the stored refusal":                   {market(), nil, replayed(refused), NotApplied, false, Stop},
		"the same beside a probe unheard":      {market(), []Answer{silence}, replayed(refused), Unknown, true, Look},
		"the same beside one taken back":       {market(), []Answer{inFlight}, replayed(refused), NotApplied, false, Stop},
		"the same, first use unknown":          {kinds()["derived, shared"], nil, replayed(refused), Unknown, true, Look},
		"the same, on an exclusive account":    {exclusive, nil, replayed(refused), Unknown, true, Look},
		"a stored 429":                         {market(), nil, replayed(tooMany), NotApplied, false, Stop},
		"that it failed part-way":              {market(), nil, partWay, Unknown, true, Look},
		"a page from a store":                  {market(), nil, replayed(Answer{Class: Foreign, Status: 404}), Unknown, false, Fence},
		"other bytes, under a fresh key":       {market(), nil, reused, Unknown, false, Fence},
		"a fresh refusal, which proves little": {derived, nil, refused, Unknown, false, Fence},
	} {
		l := received(c.terms)
		now := 5 * time.Second
		for _, a := range c.before {
			l.probed(now, a)
			now += 10 * time.Second
		}
		l.probed(now, c.answer)
		if l.Outcome() != c.outcome || l.Held() != c.held || l.Next(at(now), Limits{}).Do != c.next {
			t.Errorf("%s: outcome %v, held %v, next %v", name, l.Outcome(), l.Held(), l.Next(at(now), Limits{}))
		}
	}
	two := New(market())
	two.take(append(twice(silence), step{kind: SendingOver, at: 2 * time.Second})...)
	two.probed(5*time.Second, replayed(refused))
	assert.True(t, two.Held() && !two.Done(), "the refusal may be the second send's")
	missing := market()
	missing.SendsMissing = true
	lost := received(missing)
	lost.probed(5*time.Second, replayed(refused))
	assert.True(t, lost.Held() && !lost.Done(), "or one's that is missing")
	l := received(kinds()["derived, shared"])
	l.probed(5*time.Second, reused)
	wantStep(t, &l, 6*time.Second, Step{Do: Fence, At: 5*time.Second + 10*time.Minute})
}

func TestLateAndMaybeLate(t *testing.T) {
	l := received(market())
	l.probed(5*time.Second, success)
	if !l.Late() || l.MaybeLate() {
		t.Error("a probe that placed the write is late")
	}
	l = received(market())
	l.probed(5*time.Second, silence)
	l.probed(20*time.Second, replayed(success))
	if l.Late() || !l.MaybeLate() {
		t.Error("a probe unheard may have placed it")
	}
	l = received(market())
	l.probed(5*time.Second, inFlight)
	l.probed(20*time.Second, replayed(success))
	if l.Late() || l.MaybeLate() {
		t.Error("a probe taken back has placed nothing")
	}
	l = received(market())
	l.probed(5*time.Second, silence)
	if l.MaybeLate() {
		t.Error("nothing is known to have been placed")
	}
	l.probed(20*time.Second, success)
	if !l.Late() || l.MaybeLate() {
		t.Error("the one that was heard is late")
	}
	l.take(heard(21*time.Second, 1, success))
	assert.True(t, l.Contradicted(), "the send ran too")
	l = received(market())
	l.probed(5*time.Second, replayed(success))
	l.take(heard(6*time.Second, 1, success))
	assert.False(t, l.Contradicted(), "the send that the probe was answered for")
}

func TestGoneCountsFromTheLastByteThatMayRun(t *testing.T) {
	for name, c := range map[string]struct {
		answer Answer
		want   time.Duration
	}{
		"unheard":                            {silence, 5*time.Second + Gone},
		"taken back":                         {inFlight, Gone},
		"not sent":                           {unsent, Gone},
		"5xx":                                {failed, 5*time.Second + Gone},
		"limited":                            {tooMany, Gone},
		"limited, by a code of its own":      {refusal("BAD_DURATION", 429, NotApplied, End), Gone},
		"refused for its key":                {Answer{Class: Refusal, Code: "key_locked", Status: 403, Says: NotApplied, InFront: true}, Gone},
		"refused for its key, by such a one": {refusal("BAD_DURATION", 401, NotApplied, End), Gone},
		"nothing stored":                     {unavailable, Gone},
		"nothing stored, from a store":       {replayed(unavailable), 5*time.Second + Gone},
		"a page, 429":                        {Answer{Class: Foreign, Status: 429}, 5*time.Second + Gone},
	} {
		l := received(market())
		l.probed(5*time.Second, c.answer)
		assert.Equal(t, c.want, l.goneAt(at(6*time.Second)), "%s: gone at", name)
	}
	l := New(market())
	l.take(begun(time.Second), ended(time.Second, silence), step{kind: SendingOver, at: time.Second})
	l.probed(5*time.Second, inFlight)
	assert.Equal(t, time.Second+Gone, l.goneAt(at(6*time.Second)), "the send counts again behind a probe taken back")
	l.probed(7 * time.Second)
	l.take(step{kind: ProbeEnded, at: 9 * time.Second, answer: silence})
	assert.Equal(t, 9*time.Second+Gone, l.goneAt(at(9*time.Second)), "a probe may have left until its end")
}

func TestStaysReceived(t *testing.T) {
	unknown := kinds()["derived, shared"]
	early, late := Gone-time.Minute, Gone+time.Minute
	for name, c := range map[string]struct {
		terms Terms
		after func(l *Ledger)
		now   time.Duration
		want  bool
	}{
		"its key is known":           {market(), func(l *Ledger) { l.fenced(late, reused) }, late, true},
		"as the half hour ends":      {market(), func(l *Ledger) { l.fenced(Gone, reused) }, late, true},
		"before it may be gone":      {market(), func(l *Ledger) { l.fenced(early, reused) }, early, false},
		"not since then":             {market(), func(l *Ledger) { l.fenced(early, reused) }, late, false},
		"not any more":               {market(), func(l *Ledger) { l.fenced(late, reused); l.fenced(late, silence) }, late, false},
		"nobody has asked":           {market(), func(*Ledger) {}, late, false},
		"one refused":                {market(), func(l *Ledger) { l.fenced(late, noAccount) }, late, false},
		"two refused":                {market(), func(l *Ledger) { l.fenced(late, noAccount); l.fenced(late, noAccount) }, late, true},
		"three refused":              {market(), func(l *Ledger) { l.fenced(late, noAccount); l.fenced(late, noAccount); l.fenced(late, noAccount) }, late, true},
		"two refused, with a 5xx":    {market(), func(l *Ledger) { l.fenced(late, noAccount); l.fenced(late, failed); l.fenced(late, noAccount) }, late, false},
		"two, one of them before it": {market(), func(l *Ledger) { l.fenced(early, noAccount); l.fenced(late, noAccount) }, late, false},
		"two, both before it":        {market(), func(l *Ledger) { l.fenced(early, noAccount); l.fenced(early, noAccount) }, early, false},
		"no fence may go":            {unknown, func(*Ledger) {}, 25 * time.Hour, true},
		"nor be of use, early":       {market(), func(l *Ledger) { l.Note(Fact{Kind: FenceEnded, At: at(early), Useless: true}) }, early, false},
	} {
		l := unheard(c.terms)
		c.after(&l)
		assert.Equal(t, c.want, l.StaysReceived(at(c.now)), name)
	}
	for _, a := range []Answer{silence, foreign, failed, tooMany, inFlight} {
		l := unheard(market())
		l.fenced(late, a)
		l.fenced(late, a)
		assert.False(t, l.StaysReceived(at(late)), "two answered %+v", a)
	}
	l := New(market())
	assert.False(t, l.IsGone(at(time.Hour)), "what has not been sent yet can still run")
}

// A fence takes a place for the probe that its answer may allow.
func TestProbeFollows(t *testing.T) {
	noProbe := market()
	noProbe.NoProbe = true
	told := unheard(market())
	told.fenced(5*time.Second, inFlight)
	once, probed := unheard(market()), received(market())
	once.fenced(4*time.Second, reused)
	probed.probed(6*time.Second, silence)
	known := []Fact{{Kind: SendBegun, At: at(0)}, {Kind: SendEnded, At: at(0), Answer: silence}, {Kind: Restarted, At: at(0)}, {Kind: FenceBegun, At: at(0)}, {Kind: FenceEnded, At: at(0), Answer: reused}}
	for name, c := range map[string]struct {
		l      Ledger
		now    Instant
		limits Limits
		want   bool
	}{
		"a 422 that is old enough":   {once, at(7 * time.Second), Limits{}, true},
		"one that is not":            {once, at(7*time.Second - 1), Limits{}, false},
		"no 422":                     {unheard(market()), at(time.Minute), Limits{}, false},
		"a service that tells apart": {told, at(6 * time.Second), Limits{}, true},
		"as it is long enough":       {told, at(5 * time.Second), Limits{}, true},
		"it has just been sent":      {told, at(5*time.Second - 1), Limits{}, false},
		"nor with its own bytes":     {probed, at(7 * time.Second), Limits{}, false},
		"none may go":                {received(noProbe), at(6 * time.Second), Limits{}, false},
		"none may go now":            {once, at(7 * time.Second), Limits{NoProbe: true}, false},
		"a 422 to a process before":  {Restore(market(), known, after(time.Minute, 0)), after(time.Minute, 0), Limits{}, true},
		"a moment before":            {Restore(market(), known, after(5*time.Second, 0)), after(5*time.Second, 0), Limits{}, false},
	} {
		assert.Equal(t, c.want, c.l.ProbeFollows(c.now, c.limits), name)
	}
	l := received(market())
	assert.Equal(t, 600*time.Millisecond, l.ProbeWithin(at(5400*time.Millisecond)), "while the 422 is fresh")
	l = unheard(market())
	l.fenced(Window-time.Second/2, reused)
	assert.Equal(t, 100*time.Millisecond, l.ProbeWithin(at(Window-100*time.Millisecond)), "while the write is young")
}

func TestAGoneLimitMayHaveBeenCancelled(t *testing.T) {
	none := Finding{Enough: true, Outcome: NotApplied}
	look := func(terms Terms) Outcome {
		l := unheard(terms)
		l.fenced(Gone, reused)
		l.Note(Fact{Kind: Looked, At: at(Gone), Finding: none})
		l.Note(Fact{Kind: Looked, At: at(Gone + Lag), Finding: none})
		return l.Outcome()
	}
	limit := kinds()["resting limit"]
	if o := look(limit); o != Unknown {
		t.Errorf("a limit on an account of many: %v", o)
	}
	limit.Exclusive = true
	if o := look(limit); o != NotApplied {
		t.Errorf("a limit on an exclusive account: %v", o)
	}
	paper := kinds()["paper"]
	paper.Lasting = false
	if o := look(paper); o != NotApplied {
		t.Errorf("a limit on paper: %v", o)
	}
}

func TestWhatEndsTheSending(t *testing.T) {
	for name, c := range map[string]struct {
		terms   Terms
		answer  Answer
		outcome Outcome
		done    bool
	}{
		"a refusal of a derived key":       {kinds()["derived key"], refused, NotApplied, true},
		"other bytes under a fresh key":    {market(), reused, NotApplied, true},
		"other bytes under a derived key":  {kinds()["derived key"], reused, Unknown, false},
		"a new key for a given one":        {kinds()["given"], stalePrice, NotApplied, true},
		"a refusal, not used since":        {kinds()["given, not used since"], refused, Unknown, false},
		"a 5xx on a write not resolved":    {kinds()["cancel"], failed, Unknown, true},
		"silence on paper":                 {kinds()["paper"], silence, Unknown, false},
		"silence of what is sent but once": {kinds()["sent once"], silence, Unknown, false},
	} {
		l := New(c.terms)
		l.Note(Fact{Kind: SendBegun, At: at(0)})
		l.Note(Fact{Kind: SendEnded, At: at(0), Answer: c.answer})
		if l.Next(at(0), Limits{}).Do == Stop && l.Sending() {
			l.Note(Fact{Kind: SendingOver, At: at(0)})
		}
		if l.Sending() || l.Outcome() != c.outcome || l.Done() != c.done {
			t.Errorf("%s: sending %v, outcome %v, done %v", name, l.Sending(), l.Outcome(), l.Done())
		}
	}
}

func TestAnAnswerAfterItsCallerHasLeft(t *testing.T) {
	for name, c := range map[string]struct {
		answer Answer
		want   Outcome
	}{"a refusal": {refused, NotApplied}, "a rate limit": {tooMany, Unknown}, "a success": {success, Applied}, "nothing left": {unsent, Unknown}} {
		l := New(market())
		l.Note(Fact{Kind: SendBegun, At: at(0)})
		l.Note(Fact{Kind: SendingOver, At: at(0)})
		l.Note(Fact{Kind: SendEnded, At: at(0), Answer: c.answer})
		assert.Equal(t, c.want, l.Outcome(), name)
	}
	l := New(kinds()["cancel"])
	l.take(begun(0), step{kind: SendingOver}, ended(0, success))
	assert.Equal(t, Applied, l.Outcome(), "a success of what nobody finds out about")
	l = New(market())
	l.take(begun(time.Second))
	assert.Equal(t, Unknown, l.Outcome(), "as long as it is under way")
	assert.Equal(t, Stop, l.Next(at(time.Second), Limits{}).Do, "no other one goes")
	l.take(step{kind: SendingOver, at: 2 * time.Second})
	assert.Equal(t, Gone+time.Second, l.goneAt(at(2*time.Second)), "its byte left when it began")
	l = New(market())
	l.Note(Fact{Kind: SendBegun, At: at(0)})
	l.Note(Fact{Kind: SendEnded, At: at(0), Answer: silence})
	l.Note(Fact{Kind: SendBegun, At: at(time.Second)})
	l.Note(Fact{Kind: SendingOver, At: at(time.Second)})
	l.Note(Fact{Kind: SendEnded, At: at(time.Second), Answer: replayed(refused)})
	if l.Outcome() != Unknown || l.Next(at(time.Second), Limits{}).Do != Fence {
		t.Errorf("the refusal of an earlier send: %v, next %+v", l.Outcome(), l.Next(at(time.Second), Limits{}))
	}
}

func TestAStoredRefusalOnAnExclusiveAccount(t *testing.T) {
	terms := market()
	terms.Exclusive = true
	for _, c := range []struct {
		seen, want Outcome
	}{{NotApplied, NotApplied}, {Unknown, NotApplied}, {Applied, Unknown}} {
		l := received(terms)
		l.probed(5*time.Second, replayed(refused))
		wantStep(t, &l, 5*time.Second, Step{Do: Look, At: 5 * time.Second})
		l.Note(Fact{Kind: Looked, At: at(5 * time.Second), Finding: Finding{Outcome: c.seen}})
		if l.Outcome() != c.want {
			t.Errorf("one look that shows %v: %v", c.seen, l.Outcome())
		}
		l.Note(Fact{Kind: Looked, At: at(6 * time.Second), Finding: Finding{Outcome: NotApplied}})
		if l.Outcome() != c.want {
			t.Errorf("another look behind one that shows %v: %v", c.seen, l.Outcome())
		}
	}
}

// Where no later fence can hold, or time does not change why it is open, a look that leaves it open is the last
// until somebody asks.
func TestTheLastLook(t *testing.T) {
	held := unheard(market())
	held.fenced(0, noOrder)
	useless := unheard(market())
	useless.Note(Fact{Kind: FenceEnded, At: at(0), Useless: true})
	for name, c := range map[string]struct {
		l     Ledger
		from  time.Duration
		stays bool
		want  Action
	}{
		"held, and it stays":             {held, time.Minute, true, Stop},
		"gone, and it stays":             {unheard(market()), Gone, true, Stop},
		"it may run, and it stays":       {unheard(market()), 10 * time.Minute, true, Fence},
		"it may run, and no fence holds": {useless, 10 * time.Minute, false, Look},
	} {
		for range 2 {
			c.l.Note(Fact{Kind: Looked, At: at(c.from), Finding: Finding{Enough: true, Stays: c.stays}})
			c.from += Lag
		}
		assert.Equal(t, c.want, c.l.Next(at(c.from), Limits{}).Do, name)
	}
	day, open := 25*time.Hour, Finding{Enough: true}
	for name, want := range map[string]Action{"market order": Fence, "derived, shared": Stop, "paper": Look} {
		l := unheard(kinds()[name])
		l.Note(Fact{Kind: Looked, At: at(day), Finding: open})
		l.Note(Fact{Kind: Looked, At: at(day + Lag), Finding: open})
		assert.Equal(t, want, l.Next(at(day+Lag), Limits{}).Do, name)
		l.Note(Fact{Kind: Asked, At: at(day + time.Minute)})
		assert.NotEqual(t, Stop, l.Next(at(day+time.Minute), Limits{}).Do, "%s, once somebody asks", name)
	}
}

func TestWhichAnswersHold(t *testing.T) {
	for _, c := range []struct {
		answer      Answer
		holds, ours bool // on a route of its own, and on the write's
	}{
		{success, true, false},
		{replayed(success), true, true},
		{noOrder, true, false},
		{refusal(codeOrderNotFound, 400, NotApplied, End), false, false},
		{refusal("position_not_found", 404, NotApplied, End), false, false},
		{replayed(refused), true, true},
		{refused, false, false},
		{partWay, true, true},
		{replayed(noAccount), false, false},
		{replayed(reused), false, false},
		{replayed(failed), false, false},
		{replayed(foreign), false, false},
		{replayed(Answer{Class: Unclear, Status: 400}), false, false},
	} {
		fence := Fact{Kind: FenceEnded, Answer: c.answer}
		assert.Equal(t, c.holds, fence.Holds(), "%+v", c.answer)
		fence.OwnRoute = true
		assert.Equal(t, c.ours, fence.Holds(), "%+v, on the write's route", c.answer)
	}
}

func TestTheFenceOnTheWritesOwnRoute(t *testing.T) {
	for _, c := range []struct {
		answer Answer
		want   bool
	}{{success, false}, {noOrder, false}, {locked, false}, {replayed(locked), true}, {replayed(success), true}, {replayed(noAccount), false}, {partWay, true}} {
		f := Fact{Kind: FenceEnded, Answer: c.answer, OwnRoute: true}
		if f.Holds() != c.want {
			t.Errorf("%+v holds: %v", c.answer, f.Holds())
		}
	}
}
