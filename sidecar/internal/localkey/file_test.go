package localkey

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/disk"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func grid() Key { return Key{Name: "grid", Live: true, Accounts: []string{"acc_1"}, May: Trade} }

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "keys.json") }

func TestARunningSidecarSeesAChangeAtOnce(t *testing.T) {
	path := file(t)
	f, err := Open(path)
	require.NoError(t, err, "there are no keys yet")
	token, err := Add(path, grid(), t0)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(token, "pk_live_local_"), token)
	require.True(t, IsLocal(token))

	k, err := f.Find(token)
	require.NoError(t, err)
	want := grid()
	want.Made = t0
	assert.Equal(t, want, k)

	paper, err := Add(path, Key{Name: "paper", May: Read}, t0)
	require.NoError(t, err)
	k, err = f.Find(paper)
	require.NoError(t, err)
	assert.False(t, k.Live)
	assert.True(t, strings.HasPrefix(paper, "pk_test_local_"))

	require.NoError(t, Remove(path, "grid", t0.Add(time.Hour)))
	_, err = f.Find(token)
	require.ErrorIs(t, err, ErrTakenBack)
	_, err = f.Find(paper)
	require.NoError(t, err)
	keys, err := f.Keys()
	require.NoError(t, err)
	require.Len(t, keys, 2)
	assert.Equal(t, t0.Add(time.Hour), keys[0].TakenBack)

	again, err := Add(path, grid(), t0)
	require.NoError(t, err, "the name is free again")
	assert.NotEqual(t, token, again)
	_, err = f.Find(token)
	require.ErrorIs(t, err, ErrTakenBack)
	_, err = f.Find(again)
	require.NoError(t, err)
}

func TestNoSecretIsInTheFile(t *testing.T) {
	path := file(t)
	token, err := Add(path, grid(), t0)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(text), strings.TrimPrefix(token, prefixLive))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	assert.NoFileExists(t, path+".tmp")
}

func TestWhatIsNotAKeyFindsNone(t *testing.T) {
	path := file(t)
	token, err := Add(path, grid(), t0)
	require.NoError(t, err)
	f, err := Open(path)
	require.NoError(t, err)
	for _, other := range []string{"", token[:len(token)-1], token + "A", strings.ToLower(token), "pk_live_local_", strings.Replace(token, "live", "test", 1)} {
		_, err := f.Find(other)
		require.ErrorIs(t, err, ErrUnknown, other)
	}
}

// Nobody is let in by a file that is damaged, or that others may write. It works again when it is
// repaired.
func TestAFileThatCannotBeReliedOn(t *testing.T) {
	path := file(t)
	token, err := Add(path, grid(), t0)
	require.NoError(t, err)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := Open(path)
	require.NoError(t, err)
	breaks := map[string]func() error{
		"cut":    func() error { return os.WriteFile(path, good[:len(good)-5], 0o600) },
		"empty":  func() error { return os.WriteFile(path, nil, 0o600) },
		"shared": func() error { return os.Chmod(path, 0o640) },
		"a right": func() error {
			return os.WriteFile(path, []byte(strings.Replace(string(good), `"trade"`, `"everything"`, 1)), 0o600)
		},
		"newer": func() error {
			return os.WriteFile(path, []byte(strings.Replace(string(good), `"version": 1`, `"version": 2`, 1)), 0o600)
		},
		"a member": func() error {
			return os.WriteFile(path, []byte(strings.Replace(string(good), `"name"`, `"only_on_mondays": true, "name"`, 1)), 0o600)
		},
		"large": func() error { return os.WriteFile(path, []byte(string(good)+strings.Repeat(" ", most)), 0o600) },
	}
	for name, breaks := range breaks {
		require.NoError(t, breaks(), name)
		_, err = f.Find(token)
		require.ErrorIs(t, err, ErrFile, name)
		_, err = Add(path, Key{Name: "other", May: Read}, t0)
		require.ErrorIs(t, err, ErrFile, name)
		assert.NoFileExists(t, path+".tmp", name)
		require.NoError(t, os.Remove(path))
		_, err = f.Find(token)
		require.ErrorIs(t, err, ErrUnknown, "without a file there is no key")
		require.NoError(t, os.WriteFile(path, good, 0o600))
		_, err = f.Find(token)
		require.NoError(t, err, name)
	}
}

func TestKeysThatCannotBeMade(t *testing.T) {
	path := file(t)
	for why, k := range map[string]Key{
		"name":    {Name: "a b", May: Read},
		"no name": {May: Read},
		"right":   {Name: "a", May: "write"},
		"account": {Name: "a", May: Read, Live: true},
		"paper":   {Name: "a", May: Read, Accounts: []string{"acc_1"}},
		"blank":   {Name: "a", May: Read, Live: true, Accounts: []string{""}},
	} {
		_, err := Add(path, k, t0)
		require.Error(t, err, why)
	}
	require.NoFileExists(t, path)
	_, err := Add(path, grid(), t0)
	require.NoError(t, err)
	_, err = Add(path, grid(), t0)
	require.ErrorContains(t, err, "grid has a key")
	require.ErrorIs(t, Remove(path, "nobody", t0), ErrUnknown)
	lock, err := disk.Lock(path+".lock", os.O_RDWR)
	require.NoError(t, err)
	require.ErrorContains(t, Remove(path, "grid", t0), "somebody else changes the keys")
	require.NoError(t, lock.Close())
	require.NoError(t, Remove(path, "grid", t0))
}

func TestWhatAKeySees(t *testing.T) {
	assert.True(t, grid().Sees("acc_1"))
	assert.False(t, grid().Sees("acc_2"))
	assert.False(t, grid().Sees(""))
	all := Key{Live: true, Accounts: []string{Every}}
	assert.True(t, all.Sees("acc_2"))
	assert.False(t, Key{Accounts: []string{Every}}.Sees("acc_2"), "a paper key sees no live account")
	k := grid()
	k.clone().Accounts[0] = "acc_2"
	assert.True(t, k.Sees("acc_1"))
}

// Whoever looks while others change sees keys as they were before or after, and whoever changes
// loses no other's change.
func TestChangesAtOnce(t *testing.T) {
	path := file(t)
	token, err := Add(path, grid(), t0)
	require.NoError(t, err)
	f, err := Open(path)
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := 0; n < 10; {
				if _, err := Add(path, Key{Name: fmt.Sprintf("bot-%d-%d", i, n), May: Read}, t0); err == nil {
					n++
				} else if !strings.Contains(err.Error(), "somebody else") {
					assert.NoError(t, err)
					return
				}
				_, err := f.Find(token)
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	keys, err := f.Keys()
	require.NoError(t, err)
	assert.Len(t, keys, 41)
}
