// Package journaltest has the tests that a [journal.Store] must pass.
//
//	func TestStore(t *testing.T) {
//		journaltest.Run(t, func(t *testing.T) journal.Store { return newStore(t) })
//	}
//
// Each rule is a subtest with an empty store of its own. Run them with -race. Pass
// [Reopen] if the store outlives its process. No test can cut the power: that a
// durable Append survives one remains to be shown by the store's own tests.
package journaltest

import (
	"context"
	"iter"
	"testing"

	"github.com/tradingapi/trading-go/journal"
)

// Option says more about the stores under test.
type Option func(*suite)

// Reopen takes a function that closes a store and opens what it has left. Each rule
// is then tried a second time, on a store that is reopened before each read.
func Reopen(reopen func(t *testing.T, s journal.Store) journal.Store) Option {
	return func(s *suite) { s.reopen = reopen }
}

type suite struct {
	reopen func(t *testing.T, s journal.Store) journal.Store
}

// Run tries each rule on a store that open makes: an empty one, which the test's
// cleanup closes if it must be closed.
func Run(t *testing.T, open func(t *testing.T) journal.Store, options ...Option) {
	var s suite
	for _, option := range options {
		option(&s)
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) { rule.check(t, open(t)) })
		if s.reopen != nil && !rule.running {
			t.Run("reopened: "+rule.name, func(t *testing.T) {
				rule.check(t, &reopened{Store: open(t), t: t, reopen: s.reopen})
			})
		}
	}
}

// tester is what a rule needs of a *testing.T. The package's own tests put another
// in its place, to see a broken store caught.
type tester interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

type rule struct {
	name    string
	running bool // is about a store that stays open
	check   func(t tester, s journal.Store)
}

var rules = []rule{
	{"an intent is pending until its Final record", false, pendingUntilFinal},
	{"a Final record may be the first", false, finalAtOnce},
	{"data comes back as it is", false, exactData},
	{"a resolved intent takes no record", false, resolved},
	{"a record without an Intent is invalid", false, unnamed},
	{"the Name of an intent stays", false, nameStays},
	{"an Append is all or nothing", false, allOrNothing},
	{"an Append may hold many intents", false, manyIntents},
	{"pending intents are in the order of their first record", false, pendingOrder},
	{"the intents of a name are in the order of their first record", false, namedOrder},
	{"names are not mixed up", false, names},
	{"a name is forgotten", false, forget},
	{"a name with a pending intent is not forgotten", false, forgetPending},
	{"a durable Append needs no records", false, nothingToAppend},
	{"a store has memory of its own", true, ownMemory},
	{"an ended context changes nothing", false, endedContext},
	{"an iteration ends with its context", true, endedIteration},
	{"an iteration can be left", true, leftIteration},
	{"an iteration yields what was pending when it began", true, writingIteration},
	{"iterations can be nested and repeated", true, nestedIteration},
	{"clients of a store share a value", true, sharedValue},
	{"writers and readers do not disturb each other", true, concurrentUse},
	{"of concurrent Final records one is taken", true, concurrentFinal},
}

// reopened opens its store again before each read.
type reopened struct {
	journal.Store
	t      *testing.T
	reopen func(t *testing.T, s journal.Store) journal.Store
}

func (r *reopened) Pending(ctx context.Context) iter.Seq2[journal.History, error] {
	r.Store = r.reopen(r.t, r.Store)
	return r.Store.Pending(ctx)
}

func (r *reopened) Named(ctx context.Context, name string) ([]journal.History, error) {
	r.Store = r.reopen(r.t, r.Store)
	return r.Store.Named(ctx, name)
}
