package control

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// faultBody is a fault as a request describes it. What its kind does not need must be
// left out.
type faultBody struct {
	Kind   string            `json:"kind"`
	For    string            `json:"for,omitempty"`
	Status int               `json:"status,omitempty"`
	Code   string            `json:"code,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`
	Faults []faultBody       `json:"faults,omitempty"`
}

// kind is one kind of fault.
type kind struct {
	Kind    string    `json:"kind"`
	Group   string    `json:"group"`   // as the page puts them together
	Text    string    `json:"text"`    // what happens
	Example faultBody `json:"example"` // what a button of the page sends
	make    func(faultBody, time.Duration) tradingsim.Fault
	needs   needs
}

type needs struct{ wait, status, code bool }

var kinds = []kind{
	{Kind: "drop_response", Group: "the reply is lost", Text: "It is executed, and the reply never comes.", make: plain(tradingsim.DropResponse)},
	{Kind: "truncate_response", Group: "the reply is lost", Text: "It is executed, and half of the reply comes.", make: plain(tradingsim.TruncateResponse)},
	{Kind: "delay_response", Group: "the reply is lost", Text: "It is executed at once, and the reply comes later.", make: waiting(tradingsim.DelayResponse), needs: needs{wait: true}, Example: faultBody{For: "5s"}},
	{Kind: "gateway_error_after", Group: "the reply is lost", Text: "It is executed, and a proxy replies with an HTML page.", make: withStatus(tradingsim.GatewayErrorAfter), needs: needs{status: true}, Example: faultBody{Status: 502}},
	{Kind: "gateway_json_after", Group: "the reply is lost", Text: "It is executed, and a proxy replies with JSON of its own.", make: withCode(tradingsim.GatewayJSONAfter), needs: needs{status: true, code: true}, Example: faultBody{Status: 403, Code: "blocked"}},
	{Kind: "raw_after", Group: "the reply is lost", Text: "It is executed, and anything at all comes back.", make: func(b faultBody, _ time.Duration) tradingsim.Fault {
		return tradingsim.RawAfter(b.Status, b.header(), b.Body)
	}, needs: needs{status: true}, Example: faultBody{Status: 200, Body: "{}"}},

	{Kind: "refuse_connection", Group: "it never arrives", Text: "No connection comes about.", make: plain(tradingsim.RefuseConnection)},
	{Kind: "drop_request", Group: "it never arrives", Text: "The connection breaks before the service sees it.", make: plain(tradingsim.DropRequest)},
	{Kind: "gateway_error", Group: "it never arrives", Text: "A proxy replies with an HTML page.", make: withStatus(tradingsim.GatewayError), needs: needs{status: true}, Example: faultBody{Status: 502}},
	{Kind: "gateway_json", Group: "it never arrives", Text: "A proxy replies with JSON of its own.", make: withCode(tradingsim.GatewayJSON), needs: needs{status: true, code: true}, Example: faultBody{Status: 403, Code: "blocked"}},
	{Kind: "raw", Group: "it never arrives", Text: "Anything at all comes back.", make: func(b faultBody, _ time.Duration) tradingsim.Fault {
		return tradingsim.Raw(b.Status, b.header(), b.Body)
	}, needs: needs{status: true}, Example: faultBody{Status: 200, Body: "{}"}},

	{Kind: "arrive_late", Group: "late or twice", Text: "The connection breaks, and it arrives later all the same.", make: waiting(tradingsim.ArriveLate), needs: needs{wait: true}, Example: faultBody{For: "5s"}},
	{Kind: "repeat", Group: "late or twice", Text: "A proxy sends it twice.", make: plain(tradingsim.Repeat)},
	{Kind: "late_copy", Group: "late or twice", Text: "It is executed, and a copy arrives later.", make: waiting(tradingsim.LateCopy), needs: needs{wait: true}, Example: faultBody{For: "5s"}},

	{Kind: "fail", Group: "the service fails", Text: "The service refuses it and does not execute it.", make: withCode(tradingsim.Fail), needs: needs{status: true, code: true}, Example: faultBody{Status: 500, Code: "internal_error"}},
	{Kind: "fail_after", Group: "the service fails", Text: "The service executes it and refuses it all the same.", make: withCode(tradingsim.FailAfter), needs: needs{status: true, code: true}, Example: faultBody{Status: 500, Code: "internal_error"}},
	{Kind: "rate_limit", Group: "the service fails", Text: "The service answers 429 with Retry-After.", make: waiting(tradingsim.RateLimit), needs: needs{wait: true}, Example: faultBody{For: "5s"}},
	{Kind: "crash", Group: "the service fails", Text: "The service dies over it, before it executes it.", make: plain(tradingsim.Crash)},
	{Kind: "crash_after", Group: "the service fails", Text: "The service dies over it, after it executed it.", make: plain(tradingsim.CrashAfter)},

	{Kind: "delay", Group: "the service is slow", Text: "The service works on it for a while, and executes it then.", make: waiting(tradingsim.Delay), needs: needs{wait: true}, Example: faultBody{For: "5s"}},
	{Kind: "hang", Group: "the service is slow", Text: "The connection breaks at once, while the service works on it.", make: waiting(tradingsim.Hang), needs: needs{wait: true}, Example: faultBody{For: "5s"}},
	{Kind: "pass", Group: "none", Text: "It goes well.", make: plain(tradingsim.Pass)},
}

func plain(fault func() tradingsim.Fault) func(faultBody, time.Duration) tradingsim.Fault {
	return func(faultBody, time.Duration) tradingsim.Fault { return fault() }
}

