package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func TestBodiesAreBounded(t *testing.T) {
	r := newRig(t, Options{MaxBody: 40})
	_, err := r.account().PlaceOrder(t.Context(), buy("0.01"), trading.WithTag(strings.Repeat("t", 5000)))
	require.NoError(t, err)
	events := r.events()
	assert.LessOrEqual(t, len(events[0].Tag), maxName+len("…"))
	attempt := events[2]
	request := r.sim.Requests()[len(r.sim.Requests())-1]
	assert.Equal(t, string(request.Body[:40]), string(attempt.Request))
	assert.Equal(t, len(request.Body), attempt.RequestSize)
	assert.Len(t, attempt.Response, 40)
	assert.Greater(t, attempt.ResponseSize, 40)
}

func TestCallsHaveNamesOfTheirOwnInEveryRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	seen := make(map[string]bool)
	for range 3 {
		a, err := OpenAudit(path, Options{})
		require.NoError(t, err)
		tellWrite(a.Hooks(), "BTC")
		tellWrite(a.Hooks(), "BTC")
		require.NoError(t, a.Close())
	}
	for _, e := range only(eventsOf(t, path), KindBegun) {
		assert.False(t, seen[e.Call], "%s is two calls", e.Call)
		seen[e.Call] = true
	}
	assert.Len(t, seen, 6)
}

func TestTwoAuditsOfOneClient(t *testing.T) {
	second := filepath.Join(t.TempDir(), "second.jsonl")
	b, err := OpenAudit(second, Options{})
	require.NoError(t, err)
	defer b.Close()
	tellWrite(b.Hooks(), "ETH") // so that the names differ
	r := newRig(t, Options{}, trading.WithHooks(b.Hooks()))
	_, err = r.account().PlaceOrder(t.Context(), buy("0.01"))
	require.NoError(t, err)
	mine, theirs := r.events(), eventsOf(t, second)
	assert.Equal(t, "begun sent attempt done", kinds(mine))
	theirs = theirs[len(theirs)-4:]
	assert.Equal(t, "begun sent attempt done", kinds(theirs))
	assert.NotEqual(t, mine[0].Call, theirs[0].Call)
	assert.Equal(t, theirs[0].Call, theirs[3].Call)
}

func TestFilesAreTheOwners(t *testing.T) {
	path, _ := written(t, 2000)
	names, err := Files(path)
	require.NoError(t, err)
	require.Greater(t, len(names), 1)
	for _, name := range append(names, path+".lock") {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := OpenAudit(path, Options{})
	require.NoError(t, err)
	_, err = OpenAudit(path, Options{})
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, a.Close())
	a, err = OpenAudit(path, Options{})
	require.NoError(t, err)
	require.NoError(t, a.Close())
}

func TestAClosedAudit(t *testing.T) {
	r := newRig(t, Options{})
	require.NoError(t, r.audit.Close())
	require.NoError(t, r.audit.Close(), "again")
	require.ErrorIs(t, r.audit.Err(), ErrClosed)
	_, err := r.account().PlaceOrder(t.Context(), buy("0.01"))
	require.ErrorIs(t, err, trading.ErrGuard)
	require.ErrorIs(t, err, ErrClosed)
	assert.Empty(t, r.sim.Ledger(), "nothing is placed that is not recorded")
	assert.Empty(t, r.events())
	report, err := VerifyFile(r.path)
	require.NoError(t, err)
	assert.True(t, report.Closed)
}

func TestOptionsAreChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, o := range []Options{{MaxFile: -1}, {MaxBody: -1}, {MaxBody: 33 << 10}, {Sync: 7}} {
		_, err := OpenAudit(path, o)
		require.Error(t, err, "%+v", o)
	}
	_, err := OpenAudit(filepath.Join(path, "missing", "audit"), Options{})
	require.Error(t, err)
	require.NoFileExists(t, path)
}
