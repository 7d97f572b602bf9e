package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tradingapi/trading-go/profile"
)

// proofs puts exchanges into a profile, each once, without what names a person, an account or
// a key.
type proofs struct {
	p      *profile.Profile
	places map[*Exchange]int
	tokens map[string]string
	counts map[string]int
}

func newProofs(p *profile.Profile) *proofs {
	return &proofs{p: p, places: map[*Exchange]int{}, tokens: map[string]string{}, counts: map[string]int{}}
}

// of returns the places of what proves a tally.
func (s *proofs) of(t *Tally) (places []int) {
	for _, kind := range t.proof {
		for _, x := range kind {
			at, ok := s.places[x]
			if !ok {
				at = len(s.p.Exchanges)
				s.places[x] = at
				s.p.Exchanges = append(s.p.Exchanges, profile.Exchange{
					At: x.Received, Operation: x.Operation, Key: s.token("key", x.Key), Request: s.body(x.Request),
					Status: x.Status, Replayed: x.Replayed, Response: s.body(x.Response), Source: x.Source,
				})
			}
			if !slices.Contains(places, at) {
				places = append(places, at)
			}
		}
	}
	return places
}

// token stands for a text, the same one for the same text.
func (s *proofs) token(kind, of string) string {
	if of == "" {
		return ""
	}
	if t, ok := s.tokens[of]; ok {
		return t
	}
	s.counts[kind]++
	t := fmt.Sprintf("%s_%d", kind, s.counts[kind])
	s.tokens[of] = t
	return t
}

// shown are the members whose texts say nothing of a person: words of the contract. Any other
// text is replaced.
var shown = map[string]bool{
	"error": true, "status": true, "side": true, "symbol": true, "orderType": true, "action": true, "environment": true,
	"version": true, "feed": true, "createdAt": true, "openedAt": true, "closedAt": true, "evalType": true, "execKind": true, "type": true,
}

// amounts are the members that show what somebody owns.
var amounts = []string{"balance", "equity", "pnl", "profittarget", "floor", "challengesize"}

// body is a body without what names somebody; one that is no JSON is named by its length.
func (s *proofs) body(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return fmt.Sprintf("%d bytes that are no JSON", len(b))
	}
	out, err := json.Marshal(s.value("", v))
	const most = 2048
	if err != nil || len(out) > most {
		return fmt.Sprintf("%d bytes of JSON", len(b))
	}
	return string(out)
}

func (s *proofs) value(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, inner := range slices.Sorted(maps.Keys(v)) {
			one := v[inner]
			if inner != strings.Map(plain, inner) || likeKey(inner) { // a member's name may hold anything
				inner = s.token("member", inner)
			}
			out[inner] = s.value(inner, one)
		}
		return out
	case []any:
		const few = 3
		out := []any{}
		for i, one := range v {
			if i == few {
				out = append(out, fmt.Sprintf("%d more", len(v)-few))
				break
			}
			out = append(out, s.value(name, one))
		}
		return out
	case string:
		if shown[name] && len(v) <= 40 && v == strings.Map(plain, v) && !likeKey(v) {
			return v
		}
		if v == "" {
			return v
		}
		return s.token("text", v)
	case json.Number:
		if slices.ContainsFunc(amounts, func(a string) bool { return strings.Contains(strings.ToLower(name), a) }) {
			return "amount"
		}
		return v
	default:
		return v
	}
}

// likeKey reports whether a text may hold an API key: a service can repeat it.
func likeKey(text string) bool {
	return strings.Contains(text, "pk_live_") || strings.Contains(text, "pk_test_")
}

// plain keeps the characters of words, codes and times.
func plain(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-.:/+ ", r):
		return r
	default:
		return -1
	}
}