func waiting(fault func(time.Duration) tradingsim.Fault) func(faultBody, time.Duration) tradingsim.Fault {
	return func(_ faultBody, d time.Duration) tradingsim.Fault { return fault(d) }
}

func withStatus(fault func(int) tradingsim.Fault) func(faultBody, time.Duration) tradingsim.Fault {
	return func(b faultBody, _ time.Duration) tradingsim.Fault { return fault(b.Status) }
}

func withCode(fault func(int, string) tradingsim.Fault) func(faultBody, time.Duration) tradingsim.Fault {
	return func(b faultBody, _ time.Duration) tradingsim.Fault { return fault(b.Status, b.Code) }
}

const (
	maxFaults  = 100 // of one request
	maxPlanned = 1000
	maxWait    = 24 * time.Hour
	maxHeaders = 16
)

func (b faultBody) header() http.Header {
	header := http.Header{}
	for name, value := range b.Header {
		header.Set(name, value)
	}
	return header
}

// fault makes a fault. Faults that happen together are not nested.
func (b faultBody) fault(nested bool) (tradingsim.Fault, error) {
	if b.Kind == "together" {
		return b.together(nested)
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.Kind == b.Kind })
	if i < 0 {
		return nil, badRequest(fmt.Sprintf("there is no kind of fault %.40q; GET faults lists them", b.Kind))
	}
	k := kinds[i]
	if len(b.Faults) > 0 {
		return nil, badRequest("faults is for together, and not for " + b.Kind)
	}
	wait, err := b.wait(k)
	if err != nil {
		return nil, err
	}
	if err := b.judge(k); err != nil {
		return nil, err
	}
	return k.make(b, wait), nil
}

func (b faultBody) together(nested bool) (tradingsim.Fault, error) {
	if nested {
		return nil, badRequest("faults that happen together are one list, without another in it")
	}
	if len(b.Faults) < 2 || len(b.Faults) > maxFaults {
		return nil, badRequest(fmt.Sprintf("together takes 2 to %d faults", maxFaults))
	}
	if b.For != "" || b.Status != 0 || b.Code != "" || b.Header != nil || b.Body != "" {
		return nil, badRequest("together takes faults, and nothing else")
	}
	all, err := makeFaults(b.Faults, true)
	if err != nil {
		return nil, err
	}
	return tradingsim.Together(all...), nil
}

func makeFaults(bodies []faultBody, nested bool) ([]tradingsim.Fault, error) {
	all := make([]tradingsim.Fault, len(bodies))
	for i, b := range bodies {
		var err error
		if all[i], err = b.fault(nested); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (b faultBody) wait(k kind) (time.Duration, error) {
	if k.needs.wait {
		return duration("for of "+b.Kind, b.For, maxWait)
	}
	if b.For != "" {
		return 0, badRequest(b.Kind + " takes no for")
	}
	return 0, nil
}

// judge judges what a kind of fault needs, and that there is nothing else.
func (b faultBody) judge(k kind) error {
	isRaw := b.Kind == "raw" || b.Kind == "raw_after"
	switch {
	case k.needs.status && (b.Status < 200 || b.Status > 599):
		return badRequest(fmt.Sprintf("status of %s must be from 200 to 599, and is %d", b.Kind, b.Status))
	case !k.needs.status && b.Status != 0:
		return badRequest(b.Kind + " takes no status")
	case k.needs.code && !printableKey.MatchString(b.Code):
		return badRequest(fmt.Sprintf("code of %s must have 1 to 64 visible characters of ASCII", b.Kind))
	case !k.needs.code && b.Code != "":
		return badRequest(b.Kind + " takes no code")
	case !isRaw && (b.Header != nil || b.Body != ""):
		return badRequest(b.Kind + " takes no header and no body")
	case len(b.Header) > maxHeaders:
		return badRequest(fmt.Sprintf("header must have at most %d members", maxHeaders))
	}
	return nil
}

// planned lists what is planned, and what can be.
func (s *server) planned(w http.ResponseWriter, _ *http.Request) error {
	list := make([]kind, len(kinds))
	for i, k := range kinds {
		k.Example.Kind = k.Kind
		list[i] = k
	}
	planned := s.sim.PlannedFaults()
	if planned == nil {
		planned = []tradingsim.PlannedFault{}
	}
	writeJSON(w, http.StatusOK, map[string]any{"planned": planned, "kinds": list, "operations": tradingsim.Operations()})
	return nil
}

func (s *server) plan(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		Operation string      `json:"operation"`
		Faults    []faultBody `json:"faults"`
	}](w, r)
	if err != nil {
		return err
	}
	if body.Operation != "*" && !slices.Contains(tradingsim.Operations(), body.Operation) {
		return badRequest(fmt.Sprintf("operation must be * or one that GET faults lists, and is %.60q", body.Operation))
	}
	if len(body.Faults) == 0 || len(body.Faults) > maxFaults {
		return badRequest(fmt.Sprintf("faults must have 1 to %d entries", maxFaults))
	}
	all, err := makeFaults(body.Faults, false)
	if err != nil {
		return err
	}
	if len(s.sim.PlannedFaults())+len(all) > maxPlanned {
		return problem{http.StatusConflict, "too_many_faults", fmt.Sprintf("at most %d faults can be planned", maxPlanned)}
	}
	return done(w, attempt(func() { s.sim.Fault(body.Operation, all...) }))
}

func (s *server) clearFaults(w http.ResponseWriter, _ *http.Request) error {
	s.sim.ClearFaults()
	return done(w, nil)
}
