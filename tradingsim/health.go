package tradingsim

import (
	"net/http"
	"time"
)

// healthCache is how long an assessment is reused.
const healthCache = 5 * time.Second

// health is the safe-to-trade assessment.
type health struct {
	status, feed string    // as they are
	seen         [2]string // as they were last assessed
	asOf         time.Time // zero before the first assessment
}

var healthStatuses = map[string]bool{"healthy": true, "degraded": true, "unavailable": true}

// SetHealth sets the status (healthy, degraded, unavailable) and the state of
// the feed (live, stale, unknown). The service reuses an assessment for five
// seconds, so the change shows when the present one is that old.
func (s *Sim) SetHealth(status, feed string) {
	if !healthStatuses[status] {
		panic("tradingsim: health has no status " + status)
	}
	s.enter()
	defer s.leave()
	s.health.status, s.health.feed = status, feed
	s.changedTo(EventHealth, Change{Value: status})
}

// serveHealth answers 503 for every state that is not safe.
func (s *Sim) serveHealth(*call) *answer {
	h := &s.health
	if h.asOf.IsZero() || s.now.Sub(h.asOf) >= healthCache {
		h.seen, h.asOf = [2]string{h.status, h.feed}, s.now
	}
	status, feed := h.seen[0], h.seen[1]
	a := success(object{
		{"ok", status == "healthy"},
		{"status", status},
		{"feed", feed},
		{"service", "trading-api"},
		{"version", "v1"},
		{"asOf", h.asOf.UnixMilli()},
		{"cacheSeconds", int(healthCache.Seconds())},
	})
	if status != "healthy" {
		a.status = http.StatusServiceUnavailable
	}
	return a
}

func (s *Sim) serveDescription(*call) *answer {
	return &answer{status: http.StatusOK, json: true, body: description}
}

func (s *Sim) me(c *call) (any, *refusal) {
	return object{{"userId", holder}, {"environment", string(c.key.env)}, {"keyId", c.key.id}}, nil
}
