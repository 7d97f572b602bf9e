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
	if c.instead != nil && (unstored[c.instead.code] || c.operation.special != nil) {
		return c.instead.answer()
	}
	if c.operation.special != nil {
		return c.operation.special(s, c)
	}
	if c.operation.write && c.operation.env == sandboxEnv {
		d := s.paperOf(c.key)
		if d.busy {
			return refuse("concurrent_request", "Another write to this sandbox is still in flight; try again.").answer()
		}
		d.busy = true
	}
	return nil
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
		c.operation = &operation{env: anyEnv}
		if r := s.authenticate(c); r != nil {
			return r.answer()
		}
	}
	return refuse("not_found", "There is no such path or method.").answer()
}

// work does what an admitted call asks for.
func (s *Sim) work(c *call) *answer {
	a := s.outcome(c)
	if c.operation.write && c.operation.env == sandboxEnv {
		s.paperOf(c.key).busy = false
	}
	return a
}

// outcome is the service's own answer to an admitted call: a fault may refuse
// it without executing it, or after that.
func (s *Sim) outcome(c *call) *answer {
	if c.instead != nil {
		return c.instead.answer()
	}
	body, r := c.operation.run(s, c)
	switch {
	case c.after != nil:
		return c.after.answer()
	case r != nil:
		return r.answer()
	}
	return success(body)
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
	a.header.Set("Date", s.now.UTC().Format(http.TimeFormat))
	if c.key != nil && s.other(4) {
		c.key.window.describe(a.header)
	}
	c.answer = a
	return a
}
