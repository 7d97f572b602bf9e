package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// disk is all that the log does to storage. Tests put one in its place that loses
// power, or fails.
type disk interface {
	open(path string) (file, error)   // that exists, to read and write
	create(path string) (file, error) // that does not exist
	remove(path string) error
	rename(from, to string) error
	syncDir(path string) error // makes the names in the folder of a path durable
}

type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Sync() error // of the bytes and the size
}

type osDisk struct{}

func (osDisk) open(path string) (file, error) { return openFile(path, os.O_RDWR) }

func (osDisk) create(path string) (file, error) {
	return openFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func (osDisk) remove(path string) error     { return os.Remove(path) }
func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // where a folder cannot be synced
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

type osFile struct{ *os.File }

// openFile opens a regular file, and follows no link.
func openFile(path string, flag int) (file, error) {
	f, err := os.OpenFile(path, flag|openFlags, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = wantRegular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) Sync() error { return datasync(f.File) }

// checkPath refuses what cannot become a journal.
func checkPath(path string) error {
	if path == "" {
		return errors.New("journal: path must not be empty")
	}
	info, err := os.Lstat(path)
	if err == nil {
		err = wantRegular(path, info)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("journal: %w", err)
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("journal: path %q: its folder must exist: %w", path, err)
	}
	return nil
}

func wantRegular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fmt.Errorf("path %q must be a file, is a folder", path)
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("path %q must be a file, is a symbolic link: open what it points to", path)
	case !mode.IsRegular():
		return fmt.Errorf("path %q must be a regular file, is %s", path, mode.Type())
	}
	return nil
}
