package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Replace writes a file whole or not at all: a new one beside it takes its place. A durable one
// survives a power cut when it returns. One process at a time may replace a file.
func Replace(path string, text []byte, durable bool) error {
	beside := path + ".tmp"
	// One may be left by a process that was killed, or be a link that somebody has put there.
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := Open(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	if !durable {
		return nil
	}
	return SyncFolder(path)
}

// Become gives the file the name path, where old is until then, which may be nil; old is closed.
// The file stays locked, on systems that rename what is open.
func (f *File) Become(path string, old *File) (*File, error) {
	closeOld := func() error {
		if old == nil {
			return nil
		}
		return old.Close()
	}
	if runtime.GOOS == "windows" { // which renames no open file, and none over one
		err := errors.Join(f.Close(), closeOld())
		if err == nil {
			err = os.Rename(f.path, path)
		}
		if err != nil {
			return nil, err
		}
		return Lock(path, os.O_RDWR)
	}
	if err := os.Rename(f.path, path); err != nil {
		return nil, errors.Join(err, f.Close(), closeOld())
	}
	f.path = path
	if err := closeOld(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Remove removes a file durably. That there is none is no error.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return SyncFolder(path)
}

// SyncFolder makes a change of names in the folder of a path durable.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil // where a folder cannot be synced
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
