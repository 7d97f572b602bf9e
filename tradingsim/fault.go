package tradingsim

import (
	"fmt"
	"net/http"
	"time"
)

// Fault is what happens to one call.
type Fault interface{ fault() }

// fault is a Fault: what is wrong on the way there, at work, and on the way
// back. The zero value is a call that nothing happens to.
type fault struct {
	refuse bool          // no connection
	lost   bool          // the service never sees the request
	front  *answer       // something in front answers; the service never sees the request
	hold   time.Duration // the service works that long before it executes
	gone   bool          // … and the connection breaks at once

	instead *refusal // the service refuses and does not execute
	after   *refusal // the service executes, and then refuses

	crash      bool // the service dies over the request, before it executes …
	crashAfter bool // … or after it did

	repeat bool          // the request arrives twice
	late   time.Duration // a copy arrives that much later

	mask     *answer       // executed, but something in front answers
	slow     time.Duration // the answer takes that long
	cut      bool          // the answer never arrives
	truncate bool          // half of the answer arrives
}

func (*fault) fault() {}

// Fault plans what happens to the next calls of an operation, one fault a call:
// "POST /orders", "GET /accounts/{accountId}" (method and path as in the
// contract, without a query), or "*" for calls of any operation that has none
// planned. Calls beyond the plan go well.
func (s *Sim) Fault(operation string, faults ...Fault) {
	if _, ok := s.routes.byName[operation]; !ok && operation != "*" {
		panic(fmt.Sprintf("tradingsim: the contract has no operation %q", operation))
	}
	s.enter()
	defer s.leave()
	for _, f := range faults {
		s.faults[operation] = append(s.faults[operation], f.(*fault))
	}
}

// FaultEach asks a function for the fault of every call that has none planned;
// nil is none. The function is called for one call after the other, in the
// order of their arrival, and may use the simulation, but not send it requests.
func (s *Sim) FaultEach(choose func(operation string) Fault) {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	s.choose = choose
}

// Always is for [Sim.FaultEach]: the fault of every call of one operation.
func Always(operation string, f Fault) func(operation string) Fault {
	return func(called string) Fault {
		if called == operation {
			return f
		}
		return nil
	}
}

// chosenFault asks the function of [Sim.FaultEach].
func (s *Sim) chosenFault(c *call) *fault {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	if s.choose != nil {
		if f := s.choose(c.name); f != nil {
			return f.(*fault)
		}
	}
	return noFault
}

// noFault is a call that nothing happens to. It is never written to.
var noFault = &fault{}

// ClearFaults forgets every fault that has not happened yet.
func (s *Sim) ClearFaults() {
	s.enter()
	defer s.leave()
	clear(s.faults)
}

// nextFault takes the fault of a call off the plan, nil if none is planned.
func (s *Sim) nextFault(c *call) *fault {
	if len(s.faults) == 0 {
		return nil
	}
	for _, name := range []string{c.name, "*"} {
		if plan := s.faults[name]; len(plan) > 0 {
			s.faults[name] = plan[1:]
			return plan[0]
		}
	}
	return nil
}

// Pass lets one call go well.
func Pass() Fault { return &fault{} }

// RefuseConnection lets no connection come about: nothing was written. Over
// loopback, where the connection already stands, it is cut before the request
// is read.
func RefuseConnection() Fault { return &fault{refuse: true} }

// DropRequest cuts the connection before the service sees the request.
func DropRequest() Fault { return &fault{lost: true, cut: true} }

// DropResponse executes the request and cuts the connection.
func DropResponse() Fault { return &fault{cut: true} }

// TruncateResponse executes the request and cuts the connection in the middle of
// the answer.
func TruncateResponse() Fault { return &fault{truncate: true} }

// Delay makes the service work on the request for d before it executes it. All
// that time the request is in flight: a second sandbox write meets
// concurrent_request, a second use of its key idempotency_in_flight. A caller
// who gives up does not stop it.
func Delay(d time.Duration) Fault { return &fault{hold: d} }

// Hang cuts the connection at once, while the service works on the request for d and
// then executes it. All that time the request is in flight, as with [Delay]. It ends
// otherwise together with another fault: Together(Hang(d), Crash()) fails part-way,
// with [CrashAfter] after the work, with [Fail] or [FailAfter] in a 5xx that no key
// stores.
func Hang(d time.Duration) Fault { return &fault{hold: d, gone: true, cut: true} }

// DelayResponse executes the request at once and holds the answer back for d.
func DelayResponse(d time.Duration) Fault { return &fault{slow: d} }

