package postgres

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var everyRule = flag.Bool("rules", false, "take each rule of the lease out once, and not a few of them")

// rule is one that the lease rests on, and the test that fails without it. It is a text of a file, and
// what that becomes: OFF is whether the rule is out, and {with|without} a part of a statement.
type rule struct{ name, file, text, becomes, fails string }

var rules = []rule{
	{"an append names its epoch", "appender.go", "seq = $4 FROM s WHERE name = $1 AND epoch = $2 AND", "seq = $4 FROM s WHERE name = $1 AND {epoch = $2|$2::bigint > 0} AND", "TestTakingsRaceAppends"},
	{"an append names its count", "appender.go", "seq = $3 AND s.c = 'on' RETURNING halt),", "{seq = $3|$3::bigint >= 0} AND s.c = 'on' RETURNING halt),", "TestLostHistory/records"},
	{"the beat stands still for the whole lease", "take.go", "last, read = *seen, at\n", "last, read = *seen, at\nif OFF { since.boot -= time.Hour }\n", "TestASilentHolderIsTakenOver"},
	{"the holder's lease counts, where it is longer", "take.go", "max(c.Lease, seen.lasts)", "max(c.Lease, map[bool]time.Duration{false: seen.lasts}[OFF])", "TestAShorterLease"},
	{"a gap in a candidate's reads begins the wait anew", "take.go", "|| at.since(read) >", "|| !OFF && at.since(read) >", "TestACandidateThatWasStopped"},
	{"a taking names the epoch as it was read", "take.go", "AND name = $1 AND epoch = $2 AND beat", "AND name = $1 AND {epoch = $2|$2::bigint >= 0} AND beat", "TestATakingOfWhatHasMoved"},
	{"a taking names the beat as it was read", "take.go", "beat = $3\n", "{beat = $3|$3::bigint >= 0}\n", "TestATakingOfWhatHasMoved"},
	{"the deadline counts from before the renewal was sent", "appender.go", "s.renewedFrom(from)\n", "if OFF { from = s.clock() }\ns.renewedFrom(from)\n", "TestARenewalCountsFromItsBeginning"},
	{"2 s of margin", "options.go", "return o.Lease - min(", "if OFF { return o.Lease }\nreturn o.Lease - min(", "TestTheDeadlineByBothClocks"},
	{"the later of two clocks", "clock.go", "return max(m.boot-then.boot,", "if OFF { return m.boot-then.boot }\nreturn max(m.boot-then.boot,", "TestTheDeadlineByBothClocks"},
	{"each change of the lease is durable", "connect.go", "set_config('synchronous_commit', 'on', true) c", "{set_config('synchronous_commit', 'on', true)|'on'::text} c", "TestALeaseWaitsForItsStandby"},
	{"a warning of the server's is no success", "connect.go", "warning != nil && err == nil", "warning != nil && err == nil && !OFF", "TestAWarningIsNoSuccess"},
	{"no statement is cancelled", "connect.go", "if sealed.Load()", "if !OFF && sealed.Load()", "TestNoStatementIsCancelled"},
	{"a statement ends its wait for a locked row by itself", "connect.go", "set_config('lock_timeout', '%d', true)", "{set_config('lock_timeout', '%d', true)|'%d'::text}", "TestALockedLease"},
	{"a machine that is gone holds no row", "connect.go", "set_config('tcp_keepalives_idle', '5', true)", "{set_config('tcp_keepalives_idle', '5', true)|''::text}", "TestAMachineThatIsGoneHoldsNoRow"},
	{"the server ends what the role leaves open", "migrate.go", "ALTER ROLE $role SET idle_in_transaction_session_timeout", "ALTER ROLE $role SET {idle_in_transaction_session_timeout|idle_session_timeout}", "TestAStatementHasItsSettings"},
	{"settings are checked", "connect.go", "case isolation != \"read committed\":", "case OFF:\nreturn nil\ncase isolation != \"read committed\":", "TestSettings"},
	{"and at each renewal", "appender.go", "AND current_setting('transaction_isolation') = 'read committed'", "{AND current_setting('transaction_isolation') = 'read committed'|}", "TestSettingsThatChange"},
	{"what may be another's is not a server that is away", "connect.go", "case \"57\":", "case \"42\":\nreturn !OFF\ncase \"57\":", "TestADoubtfulError"},
	{"a lost answer is looked for", "appender.go", "if seq == s.seq { //", "if seq == s.seq || OFF { //", "TestALostAnswer"},
	{"a passed deadline ends nothing", "store.go", "left := time.Until(s.Deadline())\n", "left := time.Until(s.Deadline())\nif OFF && left < 0 { s.end(journal.ErrFenced) }\n", "TestTheServerIsFrozen"},
	{"fewer takings than were acknowledged are lost history", "appender.go", "case epoch <= s.epoch:", "case epoch <= s.epoch && !OFF:", "TestLostHistory/a_taking"},
	{"and fewer records", "appender.go", "case seq < s.seq:", "case seq < s.seq && !OFF:", "TestLostHistory/records"},
	{"and more records", "take.go", "if n > seq {", "if n > seq && !OFF {", "TestRecordsBeyondTheCount"},
	{"another timeline may lack records", "take.go", "THEN now() ELSE lost_at END", "THEN {now()|NULL} ELSE lost_at END", "TestAFailoverThatLosesRecords"},
	{"and may show an old release", "take.go", "(!seen.released || seen.elsewhere)", "(!seen.released || seen.elsewhere && !OFF)", "TestAReleaseOnAnotherTimeline"},
	{"a holder that finds less hides it from nobody", "appender.go", "CASE WHEN epoch >= $5 AND seq >= $6 THEN", "CASE WHEN epoch >= $5 AND {seq >= $6|$6::bigint >= 0} THEN", "TestFound14_AFailoverThatAHolderSurvives/records_lost_true"},
	{"a taking that follows no release is a gap", "take.go", "gap = gap OR NOT released,", "gap = gap {OR NOT released|},", "TestASilentHolderIsTakenOver"},
	{"what nobody waits for waits for the database", "store.go", "case s.away != nil && j.done != nil:", "case s.away != nil && (j.done != nil || OFF):", "TestFound11_TheEndOfAWriteWhoseCallerWasLetGo"},
	{"a last record has room", "store.go", "> mostQueued && !j.last:", "> mostQueued && (!j.last || OFF):", "TestTheLastRecordHasRoom"},
	{"a lease is kept until its deadline alone", "store.go", "!s.moved && at.since(s.renewed) <", "OFF || !s.moved && at.since(s.renewed) <", "TestFound11_AnOrderThatNeverLeft/the_caller_is_gone_when_the_lease_may_be_another's"},
	{"a bot that does not report is not renewed", "appender.go", "return s.o.Alive == 0 ||", "return OFF || s.o.Alive == 0 ||", "TestABotThatReports"},
	{"an account is of one lease", "take.go", "if of != c.Name {", "if of != c.Name && !OFF {", "TestAccountsAndHalts"},
	{"holders agree on their options", "take.go", "seen.digest != c.digest()", "seen.digest != c.digest() && !OFF", "TestAccountsAndHalts"},
	{"a lease is for its accounts alone", "store.go", "return baseURL == s.o.BaseURL &&", "return OFF || baseURL == s.o.BaseURL &&", "TestAccountsAndHalts"},
	{"an append reads the halt", "appender.go", "s.setHalt(halt)\n\ts.answer(nil)", "if !OFF { s.setHalt(halt) }\n\ts.answer(nil)", "TestAccountsAndHalts"},
	{"`min_reader`", "take.go", "case reads > format:", "case reads > format && !OFF:", "TestVersions/min_reader"},
	{"the format of each record", "take.go", "if of != format {", "if of != format && !OFF {", "TestVersions/a_newer_record"},
}

