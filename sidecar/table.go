package sidecar

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/protect"
)

// What the sidecar answers by itself.

// statuses are those of the codes, of each environment and of both.
var statuses = func() map[trading.Environment]map[trading.Code]int {
	all := map[trading.Environment]map[trading.Code]int{live: {}, paper: {}, "": {}}
	for rule := range trading.Rules() {
		for env, codes := range all {
			if codes[rule.Code] == 0 && (rule.Environment == "" || env == "" || rule.Environment == env) {
				codes[rule.Code] = rule.Status
			}
		}
	}
	return all
}()

// statusOf is the status of a code that the client refuses with.
func statusOf(code trading.Code, env trading.Environment) int {
	if status := statuses[env][code]; status != 0 {
		return status
	}
	return http.StatusBadRequest
}

// adviceOf is what to do about a code that the sidecar answers with. It finds out by itself what
// became of a write, and holds the market meanwhile: a bot asks again, or looks.
func adviceOf(code trading.Code) trading.Advice {
	switch code {
	case trading.CodeIdempotencyInFlight:
		return trading.AdviseSameKey
	case trading.CodeIdempotencyResultUnknown, trading.CodeUnavailable, trading.CodeConflict:
		return trading.AdviseNewKey
	}
	for rule := range trading.Rules() {
		if rule.Code == code {
			return rule.Advice
		}
	}
	return trading.AdviseNever
}

// again is how long a bot is asked to wait where nothing says it better.
const again = 2 * time.Second

// refused is the answer to a request whose call failed without an answer of the service's
// that can be passed on.
func (s *Server) refused(q *request, err error) reply {
	if q.write {
		switch trading.OutcomeOf(err) {
		case trading.Unknown:
			return s.undetermined(q)
		case trading.Applied:
			return executed(err)
		}
	}
	if q.write && foundByLooks(err) {
		if q.key == "" {
			return own(http.StatusConflict, trading.CodeConflict, "It was not executed.", reasonOf(err))
		}
		return unheardResult("it was not executed", err)
	}
	if r, known := s.held(q, err); known {
		return r
	}
	if q.write {
		return s.unavailable("it was not executed", err)
	}
	return own(http.StatusServiceUnavailable, trading.CodeUnavailable, "The service did not answer.", reasonOf(err)).after(again, s.random)
}

// foundByLooks reports whether a write was sent, and turned out not to be executed.
func foundByLooks(err error) bool {
	return trading.AdviceOf(err) == trading.AdviseNewKey && !errors.As(err, new(*trading.GuardError)) && !errors.As(err, new(*trading.Error))
}

// undetermined is the answer while nobody knows what became of a write.
func (s *Server) undetermined(q *request) reply {
	if q.key != "" {
		return own(http.StatusConflict, trading.CodeIdempotencyInFlight,
			"It is still being found out what became of it; retry with the same key.", "").of(trading.Unknown).after(again, s.random)
	}
	return unheardResult("it is not known what became of it", nil).of(trading.Unknown)
}

// unheardResult has the contract's own advice, and says when: reads may be so far behind.
func unheardResult(what string, err error) reply {
	return own(http.StatusConflict, trading.CodeIdempotencyResultUnknown,
		"The result is unknown; 5 s from now read positions and orders, then use a new key for what is missing.", join(what, err))
}

// executed is the answer where the service's own is lost: a fill is never invented.
func executed(err error) reply {
	return unheardResult("it was executed, and the answer is lost", err).of(trading.Applied)
}

func (s *Server) unavailable(what string, err error) reply {
	return own(http.StatusServiceUnavailable, trading.CodeIdempotencyUnavailable,
		"Nothing was placed; retry with the same key.", join(what, err)).after(again, s.random)
}

// held is the answer to a request that something held back before it was sent.
func (s *Server) held(q *request, err error) (r reply, known bool) {
	var refusal *trading.Error
	var guard *trading.GuardError
	switch {
	case errors.Is(err, trading.ErrKeyRefused):
		if s.halts.begin(q.realKey(), "") {
			s.alert("the service refuses the " + q.realKey() + ": " + err.Error())
		}
		return own(http.StatusServiceUnavailable, trading.CodeUnavailable, "The sidecar has no access to the service.", "").after(time.Minute, s.random), true
	case errors.Is(err, trading.ErrUnhealthy), errors.Is(err, protect.ErrNotJudged), errors.Is(err, errNotJudged):
		return own(http.StatusForbidden, trading.CodeMarketPaused, "No new exposure while it is not known to be safe.", reasonOf(err)), true
	case errors.Is(err, trading.ErrHalted), errors.Is(err, protect.ErrHalted):
		return forbidden(reasonOf(err)), true
	case errors.Is(err, protect.ErrRoom), errors.Is(err, errPosition):
		return own(http.StatusBadRequest, trading.CodePerPositionCap, "The position would be too large.", reasonOf(err)), true
	case q.write && errors.Is(err, trading.ErrPendingWrite): // which may be the same decision
		return advised(trading.AdviseNewKey, http.StatusServiceUnavailable, trading.CodeIdempotencyUnavailable,
			"Nothing was placed; an earlier write in this market is not resolved yet. Wait, then read positions and orders, and place what is missing.",
			join("nothing was sent", err)).after(again, s.random), true
	case errors.Is(err, trading.ErrJournal), errors.Is(err, trading.ErrClosed),
		errors.Is(err, trading.ErrExpired), errors.Is(err, errGone), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		if !q.write {
			return r, false
		}
		return s.unavailable("nothing was sent", err), true
	case errors.As(err, &refusal) && refusal.Code == trading.CodeRateLimited:
		wait, _ := trading.RetryAfter(err)
		return own(http.StatusTooManyRequests, refusal.Code, "Too many requests.", reasonOf(err)).after(wait, s.random), true
	case errors.As(err, &refusal) && refusal.Local:
		return own(statusOf(refusal.Code, q.env), refusal.Code, refusal.Message, ""), true
	case errors.As(err, &guard):
		return forbidden(reasonOf(err)), true
	default:
		return r, false
	}
}

func forbidden(reason string) reply {
	return own(http.StatusForbidden, trading.CodeForbidden, "The sidecar does not carry it out.", reason)
}

// reasonOf is why, for people.
func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	const most = 300
	text := err.Error()
	if len(text) > most {
		text = text[:most]
	}
	return text
}

func join(what string, err error) string {
	if err == nil {
		return what
	}
	return what + ": " + reasonOf(err)
}
