//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/record"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A journal that is taken away while it is open takes no entry: after a kill nothing of it would be
// recovered.
func TestFound05_TheJournalIsTakenAway(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"removed": os.Remove,
		"renamed": func(path string) error { return os.Rename(path, path+".away") },
		"replaced by a copy": func(path string) error {
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+".copy", b, 0o600)
			}
			if err == nil {
				err = os.Rename(path+".copy", path)
			}
			return err
		},
		"its folder is renamed": func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".away") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state", "bot.journal")
			require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
			log, err := journal.Open(path)
			require.NoError(t, err)
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
			defer func() { assert.NoError(t, sim.Close()) }()
			client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()), trading.WithLiveKey(sim.LiveKey()), trading.WithJournal(log))
			require.NoError(t, err)
			account := client.Live.Account("acc_1")
			_, err = account.PlaceOrder(t.Context(), rig.Buy("0.01"))
			require.NoError(t, err)
			require.NoError(t, take(path))
			went := 0
			for range 40 {
				_, err = account.PlaceOrder(t.Context(), rig.Buy("0.01"))
				if err == nil {
					went++
				}
			}
			require.Zero(t, went, "entries went out that nothing would recover")
			require.ErrorIs(t, err, journal.ErrFailed)
			require.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			_, err = account.ClosePosition(t.Context(), "BTC", trading.All)
			require.NoError(t, err, "exits pass")
			_ = client.Close()
			require.ErrorIs(t, log.Close(), journal.ErrFailed)
		})
	}
}

// Who removes a lock lets nobody in: what is locked is the journal itself, the folder of a
// protection, and the file of an audit.
func TestFound06_TheLockIsRemoved(t *testing.T) {
	t.Run("journal", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "bot.journal")
		log, err := journal.Open(path)
		require.NoError(t, err)
		defer func() { assert.NoError(t, log.Close()) }()
		require.NoError(t, os.Remove(path+".lock"))
		_, err = journal.Open(path, journal.WithLockTimeout(0))
		require.ErrorIs(t, err, journal.ErrLocked)
	})
	t.Run("protect", func(t *testing.T) {
		o := protection(t)
		p, err := protect.New(o)
		require.NoError(t, err)
		defer func() { assert.NoError(t, p.Close()) }()
		require.NoError(t, os.Remove(filepath.Join(o.Dir, "lock")))
		_, err = protect.New(o)
		require.ErrorIs(t, err, protect.ErrLocked)
	})
	t.Run("audit", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		a, err := record.OpenAudit(path, record.Options{})
		require.NoError(t, err)
		defer func() { assert.NoError(t, a.Close()) }()
		require.NoError(t, os.Remove(path+".lock"))
		_, err = record.OpenAudit(path, record.Options{})
		require.ErrorIs(t, err, record.ErrLocked)
	})
	t.Run("answers", func(t *testing.T) {
		c := sidecarConfig(t)
		s, err := sidecar.New(c)
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		require.NoError(t, os.Remove(filepath.Join(c.Dir, "answers.lock")))
		_, err = sidecar.New(c)
		require.ErrorIs(t, err, journal.ErrLocked)
	})
}

// Nothing that another user has put into a folder is written through, or believed.
func TestFound20_WhatAnotherUserPutThere(t *testing.T) {
	t.Run("a link where a halt is written", func(t *testing.T) {
		c := sidecarConfig(t)
		s, err := sidecar.New(c)
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		victim := filepath.Join(t.TempDir(), "victim")
		require.NoError(t, os.WriteFile(victim, []byte("text"), 0o600))
		for _, name := range []string{"halt.tmp", "halt.new"} {
			require.NoError(t, os.Symlink(victim, filepath.Join(c.Dir, name)))
		}
		halt(t, s)
		b, err := os.ReadFile(victim)
		require.NoError(t, err)
		require.Equal(t, "text", string(b), "the file elsewhere was overwritten")
	})
	t.Run("a link where a state is written", func(t *testing.T) {
		o := protection(t)
		victim := filepath.Join(t.TempDir(), "victim")
		require.NoError(t, os.WriteFile(victim, []byte("text"), 0o600))
		require.NoError(t, os.Symlink(victim, filepath.Join(o.Dir, "acc_1.state.tmp")))
		p, err := protect.New(o)
		require.NoError(t, err)
		defer func() { assert.NoError(t, p.Close()) }()
		_ = p.Halt("acc_1", "a test")
		b, err := os.ReadFile(victim)
		require.NoError(t, err)
		require.Equal(t, "text", string(b), "the file elsewhere was overwritten")
	})
	t.Run("keys of another user", func(t *testing.T) {
		asRoot(t)
		c := sidecarConfig(t)
		_, err := sidecar.AddKey(c.Dir, sidecar.Key{Name: "mallory", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
		require.NoError(t, err)
		require.NoError(t, os.Chown(filepath.Join(c.Dir, "keys"), 1001, 1001))
		_, err = sidecar.New(c)
		require.ErrorContains(t, err, "belongs to user 1001")
	})
	t.Run("a state folder that others can write to", func(t *testing.T) {
		c := sidecarConfig(t)
		require.NoError(t, os.Chmod(c.Dir, 0o777))
		_, err := sidecar.New(c)
		require.ErrorContains(t, err, "mode 0777")
		o := protection(t)
		require.NoError(t, os.Chmod(o.Dir, 0o777))
		_, err = protect.New(o)
		require.ErrorContains(t, err, "mode 0777")
	})
	t.Run("a state folder of another user", func(t *testing.T) {
		asRoot(t)
		c := sidecarConfig(t)
		require.NoError(t, os.Chown(c.Dir, 1001, 1001))
		_, err := sidecar.New(c)
		require.ErrorContains(t, err, "belongs to user 1001")
	})
}
