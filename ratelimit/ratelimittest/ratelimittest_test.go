package ratelimittest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go/internal/testing/broken"
	"github.com/tradingapi/trading-go/ratelimit"
)

func TestRightStore(t *testing.T) {
	Run(t, Store{
		New:    func(*testing.T) ratelimit.Store { return &store{} },
		In:     synctest.Test,
		Sleep:  time.Sleep,
		Shared: true,
	})
}

// TestBrokenStores has for each rule those that break it: the rules that catch a
// defect must be these.
func TestBrokenStores(t *testing.T) {
	defects := map[string][]string{
		"a window holds its limit and no more":                {"gives out one too many", "keeps one from all"},
		"a slot is held for a window after the answer":        {"holds from the send", "gives back what was sent", "holds for two windows"},
		"a request that was not sent holds nothing":           {"holds what was not sent", "gives back what was sent"},
		"no window of the service sees more":                  {"counts minutes of the clock", "holds from the send", "gives out one too many", "keeps one from all"},
		"a slot for every need or none":                       {"takes what it can", "names a bucket that has slots"},
		"the reserve stays free":                              {"ignores the reserve", "keeps one from all"},
		"the wait is exact once nothing is under way":         {"tells a second", "tells a whole window"},
		"buckets have nothing to do with each other":          {"has one bucket for all", "blocks all buckets"},
		"many at once share what there is":                    {"looks, and then takes", "keeps one from all"},
		"a blocked bucket gives nothing out until then":       {"ignores blocks", "lets a shorter block end a longer one", "never opens again", "thinks of nobody else", "has slots left while it is closed"},
		"a limit can change":                                  {"keeps the first limit"},
		"usage shows what is left":                            {"does not count what is under way", "counts only what is under way"},
		"a process that died gives back":                      {"never gives back what died", "gives back what died too early"},
		"an answer that comes after that counts all the same": {"forgets what it thought dead"},
	}
	spec := Store{Sleep: time.Sleep, Shared: true}
	all := rules(spec)
	names := make([]string, len(all))
	for i, rule := range all {
		names[i] = rule.name
	}
	broken.Table(t, names, defects, func(t *testing.T, i int, defect string) (failures []string) {
		synctest.Test(t, func(*testing.T) { failures = try(all[i], spec, &store{defect: defect}) })
		return failures
	})
}

// What is under way keeps its slot however long it takes, where no process can die.
func TestBrokenStoreOfOneProcess(t *testing.T) {
	spec := Store{Sleep: time.Sleep}
	synctest.Test(t, func(t *testing.T) {
		if failures := try(rules(spec)[0], spec, &store{defect: "lets go of what is under way"}); len(failures) == 0 {
			t.Error("a store that lets go of what is under way passes")
		}
	})
}

// try returns what the rule has against the store.
func try(r rule, spec Store, s ratelimit.Store) []string {
	return broken.Failures(func(t *broken.T) { r.check(run{t, spec, s}) })
}
