package observe

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/profile"
)

// Codes that the judgments go by.
const (
	codeReused   = "idempotency_key_reused"
	codeInFlight = "idempotency_in_flight"
	codeUnknown  = "idempotency_result_unknown"

	codeLimited   = "rate_limited"
	codeNoOrder   = "order_not_found"
	codeNoRun     = "run_not_found"
	codeNoAccount = "account_not_found"
	codeLocked    = "account_locked"
)

// aboutKey reports whether an answer is about the key, and not about the request.
func (x *Exchange) aboutKey() bool {
	return x.Code == codeReused || x.Code == codeInFlight || x.Code == codeUnknown || x.Code == "invalid_idempotency_key"
}

// mostAge is how old a stored answer may be to be judged: the service keeps it for 24 hours,
// from a moment that is not known.
const mostAge = 23 * time.Hour

// pair is a first request of a key that was answered, and a later one of the same key that
// was sent after that answer.
type pair struct{ was, is *Exchange }

func (p pair) sameOperation() bool { return p.was.Operation == p.is.Operation }
func (p pair) sameBytes() bool     { return bytes.Equal(p.was.Request, p.is.Request) }

// pairs calls each for every answered resend of a key. was is the first answer about the
// request that is known of the key: the one that a service would have stored. Nothing is said of
// a key after something that leaves it open what is stored: an attempt without an answer, or
// with a 5xx, unless that was sent before and answered after.
func pairs(e *Evidence, each func(pair)) {
	first := map[string]*Exchange{}
	open := map[string]bool{}
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if x.Key == "" || !x.write() || x.Request == nil || x.Sent.IsZero() || x.Environment != profile.Live {
			continue
		}
		was, ok := first[x.Key]
		switch {
		case open[x.Key]:
		case ok && x.decides() && x.Sent.After(was.Received) && x.Sent.Sub(was.Sent) < mostAge:
			each(pair{was, x})
			// What ran anew may have been stored anew.
			open[x.Key] = !x.Replayed && !x.aboutKey()
		case ok:
		case x.decides() && !x.aboutKey() && !x.Replayed && x.Code != codeNoAccount:
			// A first answer that is marked belongs to a request that the evidence lacks, or
			// something on the way repeats requests.
			first[x.Key] = x
		default:
			open[x.Key] = true // what this request did is not known, so neither what is stored
		}
	}
}

// refusedForBody reports whether a request was refused for its fields.
func (x *Exchange) refusedForBody() bool {
	return (x.Status == http.StatusBadRequest || x.Status == http.StatusUnprocessableEntity) && slices.Contains([]string{
		"invalid_json", "missing_fields", "bad_side", "bad_size", "bad_limit_price", "bad_request", "bad_symbol", "bad_pct", "BAD_MAX_SLIPPAGE",
		"BAD_DURATION", "BAD_ORDER_COUNT", "BAD_PRICE", "BAD_TRIGGER",
	}, x.Code)
}

// stored judges a resend of the same bytes: marked and equal, or not.
func stored(t *Tally, p pair) {
	switch {
	case p.is.Code == codeInFlight, p.is.Code == codeUnknown:
		t.neither("a stored answer was followed by "+p.is.Code, p.was, p.is)
	case p.is.Replayed && p.is.Status == p.was.Status && p.is.Code == p.was.Code:
		t.first(p.was, p.is)
	case p.is.Replayed:
		t.neither("the marked answer is another one than the first", p.was, p.is)
	case p.is.Code == codeReused:
		t.neither("the same bytes were answered by 422", p.was, p.is)
	case p.was.success() && p.was.Response != nil && bytes.Equal(p.was.Response, p.is.Response):
		t.neither("the first answer came again without its mark: it was stored, or something on the way kept it", p.was, p.is)
	case !p.was.success() && !sameRefusal(p.was, p.is):
		t.neither("the same bytes were refused as "+word(p.was)+", and then answered by "+word(p.is), p.was, p.is)
	default:
		t.other(p.was, p.is)
	}
}

// word is a code of the contract that an answer has, or its status: a code may be any text.
func word(x *Exchange) string {
	if x.ofNothing() || x.refusedForBody() || x.aboutKey() {
		return x.Code
	}
	return strconv.Itoa(x.Status)
}

