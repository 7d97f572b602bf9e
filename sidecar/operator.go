package sidecar

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/sidecar/internal/answers"
)

// Pending is a write whose outcome is not known, for an operator.
type Pending struct {
	ID        trading.IntentID    `json:"id"`                // names it for /resolve and /acknowledge
	Bot       string              `json:"bot,omitempty"`     // the local key that it came with
	Write     string              `json:"write,omitempty"`   // Trading-Write of its answers
	Operation trading.Operation   `json:"operation"`         // the contract's, as "POST /orders"
	Env       trading.Environment `json:"environment"`       // live or sandbox
	Account   trading.AccountID   `json:"account,omitempty"` // empty on the paper account
	Symbol    string              `json:"symbol,omitempty"`  // its market; empty for what names none
	Decided   time.Time           `json:"decided"`           // when it came, by this machine's clock
	Waiting   bool                `json:"waiting"`           // nothing more is done until somebody asks
	Reason    string              `json:"reason,omitempty"`  // why the outcome is not known
	// MarketOpen means that entries go on in its market all the same; false where that is not shown.
	MarketOpen bool `json:"marketOpen"`
}

// Status is how a sidecar is, for an operator and for whatever watches it.
type Status struct {
	Ready   bool     `json:"ready"`            // entries are taken
	Reason  string   `json:"reason,omitempty"` // why not
	Pending int      `json:"pending"`          // writes whose outcome is not known
	Unheard []string `json:"unheard"`          // writes that hold their market until their bot has read
	// Refused are the markets that take no entries, as "acc_1 BTC"; with its name where one bot's alone are not.
	Refused []string `json:"refused,omitempty"`
}

// Flattened is what became of flattening an account.
type Flattened struct {
	Account trading.AccountID `json:"account"` // which
	Flat    bool              `json:"flat"`    // it is proven
	Report  string            `json:"report"`  // what was done, for a person
}

// command is what an operator sends.
type command struct {
	ID       trading.IntentID    `json:"id"`
	Outcome  string              `json:"outcome"`
	Note     string              `json:"note"`
	Reason   string              `json:"reason"`
	Accounts []trading.AccountID `json:"accounts"`
	Symbols  []string            `json:"symbols"`
}

// Operator answers a person, on a socket that no bot reaches: GET /pending and /status, and POST
// /resolve, /acknowledge, /halt, /resume and /flatten. A halt and a flatten say why.
func (s *Server) Operator() http.Handler {
	mux := http.NewServeMux()
	get := func(path string, answer func(context.Context) (any, error)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			operate(w, r, func(command) (any, error) { return answer(r.Context()) })
		})
	}
	post := func(path string, do func(context.Context, command) (any, error)) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			operate(w, r, func(c command) (any, error) { return do(r.Context(), c) })
		})
	}
	get("/pending", func(ctx context.Context) (any, error) { return s.pending(ctx) })
	get("/status", func(ctx context.Context) (any, error) { return s.status(ctx), nil })
	post("/resolve", func(ctx context.Context, c command) (any, error) { return s.resolve(ctx, c.ID) })
	post("/acknowledge", func(ctx context.Context, c command) (any, error) {
		err := s.acknowledge(ctx, c)
		return s.status(ctx), err
	})
	post("/halt", func(ctx context.Context, c command) (any, error) {
		if c.Reason == "" {
			return nil, errors.New("a halt needs a reason")
		}
		if err := s.halt(c.Reason); err != nil {
			return nil, err
		}
		return s.status(ctx), nil
	})
	post("/resume", func(ctx context.Context, _ command) (any, error) {
		if err := s.resume(); err != nil {
			return nil, err
		}
		return s.status(ctx), nil
	})
	post("/flatten", s.flatten)
	return mux
}

