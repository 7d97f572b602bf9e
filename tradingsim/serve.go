package tradingsim

import "net/http"

// admit judges a call up to the point where it begins to work. It returns an
// answer where the call ends before that.
func (s *Sim) admit(c *call) *answer {
	switch {
	case c.legacy != "":
		return &answer{status: s.redirect, header: http.Header{"Location": {c.legacy}}}
	case c.operation == nil:
		return s.unknownPath(c)
	}
	if r := s.authenticate(c); r != nil {
		return r.answer()
	}
	if len(c.body) > maxBody {
		return refuse("bad_request", "The request body is longer than %d bytes.", maxBody).answer()
	}
	if c.instead != nil && s.inFront(c) {
		return s.planned(c).answer()
	}
	if c.operation.special != nil {
		return c.operation.special(s, c)
	}
	switch {
	case !c.operation.write:
		return nil
	case c.operation.env == sandboxEnv:
		return s.claimSandbox(c)
	}
	return s.claimLive(c)
}

// planned is a planned refusal in front of a call. A rate limit is that of the key where
// the call counts against no limit of the user's.
func (s *Sim) planned(c *call) *refusal {
	r := c.instead
	if r.wait == 0 || c.key == nil || c.operation.class != "" {
		return r
	}
	of, limit := *r, c.key.window.limit
	of.limit = &window{limit: limit, count: limit, start: s.now.Add(r.wait - rateWindow)}
	return &of
}

// inFront reports whether a planned refusal is given before the call begins to
// work, where no key stores it.
func (s *Sim) inFront(c *call) bool {
	if c.instead.code == "rate_limited" && s.other(6) && c.operation.prepare != nil {
		return false
	}
	return unstored[c.instead.code] || c.operation.special != nil
}

// claimSandbox takes the one write at a time that a sandbox has.
func (s *Sim) claimSandbox(c *call) *answer {
	d := s.paperOf(c.key)
	if d.busy {
		return refuse("concurrent_request", "Another write to this sandbox is still in flight; try again.").answer()
	}
	d.busy = true
	return nil
}

// claimLive judges the limit that the terminal shares, and then the key of the
// write.
func (s *Sim) claimLive(c *call) *answer {
	s.sweepClaims()
	if !s.other(6) {
		if r := s.userLimit(c.operation); r != nil {
			return r.answer()
		}
	}
	if s.other(51) {
		if _, r := c.operation.prepare(s, c); r != nil {
			return r.answer()
		}
	}
	return s.claimKey(c)
}

// unstored are the refusals given before a call begins to work.
var unstored = map[string]bool{
	"missing_api_key":   true,
	"invalid_api_key":   true,
	"revoked_api_key":   true,
	"wrong_environment": true,
	"api_access_denied": true,
	"rate_limited":      true,

	"concurrent_request": true,

	"invalid_idempotency_key":    true,
	"idempotency_key_reused":     true,
	"idempotency_in_flight":      true,
	"idempotency_result_unknown": true,
	"idempotency_unavailable":    true,
}

// unknownPath answers 404 without judging a key.
func (s *Sim) unknownPath(c *call) *answer {
	if s.other(8) {
		known := *c.target
		known.operation = &operation{env: anyEnv}
		c.target = &known
		if r := s.authenticate(c); r != nil {
			return r.answer()
		}
	}
	return refuse("not_found", "There is no such path or method.").answer()
}

// work does what an admitted call asks for.
func (s *Sim) work(c *call) *answer {
	a := s.outcome(c)
	switch {
	case !c.operation.write:
	case c.operation.env == sandboxEnv:
		s.paperOf(c.key).busy = false
	default:
		s.settleKey(c, a)
	}
	return a
}

// outcome is the service's own answer to an admitted call: a fault may refuse
// it without executing it, or after that.
func (s *Sim) outcome(c *call) *answer {
	switch {
	case c.instead != nil:
		return c.instead.answer()
	case c.crash:
		return refuse("internal_error", "The request failed part-way.").answer()
	}
	body, r := s.run(c)
	switch {
	case c.after != nil:
		return c.after.answer()
	case c.crashAfter:
		return refuse("internal_error", "The request failed part-way.").answer()
	case r != nil:
		return r.answer()
	}
	return c.operation.succeeded(body)
}

// run executes a call.
func (s *Sim) run(c *call) (any, *refusal) {
	if c.operation.prepare == nil {
		return c.operation.run(s, c)
	}
	if s.other(6) {
		if r := s.userLimit(c.operation); r != nil {
			return nil, r
		}
	}
	do, r := c.operation.prepare(s, c)
	if r != nil {
		c.invalid = true
		return nil, r
	}
	return do()
}

// serve is a whole call that nothing delays.
func (s *Sim) serve(c *call) *answer {
	a := s.admit(c)
	if a == nil {
		a = s.work(c)
	}
	return s.finish(c, a)
}

// finish adds what every answer carries.
func (s *Sim) finish(c *call, a *answer) *answer {
	a.date = s.date.text(s.now)
	if c.key != nil && s.other(4) {
		c.key.window.describe(a)
	}
	c.answer = a
	return a
}
