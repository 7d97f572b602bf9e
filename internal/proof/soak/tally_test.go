package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// word is what a caller was told of a write, or what was found out of it.
type word struct {
	op      trading.Operation
	ran     string // what names its executions: see executions; empty where nothing does
	outcome trading.Outcome
	cause   any  // the error, or the evidence
	byReads bool // it is what reads of the account say
}

// tally counts what a soak came to, and keeps the words of a round to hold them
// against the ledger.
type tally struct {
	rig.Oracle
	mu       sync.Mutex
	words    []word
	figures  map[string]int
	problems []string
}

func newTally() *tally {
	t := &tally{figures: map[string]int{}}
	t.Problem = t.problem
	return t
}

func (t *tally) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.figures[what]++
}

func (t *tally) problem(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

// read judges how a read ended.
func (t *tally) read(op trading.Operation, err error) {
	t.count("reads")
	if err == nil {
		return
	}
	t.count("reads that failed: " + t.kindOf(op, err))
	if outcome := trading.OutcomeOf(err); outcome != trading.NotApplied {
		t.problem("%s: a read is %s: %v", op, outcome, err)
	}
}

// write judges how a write ended, and keeps it.
func (t *tally) write(op trading.Operation, size decimal.Decimal, m trading.Meta, err error) {
	t.count("writes")
	outcome := trading.OutcomeOf(err)
	t.count("writes " + outcome.String())
	if err != nil {
		t.count("writes that failed: " + t.kindOf(op, err))
		var failed *trading.WriteError
		if !errors.As(err, &failed) || failed.Err == nil || failed.Operation != op {
			t.problem("%s: not a write's error: %T %[2]v", op, err)
		}
	}
	if m.Attempts > 1 {
		t.mu.Lock()
		t.figures["sent again"] += m.Attempts - 1
		t.mu.Unlock()
	}
	if m.Replayed {
		t.count("replays")
	}
	w := word{op: op, ran: string(m.Key), outcome: outcome, cause: err}
	if isOrder(op) {
		w.ran = sizeID(string(op), size)
	}
	w.byReads = err != nil && strings.Contains(err.Error(), "("+trading.EvidenceAccounting.String()+":")
	t.keep(w)
}

// resolution keeps what was found out about a write of which its caller was not told.
func (t *tally) resolution(v trading.Resolution) {
	w := word{op: v.Intent.Operation, ran: string(v.Intent.Key), outcome: v.Outcome, cause: v.Evidence, byReads: v.Evidence == trading.EvidenceAccounting}
	if w.ran == "" && isOrder(w.op) { // a paper write, which its answer decided late
		w.ran = sizeID(string(w.op), sizeIn(v.Intent.Body))
	}
	t.keep(w)
}

func (t *tally) keep(w word) {
	if w.ran == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.words = append(t.words, w)
}

// kindOf names the type of an error: one that is none of the client's is a problem.
func (t *tally) kindOf(op trading.Operation, err error) string {
	var (
		refusal   *trading.Error
		edge      *trading.GatewayError
		transport *trading.TransportError
		decode    *trading.DecodeError
		redirect  *trading.RedirectError
		guard     *trading.GuardError
	)
	switch {
	case errors.As(err, &guard):
		return "held back: " + string(guard.Kind)
	case errors.As(err, &refusal) && refusal.Local:
		return fmt.Sprintf("refused here: %s", refusal.Code)
	case errors.As(err, &refusal):
		return fmt.Sprintf("refused: %d %s", refusal.Status, refusal.Code)
	case errors.As(err, &edge):
		return "not the service's answer"
	case errors.As(err, &transport):
		return "no answer"
	case errors.As(err, &decode):
		return "an answer of another shape"
	case errors.As(err, &redirect):
		return "a redirect"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "the caller left"
	case errors.Is(err, trading.ErrClosed):
		return "closed"
	}
	t.problem("%s: an error of no type: %T %[2]v", op, err)
	return "of no type"
}

// check holds a round's words against what was executed, and forgets them.
func (t *tally) check(s *service) {
	ledger := s.sim.Ledger()
	all := executions(ledger)
	for id, ran := range all {
		if !isOrder(trading.Operation(ran[0].Operation)) || id != ran[0].Key { // those are there by their size
			t.Once(id, len(ran), s.whyTwice(ran))
		}
	}
	for _, w := range t.words {
		ran := all[w.ran]
		t.Said(fmt.Sprintf("%s of %s (%v)", w.op, strings.TrimPrefix(w.ran, string(w.op)+" "), w.cause), w.outcome, len(ran), func() string {
			switch {
			case w.byReads && w.op == trading.OpTPSL: // what is in force, which another worker may have set
				return rig.OthersLevels
			case w.byReads && dropped(ledger, ran):
				return "orders that rested until their account's status dropped them"
			case s.copied && len(ran) > 0 && unstored(w.cause): // a copy of a request whose refusal the service does not store
				return rig.Repeated
			default:
				return ""
			}
		})
	}
	t.figures["executions"] += len(ledger)
	t.words = nil
}

// whyTwice names the exception behind executions of one write: a 5xx after the work was not heard.
func (s *service) whyTwice(ran []tradingsim.Execution) func() string {
	return func() string {
		if slices.ContainsFunc(ran, func(e tradingsim.Execution) bool { return s.lost[e.Key] }) {
			return rig.FailedAfterWork
		}
		return ""
	}
}

// sizeIn is the size that a body of an order asks for.
func sizeIn(body trading.Body) decimal.Decimal {
	var of struct{ Size decimal.Decimal }
	_ = json.Unmarshal(body, &of)
	return of.Size
}

// dropped reports whether an order or a run is gone that never filled: a change of status
// ends it, and then the account shows nothing of it.
func dropped(ledger, ran []tradingsim.Execution) bool {
	return len(ran) > 0 && isOrder(trading.Operation(ran[0].Operation)) && !slices.ContainsFunc(ledger, func(e tradingsim.Execution) bool {
		return e.Key == ran[0].Key && e.Filled
	})
}

// unstored reports whether an error is a refusal that the service gives in front of
// the key, or does not keep under it.
func unstored(cause any) bool {
	err, _ := cause.(error)
	var refusal *trading.Error
	return errors.As(err, &refusal) &&
		(refusal.Status >= 500 || refusal.Code == trading.CodeRateLimited || refusal.Code == trading.CodeAPIAccessDenied)
}

// executions are those of callers, by their key, and by the size of an order, which no other has.
func executions(ledger []tradingsim.Execution) map[string][]tradingsim.Execution {
	all := map[string][]tradingsim.Execution{}
	for _, e := range ledger {
		if e.Actor != "api" {
			continue
		}
		if e.Key != "" {
			all[e.Key] = append(all[e.Key], e)
		}
		if isOrder(trading.Operation(e.Operation)) {
			id := sizeID(e.Operation, e.Size)
			all[id] = append(all[id], e)
		}
	}
	return all
}

func sizeID(op string, size decimal.Decimal) string { return op + " " + size.String() }

// String lists the figures, of the errors the ten most frequent.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := slices.Sorted(maps.Keys(t.figures))
	slices.SortStableFunc(names, func(a, b string) int {
		fails := func(s string) int {
			if strings.Contains(s, "failed: ") {
				return 1 + t.figures[s]
			}
			return 0
		}
		if fa, fb := fails(a), fails(b); fa == 0 || fb == 0 {
			return fa - fb
		}
		return t.figures[b] - t.figures[a]
	})
	var text strings.Builder
	for _, why := range slices.Sorted(maps.Keys(t.Excepted)) {
		fmt.Fprintf(&text, "%9d  excepted: %s\n", t.Excepted[why], why)
	}
	for _, name := range names {
		fmt.Fprintf(&text, "%9d  %s\n", t.figures[name], name)
	}
	return text.String()
}
