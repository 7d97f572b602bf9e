package ratelimittest

import (
	"context"
	"testing"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
)

// Store is what to test.
type Store struct {
	// New opens an empty store, which shares nothing with another.
	New func(t *testing.T) ratelimit.Store
	// In runs a rule, such as synctest.Test does; nil runs it as it is.
	In func(t *testing.T, rule func(*testing.T))
	// Sleep lets d pass on the store's clock.
	Sleep func(d time.Duration)
	// Shared says that the store outlives a process, and so gives back what a
	// process that died held.
	Shared bool
	// Fine is the finest step of the store's clock: it may free slots so much
	// later than it must.
	Fine time.Duration
}

// Run tries every rule on a store of its own.
func Run(t *testing.T, s Store) {
	t.Helper()
	in := s.In
	if in == nil {
		in = func(t *testing.T, rule func(*testing.T)) { rule(t) }
	}
	for _, rule := range rules(s) {
		t.Run(rule.name, func(t *testing.T) {
			in(t, func(t *testing.T) { rule.check(run{t, s, s.New(t)}) })
		})
	}
}

// tester is what a rule needs of a *testing.T. The package's own tests put another
// in its place, to see a broken store caught.
type tester interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	FailNow()
}

type rule struct {
	name  string
	check func(r run)
}

func rules(s Store) []rule {
	rules := []rule{
		{"a window holds its limit and no more", holdsItsLimit},
		{"a slot is held for a window after the answer", holdsAfterTheAnswer},
		{"a request that was not sent holds nothing", unsentHoldsNothing},
		{"no window of the service sees more", staysWithinEveryWindow},
		{"a slot for every need or none", allOrNone},
		{"the reserve stays free", keepsTheReserve},
		{"the wait is exact once nothing is under way", tellsTheWait},
		{"buckets have nothing to do with each other", keepsBucketsApart},
		{"many at once share what there is", sharesAmongMany},
		{"a blocked bucket gives nothing out until then", blocks},
		{"a limit can change", takesNewLimits},
		{"usage shows what is left", showsUsage},
	}
	if s.Shared {
		rules = append(rules,
			rule{"a process that died gives back", givesBackWhatDied},
			rule{"an answer that comes after that counts all the same", countsWhatWasThoughtDead})
	}
	return rules
}
