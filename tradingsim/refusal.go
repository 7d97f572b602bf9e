package tradingsim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"
)

// refusal is an answer that says no.
type refusal struct {
	status  int
	code    string
	message string
	extras  object        // members besides error and message
	wait    time.Duration // Retry-After, where the answer carries it
	limit   *window       // X-RateLimit headers, where the answer carries them
}

// refuse makes a refusal with the code's own status.
func refuse(code, format string, args ...any) *refusal {
	status, ok := statuses[code]
	if !ok {
		panic("tradingsim: no status for code " + code)
	}
	return &refusal{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

// as gives the refusal the other status of its code.
func (r *refusal) as(status int) *refusal {
	r.status = status
	return r
}

func (r *refusal) with(name string, value any) *refusal {
	r.extras = append(r.extras, member{name, value})
	return r
}

// answer is one response as it leaves the service, or something in front of it.
type answer struct {
	status int
	json   bool        // the service's own, in JSON
	date   string      // of the service's
	header http.Header // besides; nil without
	body   []byte
	code   string // of a refusal
}

// set sets a header of an answer that nobody has yet.
func (a *answer) set(name, value string) {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(name, value)
}

// headers are all headers of an answer, for the caller to keep, with the length of the body.
// Those of every answer have their values in room.
func (a *answer) headers(room *[3]string) http.Header {
	h := make(http.Header, len(room)+len(a.header))
	for name, values := range a.header {
		h[name] = slices.Clone(values)
	}
	*room = [...]string{"application/json", a.date, strconv.Itoa(len(a.body))}
	if a.json {
		h["Content-Type"] = room[0:1:1]
	}
	if a.date != "" {
		h["Date"] = room[1:2:2]
	}
	h["Content-Length"] = room[2:3:3]
	return h
}

func (r *refusal) answer() *answer {
	body := append(object{{"error", r.code}, {"message", r.message}}, r.extras...)
	a := &answer{status: r.status, json: true, body: mustJSON(body), code: r.code}
	if r.wait > 0 {
		a.set("Retry-After", wholeSeconds(r.wait))
	}
	if r.limit != nil {
		r.limit.describe(a)
	}
	return a
}

func jsonHeader() http.Header {
	return http.Header{"Content-Type": {"application/json"}}
}

// success makes a 200 of a body.
func success(body any) *answer {
	return &answer{status: http.StatusOK, json: true, body: mustJSON(body)}
}

// succeeded is the success of an operation. Its answers are mostly as long as the last.
func (o *operation) succeeded(body any) *answer {
	text := appendJSON(make([]byte, 0, o.room), body)
	o.room = min(len(text)+16, 64<<10)
	return &answer{status: http.StatusOK, json: true, body: text}
}

// slippageRefusal carries the estimate, null when the book is too thin for one.
func slippageRefusal(code string, estimate opt, limit decimal.Decimal, message string) *refusal {
	return refuse(code, "%s", message).
		with("estSlippagePct", estimate).
		with("maxSlippagePct", num(limit))
}
