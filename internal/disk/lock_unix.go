//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openFlags follow no link, and do not wait for the other end of a pipe.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func lock(path string, flag int) (*File, error) {
	f, err := open(path, flag)
	if err != nil {
		return nil, err
	}
	return flock(f)
}

// Close ends the lock as well. Without that a copy of the descriptor would keep it: a program that another
// goroutine starts has one until it runs.
func (f *File) Close() error {
	if f.locked {
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // of a file that is closed: Close says so
	}
	return f.File.Close()
}

// flock locks what is open, until it is closed.
func flock(f *File) (*File, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			f.locked = true
			return f, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			err = fmt.Errorf("%w: %s", ErrLocked, f.path)
		default:
			err = &os.PathError{Op: "lock", Path: f.path, Err: err}
		}
		return nil, errors.Join(err, f.Close())
	}
}

// stat is whose a file is, and how many names it has.
func stat(info fs.FileInfo) (uid, links int, known bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Nlink), true
}
