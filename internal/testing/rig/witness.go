package rig

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Witness hears what a client says of its live writes: to its callers, and of those that were in doubt.
type Witness struct {
	sim *tradingsim.Sim

	mu        sync.Mutex
	keys      map[trading.IntentID][]trading.Key // under which bytes may have left
	said      []said
	person    map[trading.IntentID]bool // it was found by somebody else
	exception string
}

// said is one word of it.
type said struct {
	of      trading.IntentID
	op      trading.Operation
	outcome trading.Outcome
	cause   any       // the call's error, or the evidence
	at      time.Time // by the service's clock
}

// Hears has a client of a service be heard by a witness, and held to its word when the test ends.
func Hears(t testing.TB, sim *tradingsim.Sim) (*Witness, trading.Option) {
	w := &Witness{sim: sim, keys: map[trading.IntentID][]trading.Key{}, person: map[trading.IntentID]bool{}}
	t.Cleanup(func() { w.judge(&Oracle{Problem: t.Errorf}) })
	return w, trading.WithHooks(trading.Hooks{
		AttemptDone: func(_ context.Context, c trading.Call, a trading.Attempt) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if c.Intent != "" && a.Written && a.Key != "" {
				w.keys[c.Intent] = append(w.keys[c.Intent], a.Key)
			}
		},
		CallDone: func(_ context.Context, c trading.Call, d trading.Done) {
			w.hear(said{c.Intent, c.Operation, d.Outcome, d.Err, sim.Now()})
		},
		Resolved: func(_ context.Context, r trading.Resolution) {
			w.mu.Lock()
			w.person[r.Intent.ID] = w.person[r.Intent.ID] || r.Evidence == trading.EvidenceAcknowledged
			if r.Intent.Key != "" { // an earlier run sent it
				w.keys[r.Intent.ID] = append(w.keys[r.Intent.ID], r.Intent.Key)
			}
			w.mu.Unlock()
			w.hear(said{r.Intent.ID, r.Intent.Operation, r.Outcome, r.Evidence, sim.Now()})
		},
	})
}

// Excepts names what the service, or somebody else, does in this test that no client can promise away.
func (w *Witness) Excepts(exception string) { w.exception = exception }

func (w *Witness) hear(s said) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, s)
}

// judge holds all that was heard against what the service has executed. What is not applied has not run
// by anything that was sent before that was said: a key is used again.
func (w *Witness) judge(o *Oracle) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := map[int64]time.Time{}
	for _, r := range w.sim.Requests() {
		sent[r.ID] = r.At
	}
	executed := map[string][]tradingsim.Execution{}
	for _, e := range w.sim.Ledger() {
		if e.Actor == "api" {
			executed[e.Operation+e.Key] = append(executed[e.Operation+e.Key], e)
		}
	}
	for _, s := range w.said {
		if len(w.keys[s.of]) == 0 || w.person[s.of] {
			continue
		}
		var ran []tradingsim.Execution
		for _, key := range slices.Compact(slices.Sorted(slices.Values(w.keys[s.of]))) {
			ran = append(ran, executed[string(s.op)+string(key)]...)
		}
		what := fmt.Sprintf("%s %s (%v)", s.op, s.of, s.cause)
		o.Once(what, len(ran), func() string { return w.exception })
		if s.outcome == trading.NotApplied {
			ran = slices.DeleteFunc(ran, func(e tradingsim.Execution) bool { return sent[e.Request].After(s.at) })
		}
		o.Said(what, s.outcome, len(ran), func() string {
			if s.op == trading.OpTPSL {
				return OthersLevels
			}
			return w.exception
		})
	}
}
