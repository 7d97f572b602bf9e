package sidecar

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// Written is a write of a bot, in the answer to GET /sidecar/writes.
type Written struct {
	ID        string    `json:"id"`                       // Trading-Write of its answers
	Operation string    `json:"operation"`                // the contract's, as "POST /orders"
	Account   string    `json:"account"`                  // "sandbox" is the paper account
	Symbol    string    `json:"symbol,omitempty"`         // its market; empty for what names none
	Key       string    `json:"idempotencyKey,omitempty"` // the bot's; empty without one
	At        time.Time `json:"at"`                       // when it came, by this machine's clock
	Outcome   string    `json:"outcome"`                  // applied, not-applied or unknown
	Status    int       `json:"status,omitempty"`         // of the service's answer, where it is known
	Heard     bool      `json:"heard"`                    // the bot is known to have heard the outcome
}

// ready is what [Status] says to bots, and to strangers.
type ready struct {
	Ready   bool   `json:"ready"`
	Reason  string `json:"reason,omitempty"`
	Pending *int   `json:"pending,omitempty"`
}

// serveReport answers what is about the sidecar itself.
func (s *Server) serveReport(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		_ = refuse(http.StatusNotFound, trading.CodeNotFound, "There is no such path or method.").writeTo(w, "")
		return
	}
	answer := own(http.StatusOK, "", "", "")
	q := &request{}
	no := s.authenticate(r, q)
	switch {
	case r.URL.Path == "/sidecar/ready":
		st := s.status(r.Context())
		shown := ready{Ready: st.Ready} // why is none of a stranger's business
		if no == nil {
			shown.Reason, shown.Pending = st.Reason, &st.Pending // the others are none of a bot's
		}
		if !st.Ready {
			answer = s.unavailable("", nil)
		}
		answer.body, _ = json.Marshal(shown) // a type of texts and numbers always has its JSON
	case r.URL.Path == "/sidecar/metrics" && no == nil:
		answer.header.Set("Content-Type", "text/plain; version=0.0.4")
		answer.body = s.metrics(r)
	case r.URL.Path == "/sidecar/writes" && no == nil:
		answer = s.writes(r, q)
	case r.URL.Path == "/sidecar/metrics", r.URL.Path == "/sidecar/writes":
		answer = *no
	default:
		answer = *refuse(http.StatusNotFound, trading.CodeNotFound, "There is no such path or method.")
	}
	_ = answer.writeTo(w, "")
}

// writes says what became of a bot's writes.
func (s *Server) writes(r *http.Request, q *request) reply {
	since := time.Time{}
	if text := r.URL.Query().Get("since"); text != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, text); err != nil {
			return *refuse(http.StatusBadRequest, trading.CodeBadRequest, "since must be a time such as 2026-11-24T03:00:00Z.")
		}
	}
	all := []Written{}
	for _, w := range s.file.Since(q.bot.Name, since) {
		outcome := outcomeOf(hearing.Unknown)
		if w.Answered {
			outcome = outcomeOf(w.Answer.Outcome)
		}
		all = append(all, Written{
			ID: w.ID, Operation: w.Operation, Account: w.Place.Account, Symbol: w.Place.Market, Key: w.Key, At: w.At,
			Outcome: outcomes[outcome], Status: w.Answer.Status, Heard: w.Heard,
		})
	}
	answer := own(http.StatusOK, "", "", "")
	answer.body, _ = json.Marshal(map[string]any{"writes": all}) // the same
	return answer
}

// counts are how often what happened.
type counts struct {
	mu sync.Mutex
	of map[string]int // by name and labels
}

func (c *counts) add(name string, labels ...string) {
	parts := make([]string, 0, len(labels)/2)
	for i := 0; i < len(labels); i += 2 {
		parts = append(parts, fmt.Sprintf("%s=%q", labels[i], labels[i+1]))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of["trading_sidecar_"+name+"{"+strings.Join(parts, ",")+"}"]++
}

// metrics are in the text format of Prometheus.
func (s *Server) metrics(r *http.Request) []byte {
	st := s.status(r.Context())
	ready := 0
	if st.Ready {
		ready = 1
	}
	var text strings.Builder
	fmt.Fprintf(&text, "trading_sidecar_ready %d\ntrading_sidecar_pending %d\ntrading_sidecar_unheard %d\n", ready, st.Pending, len(st.Unheard))
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.counts.of)) {
		fmt.Fprintf(&text, "%s %d\n", name, s.counts.of[name])
	}
	return []byte(text.String())
}
