package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

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
	if err := wantNoLog(path); err != nil {
		return err
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

// wantNoLog refuses to make a file where the log of another one is: it is made
// after its file, and goes before it.
func wantNoLog(path string) error {
	log, err := readLog(path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if info, err := os.Stat(path); len(log) == 0 || err == nil && info.Size() > 0 {
		return nil // which another process may have made meanwhile
	}
	return &DamagedError{Path: path, Err: fmt.Errorf("it is not there, and %s is: orders may be pending in it", logPath(path))}
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
	for t := range tableCount {
		if _, err := tx.CreateBucket(t.name()); err != nil {
			return err
		}
	}
	bucket, err := tx.CreateBucket(bucketState)
	if err != nil {
		return err
	}
	return bucket.Put(keyState, (&state{format: formatWhole}).encode())
}
