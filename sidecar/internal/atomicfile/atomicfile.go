// Package atomicfile changes a file whole or not at all, and makes the change last.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Write puts a text in place of what is at path. f is a new file in the same folder, which becomes
// that file or is removed.
func Write(f *os.File, path string, text []byte) error {
	_, err := f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(path)
}

// Remove removes the file at path, if it is there.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncFolder(path)
}

// syncFolder makes a change of the folder in which path is last.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // where a folder cannot be synced
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