// operate carries a command out, and answers with JSON.
func operate(w http.ResponseWriter, r *http.Request, do func(command) (any, error)) {
	var c command
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostBody))
	decoder.DisallowUnknownFields()
	if fromPage(r.Header) {
		_ = refuse(http.StatusForbidden, trading.CodeForbidden, "Pages in a browser are not served.").writeTo(w, "")
		return
	}
	if r.Method == http.MethodPost {
		if err := decoder.Decode(&c); err != nil {
			_ = own(http.StatusBadRequest, trading.CodeInvalidJSON, "The body is not a command.", reasonOf(err)).writeTo(w, "")
			return
		}
	}
	result, err := do(c)
	if err != nil {
		no := own(http.StatusConflict, trading.CodeConflict, "It was not done.", reasonOf(err))
		if result != nil {
			no.body, _ = json.Marshal(result) // a type of texts and numbers
		}
		_ = no.writeTo(w, "")
		return
	}
	yes := own(http.StatusOK, "", "", "")
	yes.body, _ = json.Marshal(result) // the same
	_ = yes.writeTo(w, "")
}

// Why nothing more is found out about a write, for a person.
const (
	whyOpen   = "its answers leave it open, and nothing more is found out about it: look at the account, then acknowledge it"
	whyKilled = "the sidecar was ended while it ran, and nothing more is found out about it: look at the account, then acknowledge it"
	whyUnsent = "nothing was executed through the sidecar, but its bot may have used the key before, without it: the same key finds out; or look at the account, then acknowledge it"
)

func (s *Server) pending(ctx context.Context) ([]Pending, error) {
	writes, err := s.client.Pending(ctx)
	all, held := make([]Pending, 0, len(writes)), s.unheard.open()
	for _, w := range writes {
		p := Pending{
			ID: w.ID, Operation: w.Operation, Env: w.Environment, Account: w.Account, Symbol: w.Symbol,
			Decided: w.Decided, Waiting: w.Waiting, Reason: w.Reason,
		}
		p.Bot, p.Write, _ = strings.Cut(w.Tag, " ")
		p.MarketOpen = w.MarketOpen && !slices.Contains(held, p.Write)
		all = append(all, p)
	}
	for _, w := range s.leftOpen(writes) {
		p := Pending{
			ID: trading.IntentID(w.ID), Bot: w.Place.Bot, Write: w.ID, Operation: trading.Operation(w.Operation), Env: live,
			Account: trading.AccountID(w.Place.Account), Symbol: w.Place.Market, Decided: w.At, Waiting: true, Reason: whyOpen,
			MarketOpen: !slices.Contains(held, w.ID),
		}
		if w.Place.Account == string(paper) {
			p.Env, p.Account = paper, ""
		}
		switch {
		case !w.Answered:
			p.Reason = whyKilled
		case w.Answer.Unsent:
			p.Reason = whyUnsent
		}
		all = append(all, p)
	}
	return all, err
}

// leftOpen are the writes of bots that have no outcome, and about which the client finds out nothing
// more: cancels, levels and resets, what was not sent under a key that may have been used without the
// sidecar, unless a later write has its key, and what a kill came between.
func (s *Server) leftOpen(pending []trading.PendingWrite) []answers.Write {
	known := map[string]bool{}
	for _, p := range pending {
		_, id, _ := strings.Cut(p.Tag, " ")
		known[id] = true
	}
	all := s.file.Unresolved()
	for i, w := range all {
		known[w.ID] = known[w.ID] || s.unheard.runs(w.ID) ||
			w.Answer.Unsent && slices.ContainsFunc(all[i+1:], func(later answers.Write) bool { return later.SameKey(w.Write) })
	}
	return slices.DeleteFunc(all, func(w answers.Write) bool { return known[w.ID] })
}

