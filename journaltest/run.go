package journaltest

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
)

// Option says more about the journals under test.
type Option func(*suite)

// Reopen is for journals that outlive their process: it closes the journal, and
// opens what that left. Every rule is then tried a second time, on a journal that
// is opened again before each look into it.
func Reopen(reopen func(t *testing.T, j trading.Journal) trading.Journal) Option {
	return func(s *suite) { s.reopen = reopen }
}

// Keep is how long the journal answers for a settled decision, if not 30 days.
func Keep(d time.Duration) Option {
	return func(s *suite) { s.keep = d }
}

// Forgets means that the journal does not only answer for a settled decision as
// long as it must, but has forgotten it a few writes later.
func Forgets() Option {
	return func(s *suite) { s.forgets = true }
}

type suite struct {
	keep    time.Duration
	forgets bool
	reopen  func(t *testing.T, j trading.Journal) trading.Journal
}

// Run tries every rule on a journal of its own, which open makes: an empty one,
// that is closed when its test ends.
func Run(t *testing.T, open func(t *testing.T) trading.Journal, options ...Option) {
	s := suite{keep: 30 * 24 * time.Hour}
	for _, option := range options {
		option(&s)
	}
	for _, rule := range s.rules() {
		t.Run(rule.name, func(t *testing.T) { rule.check(t, open(t)) })
	}
	if s.reopen == nil {
		return
	}
	for _, rule := range s.rules() {
		if rule.running {
			continue
		}
		t.Run("reopened: "+rule.name, func(t *testing.T) {
			rule.check(t, &reopened{t: t, journal: open(t), reopen: s.reopen})
		})
	}
}

// tester is what a rule needs of a *testing.T. The package's own tests put
// another in its place, to see a broken journal caught.
type tester interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

type rule struct {
	name    string
	running bool // tells only of a journal that stays open
	check   func(t tester, j trading.Journal)
}

func (s *suite) rules() []rule {
	rules := []rule{
		{"an intent is pending until it is settled", false, beginAndSettle},
		{"every field of an intent comes back", false, intentFields},
		{"every field of a settlement comes back", false, settlementFields},
		{"bytes come back as they are", false, exactBytes},
		{"a second Begin replaces the intent", false, replace},
		{"the first settlement stands", false, settleOnce},
		{"an unknown intent cannot be settled", false, settleUnknown},
		{"a settled intent does not begin again", false, beginSettled},
		{"an intent without a name is refused", false, unnamed},
		{"pending intents are in the order of their first Begin", false, pendingOrder},
		{"the intents of a decision are in order", false, decisionOrder},
		{"decisions are not mixed up", false, decisionNames},
		{"a settled decision is answered for as long as promised", false, s.retention},
		{"a journal keeps memory of its own", true, ownMemory},
		{"nothing happens once the context has ended", false, endedContext},
		{"an iteration ends with its context", true, endedIteration},
		{"an iteration can be broken off", true, brokenIteration},
		{"an iteration can write", true, writingIteration},
		{"iterations can be nested", true, nestedIteration},
		{"writers and readers do not disturb each other", true, concurrentUse},
		{"of concurrent settlements one stands", true, concurrentSettlement},
	}
	if s.forgets {
		rules = append(rules, rule{"what was settled long ago is forgotten", false, s.forgetting})
	}
	return rules
}

// reopened opens its journal again before each look into it.
type reopened struct {
	t       *testing.T
	journal trading.Journal
	reopen  func(t *testing.T, j trading.Journal) trading.Journal
}

func (r *reopened) Begin(ctx context.Context, in trading.Intent) error {
	return r.journal.Begin(ctx, in)
}

func (r *reopened) Settle(ctx context.Context, id trading.IntentID, s trading.Settlement) error {
	return r.journal.Settle(ctx, id, s)
}

func (r *reopened) Pending(ctx context.Context) iter.Seq2[trading.Intent, error] {
	r.journal = r.reopen(r.t, r.journal)
	return r.journal.Pending(ctx)
}

func (r *reopened) Decision(ctx context.Context, decision string) ([]trading.Entry, error) {
	r.journal = r.reopen(r.t, r.journal)
	return r.journal.Decision(ctx, decision)
}
