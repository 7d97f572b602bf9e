package accounting

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/testing/depth"
)

var (
	deep       = flag.Bool("accounting.deep", false, "two events beside every write in every state: half an hour")
	someWorlds = flag.Int("accounting.worlds", 20_000, "worlds of up to five events at random")
)

var (
	no  = []bool{false}
	yes = []bool{true}
)

// bounds is a part of the world that is searched: everything where nothing is named.
type bounds struct {
	name                   string
	events                 int // beside the write
	decides                int // how many judgments decide something, at least
	formats                []format
	flats, flips           []bool
	without                []int
	cut                    int // of lists; 20 if 0
	starts, writes, beside []string
}

// Where rows show no time, an event in the write's time is like one before or after.
var alike = []int{1, 4}

// sampled is how many judgments a part decides that is searched without TESTS=full, at most.
const sampled = 60_000

var quick = []bounds{
	{
		name: "two events beside a limit", decides: 1470, events: 2, formats: formats[1:2], flats: no, flips: no, without: []int{1},
		starts: []string{"flat", "long"}, writes: []string{"limit"},
		beside: []string{"first order fills", "half of the first order fills", "stop loss", "own close", "other sells", "other cancels an order"},
	},
	{
		name: "two events beside a Pro order", decides: 360, events: 2, formats: formats[1:2], flats: no, flips: no, without: alike,
		starts: []string{"flat"}, writes: []string{"Pro order"},
		beside: []string{"a run ends", "a run's clip", "twenty runs end in another symbol", "pass", "own run", "other cancels an order"},
	},
	{
		name: "two events hidden by the baseline's list", decides: 4089, events: 2, formats: formats[:2], flats: no, flips: no, without: []int{1, 2, 3, 4, 5, 6, 7},
		starts: []string{"long", "short"}, writes: []string{"entry", "limit", "close", "reduce-only"},
		beside: []string{"stop loss", "take profit of a half", "nineteen rows in another symbol", "twenty rows in another symbol"},
	},
	{
		name: "two events hidden by lists of five", decides: 15193, events: 2, formats: formats[:2], flats: no, flips: no, without: []int{1, 2}, cut: 5,
		starts: []string{"flat, nothing ever closed", "long"}, writes: []string{"entry", "limit", "close"},
		beside: []string{"stop loss", "own close", "take profit of a half", "nineteen rows in another symbol", "twenty rows in another symbol"},
	},
	{
		name: "three own events", decides: 1138, events: 3, formats: formats[1:2], flats: yes, flips: no, without: []int{3, 4, 5, 6},
		starts: []string{"short", "long"}, writes: []string{"entry", "close"},
		beside: []string{"own close", "own buy", "own sell", "stop loss"},
	},
	{
		name: "four own events beside a close, full flips", decides: 24515, events: 4, formats: formats[1:2], flats: no, flips: []bool{false, true}, without: []int{3, 4, 5, 6},
		starts: []string{"short", "long"}, writes: []string{"close", "close of a half", "reduce-only"},
		beside: []string{"own close", "own buy", "own sell", "stop loss"},
	},
	{
		name: "two events", decides: 6753, events: 2, formats: formats[1:2], flats: yes, flips: no, without: alike,
		starts: []string{"short"}, writes: []string{"entry"},
	},
	{
		name: "one event, equal rows", decides: 27391, events: 1, formats: formats[1:2], flats: yes, flips: no, without: alike,
		writes: []string{"entry", "limit", "reduce-only", "close", "close of a half"},
	},
	{
		name: "one event, full flips", decides: 8474, events: 1, formats: formats[1:2], flats: no, flips: yes, without: alike,
		starts: []string{"short", "long", "short, a small limit to buy"},
	},
	{
		name: "one event, poor rows", decides: 21129, events: 1, formats: formats[2:], flats: no, flips: no, without: alike,
		starts: []string{"long", "short"},
	},
	{
		name: "one event", decides: 54031, events: 1, formats: formats[:1], flats: no, flips: no,
		starts: []string{
			"flat, nothing ever closed", "long", "short twice", "flat, a limit to buy", "short, a small limit to buy",
			"long, a limit to sell", "flat, a run that buys", "long, a run that sells",
		},
	},
}

