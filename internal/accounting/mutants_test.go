package accounting

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	{"judge.go", "j.stranger = j.unknown || !f.Exclusive || f.PendingBeside", "j.stranger = j.unknown || f.PendingBeside", worlds + "one_event$"},
	{"judge.go", "j.stranger = j.unknown || !f.Exclusive || f.PendingBeside", "j.stranger = j.unknown || !f.Exclusive", worlds + "one_event$"},
	{"judge.go", "j.stranger = j.unknown || !f.Exclusive || f.PendingBeside", "j.stranger = !f.Exclusive || f.PendingBeside", turns},
	{"judge.go", " || f.Base.Shows(f.Asked.Sent)", "", turns},
	{"judge.go", "case f.Ended:", "case false:", worlds + "one_event$"},
	{"judge.go", "case f.Asked.Kind == EditRun:", "case false:", worlds + "one_event$"},
	{"judge.go", "case j.early():", "case false:", worlds + "one_event$"},
	{"judge.go", "j.Base.FinishedLags && ", "false && ", "TestARunThatEndedBeforeTheBaseline"},
	{"judge.go", "return j.started(n, j.PendingID)\n", "return j.started(n, false)\n", worlds + "one_event$"},
	{"judge.go", "j.started(n, j.PendingID ||", "j.started(n, false ||", worlds + "one_event$"},
	{"judge.go", "o.Kind == Pro || o.Kind == EditRun", "o.Kind == EditRun", worlds + "one_event$"},
	{"judge.go", "case !complete:\n\t\treturn j", "case !complete && false:\n\t\treturn j", worlds + "two_events_beside_a_Pro_order"},
	{"judge.go", "case ids > 1:", "case false:", turns},
	{"judge.go", "!j.Known[id] && ", "", turns},
	{"judge.go", "Part: true, ", "", turns},
	{"judge.go", "Shrunk: j.Base.RowsNewer, ", "", random},
	{"judge.go", "Halted: !j.sameStatus(),", "", worlds + "one_event$"},
	{"judge.go", "if j.stranger {", "if false {", worlds + "one_event$"},
	{"judge.go", "case \"\":\n\t\t\treturn r, RowUnreadable", "case \"\":", worlds + "one_event,_poor_rows"},
	{"judge.go", "r.Waiting = append(r.Waiting, o.Left(\"\"))", "", worlds + "one_event$"},
	{"judge.go", "case j.unknown, o.InPosition", "case o.InPosition", worlds + "one_event$"},
	{"judge.go", "a.Sent, a.Ended, shown = 0, beforeShown, true", "continue", worlds + "two_events$"},
	{"judge.go", "r.From, r.Unknown = decimal.Zero, true", "r.From = decimal.Zero", tales},
	{"judge.go", "if others || o.InPosition {", "if others && false || o.InPosition {", tales},
	{"judge.go", "asked.Ended = 0\n", "\n", worlds + "two_events_beside_a_limit"},
	{"judge.go", "case !j.Held && !(j.Gone && j.lasts()):", "case false:", worlds + "one_event$"},
	{"judge.go", "return j.Exclusive && j.sameStatus()", "return j.Exclusive", worlds + "one_event$"},
	{"judge.go", "return j.Exclusive && j.sameStatus()", "return j.sameStatus()", worlds + "one_event$"},
	{"judge.go", "case Pro:\n\t\treturn j.Exclusive", "case Pro:\n\t\treturn true", turns},
	{"judge.go", "case j.Look.Equal < 2, ", "case ", "TestOneLookDecidesNothing"},
	{"judge.go", "if j.Look.Equal < 2 {", "if false {", "TestOneLookDecidesNothing"},
	{"judge.go", "j.Asked.Kind == Limit && j.Look.Equal < 3", "false", worlds + "two_events_beside_a_limit"},
	{"rows.go", "n >= listCut && !old(now[n-1])", "n < 0", worlds + "one_event$"},
	{"rows.go", "return nil, false\n\t\t}\n\t}", "}\n\t}", turns},
	{"rows.go", "case overlap == 0:\n\t\treturn false", "case overlap == 0:\n\t\treturn true", worlds + "one_event"},
	{"rows.go", "return overlap >= minOverlap || ", "return true || ", turns},

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
	{"moves.go", "if !a.carries {", "if !a.carries || true {", worlds + "three_own_events"},
	{"moves.go", "if next, ok = s.trigger(next); !ok {", "if next, ok = s.trigger(next); !ok || true {", replays},
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
			dir := t.TempDir()
			here, err := os.Getwd()
			require.NoError(t, err)
			mutant, overlay := filepath.Join(dir, m.file), filepath.Join(dir, "overlay.json")
			require.NoError(t, os.WriteFile(mutant, []byte(strings.Replace(string(code), m.rule, m.without, 1)), 0o600))
			replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, m.file): mutant}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(overlay, replaced, 0o600))
			out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run", "^"+m.found, "-failfast", ".").CombinedOutput()
			assert.Error(t, err, "%d: it lives: %s", i, m.without)
			assert.Contains(t, string(out), "--- FAIL", "%d", i)
		})
	}
}
