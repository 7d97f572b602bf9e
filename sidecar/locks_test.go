package sidecar

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
	"github.com/tradingapi/trading-go/tradingsim"
)

// other is a sidecar in a folder of its own, on the service of another one. No server means that it
// does not start.
func (r *rig) other(change func(*Config), keys ...localkey.Key) (*rig, error) {
	o := &rig{t: r.t, sim: r.sim, config: r.config}
	o.config.Dir, o.config.Journal, o.config.Exclusive = r.t.TempDir(), journal.NewMemory(), nil
	change(&o.config)
	for _, k := range keys {
		o.live = o.key(k)
	}
	var err error
	if o.server, err = New(o.config); err == nil {
		r.t.Cleanup(func() { _ = o.server.Close() })
	}
	return o, err
}

// A second sidecar on an account does not start, whatever its folder says that it trades; one on
// another account or another service does, and so does one after the first.
func TestTwoSidecarsOnOneAccount(t *testing.T) {
	r := newRig(t, []tradingsim.Option{tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_2"})})
	same := func(*Config) {}
	bot := func(account string, may localkey.May) localkey.Key {
		return localkey.Key{Name: "bot", Live: true, Accounts: []string{account}, May: may}
	}
	for name, start := range map[string]func() (*rig, error){
		"a bot":     func() (*rig, error) { return r.other(same, bot("acc_1", localkey.Trade)) },
		"exits":     func() (*rig, error) { return r.other(same, bot("acc_1", localkey.Exits)) },
		"exclusive": func() (*rig, error) { return r.other(func(c *Config) { c.Exclusive = []trading.AccountID{"acc_1"} }) },
		"protect": func() (*rig, error) {
			return r.other(func(c *Config) { c.Protect.Accounts = []trading.AccountID{"acc_1"} })
		},
		"a slash more": func() (*rig, error) {
			return r.other(func(c *Config) { c.BaseURL += "/" }, bot("acc_1", localkey.Trade))
		},
	} {
		_, err := start()
		require.ErrorContains(t, err, "account acc_1: another process of this user on this machine trades it", name)
	}
	for name, start := range map[string]func() (*rig, error){
		"reads":           func() (*rig, error) { return r.other(same, bot("acc_1", localkey.Read)) },
		"another account": func() (*rig, error) { return r.other(same, bot("acc_2", localkey.Trade)) },
		"another service": func() (*rig, error) {
			return r.other(func(c *Config) { c.BaseURL = "https://" + newID() + ".example/v1" }, bot("acc_1", localkey.Trade))
		},
	} {
		_, err := start()
		require.NoError(t, err, name)
	}
	require.NoError(t, r.server.Close())
	_, err := r.other(same, bot("acc_1", localkey.Trade))
	require.NoError(t, err)
}

// A key for every account may come to an account that another sidecar trades: its entries there are
// not sent, and its exits are.
func TestTwoSidecarsMeetLater(t *testing.T) {
	r := newRig(t, nil)
	require.Equal(t, 200, r.do(r.live, "POST /orders", buy).status)
	o, err := r.other(func(*Config) {}, localkey.Key{Name: "every", Live: true, Accounts: []string{localkey.Every}, May: localkey.Trade})
	require.NoError(t, err)
	held := o.do(o.live, "POST /orders", buy)
	assert.Equal(t, []any{503, "idempotency_unavailable", "not-applied"}, []any{held.status, held.code, held.outcome})
	assert.Contains(t, held.reason, "another process")
	assert.Equal(t, 200, o.do(o.live, "GET /positions?accountId=acc_1", "").status)
	assert.Equal(t, 200, o.do(o.live, "POST /positions/close", closeBTC).status)
	require.NoError(t, r.server.Close())
	assert.Equal(t, 200, o.do(o.live, "POST /orders", buy).status)
	assert.Len(t, r.sim.Ledger(), 3)
}

// What a bot can have locked is bounded.
func TestLocksAreBounded(t *testing.T) {
	l, err := disk.LockAccounts(filepath.Join(t.TempDir(), "locks"), "https://"+newID()+".example/v1")
	require.NoError(t, err)
	defer l.Close()
	for range disk.MostAccounts {
		require.NoError(t, l.Take(newID()))
	}
	require.ErrorContains(t, l.Take(newID()), "no more")
}

// A lock that somebody removes could be another sidecar's by now: the entries of its account are
// held, its exits are not, and a sidecar that is started again has it.
func TestALockIsTakenAway(t *testing.T) {
	r := newRig(t, nil)
	require.Equal(t, 200, r.do(r.live, "POST /orders", buy).status)
	locked, err := filepath.Glob(filepath.Join(r.config.Locks, "*"))
	require.NoError(t, err)
	require.Len(t, locked, 1)
	require.NoError(t, os.Remove(locked[0]))
	held := r.do(r.live, "POST /orders", buy)
	assert.Equal(t, []any{503, "not-applied"}, []any{held.status, held.outcome})
	assert.Contains(t, held.reason, "nothing is at "+locked[0])
	assert.Equal(t, 200, r.do(r.live, "POST /positions/close", closeBTC).status)
	r.restart()
	assert.Equal(t, 200, r.do(r.live, "POST /orders", buy).status)
}

// Where accounts are locked is not guessed.
func TestNowhereToLock(t *testing.T) {
	for _, name := range []string{"XDG_STATE_HOME", "HOME", "USERPROFILE"} {
		t.Setenv(name, "")
	}
	_, err := disk.LockAccounts("", "https://service.example/v1")
	require.ErrorContains(t, err, "no folder in which accounts are locked")
	home := t.TempDir()
	t.Setenv("HOME", home)
	l, err := disk.LockAccounts("", "https://service.example/v1")
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, l.Take("acc_1"))
	locked, err := filepath.Glob(filepath.Join(home, ".local", "state", "trading", "locks", "*"))
	require.NoError(t, err)
	require.Len(t, locked, 1)
	require.NoError(t, os.Chmod(filepath.Dir(locked[0]), 0o750))
	_, err = disk.LockAccounts("", "https://service.example/v1")
	require.ErrorContains(t, err, "mode 0750")
}
