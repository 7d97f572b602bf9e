package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tradingapi/trading-go/internal/disk"
)

// storage is all that the log does to storage. Tests put one in its place that loses
// power, or fails.
type storage interface {
	open(path string) (file, error)   // that exists, to read and write, and locks it
	create(path string) (file, error) // that does not exist, and locks it
	remove(path string) error
	become(f, old file, path string) (file, error) // f takes the place of old, if there is one
	syncDir(path string) error                     // makes the names in the folder of a path durable
}

type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Sync() error  // of the bytes and the size
	Check() error // that it is the one at its path
}

type osDisk struct{}

func (osDisk) open(path string) (file, error) { return orNone(disk.Lock(path, os.O_RDWR)) }

func (osDisk) create(path string) (file, error) {
	return orNone(disk.Lock(path, os.O_RDWR|os.O_CREATE|os.O_EXCL))
}

func (osDisk) remove(path string) error { return os.Remove(path) }

func (osDisk) become(f, old file, path string) (file, error) {
	was, _ := old.(*disk.File)
	return orNone(f.(*disk.File).Become(path, was))
}

func (osDisk) syncDir(path string) error { return disk.SyncFolder(path) }

func orNone(f *disk.File, err error) (file, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// checkPath refuses what cannot become a journal.
func checkPath(path string) error {
	if path == "" {
		return errors.New("journal: path must not be empty")
	}
	f, err := disk.Look(path)
	if err == nil {
		return f.Close()
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
