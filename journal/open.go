package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Open opens the journal at path, for this process alone, and makes it if there
// is none. The directory has to be there. It reads the whole file, and returns a
// [*LockedError], [*DamagedError] or [*VersionError] rather than open a part.
func Open(path string, o Options) (*Journal, error) { return openWith(os.OpenFile, path, o) }

// opener is os.OpenFile, unless a test wants the file.
type opener func(path string, flag int, mode os.FileMode) (*os.File, error)

func openWith(open opener, path string, o Options) (*Journal, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(o.Wait)
	if !o.ReadOnly {
		if err := makeFile(path); err != nil {
			return nil, err
		}
	}
	// Reading the file first, with a lock that others who read may share, leaves
	// nothing for bbolt to stumble over when it opens the file to write.
	db, err := openFile(open, path, true, o.Wait, o.Wait)
	if err != nil {
		return nil, err
	}
	if err := verifyFile(path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if !o.ReadOnly {
		if err := db.Close(); err != nil {
			return nil, err
		}
		if db, err = openFile(open, path, false, time.Until(deadline), o.Wait); err != nil {
			return nil, err
		}
	}
	return &Journal{path: path, options: o, db: db, finish: (*bbolt.Tx).Commit}, nil
}

// openFile opens the database, and waits as long as is left of the time.
func openFile(open opener, path string, readOnly bool, left, wait time.Duration) (*bbolt.DB, error) {
	options := &bbolt.Options{
		Timeout:  max(left, 1), // zero would be for ever
		ReadOnly: readOnly,
		// A list of free pages in the file is one more thing to write with each
		// commit, and to be damaged: a page that is taken for free is overwritten.
		NoFreelistSync: true,
		NoStatistics:   true,
		OpenFile: func(path string, flag int, mode os.FileMode) (*os.File, error) {
			return open(path, flag&^os.O_CREATE, mode)
		},
	}
	var db *bbolt.DB
	err := guard(func() (err error) {
		db, err = bbolt.Open(path, 0o600, options)
		return err
	})
	var system *fs.PathError
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, berrors.ErrTimeout):
		return nil, &LockedError{Path: path, Wait: wait}
	case errors.As(err, &system):
		return nil, fmt.Errorf("journal: %w", err)
	}
	return nil, &DamagedError{Path: path, Err: err}
}

// makeFile puts an empty journal at path if there is nothing. It is complete
// before it has its name, so a process that dies here leaves no half of one.
func makeFile(path string) (err error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("journal: %w", err)
	}
	empty := err == nil
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, filepath.Base(path)+".new-") // 0600
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	temporary := file.Name()
	defer func() { _ = os.Remove(temporary) }() // gone already, if all went well
	if err := file.Close(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	db, err := openFile(os.OpenFile, temporary, false, 0, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(db.Update(makeTables), db.Close(), reserve(temporary)); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if empty { // a file without a byte is as good as none
		err = os.Rename(temporary, path)
	} else if err = os.Link(temporary, path); errors.Is(err, fs.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return syncDir(dir)
}

// room is the size of a new file, which some thousand intents fill.
const room = 4 << 20

// reserve fills the file up with zeros: a sync is slower where a file system has
// to note that a part of a file is written for the first time.
func reserve(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		_, err = file.Write(make([]byte, max(0, room-info.Size())))
	}
	return errors.Join(err, file.Sync(), file.Close())
}

func makeTables(tx *bbolt.Tx) error {
	for _, name := range tables {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	bucket, err := tx.CreateBucket(tableState)
	if err != nil {
		return err
	}
	return bucket.Put(keyState, (&state{format: format}).encode())
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
