package ledger

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// step is a fact of a write that is sent more than once.
type step struct {
	kind   FactKind
	at     time.Duration
	answer Answer
	send   int
}

func begun(at time.Duration) step           { return step{kind: SendBegun, at: at} }
func ended(at time.Duration, a Answer) step { return step{kind: SendEnded, at: at, answer: a} }
func heard(at time.Duration, send int, a Answer) step {
	return step{SendHeard, at, a, send}
}

func (l *Ledger) take(steps ...step) {
	for _, s := range steps {
		l.Note(Fact{Kind: s.kind, At: at(s.at), Answer: s.answer, Send: s.send})
	}
}

// twice is a write of whose two sends the first one is listened to, and the second one was
// answered.
func twice(second Answer) []step {
	return []step{begun(0), ended(time.Second, silence), begun(time.Second), ended(1100*time.Millisecond, second)}
}

func fullClose() Terms { return kinds()["full close"] }

func TestLateAnswers(t *testing.T) {
	const late = 3 * time.Second
	over := step{kind: SendingOver, at: 2 * time.Second}
	twoOpen := []step{begun(0), ended(time.Second, silence), begun(time.Second)}
	cancel := kinds()["cancel"]
	shared := kinds()["derived, shared"]
	missing := market()
	missing.SendsMissing = true
	denied := noAccount
	denied.Confirm = true
	redirect := Answer{Class: Unclear, Status: 307}
	ran := append(twice(silence), begun(2*time.Second), ended(2*time.Second, success))
	behind := []step{begun(0), ended(0, stalePrice), {kind: KeyChanged}, begun(0), ended(time.Second, silence), begun(time.Second), ended(time.Second, tooMany)}
	thrice := slices.Clip(append(twice(silence), begun(2*time.Second), ended(2*time.Second, replayed(success))))
	for name, c := range map[string]struct {
		terms        Terms
		facts        []step
		want         Outcome
		sending      bool
		contradicted bool
	}{
		"a success decides":                   {market(), append(twice(silence), heard(late, 1, success)), Applied, false, false},
		"beside a send under way too":         {market(), append(twoOpen, heard(late, 1, success)), Applied, false, false},
		"and of a cancel that sends no more":  {cancel, append(twice(silence), over, heard(late, 1, success)), Applied, false, false},
		"a refusal leaves the other in doubt": {market(), append(twice(silence), heard(late, 1, refused)), Unknown, true, false},
		"and one that is under way":           {market(), append(twoOpen, heard(late, 1, refused)), Unknown, true, false},
		"which decides by its own":            {market(), append(twoOpen, heard(late, 1, refused), ended(late, replayed(refused))), NotApplied, false, false},
		"or later":                            {market(), append(twice(silence), over, heard(late, 2, replayed(refused)), heard(late, 1, refused)), NotApplied, false, false},
		"beside one that met it":              {fullClose(), append(twice(inFlight), heard(late, 1, refused)), NotApplied, false, false},
		"or that never left":                  {market(), append(twice(unsent), heard(late, 1, refused)), NotApplied, false, false},
		"beside one that was limited":         {market(), append(twice(tooMany), heard(late, 1, refused)), NotApplied, false, false},
		"not if the first use is not known":   {shared, append(twice(unsent), heard(late, 1, refused)), Unknown, true, false},
		"not beside a page":                   {market(), append(twice(foreign), heard(late, 1, refused)), Unknown, true, false},
		"a 409 says that another runs":        {market(), append(twice(refused), heard(late, 1, inFlight)), Unknown, false, false},
		"a 409 decides nothing":               {market(), append(twice(silence), heard(late, 2, refused), heard(late, 1, inFlight)), Unknown, true, false},
		"nor does a 429":                      {market(), append(twice(unavailable), heard(late, 1, tooMany)), Unknown, true, false},
		"nor a 503, nothing placed":           {market(), append(twice(tooMany), heard(late, 1, unavailable)), Unknown, true, false},
		"nor a page":                          {market(), append(twice(tooMany), heard(late, 1, foreign)), Unknown, true, false},
		"nor a refused key": {market(), append(twice(tooMany), heard(late, 1, Answer{Class: Refusal, Code: "invalid_api_key", Status: 401, Says: NotApplied, InFront: true, Confirm: true})),
			Unknown, true, false},
		"a 5xx ends the sending":                {market(), append(twice(silence), heard(late, 1, failed)), Unknown, false, false},
		"so does one that broke off":            {market(), append(twice(silence), heard(late, 1, partWay)), Unknown, false, false},
		"and one that no table has":             {market(), append(twice(silence), heard(late, 1, Answer{Class: Unclear, Status: 500})), Unknown, false, false},
		"also of a send under way":              {market(), append(twoOpen, heard(late, 1, failed), ended(late, unavailable)), Unknown, false, false},
		"a 5xx, and a replayed refusal":         {market(), append(twoOpen, heard(late, 1, failed), ended(late, replayed(refused))), Unknown, false, false},
		"nor one that has no rule":              {market(), append(twice(tooMany), heard(late, 1, replayed(refusal("slow_down", 429, NotApplied, End)))), Unknown, true, false},
		"nor one that is stored":                {market(), append(twice(tooMany), heard(late, 1, Answer{Class: Refusal, Code: "invalid_api_key", Status: 401, Says: NotApplied, InFront: true, Replayed: true})), Unknown, true, false},
		"nor an account that is not found":      {market(), append(twice(tooMany), heard(late, 1, denied)), Unknown, true, false},
		"which leaves its own send in doubt":    {market(), append(twice(silence), heard(late, 1, denied), heard(late, 2, refused)), Unknown, true, false},
		"nor a 500 that says it":                {market(), append(twice(tooMany), heard(late, 1, refusal("any", 500, NotApplied, End))), Unknown, true, false},
		"nor that it broke off":                 {market(), append(twice(inFlight), over, heard(late, 1, replayed(partWay))), Unknown, false, false},
		"not beside a page from a store":        {market(), append(twice(replayed(foreign)), heard(late, 1, refused)), Unknown, true, false},
		"of paper it decides":                   {kinds()["paper"], []step{begun(0), ended(time.Second, silence), heard(late, 1, refused)}, NotApplied, false, false},
		"not where sends may be missing":        {missing, []step{begun(0), ended(time.Second, silence), heard(late, 1, refused)}, Unknown, true, false},
		"under the next key too":                {market(), append(behind, heard(late, 2, refused)), NotApplied, false, false},
		"a 5xx beside a send under way":         {market(), append(twoOpen, heard(late, 1, failed)), Unknown, true, false},
		"a redirect ends the sending":           {market(), append(twice(silence), heard(late, 1, redirect)), Unknown, false, false},
		"and a replayed refusal decides":        {market(), append(twoOpen, heard(late, 1, redirect), ended(late, replayed(refused))), NotApplied, false, false},
		"no send":                               {market(), append(twice(silence), heard(late, 0, success)), Unknown, true, false},
		"a send under way":                      {market(), append(twoOpen, heard(late, 2, success)), Unknown, true, false},
		"beside one that it was replayed to":    {market(), append(twoOpen, heard(late, 1, success), ended(late, replayed(success))), Applied, false, false},
		"beside one that ran too":               {market(), append(twoOpen, heard(late, 1, success), ended(late, success)), Applied, false, true},
		"two beside a replay":                   {market(), append(thrice, heard(late, 1, success), heard(late, 2, success)), Applied, false, true},
		"one and a 5xx beside a replay":         {market(), append(thrice, heard(late, 1, success), heard(late, 2, failed)), Applied, false, true},
		"in the other order beside a replay":    {market(), append(thrice, heard(late, 1, failed), heard(late, 2, success)), Applied, false, true},
		"a replay, and a 5xx":                   {market(), append(twice(replayed(success)), heard(late, 1, failed)), Applied, false, false},
		"one, a replay, and a 5xx":              {market(), append(ran, heard(late, 1, replayed(success)), heard(late, 2, failed)), Applied, false, true},
		"two, and a replay behind them":         {market(), append(twice(success), heard(late, 1, success), heard(late, 2, replayed(success))), Applied, false, true},
		"a price goes under the next key":       {market(), append(twice(inFlight), heard(late, 1, stalePrice)), NotApplied, true, false},
		"where it was the last it is decided":   {market(), append(twice(inFlight), over, heard(late, 1, stalePrice)), NotApplied, false, false},
		"a send that there is not":              {market(), append(twice(silence), heard(late, 3, success)), Unknown, true, false},
		"a success after NotApplied":            {market(), []step{begun(0), ended(late, refused), heard(late, 1, success)}, NotApplied, false, true},
		"a success behind the next key":         {market(), []step{begun(0), ended(late, stalePrice), {kind: KeyChanged}, begun(late), heard(late, 1, success)}, Applied, false, true},
		"a success beside a 5xx":                {market(), append(twoOpen, heard(late, 1, failed), ended(late, success)), Applied, false, true},
		"one that no table has, beside it":      {market(), append(twice(success), heard(late, 1, Answer{Class: Unclear, Status: 500})), Applied, false, true},
		"but no redirect":                       {market(), append(twice(success), heard(late, 1, Answer{Class: Unclear, Status: 307})), Applied, false, false},
		"in the other order":                    {market(), append(twice(success), heard(late, 1, failed)), Applied, false, true},
		"a 5xx, and a success that is replayed": {market(), append(twoOpen, heard(late, 1, failed), ended(late, replayed(success))), Applied, false, false},
		"two successes":                         {market(), append(twice(success), heard(late, 1, success)), Applied, false, true},
		"a success and its replay":              {market(), append(twice(replayed(success)), heard(late, 1, success)), Applied, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(c.terms)
			l.take(c.facts...)
			if l.Outcome() != c.want || l.Sending() != c.sending || l.Contradicted() != c.contradicted {
				t.Errorf("outcome %v, sending %v, contradicted %v", l.Outcome(), l.Sending(), l.Contradicted())
			}
		})
	}
}

