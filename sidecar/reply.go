package sidecar

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
)

// The headers of the sidecar's own.
const (
	headerOwn     = "Trading-Sidecar" // the sidecar says it, and not the service
	headerOutcome = "Trading-Outcome" // applied, not-applied or unknown
	headerWrite   = "Trading-Write"   // names the write
	headerHeard   = "Trading-Heard"   // a request's: names writes whose outcome its bot has heard
)

// reply is what a bot is answered.
type reply struct {
	status  int
	header  http.Header
	body    []byte
	outcome trading.Outcome // a write's
	unsent  bool            // nothing was executed this time
}

// listed reports whether a header of the service's is passed on.
func listed(name string) bool {
	switch name {
	case "Content-Type", "Date", "Retry-After", "Idempotent-Replayed":
		return true
	default:
		return strings.HasPrefix(name, "X-Ratelimit-")
	}
}

// passed is the service's answer, as it came.
func passed(m *trading.Meta) reply {
	r := reply{status: m.Status, header: http.Header{}, body: m.Body}
	for name, values := range m.Header {
		if name = http.CanonicalHeaderKey(name); listed(name) {
			r.header[name] = values
		}
	}
	if m.Replayed {
		r.header.Set("Idempotent-Replayed", "true")
	}
	if r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", "application/json")
	}
	return r
}

// own is an answer of the sidecar's, in the service's shape, with the advice of its code.
func own(status int, code trading.Code, message, reason string) reply {
	return advised(adviceOf(code), status, code, message, reason)
}

// advised is one that says what to do in its member advice, by the steps of docs/errors.md.
func advised(advice trading.Advice, status int, code trading.Code, message, reason string) reply {
	text, _ := json.Marshal(struct { // a type of texts always has its JSON
		Error   trading.Code `json:"error"`
		Message string       `json:"message"`
		Reason  string       `json:"reason,omitempty"`
		Advice  string       `json:"advice"`
	}{code, message, reason, advice.String()})
	return reply{
		status: status, body: text, outcome: trading.NotApplied,
		header: http.Header{"Content-Type": {"application/json"}, headerOwn: {"1"}},
	}
}

// after says when to come again. Bots that were refused together do not all come at once.
func (r reply) after(wait time.Duration, random func() float64) reply {
	seconds := max(wait, time.Second).Seconds() * (1 + random()/2)
	r.header.Set("Retry-After", strconv.Itoa(int(seconds+0.999)))
	return r
}

// of says what became of the write that it answers.
func (r reply) of(outcome trading.Outcome) reply {
	r.outcome = outcome
	return r
}

// replayed is the same answer once more, as the service repeats it.
func (r reply) replayed(now time.Time) reply {
	r.header = r.header.Clone()
	r.header.Set("Date", now.UTC().Format(http.TimeFormat))
	r.header.Set("Idempotent-Replayed", "true")
	return r
}

// outcomes are those of the header.
var outcomes = map[trading.Outcome]string{
	trading.Applied: "applied", trading.NotApplied: "not-applied", trading.Unknown: "unknown",
}

// writeTo writes the whole answer, so that nothing of it is left in this process when it
// returns. id names the write that it answers; empty for a read.
func (r reply) writeTo(w http.ResponseWriter, id string) error {
	header := w.Header()
	for name, values := range r.header {
		header[name] = values
	}
	header.Set("Content-Length", strconv.Itoa(len(r.body)))
	if id != "" {
		header.Set(headerWrite, id)
		header.Set(headerOutcome, outcomes[r.outcome])
	}
	w.WriteHeader(r.status)
	if _, err := w.Write(r.body); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
