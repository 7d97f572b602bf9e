package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

// TestRefusedPaths has Open refuse what cannot be a journal, name the path and the
// rule, and change nothing.
func TestRefusedPaths(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	victim := []byte("something else, that is longer than a header. ")
	victim = bytes.Repeat(victim, 500)
	for name, content := range map[string][]byte{"victim": victim, "linked": victim, "empty": nil, "text": []byte("text")} {
		require.NoError(t, os.WriteFile(in(name), content, 0o600))
	}
	require.NoError(t, os.Symlink(in("victim"), in("link")))
	require.NoError(t, os.Symlink(in("nowhere"), in("dangling")))
	require.NoError(t, os.Link(in("linked"), in("hard link")))
	require.NoError(t, os.Symlink(in("victim"), in("locked.lock")))
	require.NoError(t, os.Mkdir(in("folder"), 0o700))
	for _, test := range []struct{ path, says string }{
		{"", "must not be empty"},
		{in("folder"), "is a folder"},
		{in("folder") + "/", "is a folder"},
		{in("missing/bot.journal"), "must exist"},
		{in("victim/bot.journal"), "not a directory"},
		{in("link"), "is a symbolic link"},
		{in("dangling"), "is a symbolic link"},
		{in("locked"), "locked.lock"},
		{os.DevNull, "must be a regular file"},
		{in("hard link"), "has 2 names"},
		{in("victim"), "not that of a journal"},
		{in("empty"), "not a journal"},
		{in("text"), "not a journal"},
	} {
		_, err := journal.Open(test.path)
		require.ErrorContains(t, err, test.says, "%q", test.path)
		assert.True(t, strings.HasPrefix(err.Error(), "journal: "), err)
		assert.NotContains(t, err.Error(), "journal: journal")
		assert.Contains(t, err.Error(), strings.TrimSuffix(test.path, "/"))
		for _, err := range journal.Read(test.path) {
			assert.Error(t, err, "Read(%q) yields something", test.path)
		}
	}
	b, err := os.ReadFile(in("victim"))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(b, victim), "the file elsewhere has changed")
	assert.NoFileExists(t, in("nowhere"), "created through a link")
	assert.NoFileExists(t, in("locked"), "created without its lock")
}

// TestPlantedTemporary has a link where the file is written anew.
func TestPlantedTemporary(t *testing.T) {
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "bot.journal")
	require.NoError(t, errors.Join(os.WriteFile(victim, []byte("text"), 0o600), os.Symlink(victim, path+".tmp")))
	l, err := journal.Open(path)
	require.NoError(t, err)
	defer l.Close()
	b, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "text", string(b))
}

func TestNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	for range 3 {
		l, err := journal.Open(path)
		require.NoError(t, err)
		assert.Zero(t, l.Repaired())
		require.NoError(t, errors.Join(l.Close(), l.Close()))
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the journal and its lock")
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		assert.True(t, runtime.GOOS == "windows" || info.Mode() == 0o600, "%s has mode %s", entry.Name(), info.Mode())
	}
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	first, err := journal.Open(path)
	require.NoError(t, err)
	_, err = journal.Open(path, journal.WithLockTimeout(-1))
	require.ErrorContains(t, err, "must not be negative")
	wantLocked := func(t *testing.T, want time.Duration, opts ...journal.Option) {
		began := time.Now()
		_, err := journal.Open(path, opts...)
		require.ErrorIs(t, err, journal.ErrLocked)
		require.ErrorContains(t, err, path)
		assert.Equal(t, want, time.Since(began))
	}
	synctest.Test(t, func(t *testing.T) {
		wantLocked(t, 0, journal.WithLockTimeout(0))
		wantLocked(t, 5*time.Second)
		wantLocked(t, time.Minute, journal.WithLockTimeout(time.Minute))
	})
	synctest.Test(t, func(t *testing.T) {
		go func() {
			time.Sleep(time.Second)
			first.Close()
		}()
		l, err := journal.Open(path)
		require.NoError(t, err)
		l.Close()
	})
}

// TestLargest appends as much as fits into one call, and a byte more.
func TestLargest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	l := open(t, path)
	data := make([]byte, 1<<20)
	for len(data) > 0 {
		err := l.Append(t.Context(), false, journal.Record{Intent: "a", Data: data})
		if err == nil {
			break
		}
		require.ErrorIs(t, err, journal.ErrInvalid)
		require.ErrorContains(t, err, "1048576")
		data = data[1:]
	}
	assert.GreaterOrEqual(t, len(data), 1<<20-100)
	require.NoError(t, l.Append(t.Context(), true, journal.Record{Intent: "b"}), "after records that are too large")
	require.NoError(t, l.Close())
	l = open(t, path)
	for h, err := range l.Pending(t.Context()) {
		require.NoError(t, err)
		assert.True(t, h.Intent == "b" || len(h.Records[0]) == len(data))
	}
}

// TestRead reads beside the process that writes, and what is before a damage.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	l := open(t, path)
	read := func() (intents string, err error) {
		for h, e := range journal.Read(path) {
			intents, err = intents+h.Intent, e
		}
		return intents, err
	}
	for i, intent := range []string{"a", "b", "c"} {
		require.NoError(t, l.Append(t.Context(), i != 2, journal.Record{Intent: intent}))
	}
	got, err := read()
	require.NoError(t, err)
	assert.Equal(t, "abc", got)
	require.NoError(t, l.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.LastIndexByte(b, 'c')
	b[at] = 'C'
	require.NoError(t, os.WriteFile(path, b, 0o600))
	got, err = read()
	var damage *journal.DamageError
	require.ErrorAs(t, err, &damage)
	assert.Equal(t, "ab", got, "what is before the damage")
	assert.Equal(t, path, damage.Path)
	assert.Less(t, damage.Offset, int64(at))
	_, err = journal.Open(path)
	require.ErrorAs(t, err, &damage)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(after, b), "a damaged journal was changed")
}