// A late refusal of a price is sent again under the next key, as one in time.
func TestALateRefusalForItsPrice(t *testing.T) {
	l := New(market())
	l.take(append(twice(inFlight), heard(3*time.Second, 1, stalePrice))...)
	if step := l.Next(at(3*time.Second), Limits{}); step.Do != Rekey {
		t.Errorf("next %+v", step)
	}
	l.take(step{kind: KeyChanged, at: 3 * time.Second}, heard(4*time.Second, 2, refused))
	if !l.Sending() || l.Next(at(4*time.Second), Limits{}).Do != Send {
		t.Errorf("an answer under the key before: %v, next %+v", l.Outcome(), l.Next(at(4*time.Second), Limits{}))
	}
	l.take(begun(4*time.Second), ended(5*time.Second, refused))
	if l.Outcome() != NotApplied {
		t.Errorf("%v", l.Outcome())
	}
}

// Once a 5xx came late, the key may be free: what a fence was answered before says nothing of it.
func TestALateFailureBetweenFences(t *testing.T) {
	l := received(market())
	l.take(heard(5200*time.Millisecond, 1, failed))
	if got := l.Next(at(5500*time.Millisecond), Limits{}).Do; got != Fence {
		t.Errorf("next %v", got)
	}
	l.fenced(5300*time.Millisecond, reused)
	if got := l.Next(at(5500*time.Millisecond), Limits{}).Do; got != Fence {
		t.Errorf("behind one that was under way: %v", got)
	}
	told := unheard(market())
	told.fenced(0, inFlight)
	told.take(heard(5200*time.Millisecond, 1, failed))
	told.fenced(5300*time.Millisecond, reused)
	if got := told.Next(at(5500*time.Millisecond), Limits{}).Do; got != Fence {
		t.Errorf("where a write that runs is told apart: %v", got)
	}
	spoke := received(market())
	spoke.take(heard(5200*time.Millisecond, 1, tooMany))
	if got := spoke.Next(at(5500*time.Millisecond), Limits{}).Do; got != Probe {
		t.Errorf("behind one that has not failed: %v", got)
	}
	partial := unheard(market())
	partial.take(heard(time.Second, 1, partWay))
	assert.True(t, partial.Held(), "one that broke off holds the key")
}

