package journal

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"go.etcd.io/bbolt"
)

// disk is every step that changes what is on the disk, in whose place a test puts
// steps that fail, hang, or are the last.
type disk struct {
	open   func(path string, flag int, mode os.FileMode) (*os.File, error)
	commit func(tx *bbolt.Tx) error // of the tables: writes and syncs data, then the page that makes it valid
	write  func(file *os.File, b []byte, at int64) error
	sync   func(file *os.File) error
	rename func(from, to string) error
	remove func(path string) error
	names  func(dir string) error // makes new names in the directory durable
}

func osDisk() disk {
	return disk{
		open:   os.OpenFile,
		commit: (*bbolt.Tx).Commit,
		write: func(file *os.File, b []byte, at int64) error {
			_, err := file.WriteAt(b, at)
			return err
		},
		sync:   datasync,
		rename: os.Rename,
		remove: os.Remove,
		names:  syncDir,
	}
}

// syncDir makes a new name in the directory durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // where a directory cannot be synced
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}