var long = []bounds{
	{name: "one event", events: 1, formats: formats, flats: []bool{false, true}, flips: []bool{false, true}},
	{name: "two events", events: 2, formats: formats[:1], flats: no, flips: no},
	{name: "two events, no times", events: 2, formats: formats[1:2], flats: no, flips: no, without: alike},
	{name: "two events, equal rows", events: 2, formats: formats[1:2], flats: yes, flips: no, without: alike},
	{name: "two events, full flips", events: 2, formats: formats[1:2], flats: no, flips: yes, without: alike},
	{name: "two events, sizes to derive", events: 2, formats: formats[3:4], flats: no, flips: no, without: alike},
}

// search walks through a part of the world until report returns false.
func (b bounds) search(report func(*schedule) bool) *search {
	s := &search{
		bound: b.events, formats: b.formats, flats: b.flats, flips: b.flips, without: b.without, beside: b.beside, report: report,
		cut: cmp.Or(b.cut, 20),
	}
	named := func(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	ss := slices.DeleteFunc(slices.Clone(starts), func(x start) bool { return !named(b.starts, x.name) })
	ws := slices.DeleteFunc(slices.Clone(writes), func(x asked) bool { return !named(b.writes, x.name) })
	s.run(ss, ws)
	return s
}

func (sc *schedule) wrong(o ledger.Outcome) bool {
	return o == ledger.NotApplied && sc.falseNot || o == ledger.Applied && sc.falseApplied
}

// counted are judgments.
type counted struct{ judged, wrong, decided int }

func (c *counted) take(t *testing.T, f seen, wrong func(ledger.Outcome) bool, describe func() string) {
	v := judged(f)
	c.judged++
	c.decided += b2i(v.Outcome != ledger.Unknown)
	if wrong(v.Outcome) {
		c.wrong++
		t.Errorf("%d, %s: %s", v.Outcome, v.Reason, describe())
	}
}

func (c *counted) report(t *testing.T, name string, decides int) {
	t.Logf("%s: %d of %d decided", name, c.decided, c.judged)
	if c.wrong == 0 && c.decided < decides {
		t.Errorf("%s: %d of %d are decided, and %d were", name, c.decided, c.judged, decides)
	}
}

// TestNoFalseVerdict judges every pair of a truth and what can be seen of it.
func TestNoFalseVerdict(t *testing.T) {
	if depth.Race {
		t.Skip("one goroutine, and a search")
	}
	parts := quick
	if *deep {
		parts = append(parts, long...)
	}
	for _, b := range parts {
		t.Run(b.name, func(t *testing.T) {
			if b.decides > sampled && !depth.Full() {
				t.Skip("TESTS=full")
			}
			var c counted
			b.search(func(sc *schedule) bool {
				c.take(t, sc.facts, sc.wrong, sc.String)
				return c.wrong < 5
			})
			c.report(t, b.name, b.decides)
		})
	}
}

// TestNoFalseVerdictAtRandom does so in worlds of one to five events.
func TestNoFalseVerdictAtRandom(t *testing.T) {
	if depth.Race {
		t.Skip("one goroutine, and a search")
	}
	dice := rand.New(rand.NewPCG(1, 7))
	s := &search{cut: 20, flats: []bool{false, true}, flips: []bool{false, true}, seen: make([]seenPair, 1<<20)}
	var c counted
	s.report = func(sc *schedule) bool {
		c.take(t, sc.facts, sc.wrong, sc.String)
		return c.wrong < 5
	}
	for range *someWorlds {
		if s.random(dice, 1+dice.IntN(5)); s.stopped {
			break
		}
	}
	c.report(t, "random", 0)
}

// TestFirstLookMustWait shows why a look begins Lag after the write is held: two
// equal looks that begin at once can both miss what ran just before.
func TestFirstLookMustWait(t *testing.T) {
	s := &search{cut: 20, bound: 1, formats: formats[:1], flats: no, flips: no, early: true}
	found := ""
	s.report = func(sc *schedule) bool {
		if v := judged(sc.facts); sc.wrong(v.Outcome) {
			found = sc.String()
		}
		return found == ""
	}
	s.run(starts[:1], writes[:1])
	if found == "" {
		t.Error("a look at once makes no verdict false")
	}
	t.Log(found)
}
