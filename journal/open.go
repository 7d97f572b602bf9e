package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/tradingapi/trading-go/internal/disk"
)

// Option changes how [Open] opens a journal.
type Option func(*options) error

type options struct{ lockTimeout time.Duration }

// WithLockTimeout sets how long Open waits for another process to close the journal.
// The default is 5 seconds; 0 means that Open does not wait.
func WithLockTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d < 0 {
			return fmt.Errorf("journal: WithLockTimeout must not be negative, is %s", d)
		}
		o.lockTimeout = d
		return nil
	}
}

// Open opens the journal at path, and creates it if there is none; the folder must
// exist. It reads the whole file. It returns [ErrLocked] if the journal is open
// elsewhere, and a [*DamageError] if the file is not what was written.
func Open(path string, opts ...Option) (*Log, error) {
	o := options{lockTimeout: 5 * time.Second}
	for _, option := range opts {
		if err := option(&o); err != nil {
			return nil, err
		}
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path) // the program may go to another folder
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	var l *Log
	unlock, err := lock(path, o.lockTimeout, func() (err error) {
		l, err = openLog(osDisk{}, path, usual)
		return err
	})
	if err != nil {
		return nil, err
	}
	l.unlock = unlock
	return l, nil
}

// lock waits for the lock file beside a journal, and for the journal itself, which is
// locked by what is to be done. The lock file is left behind: it is for those who make
// a journal at the same time.
func lock(path string, timeout time.Duration, do func() error) (unlock func() error, err error) {
	const pause = 20 * time.Millisecond
	deadline := time.Now().Add(timeout)
	for {
		var beside *disk.File
		if beside, err = disk.Lock(path+".lock", os.O_RDWR|os.O_CREATE); err != nil {
			err = fmt.Errorf("journal: %w", err)
		} else if err = do(); err == nil {
			return beside.Close, nil
		} else {
			err = errors.Join(err, beside.Close())
		}
		left := time.Until(deadline)
		if !errors.Is(err, disk.ErrLocked) {
			return nil, err
		}
		if left <= 0 {
			return nil, fmt.Errorf("%w: %q (waited %s)", ErrLocked, path, timeout)
		}
		time.Sleep(min(left, pause))
	}
}

func openLog(d storage, path string, sizes sizes) (*Log, error) {
	l := &Log{path: path, disk: d, turn: make(chan struct{}, 1), sizes: sizes, unlock: func() error { return nil }}
	if err := l.load(); err != nil {
		var damage *DamageError
		if !errors.As(err, &damage) {
			err = fmt.Errorf("journal: open %q: %w", path, err)
		}
		if l.file != nil {
			err = errors.Join(err, l.file.Close())
		}
		return nil, err
	}
	return l, nil
}

func (l *Log) load() (err error) {
	l.file, err = l.disk.open(l.path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return err
	}
	if err := l.clear(); err != nil {
		return err
	}
	if missing {
		l.file, l.isNew, l.state = nil, true, newState()
		return l.rewrite()
	}
	s, err := scan(l.path, l.file)
	if err != nil {
		return err
	}
	l.segment, l.state, l.repaired = s.segment, s.state, s.torn
	if len(l.state.pending) == 0 {
		l.quiet = l.state.last
	}
	// What is behind the mark may be in memory alone, after a sync that failed. It
	// is written anew rather than synced, which could succeed and do nothing.
	if l.mark.end < l.end || l.repaired > 0 || l.bloated(64<<10) {
		return l.rewrite()
	}
	// The last process may have ended between a rename and this.
	return l.disk.syncDir(l.path)
}

// clear removes what a process that was killed has left.
func (l *Log) clear() error {
	if err := l.disk.remove(l.path + temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Read yields what a journal holds, in the order of first records, without opening
// it for writing: it changes nothing, and may be used beside the process that has
// the journal open. If the file is damaged, Read yields what is before the damage,
// and the [*DamageError] last; an intent that is pending there may have been
// resolved behind it.
func Read(path string) iter.Seq2[History, error] {
	return func(yield func(History, error) bool) {
		s, err := read(path)
		for _, e := range s.all() {
			if !yield(e.owned(), nil) {
				return
			}
		}
		if err != nil {
			yield(History{}, err)
		}
	}
}

func read(path string) (*state, error) {
	if err := checkPath(path); err != nil {
		return newState(), err
	}
	f, err := disk.Look(path)
	if err != nil {
		return newState(), fmt.Errorf("journal: %w", err)
	}
	s, err := scan(path, f)
	for range 2 { // a frame that is being written looks damaged, but not for long
		if err != nil {
			s, err = scan(path, f)
		}
	}
	return s.state, errors.Join(err, f.Close())
}
