package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/postgres"
	"github.com/tradingapi/trading-go/contrib/postgres/postgrestest"
	"github.com/tradingapi/trading-go/tradingsim"
)

// TestAJournalMoves: a person moves the journal of a bot from its file into the database, sees there
// what is pending, and moves it back.
func TestAJournalMoves(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	at := postgrestest.Server(t)("postgres")
	require.NoError(t, postgres.Migrate(t.Context(), at))
	r := newRig(t)
	back := filepath.Join(t.TempDir(), "back.journal")
	id := r.interrupted("BTC")
	_, from, _ := strings.Cut(r.env[len(r.env)-1], "=")
	journals, err := filepath.Glob(filepath.Join(from, "trading", "*.journal"))
	require.NoError(t, err)
	require.Len(t, journals, 1)
	path := journals[0]
	listed := r.done("journal", "ls", path)
	assert.Contains(t, listed, id)

	onLease := func(args ...string) []string { return append(args, "--fleet", at, "--lease", "one") }
	assert.Equal(t, "1 writes copied into lease one\n", r.done(onLease("journal", "import", path, "--account", "acc_1")...))
	assert.Equal(t, listed, r.done(onLease("journal", "ls")...))
	r.ends(cli.NotApplied, "has a journal already", onLease("journal", "import", path, "--account", "acc_1")...)
	assert.Equal(t, "1 writes written to "+back+"\n", r.done(onLease("journal", "export", back)...))
	assert.Equal(t, listed, r.done("journal", "ls", back))
	assert.Contains(t, r.done("status", "--fleet", at), "halted: exported to")
	r.ends(cli.NotApplied, "exists", onLease("journal", "export", back)...)
	r.env = r.env[1:]
	r.ends(cli.Usage, "which service?", onLease("journal", "import", path, "--account", "acc_1")...)
}

// interrupted is the id of an order that was executed, and interrupted before its answer.
func (r *rig) interrupted(symbol string) string {
	r.t.Helper()
	code, out, errs := r.cut("POST /orders", tradingsim.DropResponse(), place("--symbol", symbol, "-o", "json")...)
	require.Equal(r.t, cli.Unknown, code, "%s%s", out, errs)
	var written writeView
	require.NoError(r.t, json.Unmarshal([]byte(out), &written))
	id := string(written.Intent)
	assert.Contains(r.t, errs, "trading pending resolve "+id)
	return id
}
