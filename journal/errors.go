package journal

import (
	"errors"
	"fmt"
	"time"
)

// ErrClosed is the error of a journal that was closed.
var ErrClosed = errors.New("journal: closed")

// ErrReadOnly is the error of a write to a journal that was opened to be read.
var ErrReadOnly = errors.New("journal: opened to be read only")

// LockedError means that another process has the journal open.
type LockedError struct {
	Path string        // of the file
	Wait time.Duration // how long it was waited for
}

// Error names the file.
func (e *LockedError) Error() string {
	return fmt.Sprintf("journal: %s is open in another process (waited %s)", e.Path, e.Wait)
}

// DamagedError means that the file is not what was written, or is no journal:
// some intents may be missing, so none are read from it.
type DamagedError struct {
	Path string // of the file
	Err  error  // what was found
}

// Error says what is wrong with which file.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("journal: %s is damaged, or no journal: %v", e.Path, e.Err)
}

// Unwrap returns what was found.
func (e *DamagedError) Unwrap() error { return e.Err }

// VersionError means that a newer version of this package has written the file,
// in a format that this one would misread.
type VersionError struct {
	Path          string // of the file
	Format, Known int    // the file's, and the newest that can be read
}

// Error names both formats.
func (e *VersionError) Error() string {
	return fmt.Sprintf("journal: %s has format %d, and this version knows %d at most", e.Path, e.Format, e.Known)
}

// FailedError means that a write or a sync has failed: the journal takes nothing
// more until it is closed and opened again.
type FailedError struct {
	Path string // of the file
	Err  error  // the first failure
}

// Error names the file and the first failure.
func (e *FailedError) Error() string {
	return fmt.Sprintf("journal: %s takes nothing until it is opened again, since a write has failed: %v", e.Path, e.Err)
}

// Unwrap returns the first failure.
func (e *FailedError) Unwrap() error { return e.Err }
