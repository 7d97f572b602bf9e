package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// One has a lock at a time, also where the name of the file was given to another file.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	_, err := Lock(path, os.O_RDWR)
	require.ErrorIs(t, err, fs.ErrNotExist)
	first, err := Lock(path, os.O_RDWR|os.O_CREATE)
	require.NoError(t, err)
	_, err = Lock(path, os.O_RDWR|os.O_CREATE)
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, path)
	require.NoError(t, first.Check())
	if runtime.GOOS != "windows" { // where nobody can rename it
		require.NoError(t, os.Rename(path, path+"-away"))
		require.ErrorIs(t, first.Check(), ErrMoved)
		require.ErrorContains(t, first.Check(), "nothing is at "+path)
		second, err := Lock(path, os.O_RDWR|os.O_CREATE)
		require.NoError(t, err)
		require.ErrorContains(t, first.Check(), "another one is at "+path)
		require.NoError(t, second.Close())
	}
	require.NoError(t, first.Close())
	again, err := Lock(path, os.O_RDWR|os.O_CREATE)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

// A file that takes the place of another stays locked.
func TestBecome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var old *File
	for _, text := range []string{"one", "two"} {
		f, err := Lock(path+".tmp", os.O_RDWR|os.O_CREATE|os.O_EXCL)
		require.NoError(t, err)
		_, err = f.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, f.Sync())
		f, err = f.Become(path, old)
		require.NoError(t, err)
		old = f
		assert.Equal(t, text, read(t, path))
		require.NoError(t, f.Check())
		_, err = Lock(path, os.O_RDWR)
		require.ErrorIs(t, err, ErrLocked)
		size, err := f.Size()
		require.NoError(t, err)
		assert.Equal(t, int64(len(text)), size)
	}
	require.NoError(t, os.Mkdir(path+"-folder", 0o700))
	_, err := old.Become(path+"-folder", nil)
	require.Error(t, err)
	require.ErrorIs(t, old.Close(), fs.ErrClosed)
}

// A file is replaced whole, and what is left of an earlier time goes.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "file"), filepath.Join(dir, "victim")
	require.NoError(t, errors.Join(os.WriteFile(victim, []byte("text"), 0o600), os.Symlink(victim, path+".tmp")))
	for _, durable := range []bool{true, false} {
		require.NoError(t, Replace(path, []byte("new"), durable))
		assert.Equal(t, "new", read(t, path))
		assert.NoFileExists(t, path+".tmp")
		require.NoError(t, os.WriteFile(path+".tmp", []byte("left by one that was killed"), 0o600))
	}
	assert.Equal(t, "text", read(t, victim))
	require.NoError(t, errors.Join(Remove(path), Remove(path)))
	assert.NoFileExists(t, path)
	require.NoError(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
	require.Error(t, Replace(path, nil, true))
	assert.NoFileExists(t, path+".tmp")
}

// A file that is to be emptied is not, unless it is this user's alone.
func TestCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(path, 0o620))
		_, err := Open(path, os.O_WRONLY|os.O_TRUNC)
		require.ErrorIs(t, err, ErrUnsafe)
		require.ErrorContains(t, err, "chmod 0600")
		assert.Equal(t, "text", read(t, path))
		require.NoError(t, os.Chmod(path, 0o600))
	}
	f, err := Open(path, os.O_WRONLY|os.O_TRUNC)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	assert.Empty(t, read(t, path))
}

// What is read is bounded.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("four"), 0o600))
	text, info, err := Read(path, 4, NoAccess)
	require.NoError(t, err)
	assert.Equal(t, "four", string(text))
	assert.Equal(t, int64(4), info.Size())
	_, _, err = Read(path, 3, NoAccess)
	require.ErrorContains(t, err, "at most 3 bytes")
	_, err = ReadAny(path, 3)
	require.ErrorContains(t, err, "at most 3 bytes")
	if runtime.GOOS == "windows" {
		return
	}
	require.NoError(t, os.Chmod(path, 0o644))
	_, _, err = Read(path, 4, NoWrite)
	require.NoError(t, err)
	_, _, err = Read(path, 4, NoAccess)
	require.ErrorIs(t, err, ErrUnsafe)
	require.NoError(t, os.Chmod(path, 0o666))
	_, err = ReadAny(path, 4)
	require.NoError(t, err, "it is only looked at")
	_, _, err = Read(path, 4, NoWrite)
	require.ErrorIs(t, err, ErrUnsafe)
}

// In a folder as /tmp everybody can make files, and nobody can rename those of another.
func TestAFolderOfEverybodys(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED: a folder has no mode here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err := Open(path, os.O_RDWR|os.O_CREATE)
	require.ErrorIs(t, err, ErrUnsafe)
	require.NoFileExists(t, path)
	require.NoError(t, os.Chmod(dir, 0o777|fs.ModeSticky))
	f, err := Open(path, os.O_RDWR|os.O_CREATE)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.ErrorIs(t, OwnFolder(dir, NoWrite), ErrUnsafe)
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, OwnFolder(dir, NoWrite))
	require.ErrorIs(t, OwnFolder(dir, NoAccess), ErrUnsafe)
	require.ErrorContains(t, OwnFolder(path, NoWrite), "must be a folder")
}

func TestUserFolder(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"/state/trading":                 {"XDG_STATE_HOME": "/state", "HOME": "/home/me"},
		"/home/me/.local/state/trading":  {"HOME": "/home/me"},
		"/users/me/.local/state/trading": {"USERPROFILE": "/users/me"},
	} {
		got, err := UserFolder(func(name string) string { return env[name] })
		require.NoError(t, err)
		assert.Equal(t, filepath.FromSlash(want), got)
	}
	_, err := UserFolder(func(string) string { return "" })
	require.ErrorContains(t, err, "no home folder")
}

// The quick look at a path agrees with the one of package os.
func TestStillAt(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, link)))
	for _, path := range []string{dir, file, link, os.DevNull, filepath.Join(dir, "none")} {
		for _, other := range []string{dir, file, os.DevNull} {
			info, err := os.Stat(other)
			require.NoError(t, err)
			now, err := os.Lstat(path)
			same := err == nil && os.SameFile(info, now)
			assert.True(t, same || !stillAt(path, info), "%s is not %s", path, other)
			if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
				assert.Equal(t, same, stillAt(path, info), "%s and %s", path, other)
			}
		}
	}
}

// BenchmarkCheck is what each sync of a journal costs more than the sync.
func BenchmarkCheck(b *testing.B) {
	f, err := Open(filepath.Join(b.TempDir(), strings.Repeat("x", 20)), os.O_RDWR|os.O_CREATE)
	require.NoError(b, err)
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
