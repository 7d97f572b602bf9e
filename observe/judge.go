package observe

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/profile"
)

// About says whose evidence it is, for the profile.
type About struct {
	BaseURL string // the root of the API
	Holder  string // the holder's id; only a token of it is kept
	By      string // the version of the module that judges
}

// Judge makes a profile of evidence, by every experiment.
func Judge(e *Evidence, about About) *profile.Profile {
	holder := about.Holder
	if holder == "" {
		holder = e.Holder
	}
	p := &profile.Profile{
		Version: profile.Version, BaseURL: strings.ToLower(strings.TrimSuffix(about.BaseURL, "/")), Holder: Token("holder", holder), By: about.By,
		Measured: measure(e),
	}
	for i := range e.Exchanges {
		if at := e.Exchanges[i].Received; at.After(p.MeasuredAt) {
			p.MeasuredAt = at
		}
	}
	if p.MeasuredAt.IsZero() {
		p.MeasuredAt = time.Unix(0, 0).UTC() // the evidence has no times: too old to be relied on
	}
	proofs := newProofs(p)
	verdicts := map[string]profile.Verdict{}
	for i := range Experiments {
		x := &Experiments[i]
		t := x.Count(e)
		r := x.verdict(t, func(number string) profile.Verdict {
			if v, ok := verdicts[number]; ok {
				return v
			}
			return profile.Unseen
		})
		verdicts[x.Number] = r.Verdict
		if r.N > 0 {
			r.At, r.Span = extent(t.seen)
			r.Proof = proofs.of(t)
		}
		p.Results = append(p.Results, r)
	}
	return p
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

// Token names something without showing it, and is equal for what is equal. It is empty for
// nothing.
func Token(kind, of string) string {
	if of == "" {
		return ""
	}
	const enough = 6
	sum := sha256.Sum256([]byte(of))
	return kind + "_" + hex.EncodeToString(sum[:enough])
}