// TestEachRuleIsTakenOut builds the tests with a switch for each rule, without which the code knows none,
// takes one out at a time, and sees the test fail that the README names for it.
func TestEachRuleIsTakenOut(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, r := range rules {
		assert.Contains(t, string(readme), "| "+r.name+" | `"+r.fails+"` |")
	}
	if testing.Short() || t.Failed() {
		return
	}
	program(t, "initdb")
	switched := withSwitches(t)
	run := func(t *testing.T, without, fails string) (says string, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, switched, "-test.v", "-test.run="+fails)
		cmd.Env = append(os.Environ(), "RULE_OFF="+without)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out := rules
	if !*everyRule {
		some := []string{"an append names its count", "a gap in a candidate's reads begins the wait anew", "each change of the lease is durable"}
		out = slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return !slices.Contains(some, r.name) })
	}
	var tests []string
	for _, r := range out {
		test, _, _ := strings.Cut(r.fails, "/")
		tests = append(tests, test)
	}
	says, err := run(t, "", "^("+strings.Join(tests, "|")+")$")
	require.NoError(t, err, "with each rule: %s", says)
	for _, r := range out {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, says, "--- PASS: "+r.fails+" ")
			says, err := run(t, r.name, "^"+strings.ReplaceAll(r.fails, "/", "$/^")+"$")
			require.Error(t, err, "it passes without the rule")
			require.Contains(t, says, "--- FAIL: "+r.fails+" ")
		})
	}
}

// withSwitches is a test binary in which RULE_OFF names the rule that is out.
func withSwitches(t *testing.T) (binary string) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	choice := regexp.MustCompile(`\{([^{}|\n]*)\|([^{}|\n]*)\}`)
	for _, r := range rules {
		if files[r.file] == "" {
			text, err := os.ReadFile(r.file)
			require.NoError(t, err)
			files[r.file] = strings.Replace(string(text), "const durably =", "var durably =", 1)
		}
		require.Equal(t, 1, strings.Count(files[r.file], r.text), "%s: %q", r.file, r.text)
		off := fmt.Sprintf("ruleOff(%q)", r.name)
		becomes := strings.ReplaceAll(r.becomes, "OFF", off)
		if !strings.Contains(r.becomes, "OFF") {
			becomes = choice.ReplaceAllString(becomes, "`+eitherOf("+strings.ReplaceAll(off, "$", "$$")+", `$1`, `$2`)+`")
		}
		require.NotEqual(t, r.becomes, becomes, r.name)
		files[r.file] = strings.Replace(files[r.file], r.text, becomes, 1)
	}
	files["switch.go"] = `package postgres

import "os"

func ruleOff(name string) bool { return os.Getenv("RULE_OFF") == name }

func eitherOf(off bool, with, without string) string {
	if off {
		return without
	}
	return with
}
`
	here, err := os.Getwd()
	require.NoError(t, err)
	overlay := map[string]map[string]string{"Replace": {}}
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		overlay["Replace"][filepath.Join(here, name)] = path
	}
	text, err := json.Marshal(overlay)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600))
	binary = filepath.Join(dir, "switched.test")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return binary
}
