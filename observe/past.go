package observe

import (
	"slices"
	"time"

	"github.com/tradingapi/trading-go/profile"
)

// past is the profile so far, beside the one that is made.
type past struct {
	was, is *profile.Profile
	places  map[int]int // of its exchanges in the new profile
	oldest  time.Time   // of what was carried over
}

func newPast(was, is *profile.Profile) *past {
	if was != nil && (was.BaseURL != is.BaseURL || was.Holder != "" && is.Holder != "" && was.Holder != is.Holder) {
		was = nil
	}
	return &past{was: was, is: is, places: map[int]int{}}
}

// earlier is what earlier visits of the same series counted. A series goes on while the profile
// has begun something.
func (b *past) earlier(x *Experiment) (r profile.Result) {
	if b.was == nil || len(b.was.Begun) == 0 {
		return r
	}
	r, _ = b.was.Result(x.Number, x.Environment)
	return r
}

// carried is an earlier result where nothing new was seen. What is too old is not carried over.
func (b *past) carried(now profile.Result) profile.Result {
	if b.was == nil {
		return now
	}
	r, ok := b.was.Result(now.Experiment, now.Environment)
	if !ok || r.N == 0 || b.is.MeasuredAt.Sub(r.At) > profile.MaxAge {
		return now
	}
	b.since(r.At)
	r.Proof = b.moved(r.Proof)
	return r
}

// worst adds what was seen before where that was worse, and not long ago: what happened to be recorded since does not
// show that it is over. A new series of questions does.
func (b *past) worst(now profile.Result) profile.Result {
	if b.was == nil || now.Verdict != profile.First {
		return now
	}
	old, ok := b.was.Result(now.Experiment, now.Environment)
	if !ok || old.Verdict == profile.First || old.Verdict == profile.Unseen || now.At.Sub(old.At) > profile.MaxAge {
		return now
	}
	now.N, now.CountFirst, now.CountOther, now.CountNeither = now.N+old.N, now.CountFirst+old.CountFirst, old.CountOther, old.CountNeither
	now.Verdict, now.Why, now.At = profile.Of(now.CountFirst, now.CountOther, now.CountNeither), old.Why, old.At
	now.Proof = append(now.Proof, b.proof(old)...)
	b.since(old.At)
	return now
}

// since notes how old what is kept is.
func (b *past) since(at time.Time) {
	if b.oldest.IsZero() || at.Before(b.oldest) {
		b.oldest = at
	}
}

// proof is that of earlier visits, as far as there is room.
func (b *past) proof(r profile.Result) []int {
	if len(r.Proof) > maxProof {
		r.Proof = r.Proof[:maxProof]
	}
	return b.moved(r.Proof)
}

// moved copies exchanges into the new profile, each once.
func (b *past) moved(proof []int) (places []int) {
	for _, old := range proof {
		at, ok := b.places[old]
		if !ok {
			at = len(b.is.Exchanges)
			b.places[old] = at
			b.is.Exchanges = append(b.is.Exchanges, b.was.Exchanges[old])
		}
		places = append(places, at)
	}
	return places
}

// begun is what still needs a visit. Evidence that nobody asked for begins and ends nothing.
func (b *past) begun(e *Evidence) []profile.Begun {
	if e.asked || b.was == nil {
		return slices.Clone(e.Begun)
	}
	return slices.Clone(b.was.Begun)
}

// lastOf is when the last of the evidence was seen. What has no times is too old to be relied on.
func lastOf(e *Evidence) time.Time {
	last := time.Unix(0, 0).UTC()
	for _, x := range e.all().Exchanges {
		if x.Received.After(last) {
			last = x.Received
		}
	}
	return last
}

// measuredAt is when the oldest of what the profile rests on was seen: the evidence, or what was carried over.
func (b *past) measuredAt() time.Time {
	if last := b.is.MeasuredAt; b.oldest.IsZero() || last.Unix() > 0 && last.Before(b.oldest) {
		return last
	}
	return b.oldest
}

// figures carries over what was not measured anew.
func (b *past) figures() {
	if b.was == nil {
		return
	}
	old, m := b.was.Measured, &b.is.Measured
	for operation, s := range old.AnswerTime {
		if m.AnswerTime == nil {
			m.AnswerTime = map[string]profile.Spread{}
		}
		if _, ok := m.AnswerTime[operation]; !ok {
			m.AnswerTime[operation] = s
		}
	}
	if r, _ := b.is.Result("A9", live); m.ReadLag.N == 0 {
		m.ReadLag = old.ReadLag
	} else if r.Verdict != profile.First {
		m.ReadLag.Most = max(m.ReadLag.Most, old.ReadLag.Most)
	}
	if m.MarkAge.N == 0 {
		m.MarkAge = old.MarkAge
	}
	m.KeptFor = max(m.KeptFor, old.KeptFor) // what is kept shorter now shows by A1 and A4
	for _, one := range []struct{ is, was *string }{
		{&m.TakerFee, &old.TakerFee}, {&m.MakerFee, &old.MakerFee}, {&m.MinNotional, &old.MinNotional}, {&m.DefaultLeverage, &old.DefaultLeverage},
	} {
		if *one.is == "" {
			*one.is = *one.was
		}
	}
}

// all are the exchanges of the rounds too.
func (e *Evidence) all() *Evidence {
	both := &Evidence{Exchanges: slices.Clone(e.Exchanges)}
	for _, r := range e.Rounds {
		for _, x := range r.Steps {
			if x != nil && !r.kept {
				both.Exchanges = append(both.Exchanges, *x)
			}
		}
	}
	return both
}
