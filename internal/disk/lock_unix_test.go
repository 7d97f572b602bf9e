//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program that another goroutine starts has a copy of each descriptor until it runs, and a lock is of all
// copies: on a busy machine that takes a while.
func TestALockEndsBesideACopyOfItsDescriptor(t *testing.T) {
	folder := t.TempDir()
	copied := func(f *os.File) {
		left, err := syscall.Dup(int(f.Fd()))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, syscall.Close(left)) })
	}
	for range 2 {
		f, err := Lock(filepath.Join(folder, "file"), os.O_RDWR|os.O_CREATE)
		require.NoError(t, err)
		copied(f.File)
		require.NoError(t, f.Close())
		both, err := LockFolder(folder)
		require.NoError(t, err)
		copied(both.file.File)
		copied(both.folder.File)
		require.NoError(t, both.Close())
	}
}
