package journaltest

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
)

func TestRightJournal(t *testing.T) {
	left := map[trading.Journal]*journal{}
	Run(t, func(*testing.T) trading.Journal { return &journal{} }, Keep(30*24*time.Hour), Forgets(),
		Reopen(func(_ *testing.T, j trading.Journal) trading.Journal {
			left[j] = &journal{entries: j.(*journal).entries}
			return left[j]
		}))
	if len(left) == 0 {
		t.Error("no journal has been opened again")
	}
}

// TestBrokenJournals has for each rule those that break it: the rules that catch
// a defect must be these.
func TestBrokenJournals(t *testing.T) {
	broken := map[string][]string{
		"an intent is pending until it is settled": {"does not begin", "does not settle", "yields settled ones"},
		"bytes come back as they are":              {"tidies up bodies", "tidies up text", "cuts long bodies"},
		"a second Begin replaces the intent": {
			"adds instead of replacing", "keeps the first intent", "keeps the first decision", "moves what it replaces to the end",
		},
		"the first settlement stands":           {"takes the last settlement", "refuses a second settlement"},
		"an unknown intent cannot be settled":   {"settles what it does not know"},
		"a settled intent does not begin again": {"begins a settled intent again", "begins a settled intent again, silently"},
		"an intent without a name is refused":   {"takes intents without a name"},
		"pending intents are in the order of their first Begin": {
			"sorts by name", "newest first", "has no order", "yields the first hundred", "moves what it replaces to the end",
		},
		"the intents of a decision are in order": {"the last one first", "only the last one", "does not show what is pending"},
		"decisions are not mixed up":             {"takes no decision for one", "mixes up decisions"},
		"a settled decision is answered for as long as promised": {
			"forgets too early", "counts from the beginning", "forgets what is pending", "takes no time for the year 1",
		},
		"what was settled long ago is forgotten": {"never forgets", "forgets only before the first pending one"},
		"a journal keeps memory of its own":      {"keeps the caller's memory", "gives its own memory"},
		"nothing happens once the context has ended": {
			"begins once the context has ended", "settles once the context has ended", "answers once the context has ended",
			"yields once the context has ended", "does not say that the context has ended",
		},
		"an iteration ends with its context":            {"yields once the context has ended", "does not say that the context has ended"},
		"an iteration can be broken off":                {"goes on when broken off"},
		"an iteration can write":                        {"pending while it is read"},
		"iterations can be nested":                      {"is locked while it is read"},
		"writers and readers do not disturb each other": {"loses what comes while it is busy"},
		"of concurrent settlements one stands":          {"takes the last settlement"},
	}
	broken["every field of an intent comes back"] = append(fieldsOf[trading.Intent]("ID", "Decision"), "rounds times")
	broken["every field of an intent comes back"] = append(broken["every field of an intent comes back"], fieldsOf[trading.Baseline]()...)
	broken["every field of a settlement comes back"] = fieldsOf[trading.Settlement]()

	rules := (&suite{keep: 30 * 24 * time.Hour, forgets: true}).rules()
	for _, rule := range rules {
		defects, ok := broken[rule.name]
		if !ok {
			t.Errorf("no defect shows what %q is for", rule.name)
		}
		for _, defect := range defects {
			t.Run(rule.name+": "+defect, func(t *testing.T) {
				if failures := try(rule, &journal{defect: defect}); len(failures) == 0 {
					t.Errorf("a journal that %s passes", defect)
				}
			})
		}
		delete(broken, rule.name)
	}
	for name := range broken {
		t.Errorf("there is no rule %q", name)
	}
}

// try returns what the rule has against the journal.
func try(r rule, j trading.Journal) []string {
	rec := &recorder{}
	done := make(chan struct{})
	go func() { // which a Fatalf ends
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				rec.Errorf("panic: %v", v)
			}
		}()
		r.check(rec, j)
	}()
	<-done
	return rec.failures
}

// recorder takes the place of a *testing.T.
type recorder struct {
	mu       sync.Mutex
	failures []string
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return context.Background() }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func fieldsOf[T any](but ...string) []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if !slices.Contains(but, field.Name) {
			names = append(names, field.Name)
		}
	}
	return names
}

// Every field is filled, so that a field which does not come back is seen.
func TestFill(t *testing.T) {
	for _, v := range []any{filled[trading.Intent](0), filled[trading.Baseline](0), filled[trading.Settlement](0)} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if reflect.ValueOf(v).FieldByIndex(field.Index).IsZero() {
				t.Errorf("%T.%s is not filled", v, field.Name)
			}
		}
	}
	if diff := differ(filled[trading.Intent](0), filled[trading.Intent](1)); diff == "" {
		t.Error("two intents that are filled differently are the same")
	}
	in := filled[trading.Intent](0)
	b, _ := in.Baseline.Get()
	b.Trades[1]++
	if diff := differ(in, filled[trading.Intent](0)); !strings.Contains(diff, "Baseline.Trades[1]") {
		t.Errorf("the difference in a trade of the baseline is described as %q", diff)
	}
}
