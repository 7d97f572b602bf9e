package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/record"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// written makes a journal with a named write that was executed and a pending one.
func written(t *testing.T) (r *rig, path string, pending trading.IntentID) {
	t.Helper()
	r = newRig(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r.t, r.ctx = t, t.Context()
		path, pending = r.pendingJournal(dir)
		log, err := journal.Open(path)
		require.NoError(t, err)
		client := tradingtest.Client(t, r.sim, trading.WithJournal(log), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
		_, err = client.Live.Account("acc_1").PlaceOrder(t.Context(), trading.Order{
			Symbol: "ETH", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
		}, trading.WithClientOrderID("red \x1b[31m"))
		require.NoError(t, err)
		_ = client.Close()
		require.NoError(t, log.Close())
	})
	r.t, r.ctx = t, t.Context()
	return r, path, pending
}

func TestJournal(t *testing.T) {
	r, path, pending := written(t)
	lines := strings.Split(strings.TrimSpace(r.done("journal", "ls", path)), "\n")
	require.Len(t, lines, 3)
	assert.Contains(t, lines[0], "CLIENT ORDER ID")
	assert.Regexp(t, `^\d{4}-\d\d-\d\dT\S+Z +pending +POST /orders +acc_1 +BTC +1 +`+string(pending)+`$`, lines[1])
	assert.Regexp(t, `^\d{4}-\d\d-\d\dT\S+Z +applied +POST /orders +acc_1 +ETH +1 +"red `, lines[2])
	assert.NotContains(t, lines[2], "\x1b")
	assert.Equal(t, "whole: 1 pending, 1 resolved\n", r.done("journal", "verify", path))

	text := r.done("journal", "show", path, string(pending))
	for _, want := range []string{`state +pending`, `operation +POST /orders`, `account +acc_1`, `tag +"red `, `body +.*"size":0.01`, `Z +decided`} {
		assert.Regexp(t, `(?m)^\S*`+want, text)
	}
	assert.Contains(t, r.done("journal", "show", path, string(pending), "-o", "json"), `"state": "pending"`)
	assert.Contains(t, r.done("pending", "ls", "--journal", path), string(pending))
	r.ends(cli.NotApplied, "fourth", "journal", "show", path, "fourth")

	none := filepath.Join(t.TempDir(), "none.journal")
	for _, args := range [][]string{
		{"journal", "ls", none}, {"journal", "verify", none}, {"journal", "show", none, "x"}, {"pending", "ls", "--journal", none},
		{"pending", "resolve", "x", "--journal", none},
	} {
		r.ends(cli.NotApplied, "no such file", args...)
	}
	_, err := os.Stat(none)
	require.ErrorIs(t, err, os.ErrNotExist, "it has been made")
}

// A damaged file is told, behind what could be read.
func TestDamagedJournal(t *testing.T) {
	r, path, pending := written(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.LastIndex(text, []byte(`"begin"`))
	require.Positive(t, at)
	text[at] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o600))
	for _, args := range [][]string{{"journal", "ls", path}, {"journal", "verify", path}, {"pending", "ls", "--journal", path}} {
		r.ends(cli.NotApplied, path, args...)
	}
	_, out, _ := r.run("pending", "ls", "--journal", path)
	assert.Contains(t, out, string(pending))
}

