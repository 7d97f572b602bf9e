package tradingsim

import "fmt"

// Terminal does a write as somebody in the terminal would, with a body as a
// request has it: Terminal("POST /positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).
// It returns the body of the answer, or the refusal as an error.
//
// The rules are those of the API, and it counts against the limits that the terminal
// shares, which turn no person away. It is no request: it has no key, meets no fault
// and no lag, and neither [Sim.Requests] nor the report counts it. The ledger has it,
// and its fills at once, under the Actor "terminal". A write of the sandbox, which no
// terminal reaches, is one of another program of the holder's.
func (s *Sim) Terminal(operation, body string) (answer string, err error) {
	o, ok := s.routes.byName[operation]
	if !ok || !o.write {
		panic(fmt.Sprintf("tradingsim: the contract has no write %q", operation))
	}
	s.enter()
	defer s.leave()
	c := &call{target: &target{operation: o, name: operation}, body: []byte(body), terminal: true}
	do := func() (any, *refusal) { return o.run(s, c) }
	if o.env == sandboxEnv {
		c.key = s.keys[s.keyOf(sandboxEnv)]
	} else {
		_ = s.userLimit(o)
		var r *refusal
		if do, r = o.prepare(s, c); r != nil {
			return "", r.err(operation)
		}
	}
	result, r := do()
	if r != nil {
		return "", r.err(operation)
	}
	return string(mustJSON(result)), nil
}

// err is a refusal as a person meets it.
func (r *refusal) err(operation string) error {
	return fmt.Errorf("tradingsim: %s: %d %s: %s", operation, r.status, r.code, r.message)
}