// again is stored for evidence that nobody asked for: there an answer about the account may stand in front of the key.
func (p pair) again(t *Tally) {
	if p.is.Replayed || !p.is.ofAccount() {
		stored(t, p)
	}
}

// paired judges the resends that are of a kind.
func paired(of func(pair) bool, vote func(pair, *Tally)) func(*Evidence, *Tally) {
	return func(e *Evidence, t *Tally) {
		pairs(e, func(p pair) {
			if of(p) {
				vote(p, t)
			}
		})
	}
}

// resent reports whether the same request came again.
func (p pair) resent() bool { return p.sameOperation() && p.sameBytes() }

// fields reports whether one of the two was refused for its fields, which is what 13 and 51 are about.
func (p pair) fields() bool { return p.was.refusedForBody() || p.is.refusedForBody() }

var (
	judgeExecutionsStored   = paired(func(p pair) bool { return p.resent() && p.was.success() }, pair.again)
	judgeBodyRefusalsStored = paired(func(p pair) bool { return p.resent() && p.was.refusedForBody() }, pair.again)
	judgeRefusalsStored     = paired(func(p pair) bool { return p.resent() && !p.was.success() && !p.was.refusedForBody() }, pair.again)
	judgeReplayBytes        = paired(pair.resent, pair.replayBytes)

	// The same operation with other bytes that mean something else.
	judgeOtherBytes = paired(func(p pair) bool {
		return p.sameOperation() && !p.sameBytes() && !sameMeaning(p.was.Request, p.is.Request) && !p.fields()
	}, func(p pair, t *Tally) { p.another(t, "other bytes") })
	// The same meaning in other bytes.
	judgeMeaning = paired(func(p pair) bool {
		return p.sameOperation() && !p.sameBytes() && sameMeaning(p.was.Request, p.is.Request) && !p.was.refusedForBody()
	}, pair.meaning)
	// The same key on another route.
	judgeRoutes = paired(func(p pair) bool { return !p.sameOperation() && !p.fields() }, func(p pair, t *Tally) { p.another(t, "another route") })
	// A body without an account under a key that is taken.
	judgeValidation = paired(func(p pair) bool {
		return p.sameOperation() && !p.sameBytes() && !p.was.refusedForBody() && text(member(p.is.Request, "accountId")) == ""
	}, pair.validation)
)

// another is about another request under a key that is taken.
func (p pair) another(t *Tally, what string) {
	switch {
	case p.is.reused():
		t.first(p.was, p.is)
	case p.is.Replayed:
		t.neither(what+" got a stored answer", p.was, p.is)
	case p.is.ofAccount():
	default:
		t.other(p.was, p.is)
	}
}

func (p pair) meaning(t *Tally) {
	switch {
	case p.is.reused():
		t.first(p.was, p.is)
	case p.is.Replayed && p.is.Status == p.was.Status && p.is.Code == p.was.Code:
		t.other(p.was, p.is)
	default:
		t.neither("the same meaning in other bytes ran again", p.was, p.is)
	}
}

// validation: 422 shows that the key is judged first, a refusal of the body that fields are.
func (p pair) validation(t *Tally) {
	switch {
	case p.is.reused():
		t.first(p.was, p.is)
	case p.is.refusedForBody() && !p.is.Replayed:
		t.other(p.was, p.is)
	default:
		t.neither("a body without an account was answered by neither reading", p.was, p.is)
	}
}

// replayBytes compares a replay with the first answer.
func (p pair) replayBytes(t *Tally) {
	if p.is.Replayed && p.was.Response != nil && p.is.Response != nil && p.is.Status == p.was.Status {
		t.either(bytes.Equal(p.was.Response, p.is.Response), p.was, p.is)
	}
}

// reused reports whether the key was refused for another request.
func (x *Exchange) reused() bool { return x.Code == codeReused && !x.Replayed }

// judgeBesideFirst and judgeOrdersBesideFirst are about two requests of one key at the same time, with the same bytes:
// refusals, and what was executed.
func judgeBesideFirst(e *Evidence, t *Tally)       { besideFirst(e, t, false) }
func judgeOrdersBesideFirst(e *Evidence, t *Tally) { besideFirst(e, t, true) }

