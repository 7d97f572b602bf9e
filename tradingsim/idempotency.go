package tradingsim

import (
	"encoding/json"
	"time"
)

const (
	claimTime  = 15 * time.Minute // how long a running request holds its key
	replayTime = 24 * time.Hour   // how long its answer is replayed
)

// claim is the record of an Idempotency-Key. The scope is the account holder:
// all keys and all accounts share one set.
type claim struct {
	request   string // what was asked for, to distinguish a resend from another request
	owner     *call
	arrived   time.Time
	completed time.Time // zero while the first request runs
	answer    *answer   // nil while it runs, and when its result is unknown
}

// expired reports whether the key may be used as if it were new.
func (k *claim) expired(s *Sim) bool {
	switch {
	case k.completed.IsZero():
		return s.now.Sub(k.arrived) >= claimTime
	case s.other(11):
		return s.now.Sub(k.arrived) >= replayTime
	}
	return s.now.Sub(k.completed) >= replayTime
}

// claimKey judges the Idempotency-Key of a live write. It returns an answer
// where the write must not run.
func (s *Sim) claimKey(c *call) *answer {
	values := c.keys
	if len(values) == 0 {
		return nil
	}
	if len(values) > 1 && !s.other(14) || !validKey(values[0]) {
		return refuse("invalid_idempotency_key", "Idempotency-Key must be one header of 1 to 255 visible ASCII characters.").answer()
	}
	name, request := values[0], s.fingerprint(c)
	if s.other(49) {
		name = c.operation.name + " " + name
	}
	old, ok := s.claims[name]
	if ok && old.expired(s) && !(s.other(50) && old.request != request) {
		ok = false
	}
	if !ok {
		c.claim = name
		s.claims[name] = &claim{request: request, owner: c, arrived: s.now}
		return nil
	}
	running := old.completed.IsZero()
	switch {
	case old.request != request && !(running && s.other(10)):
		return refuse("idempotency_key_reused", "This Idempotency-Key was used for a different request.").answer()
	case running:
		return refuse("idempotency_in_flight", "The first request with this Idempotency-Key is still running; retry with the same key.").answer()
	case old.answer == nil:
		return refuse("idempotency_result_unknown", "The first request with this Idempotency-Key failed part-way; read positions and orders before you use a new key.").answer()
	}
	return replay(old.answer)
}

// replay is the first answer once more.
func replay(a *answer) *answer {
	again := *a
	again.header = a.header.Clone()
	again.set("Idempotent-Replayed", "true")
	return &again
}

// settleKey stores an answer below 500 under the key and forgets any other, so
// that the same key runs again.
func (s *Sim) settleKey(c *call, a *answer) {
	k, ok := s.claims[c.claim]
	if !ok || k.owner != c { // no key, or overdue and taken over
		return
	}
	k.completed = s.now
	switch {
	case c.crash, c.crashAfter, a.status >= 500 && c.after != nil && s.other(12):
		k.answer = nil
	case a.status >= 500, c.invalid && (s.other(13) || s.other(51)):
		delete(s.claims, c.claim)
	default:
		k.answer = a
	}
}

func validKey(key string) bool {
	if len(key) == 0 || len(key) > 255 {
		return false
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return true
}

// fingerprint is what makes two requests the same: method, path, query and the
// body's bytes, or what the body means under the other interpretation.
func (s *Sim) fingerprint(c *call) string {
	body := c.body
	if s.other(9) {
		var meaning any
		if json.Unmarshal(body, &meaning) == nil {
			body = mustJSON(meaning)
		}
	}
	return c.name + " " + c.path + "\n" + string(body)
}

// sweepClaims forgets what has expired, now and then.
func (s *Sim) sweepClaims() {
	if s.now.Sub(s.swept) < time.Hour {
		return
	}
	s.swept = s.now
	for name, k := range s.claims {
		if k.expired(s) && !k.completed.IsZero() {
			delete(s.claims, name)
		}
	}
}

// userLimit judges the limit that the holder's keys and the terminal share.
func (s *Sim) userLimit(o *operation) *refusal {
	w, ok := s.classes[s.class(o)]
	if !ok {
		w = &window{limit: s.classLimit}
		if o.pro {
			w.limit = s.proLimit
		}
		s.classes[s.class(o)] = w
	}
	if w.take(s.now) {
		return nil
	}
	r := refuse("rate_limited", "The limit of %d a minute for this kind of order is used up, in the terminal or through the API.", w.limit)
	r.wait = w.start.Add(rateWindow).Sub(s.now)
	return r
}

func (s *Sim) class(o *operation) string {
	if o.class == "runs" && s.other(7) {
		return "cancel"
	}
	return o.class
}
