package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Errors, to be compared with [errors.Is].
var (
	// ErrLocked means that another process has a file open, or this one has it twice.
	ErrLocked = errors.New("in use by another process, or twice by this one")
	// ErrMoved means that a file is not at its path any more.
	ErrMoved = errors.New("the file was taken away while it was open")
	// ErrUnsafe means that others can change a file, or put another in its place.
	ErrUnsafe = errors.New("not safe from others")
)

// What others than the owner of a file must not have.
const (
	NoWrite  fs.FileMode = 0o022
	NoAccess fs.FileMode = 0o077
)

const owner = 0o600 // the mode of a new file

// File is an open file, and which one it was at its path.
type File struct {
	*os.File
	path   string
	info   fs.FileInfo
	locked bool // by this very descriptor
}

// Open opens a file that is trusted: see the package. A new one is its owner's alone.
func Open(path string, flag int) (*File, error) {
	f, err := trusted(path, flag, open)
	if err != nil {
		return nil, err
	}
	return f.cut(flag)
}

// Look opens a file to be looked at, whoever it belongs to: it is a regular one, and no link.
func Look(path string) (*File, error) { return open(path, os.O_RDONLY) }

func open(path string, flag int) (*File, error) {
	return regular(path, func() (*os.File, error) { return os.OpenFile(path, flag|openFlags, owner) })
}

// regular opens nothing but a regular file: to open a pipe or a device can take for ever.
func regular(path string, opened func() (*os.File, error)) (*File, error) {
	if info, err := os.Lstat(path); err == nil {
		if err := wantRegular(path, info); err != nil {
			return nil, err
		}
	}
	f, err := opened()
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
	return &File{File: f, path: path, info: info}, nil
}

func wantRegular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fmt.Errorf("path %q must be a file, is a folder", path)
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("path %q must be a file, is a symbolic link: name what it points to", path)
	case !mode.IsRegular():
		return fmt.Errorf("path %q must be a regular file, is %s", path, mode.Type())
	}
	return nil
}

func trusted(path string, flag int, open func(path string, flag int) (*File, error)) (*File, error) {
	if err := trustFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := open(path, flag&^os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	if err := trust(path, f.info, NoWrite); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// cut empties the file, if that is asked for, once it is known whose it is.
func (f *File) cut(flag int) (*File, error) {
	if flag&os.O_TRUNC == 0 {
		return f, nil
	}
	if err := f.Truncate(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// trust wants a file whose owner alone has some rights.
func trust(path string, info fs.FileInfo, not fs.FileMode) error {
	if err := owned(path, info); err != nil {
		return err
	}
	_, links, known := stat(info)
	switch mode := info.Mode(); {
	case !known:
		return nil
	case mode&not != 0:
		return fmt.Errorf("%w: others than the owner of %s may use it, it has mode %#o: chmod %#o %[2]s", ErrUnsafe, path, mode.Perm(), owner)
	case links > 1:
		return fmt.Errorf("%w: %s has %d names (hard links), and a change under one of them changes all: remove the others", ErrUnsafe, path, links)
	}
	return nil
}

// owned wants what belongs to the user of this process, or to root.
func owned(path string, info fs.FileInfo) error {
	if uid, _, known := stat(info); known && uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to user %d, and this process is of user %d: run it as that user, or chown", ErrUnsafe, path, uid, os.Geteuid())
	}
	return nil
}

// trustFolder wants the folder of a file to be one where others can put nothing in its place. A
// group has been chosen by somebody; in a folder as /tmp nobody can rename what belongs to another.
func trustFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode(); runtime.GOOS != "windows" && mode&0o002 != 0 && mode&fs.ModeSticky == 0 {
		return fmt.Errorf("%w: everybody can put files into the folder %s, which has mode %#o: chmod o-w %[2]s", ErrUnsafe, path, mode.Perm())
	}
	return nil
}

// OwnFolder wants a folder of this user's own, in which others have not some rights.
func OwnFolder(path string, not fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	uid, _, known := stat(info)
	switch mode := info.Mode(); {
	case !mode.IsDir():
		return fmt.Errorf("path %q must be a folder", path)
	case known && uid != os.Geteuid():
		return fmt.Errorf("%w: the folder %s belongs to user %d, and this process is of user %d: run it as that user, or chown", ErrUnsafe, path, uid, os.Geteuid())
	case known && mode&not != 0:
		return fmt.Errorf("%w: others can use the folder %s, which has mode %#o: chmod 0700 %[2]s", ErrUnsafe, path, mode.Perm())
	}
	return nil
}

// Read reads a file that is trusted, and in which others have not some rights. What is longer than
// most is refused. The info is that of what was read.
func Read(path string, most int64, not fs.FileMode) (text []byte, info fs.FileInfo, err error) {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	if err := trust(path, f.info, not); err != nil {
		return nil, nil, err
	}
	text, err = f.readAll(most)
	return text, f.info, err
}

// ReadAny reads a file that is looked at, whoever it belongs to.
func ReadAny(path string, most int64) ([]byte, error) {
	f, err := Look(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	return f.readAll(most)
}

func (f *File) readAll(most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s must have at most %d bytes, has more", f.path, most)
	}
	return text, err
}

// Check compares the file with what is at its path now. The error is [ErrMoved] if that is nothing,
// or another file.
func (f *File) Check() error {
	if stillAt(f.path, f.info) {
		return nil
	}
	look := os.Lstat
	if f.info.IsDir() {
		look = os.Stat // which may be named by a link
	}
	now, err := look(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: nothing is at %s: put it back, and start again", ErrMoved, f.path)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMoved, err)
	case !os.SameFile(f.info, now):
		return fmt.Errorf("%w: another one is at %s: put the one back that was there, and start again", ErrMoved, f.path)
	}
	return nil
}

// Size is how many bytes it has now.
func (f *File) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync makes its bytes and its size durable.
func (f *File) Sync() error { return datasync(f.File) }
