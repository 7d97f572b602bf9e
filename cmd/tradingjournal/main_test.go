package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/commandline"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

func order() trading.Order {
	return trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}
}

// written makes a journal with a named write that was executed and a pending one.
func written(t *testing.T) (path string, pending trading.IntentID) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "bot.journal")
	synctest.Test(t, func(t *testing.T) {
		log, err := journal.Open(path)
		require.NoError(t, err)
		defer log.Close()
		sim := tradingsim.New()
		client := tradingtest.Client(t, sim, trading.WithJournal(log), trading.WithoutBackground())
		account := client.Live.Account("acc_1")
		_, err = account.PlaceOrder(t.Context(), order(), trading.WithClientOrderID("red \x1b[31m"))
		require.NoError(t, err)
		sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err = account.PlaceOrder(t.Context(), order(), trading.WithSendTTL(0), trading.WithResolveTimeout(0), trading.WithTag("tag"))
		var write *trading.WriteError
		require.ErrorAs(t, err, &write)
		require.Equal(t, trading.Unknown, write.Outcome)
		pending = write.Intent
		_ = client.Close()
	})
	return path, pending
}

func runs(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, args))
	return out.String()
}

func TestLists(t *testing.T) {
	path, pending := written(t)
	lines := strings.Split(strings.TrimSpace(runs(t, path)), "\n")
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], "CLIENT ORDER ID")
	assert.Regexp(t, `^\d{4}-\d\d-\d\dT\S+Z +pending +POST /orders +acc_1 +BTC +1 +`+string(pending)+`$`, lines[1])

	lines = strings.Split(strings.TrimSpace(runs(t, "-all", path)), "\n")
	require.Len(t, lines, 3)
	assert.Contains(t, lines[1]+lines[2], " applied ")
	assert.NotContains(t, lines[1]+lines[2], "\x1b")
	assert.Equal(t, "whole: 1 pending, 1 resolved\n", runs(t, "-verify", path))
}

func TestShowsOne(t *testing.T) {
	path, pending := written(t)
	text := runs(t, "-show", string(pending), path)
	for _, want := range []string{
		`state +pending`, `operation +POST /orders`, `account +acc_1`, `tag +tag`, `body +.*"size":0.01`,
		`Z +decided`, `Z +the write came to no answer`,
	} {
		assert.Regexp(t, `(?m)^\S*`+want, text)
	}
}

// What a person says of a write is what the next run of the bot goes by.
func TestAcknowledges(t *testing.T) {
	path, pending := written(t)
	text := runs(t, "-acknowledge", string(pending), "-found", "applied", "-note", "seen in the terminal", path)
	assert.Equal(t, string(pending)+": applied\n", text)
	assert.Equal(t, "nothing\n", runs(t, path))

	err := run(t.Context(), &bytes.Buffer{}, []string{"-acknowledge", string(pending), "-found", "applied", path})
	require.Error(t, err, "it is resolved")

	log, err := journal.Open(path)
	require.NoError(t, err)
	defer log.Close()
	client := tradingtest.Client(t, tradingsim.New(), trading.WithJournal(log))
	left, err := client.Pending(t.Context())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestRefuses(t *testing.T) {
	path, pending := written(t)
	none := filepath.Join(t.TempDir(), "none.journal")
	for _, args := range [][]string{{none}, {"-verify", none}, {"-acknowledge", "x", "-found", "applied", none}} {
		err := run(context.Background(), &bytes.Buffer{}, args)
		require.ErrorIs(t, err, os.ErrNotExist, "%q", args)
	}
	_, err := os.Stat(none)
	require.ErrorIs(t, err, os.ErrNotExist, "it has been made")

	refused := func(args ...string) error { return run(t.Context(), &bytes.Buffer{}, args) }
	require.ErrorContains(t, refused("-show", "fourth", path), "fourth")
	require.ErrorContains(t, refused("-acknowledge", string(pending), path), "-found")
	require.ErrorContains(t, refused("-acknowledge", string(pending), "-found", "unknown", path), "unknown")
	require.ErrorIs(t, refused("-h"), flag.ErrHelp)
	for _, args := range [][]string{
		{}, {path, "x"}, {"-no-such-flag", path}, {"-show", "", path}, {"-acknowledge", "", path}, {"-all", "-verify", path},
		{"-found", "applied", path}, {"-note", "x", path}, {"-acknowledge", string(pending), path},
	} {
		assert.Equal(t, commandline.Usage, commandline.Status("tradingjournal", refused(args...), io.Discard), "%q", args)
	}

	log, err := journal.Open(path)
	require.NoError(t, err)
	require.ErrorIs(t, refused("-acknowledge", string(pending), "-found", "applied", path), journal.ErrLocked)
	assert.Contains(t, runs(t, path), string(pending), "it may be read beside the bot")
	require.NoError(t, log.Close())
}

// A damaged file is told, behind what could be read.
func TestDamage(t *testing.T) {
	path, _ := written(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.Index(text, []byte(`"begin"`))
	require.Positive(t, at)
	text[at] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o600))
	for _, args := range [][]string{{path}, {"-verify", path}} {
		err = run(t.Context(), &bytes.Buffer{}, args)
		require.ErrorAs(t, err, new(*journal.DamageError))
	}
}

func TestEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	log, err := journal.Open(path)
	require.NoError(t, err)
	require.NoError(t, log.Close())
	assert.Equal(t, "nothing\n", runs(t, path))
}