// What a person says of a write is what the next run of the bot goes by.
func TestAcknowledges(t *testing.T) {
	r, path, pending := written(t)
	ack := []string{"pending", "ack", string(pending), "--journal", path, "--found", "applied", "--note", "seen in the terminal"}

	r.ends(cli.Usage, "needs a terminal", ack...)

	r.terminal, r.types = true, "not-applied\n"
	r.ends(cli.NotApplied, "not confirmed", ack...)

	log, err := journal.Open(path)
	require.NoError(t, err)
	r.types = "applied\n"
	r.ends(cli.Refused, "open", ack...) // by the bot
	r.ends(cli.Refused, "open", "pending", "resolve", string(pending), "--journal", path)
	require.NoError(t, log.Close())

	sent := len(r.sim.Requests())
	assert.Equal(t, string(pending)+": applied\n", r.done(ack...))
	assert.Len(t, r.sim.Requests(), sent, "nothing is sent")
	r.ends(cli.NotApplied, "not pending", ack...)
	assert.JSONEq(t, "[]", r.done("pending", "ls", "--journal", path, "-o", "json"))

	log, err = journal.Open(path)
	require.NoError(t, err)
	defer log.Close()
	left, err := tradingtest.Client(t, r.sim, trading.WithJournal(log)).Pending(t.Context())
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A journal that is open elsewhere keeps nobody in the market, and nobody gets in.
func TestAnExitNeedsNoJournal(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r.t, r.ctx = t, t.Context()
		r.sim.Trade("acc_1", "long", "1", "BTC")
		path := filepath.Join(dir, "bot.journal")
		log, err := journal.Open(path)
		require.NoError(t, err)
		defer log.Close()
		r.ends(cli.Refused, "open in another process", place("--journal", path)...)
		assert.Equal(t, "1", r.sim.Position("acc_1", "BTC").String())

		live := []string{"--env", "live", "--account", "acc_1", "--yes", "--journal", path}
		r.ends(cli.Done, "going on without a journal", append([]string{"close", "--symbol", "BTC", "--percent", "50"}, live...)...)
		assert.Equal(t, "0.5", r.sim.Position("acc_1", "BTC").String())
		r.ends(cli.Done, "going on without a journal", append([]string{"flatten", "--all-symbols"}, live...)...)
	})
}

// A key goes to the service that the operator names, and not to the one that a file does.
func TestResolvesOnlyForTheServiceThatIsNamed(t *testing.T) {
	r, path, pending := written(t)
	sent := len(r.sim.Requests())
	r.ends(cli.Usage, "another service", "pending", "resolve", string(pending), "--journal", path, "--base-url", "https://other.example/v1")
	assert.Len(t, r.sim.Requests(), sent)
}

// audited makes an audit of an order that went well and a close that did not.
func audited(t *testing.T, o record.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bot.audit.jsonl")
	audit, err := record.OpenAudit(path, o)
	require.NoError(t, err)
	client := tradingtest.Client(t, tradingsim.New(), trading.WithHooks(audit.Hooks()), trading.WithGuard(audit.Guard()))
	account := client.Live.Account("acc_1")
	_, err = account.PlaceOrder(t.Context(), trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, trading.WithTag("red \x1b[31m"))
	require.NoError(t, err)
	_, err = account.ClosePosition(t.Context(), "ETH", trading.All)
	require.Error(t, err)
	require.NoError(t, client.Close())
	require.NoError(t, audit.Close())
	return path
}

func TestAudit(t *testing.T) {
	r := newRig(t)
	out := r.done("audit", "verify", audited(t, record.Options{}))
	assert.Contains(t, out, "11 lines in 1 files, number 1 to 11")
	assert.NotContains(t, out, "not closed")
	assert.Equal(t, 1, strings.Count(out, "\n"))

	out = r.done("audit", "show", audited(t, record.Options{MaxFile: 1500}))
	assert.Contains(t, out, "POST /orders")
	assert.Contains(t, out, "attempt 1, 200, applied")
	assert.Contains(t, out, "not applied")
	assert.NotContains(t, out, "\x1b", "a tag moves nothing on a terminal")
	assert.Greater(t, strings.Count(out, "segment"), 1, "all files")

	out = r.done("audit", "show", "--call", "2.2", audited(t, record.Options{}))
	assert.Contains(t, out, `"symbol":"ETH"`)
	assert.NotContains(t, out, `"symbol":"BTC"`)
}

func TestAuditThatWasChanged(t *testing.T) {
	r := newRig(t)
	path := audited(t, record.Options{})
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "ETH", "BTC", 1)), 0o600))
	out := r.ends(cli.NotApplied, path+", line 7", "audit", "verify", path)
	assert.Contains(t, out, "6 lines in 1 files", "what is right is said all the same")
	assert.Contains(t, out, "not closed")
	for _, verb := range []string{"verify", "show"} {
		r.ends(cli.NotApplied, "there is no audit", "audit", verb, filepath.Join(t.TempDir(), "missing"))
	}
}
