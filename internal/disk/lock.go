package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Lock opens a file that is trusted, and locks it until it is closed: nobody else can lock it. The
// error is [ErrLocked] if somebody has.
func Lock(path string, flag int) (*File, error) {
	for range 3 {
		f, err := trusted(path, flag, lock)
		if err != nil {
			return nil, err
		}
		err = f.Check() // else it was locked by another until that put a new one in its place
		if err == nil {
			return f.cut(flag)
		}
		if closed := f.Close(); !errors.Is(err, ErrMoved) || closed != nil {
			return nil, errors.Join(err, closed)
		}
	}
	return nil, fmt.Errorf("%w: another file is at %s each time", ErrLocked, path)
}

// Folder is a folder that is locked.
type Folder struct{ file, folder *File }

// LockFolder locks a folder of this user's own, in which others can write nothing, by the folder
// itself and a file in it.
func LockFolder(path string) (*Folder, error) {
	if err := OwnFolder(path, NoWrite); err != nil {
		return nil, err
	}
	file, err := Lock(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	folder, err := lockFolder(path)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Folder{file, folder}, nil
}

func lockFolder(path string) (*File, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := d.Stat()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return flock(&File{File: d, path: path, info: info})
}

// Check is [File.Check] of the folder.
func (f *Folder) Check() error { return f.folder.Check() }

// Close ends the lock.
func (f *Folder) Close() error { return errors.Join(f.folder.Close(), f.file.Close()) }
