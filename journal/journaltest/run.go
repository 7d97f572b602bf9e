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
// is then tried a second time, on a store that is reopened before each read. What the
// store has besides is tried too: Close, New, Quiet, and the methods of [journal.Gapper].
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
		if rule.of != lasting {
			t.Run(rule.name, func(t *testing.T) { rule.check(t, open(t)) })
		}
		if s.reopen != nil && rule.of != running {
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
	name  string
	of    kind
	check func(t tester, s journal.Store)
}

// kind is what a rule is about.
type kind int

const (
	all     kind = iota // any store, and one that is reopened before each read
	running             // a store that stays open
	lasting             // one that is reopened: the store is a [reopened]
)

var rules = []rule{
	{"an intent is pending until its Final record", all, pendingUntilFinal},
	{"a Final record may be the first", all, finalAtOnce},
	{"data comes back as it is", all, exactData},
	{"a resolved intent takes no record", all, resolved},
	{"a record without an Intent is invalid", all, unnamed},
	{"the Name of an intent stays", all, nameStays},
	{"an Append is all or nothing", all, allOrNothing},
	{"an Append may hold many intents", all, manyIntents},
	{"pending intents are in the order of their first record", all, pendingOrder},
	{"the intents of a name are in the order of their first record", all, namedOrder},
	{"names are not mixed up", all, names},
	{"a name is forgotten", all, forget},
	{"a name with a pending intent is not forgotten", all, forgetPending},
	{"a durable Append needs no records", all, nothingToAppend},
	{"records that are too large are invalid, and no others", all, tooLarge},
	{"a store has memory of its own", running, ownMemory},
	{"an ended context changes nothing", all, endedContext},
	{"an iteration ends with its context", running, endedIteration},
	{"an iteration can be left", running, leftIteration},
	{"an iteration yields what was pending when it began", running, writingIteration},
	{"iterations can be nested and repeated", running, nestedIteration},
	{"clients of a store share a value", running, sharedValue},
	{"writers and readers do not disturb each other", running, concurrentUse},
	{"of concurrent Final records one is taken", running, concurrentFinal},
	{"a store is new once", lasting, isNewOnce},
	{"that something is missing is noted until it does not matter", lasting, gapStays},
	{"a closed store says so", lasting, closedSaysSo},
	{"the last record is known where nothing is pending", lasting, lastIsKnown},
}

// reopened opens its store again before each read.
type reopened struct {
	journal.Store
	t      *testing.T
	reopen func(t *testing.T, s journal.Store) journal.Store
}

// again closes the store and opens what it has left.
func (r *reopened) again() { r.Store = r.reopen(r.t, r.Store) }

func (r *reopened) Pending(ctx context.Context) iter.Seq2[journal.History, error] {
	r.again()
	return r.Store.Pending(ctx)
}

func (r *reopened) Named(ctx context.Context, name string) ([]journal.History, error) {
	r.again()
	return r.Store.Named(ctx, name)
}