// A full close that runs is asked for after 1, 2, 4 and then each 5 s, and uses up no try by it.
func TestAFullCloseThatRuns(t *testing.T) {
	asked := func(change func(t *Terms), first Answer) (moments []time.Duration) {
		terms := fullClose()
		change(&terms)
		l, now := New(terms), time.Duration(0)
		for range 100 {
			moments = append(moments, now)
			l.take(begun(now), ended(now, first))
			first = inFlight
			step := l.Next(at(now), Limits{})
			if l.sending.polls > 0 && step.Spread {
				t.Error("a random part of the wait")
			}
			if step.Do != Send {
				return moments
			}
			now = step.At
		}
		t.Fatal("it goes on for ever")
		return nil
	}
	nothing := func(*Terms) {}
	slow := inFlight
	slow.RetryAfter = 3 * time.Second
	long := inFlight
	long.RetryAfter = 20 * time.Second
	for name, c := range map[string]struct {
		change func(t *Terms)
		first  Answer
		want   []time.Duration
	}{
		"from its decision on":          {nothing, inFlight, []time.Duration{0, 1e9, 3e9, 7e9, 12e9, 17e9}},
		"behind one that went unheard":  {nothing, silence, []time.Duration{0, 200e6, 1200e6, 3200e6, 7200e6, 12200e6, 17200e6}},
		"after as long as it was asked": {nothing, slow, []time.Duration{0, 3e9, 5e9, 9e9, 14e9, 19e9}},
		"until 20 s":                    {nothing, long, []time.Duration{0, 20e9}},
		"not after its TTL":             {func(t *Terms) { t.TTL = 5 * time.Second }, inFlight, []time.Duration{0, 1e9, 3e9}},
		"another exit as often as it is sent": {func(t *Terms) { t.Idempotent = false }, inFlight,
			[]time.Duration{0, 200e6, 600e6}},
		"one without a probe":        {func(t *Terms) { t.NoProbe = true }, inFlight, []time.Duration{0, 200e6, 600e6}},
		"one whose keys are no good": {func(t *Terms) { t.Without.Probe = true }, inFlight, []time.Duration{0, 200e6, 600e6}},
		"one of a single attempt":    {func(t *Terms) { t.Retry.Attempts = 1 }, inFlight, []time.Duration{0}},
		"an entry":                   {func(t *Terms) { t.Entry = true }, inFlight, []time.Duration{0, 200e6, 600e6}},
	} {
		if got := asked(c.change, c.first); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	l := New(fullClose())
	l.take(append(twice(inFlight), heard(1500*time.Millisecond, 1, failed))...)
	assert.False(t, l.Sending(), "a 5xx that came late ends it")
	terms := fullClose()
	terms.Decided = at(time.Hour)
	l = New(terms)
	l.take(begun(time.Hour), ended(time.Hour, inFlight))
	wantStep(t, &l, time.Hour, Step{Do: Send, At: time.Hour + time.Second})
	terms.TTL = 0
	l = New(terms)
	assert.False(t, l.AsksTwice(), "what is sent once")
}

// What each send was answered is known of so many under a key; behind more of them nothing is
// decided by it.
func TestMoreSendsThanAreKnown(t *testing.T) {
	for n, want := range map[int]Outcome{2: NotApplied, mostSends: NotApplied, mostSends + 1: Unknown} {
		terms := market()
		terms.Retry.Attempts = 2 * mostSends
		terms.TTL = time.Hour
		l := New(terms)
		for range mostSends { // under the key before
			l.take(begun(0), ended(0, tooMany))
		}
		l.take(step{kind: KeyChanged}, begun(0), ended(0, silence))
		for range n - 1 {
			l.take(begun(0), ended(0, tooMany))
		}
		if l.take(heard(0, mostSends+1, refused)); l.Outcome() != want {
			t.Errorf("%d sends: %v, want %v", n, l.Outcome(), want)
		}
	}
}

// A send that has begun asks right before its byte: what an earlier one was answered may have come since.
func TestASendMayStillLeave(t *testing.T) {
	for name, c := range map[string]struct {
		answer         Answer
		leaves, doubts bool
	}{
		"nothing came":      {Answer{}, true, true},
		"a success came":    {success, false, false},
		"a failure came":    {failed, false, true},
		"a limit was met":   {tooMany, true, true},
		"another's refusal": {refused, true, true},
	} {
		l := New(market())
		l.take(begun(0), ended(time.Second, silence), begun(time.Second))
		if c.answer != (Answer{}) {
			l.take(heard(1100*time.Millisecond, 1, c.answer))
		}
		if l.MaySend() != c.leaves || l.InDoubt() != c.doubts {
			t.Errorf("%s: it may leave %t, want %t; in doubt %t, want %t", name, l.MaySend(), c.leaves, l.InDoubt(), c.doubts)
		}
	}
}

// A late refusal says nothing where more may have been sent than is known: a probe, or what a crash took.
func TestALateRefusalBesideWhatIsNotKnown(t *testing.T) {
	l := received(market())
	l.probed(5 * time.Second)
	l.take(heard(6*time.Second, 1, refused))
	assert.Equal(t, Unknown, l.Outcome(), "a probe is under way")
	l = Restore(market(), []Fact{{Kind: SendBegun, At: at(0)}, {Kind: SendEnded, At: at(0), Answer: silence}}, at(time.Second))
	l.take(heard(2*time.Second, 1, refused))
	assert.Equal(t, Unknown, l.Outcome(), "a process before it had the write")
}

func TestWasOver(t *testing.T) {
	l := unheard(market())
	l.fenced(20*time.Second, noOrder)
	for moment, want := range map[time.Duration]bool{10 * time.Second: false, 20 * time.Second: true, 30 * time.Second: true} {
		assert.Equal(t, want, l.WasOver(at(moment)), "at %v it could run no more", moment)
	}
	l = unheard(market())
	for moment, want := range map[time.Duration]bool{Gone - 1: false, Gone: true} {
		assert.Equal(t, want, l.WasOver(at(moment)), "at %v it has run or never will", moment)
	}
	l.take(step{kind: Acknowledged})
	assert.True(t, l.Done())
}
