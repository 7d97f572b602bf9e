package accounting

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/broken"
)

var leaveOut = flag.Bool("accounting.mutants", false, "leave out one rule after another: minutes")

const (
	worlds  = "TestNoFalseVerdict/"
	random  = "TestNoFalseVerdictAtRandom"
	tales   = "TestTalesHold"
	replays = "TestReplaysHold"
	turns   = "TestWhereAVerdictTurns"
)

// mutants are the rules of the verdict: how each is left out, and which test finds that.
var mutants = []struct{ file, rule, without, found string }{
	{"judge.go", "case f.Ended:", "case false:", worlds + "one_event$"},
	{"judge.go", "case f.Asked.Kind == EditRun:", "case false:", worlds + "one_event$"},
	{"judge.go", "before.FinishedLags && ", "false && ", "TestARunThatEndedBeforeTheBaseline"},
	{"judge.go", "f.PendingBeside || runs:", "runs:", worlds + "one_event$"},
	{"judge.go", "f.started(n, f.Runs)", "f.started(n, false)", worlds + "one_event$"},
	{"judge.go", "case !complete:\n\t\treturn f", "case !complete && false:\n\t\treturn f", worlds + "two_events_beside_a_Pro_order"},
	{"judge.go", "case ids > 1:", "case false:", turns},
	{"judge.go", "f.IDs == nil || !f.Exclusive || ", "f.IDs == nil || ", worlds + "one_event$"},
	{"judge.go", "Part: true, ", "", turns},
	{"judge.go", "func(row Row) bool { return row.Symbol == \"\" }", "func(row Row) bool { return false }", turns},
	{"judge.go", "case \"\":\n\t\t\treturn r, RowUnreadable", "case \"\":", turns},
	{"judge.go", "	r.Stranger()\n", "\n", worlds + "one_event$"},
	{"judge.go", "case !f.Held && !(f.Gone && f.lasts()):", "case false:", worlds + "one_event$"},
	{"judge.go", "return f.Exclusive && f.Course != nil && !f.Course.Halted", "return f.Exclusive && f.Course != nil", worlds + "one_event$"},
	{"judge.go", "return f.Exclusive && f.Course != nil && !f.Course.Halted", "return f.Course != nil && !f.Course.Halted", worlds + "one_event$"},
	{"judge.go", "case Pro:\n\t\treturn f.Exclusive", "case Pro:\n\t\treturn true", turns},
	{"judge.go", "return f.EqualLooks >= 2", "return true", "TestOneLookDecidesNothing"},
	{"judge.go", "f.Asked.Kind == Limit && f.EqualLooks < 3", "false", worlds + "two_events_beside_a_limit"},
	{"facts.go", "if fresh < len(later) && may(later[fresh]) {", "if false {", "TestAListInWhichAnEqualTradeIsNewer"},
	{"rows.go", "n >= ListCut && !old(now[n-1])", "n < 0", worlds + "one_event$"},
	{"trail.go", "t.Base.Shows(t.Acts[asked].Sent)", "false", turns},
	{"trail.go", "r.Newer = t.Base.Newer; t.Base.Others {", "r.Newer = t.Base.Newer; false {", worlds + "one_event$"},
	{"trail.go", "if r.Newer = t.Base.Newer; ", "if ", random},
	{"trades.go", "return first, !t.reach(place, old)", "return first, false", worlds + "two_events_hidden"},
	{"trades.go", "return known && lasted >= old", "return known || lasted >= 0", worlds + "two_events_hidden"},

	{"replay.go", "for _, s.fullFlip = range [...]bool{false, true} {", "for _, s.fullFlip = range [...]bool{false} {", worlds + "one_event,_full_flips"},
	{"replay.go", "first.pos, first.halted = span{}, true // and the position shows it late\n\t\ts.start(first)", "first.pos, first.halted = span{}, true", replays},
	{"replay.go", "if first.rows++; s.near && ", "if first.rows++; false && ", replays},
	{"replay.go", "a.before&^from.done != 0, ", "", "TestAnAnswerThatIsLate"},
	{"replay.go", "a.later&from.done != 0:", "false:", turns},
	{"moves.go", "then(next, a.size-1)", "then(next, 0)", tales},
	{"moves.go", "then(next, a.size-size)", "then(next, 0)", tales},
	{"moves.go", "if all := next; a.percent > 0 && ", "if all := next; false && ", replays},
	{"moves.go", "r.byWrite && r.side == side", "r.side == side", turns},
	{"moves.go", "r.byItself && r.side == from.pos.side && ", "r.side == from.pos.side && ", worlds + "one_event$"},
	{"moves.go", "if !s.acts[i].carries {", "if !s.acts[i].carries || true {", tales},
	{"moves.go", "if then, ok := s.trigger(from); ok {", "if then, ok := s.trigger(from); ok && false {", tales},
	{"moves.go", "s.halts && !from.halted", "false", replays},
}

// TestEachRuleIsNeeded leaves out one rule after another: a verdict is false then, or one is missing.
func TestEachRuleIsNeeded(t *testing.T) {
	for i, m := range mutants {
		code, err := os.ReadFile(m.file)
		require.NoError(t, err)
		if !assert.Equal(t, 1, strings.Count(string(code), m.rule), "%s: %s", m.file, m.rule) || !*leaveOut {
			continue
		}
		t.Run(m.rule, func(t *testing.T) {
			printed, err := broken.Without(t, m.file, m.rule, m.without, "-run", "^"+m.found, "-failfast", ".")
			assert.Error(t, err, "%d: it lives: %s", i, m.without)
			assert.Contains(t, printed, "--- FAIL", "%d", i)
		})
	}
}
