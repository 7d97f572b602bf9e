package journaltest

import (
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/broken"
	"github.com/tradingapi/trading-go/journal"
)

func TestRightStores(t *testing.T) {
	t.Run("memory", func(t *testing.T) { Run(t, func(*testing.T) journal.Store { return journal.NewMemory() }) })
	reopened := 0
	Run(t, func(*testing.T) journal.Store { return newStore("") }, Reopen(func(_ *testing.T, s journal.Store) journal.Store {
		reopened++
		return s.(*store).next()
	}))
	if reopened == 0 {
		t.Error("no store has been reopened")
	}
}

// TestLosesAtClose has a store that is right as long as it is open.
func TestLosesAtClose(t *testing.T) {
	for _, r := range rules {
		if r.name != "an intent is pending until its Final record" {
			continue
		}
		s := &reopened{Store: newStore(""), reopen: func(*testing.T, journal.Store) journal.Store { return newStore("") }}
		if failures := try(r, s); len(failures) == 0 {
			t.Error("a store that loses everything passes")
		}
	}
}

// TestBrokenStores has for each rule stores that break it.
func TestBrokenStores(t *testing.T) {
	defects := map[string][]string{
		"an intent is pending until its Final record": {
			"does not resolve", "yields resolved ones", "drops the Final record", "keeps the last record alone", "drops what is not durable",
		},
		"a Final record may be the first":       {"knows only what was pending"},
		"data comes back as it is":              {"takes data for text", "ends data at a zero byte", "cuts long data"},
		"a resolved intent takes no record":     {"takes records of a resolved intent", "ignores records of a resolved intent", "takes another Final record"},
		"a record without an Intent is invalid": {"takes a record without an Intent"},
		"the Name of an intent stays":           {"takes the last Name", "keeps the first Name"},
		"an Append is all or nothing":           {"keeps what came before an error"},
		"an Append may hold many intents":       {"takes one intent an Append"},
		"pending intents are in the order of their first record": {
			"sorts by intent", "newest first", "yields the first hundred", "moves an intent with each record",
		},
		"the intents of a name are in the order of their first record": {
			"the last one first", "does not return what is pending", "moves an intent with each record",
		},
		"names are not mixed up":                        {"takes no name for one", "ignores case", "takes a beginning for a name", "trims names"},
		"a name is forgotten":                           {"does not forget", "forgets what has no name", "forgets every name", "refuses an unknown name"},
		"a name with a pending intent is not forgotten": {"forgets what is pending", "keeps what is pending"},
		"a durable Append needs no records":             {"refuses an Append without records"},
		"records that are too large are invalid, and no others": {
			"cuts long data", "ends with what is too large", "has another error for what is too large",
		},
		"a store has memory of its own": {"keeps the caller's memory", "gives its own memory"},
		"an ended context changes nothing": {
			"appends once the context has ended", "forgets once the context has ended", "reads once the context has ended",
			"yields once the context has ended", "does not say that the context has ended",
		},
		"an iteration ends with its context":                 {"yields once the context has ended", "does not say that the context has ended"},
		"an iteration can be left":                           {"goes on when left"},
		"an iteration yields what was pending when it began": {"yields what is pending now"},
		"iterations can be nested and repeated":              {"is locked while it is read", "iterates once"},
		"clients of a store share a value":                   {"shares nothing"},
		"writers and readers do not disturb each other":      {"loses what comes while it is busy"},
		"of concurrent Final records one is taken":           {"takes another Final record", "ignores records of a resolved intent"},
		"a store is new once":                                {"is new again"},
		"that something is missing is noted until it does not matter": {
			"notes nothing missing", "never ends what is missing", "forgets that something is missing", "says once that something is missing",
		},
		"a closed store says so": {
			"appends after Close", "reads after Close", "forgets after Close", "yields what there is after Close", "yields nothing after Close", "closes once",
		},
		"the last record is known where nothing is pending": {
			"knows what was last once", "knows the end of what began last", "knows what was last beside a pending one",
		},
	}
	names := make([]string, len(rules))
	for i, rule := range rules {
		names[i] = rule.name
	}
	broken.Table(t, names, defects, func(_ *testing.T, i int, defect string) []string {
		var s journal.Store = newStore(defect)
		if rules[i].of == lasting {
			s = &reopened{Store: s, reopen: func(_ *testing.T, s journal.Store) journal.Store { return s.(*store).next() }}
		}
		return try(rules[i], s)
	})
}

// try returns what the rule has against the store.
func try(r rule, s journal.Store) []string {
	return broken.Failures(func(t *broken.T) { r.check(t, s) })
}
