package observe

import (
	"cmp"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/profile"
)

// About says whose evidence it is, for the profile.
type About struct {
	BaseURL string // the root of the API
	Holder  string // the holder's id; only a token of it is kept
	By      string // the version of the module that judges
	// Before is the profile so far: what a visit adds to, and what nothing new was seen of. nil for none. One
	// of another service, or of other keys, counts as none.
	Before *profile.Profile
}

// Judge makes a profile of evidence, by every experiment.
func Judge(e *Evidence, about About) *profile.Profile {
	holder := about.Holder
	if holder == "" {
		holder = e.Holder
	}
	p := &profile.Profile{
		Version: profile.Version, BaseURL: rootOf(about.BaseURL), Holder: profile.Token("holder", holder), By: about.By,
		Measured: measure(e.all()),
	}
	p.Measured.KeptFor = profile.Duration(keptFor(e))
	proofs, verdicts := newProofs(p), map[string]profile.Verdict{}
	past := newPast(about.Before, p)
	p.MeasuredAt = lastOf(e)
	for i := range Experiments {
		x := &Experiments[i]
		hold := func(number string) profile.Verdict { return cmp.Or(verdicts[number], profile.Unseen) }
		r := x.judged(e, past, proofs, hold)
		if r.N == 0 {
			r = x.controlled(past.carried(r), hold)
		}
		verdicts[x.Number] = r.Verdict
		p.Results = append(p.Results, r)
	}
	p.Begun = past.begun(e)
	p.MeasuredAt = past.measuredAt()
	past.figures()
	return p
}

// rootOf is a base URL as a profile has it.
func rootOf(baseURL string) string { return strings.ToLower(strings.TrimSuffix(baseURL, "/")) }

// judged makes the result of one experiment: of the evidence that is there, of the rounds that were asked, and
// of the rounds of earlier visits of the same series.
func (x *Experiment) judged(e *Evidence, past *past, proofs *proofs, hold func(string) profile.Verdict) profile.Result {
	t := x.Count(e)
	passive := t.First + t.Other + t.Neither
	lines := x.countRounds(e, t)
	asking := t.First+t.Other+t.Neither > passive
	at, span := extent(t.seen)
	var earlier profile.Result
	if asking && passive == 0 {
		earlier = past.earlier(x)
		t.First += earlier.CountFirst
		t.Other += earlier.CountOther
		t.Neither += earlier.CountNeither
		lines += earlier.Connections
		if !earlier.At.IsZero() {
			span = profile.Duration(at.Sub(earlier.At.Add(-time.Duration(earlier.Span))))
		}
	}
	if t.inFront() && t.doubt == t.Other && t.First+t.Neither == 0 {
		r := x.verdict(&Tally{}, hold)
		r.Why = "the account that was named may be refused in front of the key: name one that could have the order"
		return r
	}
	r := x.verdict(t, hold)
	if r.N == 0 {
		if void := x.void(e); void != "" {
			r.Why = void
		}
		return r
	}
	r.At, r.Span, r.Connections = at, span, lines
	if why := x.tooFew(t, lines, span); asking && passive == 0 && why != "" && r.Verdict != profile.Unseen {
		r.Verdict, r.Why = profile.Unseen, why
	}
	r.Proof = append(proofs.of(t), past.proof(earlier)...)
	if passive > 0 {
		r = past.worst(r)
	}
	return r
}

// controlled is a result of before, by the controls as they are now.
func (x *Experiment) controlled(r profile.Result, hold func(string) profile.Verdict) profile.Result {
	if r.N == 0 || len(x.Controls) == 0 {
		return r
	}
	t := &Tally{First: r.CountFirst, Other: r.CountOther, Neither: r.CountNeither}
	if r.Verdict == profile.Neither {
		t.why = r.Why
	}
	now := x.verdict(t, hold)
	if why := x.tooFew(t, r.Connections, r.Span); r.Connections > 0 && why != "" && now.Verdict != profile.Unseen {
		now.Verdict, now.Why = profile.Unseen, why
	}
	r.Verdict, r.Why = now.Verdict, now.Why
	if r.Verdict == profile.First || r.Verdict == profile.Other || r.Verdict == profile.Mixed {
		r.Why = ""
	}
	return r
}

// extent is when the last of some exchanges was seen, and how long after the first.
func extent(seen []*Exchange) (last time.Time, span profile.Duration) {
	var first time.Time
	for _, x := range seen {
		if x.Received.After(last) {
			last = x.Received
		}
		if first.IsZero() || x.Received.Before(first) {
			first = x.Received
		}
	}
	return last, profile.Duration(max(last.Sub(first), 0))
}
