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
	"github.com/tradingapi/trading-go/tradingsim"
)

// write is what was asked of the service, and what its caller was told in the end.
type write struct {
	op      trading.Operation
	size    decimal.Decimal // of an order, and no other's
	key     trading.Key     // the last one sent; empty on the sandbox
	outcome trading.Outcome
	err     error
}

// tally counts what a soak came to, and keeps the writes of a round to hold them
// against the ledger.
type tally struct {
	mu          sync.Mutex
	writes      []write
	resolutions []trading.Resolution
	figures     map[string]int
	problems    []string
	lost        map[string]bool // keys under which a 5xx was not heard, of the round
}

func newTally() *tally { return &tally{figures: map[string]int{}} }

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
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes = append(t.writes, write{op, size, m.Key, outcome, err})
}

// verdict keeps what was found out about a write of which its caller was not told.
func (t *tally) resolution(v trading.Resolution) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := trading.Intent{Operation: v.Intent.Operation, Key: v.Intent.Key}
	if kept.Key == "" {
		kept.Body = v.Intent.Body
	}
	t.resolutions = append(t.resolutions, trading.Resolution{Intent: kept, Outcome: v.Outcome, Evidence: v.Evidence})
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

// check holds a round's writes against what was executed, and forgets them.
func (t *tally) check(ledger []tradingsim.Execution, copied bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	byKey, bySize := executions(ledger)
	for key, n := range byKey {
		if n > 1 && t.lost[key] {
			t.figures["sent again after a 5xx that nobody heard, and executed again"]++
		} else if n > 1 {
			t.problems = append(t.problems, fmt.Sprintf("key %s was executed %d times", key, n))
		}
	}
	for _, w := range t.writes {
		n, known := 0, w.key != ""
		switch {
		case isOrder(w.op):
			n, known = bySize[sizeID(string(w.op), w.size)], true
			t.figures["orders executed"] += n
		case known:
			n = byKey[string(w.key)]
		}
		switch {
		case n > 1 && t.lost[string(w.key)]:
		case n > 1:
			t.problems = append(t.problems, fmt.Sprintf("%s of %s was executed %d times", w.op, w.size, n))
		case w.op == trading.OpTPSL && known && byReads(w.err): // what is in force, which another worker may have set
			if (w.outcome == trading.Applied) != (n > 0) {
				t.figures["levels that somebody else has set or overwritten"]++
			}
		case w.outcome == trading.Applied && n == 0 && known:
			t.problems = append(t.problems, fmt.Sprintf("%s under %s was called applied, and was not executed: %v", w.op, w.key, w.err))
		case w.outcome == trading.NotApplied && n > 0 && copied && unstored(w.err):
			// A copy of a request whose refusal the service does not store.
			t.figures["copies of a refused request that ran"]++
		case w.outcome == trading.NotApplied && n > 0 && dropped(ledger, w.key):
		case w.outcome == trading.NotApplied && n > 0:
			t.problems = append(t.problems, fmt.Sprintf("%s under %s was called not applied, and was executed: %v", w.op, w.key, w.err))
		}
	}
	for _, v := range t.resolutions {
		n := byKey[string(v.Intent.Key)]
		if v.Intent.Key == "" { // a paper write, which its answer decided late
			if !isOrder(v.Intent.Operation) {
				continue
			}
			n = bySize[sizeID(string(v.Intent.Operation), sizeIn(v.Intent.Body))]
		}
		switch {
		case v.Intent.Operation == trading.OpTPSL && v.Evidence == trading.EvidenceAccounting:
			// Levels are judged by what is in force, which another worker may have set.
			if (v.Outcome == trading.Applied) != (n > 0) {
				t.figures["levels that somebody else has set or overwritten"]++
			}
		case v.Outcome == trading.Applied && n == 0:
			t.problems = append(t.problems, fmt.Sprintf("%s under %s: the resolution is applied by %s, and it was not executed", v.Intent.Operation, v.Intent.Key, v.Evidence))
		case v.Outcome == trading.NotApplied && n > 0 && v.Evidence == trading.EvidenceAccounting && dropped(ledger, v.Intent.Key):
			t.figures["orders that rested until their account's status dropped them"]++
		case v.Outcome == trading.NotApplied && n > 0:
			t.problems = append(t.problems, fmt.Sprintf("%s under %s: the resolution is not applied by %s, and it was executed", v.Intent.Operation, v.Intent.Key, v.Evidence))
		}
	}
	t.figures["executions"] += len(ledger)
	t.writes, t.resolutions = nil, nil
}

// sizeIn is the size that a body of an order asks for.
func sizeIn(body trading.Body) decimal.Decimal {
	var of struct{ Size decimal.Decimal }
	_ = json.Unmarshal(body, &of)
	return of.Size
}

// dropped reports whether an order or a run is gone that never filled: a change of status
// ends it, and then the account shows nothing of it.
func dropped(ledger []tradingsim.Execution, key trading.Key) bool {
	rested := false
	for _, e := range ledger {
		if e.Key != string(key) {
			continue
		}
		if e.Filled {
			return false
		}
		rested = rested || e.Operation == string(trading.OpLimit) || strings.HasPrefix(e.Operation, "POST /orders/")
	}
	return rested
}

// byReads reports whether a call says that it was found out by reads of the account.
func byReads(err error) bool {
	return err != nil && strings.Contains(err.Error(), "("+trading.EvidenceAccounting.String()+":")
}

// unstored reports whether an error is a refusal that the service gives in front of
// the key, or does not keep under it.
func unstored(err error) bool {
	var refusal *trading.Error
	return errors.As(err, &refusal) &&
		(refusal.Status >= 500 || refusal.Code == trading.CodeRateLimited || refusal.Code == trading.CodeAPIAccessDenied)
}

// executions counts what callers had executed, by key and by the size of an order.
func executions(ledger []tradingsim.Execution) (byKey, bySize map[string]int) {
	byKey, bySize = map[string]int{}, map[string]int{}
	for _, e := range ledger {
		if e.Actor != "api" {
			continue
		}
		if e.Key != "" {
			byKey[e.Key]++
		}
		if isOrder(trading.Operation(e.Operation)) {
			bySize[sizeID(e.Operation, e.Size)]++
		}
	}
	return byKey, bySize
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
	for _, name := range names {
		fmt.Fprintf(&text, "%9d  %s\n", t.figures[name], name)
	}
	return text.String()
}
