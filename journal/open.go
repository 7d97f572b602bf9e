package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Open opens the journal at path, for this process alone, and makes it if there
// is none. The directory has to be there. It reads the whole file, and returns a
// [*LockedError], [*DamagedError] or [*VersionError] rather than open a part.
func Open(path string, o Options) (*Journal, error) { return openWith(osDisk(), path, o) }

func openWith(d disk, path string, o Options) (*Journal, error) {
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
	j := &Journal{path: path, options: o, disk: d}
	// Reading the file first, with a lock that others who read may share, leaves
	// nothing for bbolt to stumble over when it opens the file to write.
	if j.db, err = openFile(d.open, path, true, o.Wait, o.Wait); err != nil {
		return nil, err
	}
	err = verifyFile(path)
	if err == nil && !o.ReadOnly {
		if err := j.db.Close(); err != nil {
			return nil, err
		}
		if j.db, err = openFile(d.open, path, false, time.Until(deadline), o.Wait); err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = refuse(path, guard(j.load))
	}
	if err == nil && !o.ReadOnly {
		if err = guard(j.start); err != nil {
			err = fmt.Errorf("journal: %w", err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, j.db.Close())
	}
	return j, nil
}

// start puts what is in the log into the file, and goes on with a log of its own.
// Whoever is killed between two of these steps leaves what load understands.
func (j *Journal) start() (err error) {
	if j.now.state.format != formatWhole {
		if err := j.checkpoint(j.now.state.whole()); err != nil {
			return err
		}
	}
	if j.log, err = makeLog(&j.disk, logPath(j.path)); err != nil {
		return err
	}
	if err := j.checkpoint(j.now.state.logged(j.log.id, j.log.generation)); err != nil {
		return errors.Join(err, j.log.file.Close())
	}
	return nil
}

// refuse says of what kind an error is that was met while reading.
func refuse(path string, err error) error {
	var system *fs.PathError
	var newer *VersionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &newer):
		newer.Path = path
		return newer
	case errors.As(err, &system):
		return fmt.Errorf("journal: %w", err)
	}
	return &DamagedError{Path: path, Err: err}
}

// openFile opens the database, and waits as long as is left of the time.
func openFile(open func(string, int, os.FileMode) (*os.File, error), path string, readOnly bool, left, wait time.Duration) (*bbolt.DB, error) {
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
