package observe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/profile"
)

// Exchange is a request and what came back.
type Exchange struct {
	// Source is the file that it was found in.
	Source string
	// Environment is live or sandbox; empty for what needs no key.
	Environment profile.Environment
	// Operation is the endpoint, such as "POST /orders/cancel", and Account the live account,
	// where the source says it.
	Operation, Account string
	// Key is the Idempotency-Key.
	Key string
	// Sent and Received are by the clock of who recorded it; zero where the source lacks them.
	Sent, Received time.Time
	// Request and Response are the bodies; nil where the source lacks them, or has them cut.
	Request, Response []byte
	// Status is the HTTP status, 0 without an answer, and Code the code of the refusal.
	Status int
	Code   string
	// Replayed means that the answer was marked as a stored one.
	Replayed bool
	// Own means that the source says that the answer is the service's own, although it lacks
	// the body.
	Own bool
	// Header is that of the answer; nil where the source lacks it.
	Header http.Header
	// Line is the connection that it was asked over, from 1; 0 where nobody knows.
	Line int
}

// Evidence is what was read, oldest first in each source.
type Evidence struct {
	Exchanges []Exchange // in the order of sending
	// Sources are the files that were understood, and Passed those that were not, with why.
	Sources []string
	Passed  []string
	// Holder is whose keys an audit is of, where it says so.
	Holder string

	// Rounds are what [Ask] asked, Begun what needs another visit, and Ended why the visit
	// ended early; Reads, Writes and Trades count the requests: Writes those that cannot
	// trade, Trades those that can.
	Rounds                []Round
	Begun                 []profile.Begun
	Ended                 string
	Reads, Writes, Trades int

	asked bool
}

// Add adds other evidence.
func (e *Evidence) Add(more *Evidence) {
	e.Exchanges = append(e.Exchanges, more.Exchanges...)
	e.Sources = append(e.Sources, more.Sources...)
	e.Passed = append(e.Passed, more.Passed...)
	e.Rounds = append(e.Rounds, more.Rounds...)
	e.Holder = cmp.Or(e.Holder, more.Holder)
	e.sort()
}

// sort brings the exchanges into the order of sending. Those without a time keep theirs.
func (e *Evidence) sort() {
	slices.SortStableFunc(e.Exchanges, func(a, b Exchange) int {
		if a.Sent.IsZero() || b.Sent.IsZero() {
			return 0
		}
		return a.Sent.Compare(b.Sent)
	})
}

// environmentOf is the environment of an operation.
func environmentOf(operation string) profile.Environment {
	_, path, _ := strings.Cut(operation, " ")
	switch {
	case strings.HasPrefix(path, "/sandbox"):
		return profile.Paper
	case path == "/health", path == "/openapi.json", path == "/me":
		return ""
	default:
		return profile.Live
	}
}

// fill completes what follows from the rest.
func (x *Exchange) fill() {
	if x.Environment == "" {
		x.Environment = environmentOf(x.Operation)
	}
	if x.Code == "" && x.Status >= http.StatusBadRequest {
		var refusal struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(x.Response, &refusal) == nil {
			x.Code = refusal.Error
		}
	}
}

// write reports whether it can change an account.
func (x *Exchange) write() bool { return strings.HasPrefix(x.Operation, "POST ") }

// decides reports whether the answer is the service's own word on this request: not of something
// in front, not about the key or a limit, no 5xx, and no 2xx that denies itself.
func (x *Exchange) decides() bool {
	switch {
	case x.Status < http.StatusOK, x.Status >= http.StatusInternalServerError:
		return false
	case x.Status == http.StatusUnauthorized, x.Status == http.StatusTooManyRequests:
		return false
	case x.Code == "wrong_environment", x.Code == "api_access_denied", x.Code == codeLimited: // with any status
		return false
	case x.Status >= http.StatusMultipleChoices && x.Status < http.StatusBadRequest:
		return false
	case x.Status >= http.StatusBadRequest:
		return x.Code != ""
	default:
		return x.Own || len(x.Response) > 0 && json.Valid(x.Response) && !denies(x.Response)
	}
}

// denies reports whether a body says that something failed.
func denies(body []byte) bool {
	failed := member(body, "error")
	return failed != nil && string(failed) != "null" || string(member(body, "success")) == "false" || string(member(body, "ok")) == "false"
}

// ofAccount reports whether an answer is about who asks, and for which account: a service can judge that in front of
// the key.
func (x *Exchange) ofAccount() bool {
	return x.Status == http.StatusForbidden || x.Code == codeNoAccount
}

// ofNothing reports whether a cancel of what cannot exist was refused as one under a fresh key is.
func (x *Exchange) ofNothing() bool {
	return slices.Contains([]string{codeNoOrder, codeNoRun, codeNoAccount, codeLocked}, x.Code)
}

// sameRefusal reports whether two answers refuse alike.
func sameRefusal(a, b *Exchange) bool {
	return !a.success() && a.Status == b.Status && a.Code == b.Code
}

// success reports whether the service carried it out.
func (x *Exchange) success() bool { return x.decides() && x.Status < http.StatusMultipleChoices }

// member returns a member of a JSON object; nil if there is none.
func member(text []byte, name string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all[name]
}

// rows are the objects of a list: bare, or the one list of an envelope.
func rows(text []byte, name string) (list []map[string]json.RawMessage, ok bool) {
	if inner := member(text, name); inner != nil {
		text = inner
	}
	ok = json.Unmarshal(text, &list) == nil && list != nil
	return list, ok
}

// text is a JSON string.
func text(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s) // empty for what is no string
	return s
}

// sameMeaning reports whether two bodies are the same JSON in other bytes.
func sameMeaning(a, b []byte) bool {
	x, y := canonical(a), canonical(b)
	return x != nil && bytes.Equal(x, y)
}

// canonical is JSON without white space, with sorted members and the numbers as they stand.
func canonical(body []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return nil
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return out
}

// spread is how durations are distributed.
func spread(all []time.Duration) profile.Spread {
	if len(all) == 0 {
		return profile.Spread{}
	}
	slices.SortFunc(all, cmp.Compare[time.Duration])
	const percent = 100
	at := func(share int) profile.Duration { return profile.Duration(all[(len(all)-1)*share/percent]) }
	return profile.Spread{N: len(all), Median: at(50), P99: at(99), Most: profile.Duration(all[len(all)-1])}
}
