package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/disk"
)

// An audit at audit.jsonl is in
//
//	audit.jsonl.000000000001   what was begun with line 1, and is full
//	audit.jsonl.000000004711   the next, begun with line 4711
//	audit.jsonl                what is written to
//
// A file is never changed but at its end, and never again once it has its number. One
// that ends in a torn line is left as it is, and the next one says so.

// Files returns the names of the files of the audit at path, the oldest first.
func Files(path string) ([]string, error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	type segment struct {
		name  string
		first uint64
	}
	var segments []segment
	found := false
	for _, entry := range entries {
		found = found || entry.Name() == base
		number, ok := strings.CutPrefix(entry.Name(), base+".")
		if !ok || len(number) < segmentDigits {
			continue
		}
		first, err := strconv.ParseUint(number, 10, 64)
		if err != nil || segmentName(base, first) != entry.Name() {
			continue
		}
		segments = append(segments, segment{filepath.Join(dir, entry.Name()), first})
	}
	slices.SortFunc(segments, func(a, b segment) int {
		if a.first < b.first {
			return -1
		}
		return 1
	})
	var names []string
	for _, s := range segments {
		names = append(names, s.name)
	}
	if found {
		names = append(names, path)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("record: there is no audit: %w", &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist})
	}
	return names, nil
}

const segmentDigits = 12

func segmentName(path string, first uint64) string {
	return fmt.Sprintf("%s.%0*d", path, segmentDigits, first)
}

// file is a *disk.File, unless a test wants a disk that fails.
type file interface {
	io.WriteCloser
	Sync() error
	Size() (int64, error)
	Check() error // that it is the one at its path
}

// storage is where files are.
type storage struct {
	open   func(path string, flag int) (file, error) // and locks it
	rename func(from, to string) error
}

var realDisk = storage{open: openLocked, rename: os.Rename}

func openLocked(path string, flag int) (file, error) {
	f, err := disk.Lock(path, flag)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// segments is the chain on its way to the disk. Its methods are called by one
// goroutine at a time.
type segments struct {
	path   string
	holder string // whose it is; empty if nobody said so
	max    int64
	sync   bool
	disk   storage
	enc    encoder

	file    file   // nil while there is none to write to
	retired bool   // the file at path has its number, so that a new one can be made
	first   uint64 // the number of the file's first line
	seq     uint64 // of the last line
	head    string // its hash
	size    int64
	torn    *Torn  // how the file ends, where a write has failed
	synced  uint64 // the last line that is durable
}

// load finds the end of the chain, and opens the file that is to be written to.
func (s *segments) load() (err error) {
	s.file, err = s.disk.open(s.path, os.O_WRONLY|os.O_APPEND) // locked before it is read
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := Files(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.head, s.retired = noHash, true // a new chain
	for len(names) > 0 {
		last := names[len(names)-1]
		v := verifier{}
		if err := v.named(last, nil); err != nil {
			return err
		}
		if v.empty {
			if err := s.canBeOurs(last); err != nil {
				return err
			}
			names = names[:len(names)-1] // it has nothing; what it has of a line is written anew
			continue
		}
		if s.holder == "" {
			s.holder = v.report.Holder
		}
		if v.report.Holder != "" && v.report.Holder != s.holder {
			return &HolderError{Path: s.path, Holder: v.report.Holder, Wanted: s.holder}
		}
		s.first, s.seq, s.head, s.torn = v.report.First, v.report.Last, v.report.Head, v.report.Torn
		s.retired = last != s.path
		break
	}
	if s.retired || s.torn != nil {
		if s.file != nil {
			if err := s.file.Close(); err != nil {
				return err
			}
			s.file = nil
		}
		return s.rotate()
	}
	s.size, err = s.file.Size()
	return err
}

// canBeOurs refuses to overwrite a file that is no beginning of an audit.
func (s *segments) canBeOurs(name string) error {
	f, err := disk.Look(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	ours, err := plausible(f)
	if err == nil && (!ours || name != s.path) {
		err = &TamperedError{File: 1, Name: name, Line: 1, Reason: "there is no whole line"}
	}
	return err
}

// append writes an event, to the file that is at the path. After an error the chain is where it was.
func (s *segments) append(e *Event) error {
	if err := s.file.Check(); err != nil {
		return err
	}
	line, hash, err := s.line(e)
	if err != nil {
		return err
	}
	if s.size+int64(len(line)) > s.max && s.seq > s.first {
		if err := s.rotate(); err != nil {
			return err
		}
		if line, hash, err = s.line(e); err != nil { // it has another place now
			return err
		}
	}
	n, err := s.file.Write(line)
	if n < len(line) {
		if n > 0 {
			s.torn = tornOf(line[:n])
		}
		return orShort(err)
	}
	s.seq, s.head, s.size = e.Seq, hash, s.size+int64(n)
	return nil
}

func (s *segments) line(e *Event) (line []byte, hash string, err error) {
	e.Seq = s.seq + 1
	return s.enc.line(s.head, e)
}

// usable reports whether the next line can be appended to the file.
func (s *segments) usable() bool { return s.file != nil && s.torn == nil }

// rotate gives the file its number and begins the next. After an error it can be
// called again, and goes on where it failed.
func (s *segments) rotate() error {
	if s.file != nil {
		if err := s.file.Check(); err != nil {
			return err
		}
		if s.sync {
			if err := s.file.Sync(); err != nil {
				return &syncError{err}
			}
			s.synced = s.seq
		}
		err := s.file.Close()
		s.file, s.retired = nil, false
		if err != nil {
			return err
		}
	}
	if !s.retired {
		name := segmentName(s.path, s.first)
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is in the way", name)
		}
		if err := s.disk.rename(s.path, name); err != nil {
			return err
		}
		s.retired = true
	}
	// What may be there is the beginning of a first line, which is written anew.
	next, err := s.disk.open(s.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	e := Event{At: now(), Kind: KindSegment, Holder: s.holder, Format: format, Torn: s.torn}
	line, hash, err := s.line(&e)
	if err == nil {
		var n int
		if n, err = next.Write(line); n < len(line) {
			err = orShort(err)
		} else {
			err = nil
		}
	}
	if err == nil && s.sync {
		err = disk.SyncFolder(s.path)
	}
	if err != nil {
		return errors.Join(err, next.Close())
	}
	s.file, s.retired, s.torn = next, false, nil
	s.first, s.seq, s.head, s.size = e.Seq, e.Seq, hash, int64(len(line))
	return nil
}

// syncError is a sync that has failed, which nothing but opening anew mends.
type syncError struct{ err error }

func (e *syncError) Error() string { return fmt.Sprintf("a sync has failed: %v", e.err) }
func (e *syncError) Unwrap() error { return e.err }

func orShort(err error) error {
	if err == nil {
		return io.ErrShortWrite
	}
	return err
}

// now is a time as it stands in a line.
func now() time.Time { return time.Now().UTC().Round(0) }
