package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// Gapper is a [Store] that can note that something is missing from it, where Append
// fails. An exit goes out although it cannot be journaled; after a restart nobody would
// know of it, and its trade could be taken for that of a close that never arrived.
type Gapper interface {
	// SetGap notes that something is missing, durably, or that it matters no longer.
	SetGap(missing bool) error
	// Gap reports whether something is missing.
	Gap() (missing bool, err error)
}

const gapSuffix = ".gap"

// SetGap implements [Gapper] by an empty file beside the journal: that takes no room,
// and can succeed where the journal takes nothing.
func (l *Log) SetGap(missing bool) error {
	change := func() error {
		if !missing {
			return l.disk.remove(l.path + gapSuffix)
		}
		f, err := l.disk.create(l.path + gapSuffix)
		if err != nil {
			return err
		}
		return f.Close()
	}
	err := change()
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = l.disk.syncDir(l.path)
	}
	if err != nil {
		return fmt.Errorf("journal: gap of %q: %w", l.path, err)
	}
	return nil
}

// Gap implements [Gapper].
func (l *Log) Gap() (bool, error) {
	f, err := l.disk.open(l.path + gapSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("journal: gap of %q: %w", l.path, err)
	}
	return true, f.Close()
}