// Fail makes the service refuse with a status and a code, without executing.
func Fail(status int, code string) Fault {
	return &fault{instead: injected(status, code)}
}

// FailAfter makes the service execute and then refuse all the same.
func FailAfter(status int, code string) Fault {
	return &fault{after: injected(status, code)}
}

// Crash makes the service die over a request before it executes it: the
// connection is cut, and a live write's key answers idempotency_result_unknown
// from then on.
func Crash() Fault { return &fault{crash: true, cut: true} }

// CrashAfter is Crash after the execution.
func CrashAfter() Fault { return &fault{crashAfter: true, cut: true} }

// injected refuses with any status and code: the pair need not be of the
// contract.
func injected(status int, code string) *refusal {
	return &refusal{status: status, code: code, message: "The simulation was set to answer " + code + "."}
}

// RateLimit answers 429 rate_limited in front of the route: to a live write as the limit
// of its user, to any other call with a key as that of the key, with its X-RateLimit headers.
func RateLimit(retryAfter time.Duration) Fault {
	r := refuse("rate_limited", "Too many requests; wait %s seconds.", wholeSeconds(retryAfter))
	r.wait = retryAfter
	return &fault{instead: r}
}

// GatewayError makes a proxy answer with an HTML page; nothing is executed.
func GatewayError(status int) Fault { return &fault{front: gatewayPage(status)} }

// GatewayErrorAfter executes the request, but a proxy hides the answer behind an
// HTML page.
func GatewayErrorAfter(status int) Fault { return &fault{mask: gatewayPage(status)} }

func gatewayPage(status int) *answer {
	return &answer{
		status: status,
		header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		body: fmt.Appendf(nil, "<!DOCTYPE html>\n<html><head><title>%d %s</title></head><body><h1>%[2]s</h1></body></html>\n",
			status, http.StatusText(status)),
	}
}

// GatewayJSON makes a proxy answer with an error in JSON of its own, which looks like
// the service's; nothing is executed.
func GatewayJSON(status int, code string) Fault {
	return &fault{front: gatewayJSON(status, code)}
}

// GatewayJSONAfter executes the request, but a proxy answers with an error in JSON of
// its own.
func GatewayJSONAfter(status int, code string) Fault {
	return &fault{mask: gatewayJSON(status, code)}
}

func gatewayJSON(status int, code string) *answer {
	return &answer{status: status, header: jsonHeader(), body: mustJSON(object{
		{"error", code}, {"message", "The gateway answered " + code + "."},
	})}
}

// Raw answers with anything at all; nothing is executed.
func Raw(status int, header http.Header, body string) Fault {
	return &fault{front: raw(status, header, body)}
}

// RawAfter executes the request and answers with anything at all.
func RawAfter(status int, header http.Header, body string) Fault {
	return &fault{mask: raw(status, header, body)}
}

func raw(status int, header http.Header, body string) *answer {
	if header == nil {
		header = http.Header{}
	}
	return &answer{status: status, header: header.Clone(), body: []byte(body)}
}

// Repeat makes a proxy send the request twice and hand back the second answer.
func Repeat() Fault { return &fault{repeat: true} }

// LateCopy executes the request, and a copy of it arrives d later.
func LateCopy(d time.Duration) Fault { return &fault{late: d} }

// ArriveLate cuts the connection, and the request arrives d later all the same. What
// it then meets at the service can be planned with it: Together(ArriveLate(d), Crash()).
func ArriveLate(d time.Duration) Fault { return &fault{lost: true, cut: true, late: d} }

// Together makes one call meet several faults, such as a 500 after execution
// whose answer is lost too: Together(FailAfter(500, "internal_error"), DropResponse()).
func Together(faults ...Fault) Fault {
	all := &fault{}
	for _, f := range faults {
		all.merge(f.(*fault))
	}
	return all
}

func (f *fault) merge(g *fault) {
	f.refuse = f.refuse || g.refuse
	f.lost = f.lost || g.lost
	f.gone = f.gone || g.gone
	f.repeat = f.repeat || g.repeat
	f.cut = f.cut || g.cut
	f.truncate = f.truncate || g.truncate
	f.crash = f.crash || g.crash
	f.crashAfter = f.crashAfter || g.crashAfter
	f.hold += g.hold
	f.late += g.late
	f.slow += g.slow
	f.front = either(f.front, g.front)
	f.mask = either(f.mask, g.mask)
	f.instead = either(f.instead, g.instead)
	f.after = either(f.after, g.after)
}

func either[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}