// acknowledge settles a pending write by what a person has found.
func (s *Server) acknowledge(ctx context.Context, c command) error {
	found := map[string]trading.Outcome{"applied": trading.Applied, "not-applied": trading.NotApplied}[c.Outcome]
	writes, err := s.client.Pending(ctx)
	settles := func(w answers.Write) bool { return w.ID == string(c.ID) }
	if err != nil || !slices.ContainsFunc(s.leftOpen(writes), settles) {
		return s.client.Acknowledge(ctx, c.ID, found, c.Note)
	}
	answer := executed(nil)
	switch found {
	case trading.Applied:
	case trading.NotApplied:
		answer = own(http.StatusConflict, trading.CodeConflict, "It was not executed.", c.Note)
	default:
		return fmt.Errorf("the outcome is %q: it must be applied or not-applied", c.Outcome)
	}
	if now := time.Now(); !s.unheard.found(ctx, string(c.ID), answer, false, now) {
		s.file.known(ctx, string(c.ID), answer, false, now)
		s.file.settle(ctx, string(c.ID), answer.outcome, now)
	}
	return nil
}

func (s *Server) status(ctx context.Context) Status {
	st := Status{Ready: true, Unheard: append([]string{}, s.unheard.open()...)}
	all, err := s.pending(ctx)
	st.Pending = len(all)
	listed := map[string]bool{}
	for _, p := range all {
		listed[p.Write] = true
		switch market := strings.TrimSpace(cmp.Or(string(p.Account), string(p.Env)) + " " + p.Symbol); {
		case p.MarketOpen:
		case string(p.ID) == p.Write: // the client knows nothing of it
			st.Refused = append(st.Refused, market+" ("+p.Bot+")")
		default:
			st.Refused = append(st.Refused, market)
		}
	}
	st.Refused = append(st.Refused, s.unheard.markets(listed)...)
	slices.Sort(st.Refused)
	st.Refused = slices.Compact(st.Refused)
	reason, halted := s.client.Halted()
	switch {
	case s.stopping.Load():
		st.Ready, st.Reason = false, "the sidecar is stopping"
	case halted:
		st.Ready, st.Reason = false, "halted: "+reason
	case err != nil:
		st.Ready, st.Reason = false, reasonOf(err)
	}
	return st
}

// Resolved is what an operator learns about a write.
type Resolved struct {
	ID       trading.IntentID `json:"id"`              // the write
	Outcome  string           `json:"outcome"`         // applied, not-applied or unknown
	Evidence string           `json:"evidence"`        // how it was found out
	Error    string           `json:"error,omitempty"` // why it was not, or why it was refused
}

func (s *Server) resolve(ctx context.Context, id trading.IntentID) (any, error) {
	all, err := s.pending(ctx)
	for _, p := range all {
		switch {
		case err != nil || p.ID != id && p.Write != string(id):
		case string(p.ID) == p.Write: // the client does not know it
			return Resolved{ID: id, Outcome: outcomes[trading.Unknown], Evidence: trading.EvidenceNone.String(), Error: p.Reason}, nil
		default:
			id = p.ID
		}
	}
	found, err := s.client.ResolveID(ctx, id)
	if found == nil {
		return nil, err
	}
	return Resolved{ID: id, Outcome: outcomes[found.Outcome], Evidence: found.Evidence.String(), Error: reasonOf(err)}, nil
}

// flatten gets accounts out of the market. Entries are refused from then on, until somebody resumes.
func (s *Server) flatten(ctx context.Context, c command) (any, error) {
	const most = 5 * time.Minute
	if len(c.Accounts) == 0 || c.Reason == "" {
		return nil, errors.New("a flatten needs accounts and a reason")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most) // whether or not the operator waits
	defer cancel()
	failed := s.halt("flatten: " + c.Reason)
	all := make([]Flattened, 0, len(c.Accounts))
	for _, id := range c.Accounts {
		report, err := flatten.Account(ctx, s.client.Live.Account(id), flatten.Options{Symbols: c.Symbols})
		all = append(all, Flattened{Account: id, Flat: report.Flat, Report: report.String()})
		failed = errors.Join(failed, err)
	}
	return all, failed
}