// besideFirst votes once for a key: on the requests that were sent while the first was under way. What was asked has its
// own votes.
func besideFirst(e *Evidence, t *Tally, executed bool) {
	groups, order := map[string][]*Exchange{}, []string(nil)
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if x.Key == "" || !x.write() || x.Environment != profile.Live || x.Sent.IsZero() || x.Source == sourceAsked {
			continue
		}
		all := groups[x.Key]
		switch {
		case all == nil:
			order = append(order, x.Key)
			groups[x.Key] = []*Exchange{x}
		case all[0].Operation == x.Operation && bytes.Equal(all[0].Request, x.Request) && x.Sent.Before(all[0].Received):
			groups[x.Key] = append(all, x)
		}
	}
	for _, key := range order {
		all := groups[key]
		if len(all) > 1 && !slices.ContainsFunc(all, func(x *Exchange) bool { return !x.decides() }) && executed == slices.ContainsFunc(all, (*Exchange).success) {
			besideOf(all, t)
		}
	}
}

// besideOf is about equal requests at once: one runs, and the others are refused or get its answer. Of several that
// seem to have run, answers that differ show that they have; equal ones look the same as something that joins them.
func besideOf(all []*Exchange, t *Tally) {
	ran := asFirst(all)
	switch {
	case len(ran) == 1:
		t.first(all...)
	case len(ran) == 0:
		t.neither("none of some equal requests at once was answered as the first", all...)
	case slices.ContainsFunc(ran, func(x *Exchange) bool { return x.Status != ran[0].Status || x.Code != ran[0].Code }):
		t.neither(severalWords, ran...)
	case slices.ContainsFunc(ran, func(x *Exchange) bool { return x.Response == nil || !bytes.Equal(x.Response, ran[0].Response) }):
		t.other(ran[:2]...)
	default:
		t.neither(joinedOrRan, ran[:2]...)
	}
}

// asFirst are the answers that are neither stored ones nor refused because the first was on its way.
func asFirst(all []*Exchange) (ran []*Exchange) {
	for _, x := range all {
		if !x.Replayed && x.Code != codeInFlight {
			ran = append(ran, x)
		}
	}
	return ran
}

// judgeInFlight finds another request under a key in flight that was answered by 409. A 422
// decides nothing: the first may have ended by then.
func judgeInFlight(e *Evidence, t *Tally) {
	running := map[string]*Exchange{}
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if x.Key == "" || !x.write() || x.Sent.IsZero() {
			continue
		}
		was, ok := running[x.Key]
		if !ok {
			running[x.Key] = x
			continue
		}
		if x.Code == codeInFlight && (was.Operation != x.Operation || !bytes.Equal(was.Request, x.Request)) {
			t.other(was, x)
		}
	}
}

// judgeLimitStored is about the same bytes after a 429 of the user's limit.
func judgeLimitStored(e *Evidence, t *Tally) {
	limited := map[string]*Exchange{}
	for i := range e.Exchanges {
		x := &e.Exchanges[i]
		if x.Key == "" || !x.write() {
			continue
		}
		was, ok := limited[x.Key]
		if ok && was.Operation == x.Operation && bytes.Equal(was.Request, x.Request) {
			switch {
			case x.Status == http.StatusTooManyRequests && x.Replayed:
				t.other(was, x)
			case x.decides() && !x.Replayed:
				t.first(was, x)
			}
		}
		if !ok && x.Status == http.StatusTooManyRequests && x.Code == codeLimited && !x.Replayed {
			limited[x.Key] = x
		}
	}
}

// accountID is the account that a body names.
func (x *Exchange) accountID() string {
	if x.Account != "" {
		return x.Account
	}
	return text(member(x.Request, "accountId"))
}

// number reads a JSON number as plain text; empty for anything else, and for what no size or
// price is: computing with 1e1000000000 would take all memory.
func number(raw json.RawMessage) string {
	const longest, most = 40, 18
	var n json.Number
	if len(raw) == 0 || len(raw) > longest || raw[0] == '"' || json.Unmarshal(raw, &n) != nil {
		return ""
	}
	if at := strings.IndexAny(n.String(), "eE"); at >= 0 {
		if exponent, err := strconv.Atoi(n.String()[at+1:]); err != nil || exponent > most || exponent < -most {
			return ""
		}
	}
	d, err := decimal.NewFromString(n.String())
	if err != nil {
		return ""
	}
	return d.String()
}
