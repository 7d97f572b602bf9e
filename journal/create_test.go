package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

func histories(all ...journal.History) iter.Seq2[journal.History, error] {
	return func(yield func(journal.History, error) bool) {
		for _, h := range all {
			if !yield(h, nil) {
				return
			}
		}
	}
}

func readAll(t *testing.T, path string) (all []journal.History) {
	t.Helper()
	for h, err := range journal.Read(path) {
		require.NoError(t, err)
		all = append(all, h)
	}
	return all
}

// What is created is what was given, and is opened as what it was.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	open := journal.History{Intent: "a", Records: [][]byte{[]byte("1"), []byte("2")}}
	done := journal.History{Intent: "b", Name: "n", Final: true, Records: [][]byte{[]byte("1"), []byte("2")}}
	require.NoError(t, os.WriteFile(path+".tmp", []byte("left by one that was killed"), 0o600))
	require.NoError(t, journal.Create(path, nil, true, histories(open, done)))
	done.Records = done.Records[1:]
	assert.Equal(t, []journal.History{open, done}, readAll(t, path))
	l, err := journal.Open(path)
	require.NoError(t, err)
	missing, err := l.Gap()
	require.NoError(t, err)
	assert.Equal(t, [3]bool{false, true, true}, [3]bool{l.New(), missing, l.Quiet() == nil})
	require.ErrorIs(t, journal.Create(path, nil, false, histories()), journal.ErrLocked)
	require.NoError(t, l.Close())
	require.ErrorIs(t, journal.Create(path, nil, false, histories()), fs.ErrExist)
	assert.Len(t, readAll(t, path), 2)

	long := filepath.Join(t.TempDir(), "bot.journal")
	require.NoError(t, journal.Create(long, make([]byte, 1<<20), false, histories(done)))
	l, err = journal.Open(long)
	require.NoError(t, err)
	assert.Empty(t, l.Quiet(), "what is long is not kept, as by an append")
	require.NoError(t, l.Close())

	quiet := filepath.Join(t.TempDir(), "bot.journal")
	require.NoError(t, journal.Create(quiet, []byte("last"), false, histories(done)))
	l, err = journal.Open(quiet)
	require.NoError(t, err)
	missing, err = l.Gap()
	require.NoError(t, err)
	assert.Equal(t, "last", string(l.Quiet()))
	assert.False(t, missing)
	require.NoError(t, l.Close())
}

// What cannot be created leaves no journal behind.
func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bot.journal")
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		path string
		want error
		of   iter.Seq2[journal.History, error]
	}{
		"an error of the other store": {path, broken, func(yield func(journal.History, error) bool) { yield(journal.History{}, broken) }},
		"no intent":                   {path, journal.ErrInvalid, histories(journal.History{Records: [][]byte{nil}})},
		"twice resolved":              {path, journal.ErrResolved, histories(journal.History{Intent: "a", Final: true, Records: [][]byte{nil}}, journal.History{Intent: "a", Records: [][]byte{nil}})},
		"too long":                    {path, journal.ErrInvalid, histories(journal.History{Intent: "a", Records: [][]byte{bytes.Repeat([]byte("x"), 1<<20)}})},
		"no folder":                   {filepath.Join(dir, "none", "x"), fs.ErrNotExist, histories()},
	} {
		require.ErrorIs(t, journal.Create(c.path, nil, true, c.of), c.want, name)
		require.NoFileExists(t, c.path, name)
		require.NoFileExists(t, c.path+".gap", name)
	}
	require.Error(t, journal.Create("", nil, true, histories()))
	require.NoError(t, os.Mkdir(path+".tmp", 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path+".tmp", "x"), nil, 0o600))
	require.Error(t, journal.Create(path, nil, true, histories()), "something else is in the way")
	require.NoFileExists(t, path)
}
