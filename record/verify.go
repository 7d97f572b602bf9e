package record

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"

	"github.com/tradingapi/trading-go/internal/disk"
)

// Report is what is in an audit.
type Report struct {
	// Files and Lines are how many were read. Lines counts those that are right.
	Files, Lines int
	// First and Last are the numbers of the first and the last line; 0 without any.
	First, Last uint64
	// Prev is the hash that the first line follows: 64 zeros where the chain begins,
	// and otherwise that of the last line of files that were not given.
	Prev string
	// Head is the hash of the last line.
	Head string
	// Closed means that the last line is KindClosed.
	Closed bool
	// Torn is what follows the last whole line; nil if nothing does.
	Torn *Torn
	// Holder is whose keys it is of, by the last line that says so; empty if none does.
	Holder string
	// Lost counts the events that the audit itself says it could not keep.
	Lost int
}

// TamperedError means that an audit is not what was written.
type TamperedError struct {
	// File counts the files given, from 1; Name is its name, where it is known.
	File int
	Name string
	// Line counts the lines of that file, from 1.
	Line int
	// Reason is what is wrong with it.
	Reason string
}

// Error names the line.
func (e *TamperedError) Error() string {
	name := e.Name
	if name == "" {
		name = fmt.Sprintf("file %d", e.File)
	}
	return fmt.Sprintf("record: %s, line %d: %s", name, e.Line, e.Reason)
}

// TornError means that an audit is right, up to a last line that has no end: its
// writer was stopped in the middle, or is writing just now. [OpenAudit] leaves it
// where it is, and says so in a new file.
type TornError struct {
	Torn Torn // what there is of the line
	Line int  // where it begins, in the last file
}

// Error says how much of a line there is.
func (e *TornError) Error() string {
	return fmt.Sprintf("record: line %d is torn: %d bytes of it are there, and no end", e.Line, e.Torn.Bytes)
}

// HolderError means that an audit is of another account holder.
type HolderError struct {
	// Path is the audit's. Holder is whom it names, Wanted the one of [Options].
	Path, Holder, Wanted string
}

// Error names both.
func (e *HolderError) Error() string {
	return fmt.Sprintf("record: the audit %s is of account holder %q, not of %q: give each its own file", e.Path, e.Holder, e.Wanted)
}

// FormatError means that a newer version of this package has written a file.
type FormatError struct {
	Format, Known int // of the file, and the newest that can be read
}

// Error names both formats.
func (e *FormatError) Error() string {
	return fmt.Sprintf("record: the audit has format %d, and this version knows %d at most", e.Format, e.Known)
}

// Verify reads the files of an audit, the oldest first, and checks that each line is
// what was written and follows the one before, across files. Its error is a
// [*TamperedError], which names the line, a [*TornError], or that of a reader; the
// report is of what came before. An audit of which only the later files are left is
// right as well: see [Report.Prev].
//
// A chain proves order and completeness from its first line to its last. That lines
// are missing at its very end, or that somebody has written all of it anew, shows
// only against a Head that was kept elsewhere.
func Verify(files ...io.Reader) (Report, error) {
	var v verifier
	for _, file := range files {
		if err := v.file("", file, nil); err != nil {
			return v.report, err
		}
	}
	return v.report, v.ended()
}

// VerifyFile verifies the audit at a path: all its files, as [Files] lists them.
func VerifyFile(path string) (Report, error) {
	names, err := Files(path)
	if err != nil {
		return Report{}, err
	}
	var v verifier
	for _, name := range names {
		if err := v.named(name, nil); err != nil {
			return v.report, err
		}
	}
	return v.report, v.ended()
}

// Events reads the files of an audit, the oldest first, and yields each event once
// its line is verified. The last thing yielded is the error that [Verify] would
// return, if there is one.
func Events(files ...io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var v verifier
		for _, file := range files {
			if !v.yield(yield, func(each func(Event) bool) error { return v.file("", file, each) }) {
				return
			}
		}
		v.yield(yield, func(func(Event) bool) error { return v.ended() })
	}
}

// FileEvents yields the events of the audit at a path, from all its files, as [Events]
// does.
func FileEvents(path string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var v verifier
		names, err := Files(path)
		if err != nil {
			yield(Event{}, err)
			return
		}
		for _, name := range names {
			if !v.yield(yield, func(each func(Event) bool) error { return v.named(name, each) }) {
				return
			}
		}
		v.yield(yield, func(func(Event) bool) error { return v.ended() })
	}
}

// yield yields what a part of the audit has, and then its error; false if that, or the
// loop that is yielded to, was the end.
func (v *verifier) yield(yield func(Event, error) bool, part func(each func(Event) bool) error) bool {
	err := part(func(e Event) bool { return yield(e, nil) })
	if err != nil && !errors.Is(err, errEnough) {
		yield(Event{}, err)
	}
	return err == nil
}

var errEnough = errors.New("record: enough")

// maxLine bounds a line: the largest that is ever written, with two bodies of MaxBody
// and an error in which each byte is escaped, is below it.
const maxLine = 1 << 20

// verifier follows a chain.
type verifier struct {
	report Report
	name   string
	line   int  // of the file
	empty  bool // the file has no whole line
}

func (v *verifier) named(name string, yield func(Event) bool) error {
	file, err := disk.Look(name)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer func() { _ = file.Close() }()
	return v.file(name, file, yield)
}

// file follows the chain through a file.
func (v *verifier) file(name string, r io.Reader, yield func(Event) bool) error {
	if v.empty {
		return v.tamperedAt(1, "the file has no whole line, and is not the last")
	}
	v.report.Files++
	v.name, v.line = name, 0
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, tail, err := readLine(lines, maxLine)
		if err != nil {
			if errors.Is(err, errLongLine) {
				v.line++
				return v.tampered("it is longer than any line that is written")
			}
			return fmt.Errorf("record: %w", err)
		}
		if line == nil {
			// A last file can be without a whole line: a process has died while it
			// wrote the first one. Then the file before it may be torn too.
			v.empty = v.line == 0
			if tail != nil && v.report.Torn == nil {
				v.report.Torn = tail
			}
			return nil
		}
		v.line++
		e, err := v.next(line)
		if err != nil {
			return err
		}
		if yield != nil && !yield(e) {
			return errEnough
		}
	}
}

// next checks a line against what came before it.
func (v *verifier) next(line []byte) (Event, error) {
	c, hash, err := parseLine(line)
	if err != nil {
		return Event{}, v.tampered(err.Error())
	}
	r := &v.report
	segment := c.Kind == KindSegment
	switch {
	case segment && c.Format > format:
		return Event{}, &FormatError{Format: c.Format, Known: format}
	case v.line == 1 && !segment:
		return Event{}, v.tampered("it is not how a file begins: what came before it is missing")
	case r.Lines == 0:
		if (c.Seq == 1) != (c.Prev == noHash) || c.Seq == 0 {
			return Event{}, v.tampered("it is not how a chain begins")
		}
		r.First, r.Prev = c.Seq, c.Prev
	case c.Prev != r.Head:
		return Event{}, v.tampered(fmt.Sprintf("it does not follow the line before it: it has number %d, and %d is next", c.Seq, r.Last+1))
	case c.Seq != r.Last+1:
		return Event{}, v.tampered(fmt.Sprintf("it has number %d, and %d is next", c.Seq, r.Last+1))
	case segment && !sameTorn(c.Torn, r.Torn):
		return Event{}, v.tampered("the file before does not end as this one says")
	}
	r.Lines++
	r.Last, r.Head, r.Torn = c.Seq, hash, nil
	r.Closed = c.Kind == KindClosed
	if c.Holder != "" {
		r.Holder = c.Holder
	}
	r.Lost += c.Lost
	return c.Event, nil
}

// ended is the error of a chain that is right so far.
func (v *verifier) ended() error {
	if v.report.Torn != nil {
		return &TornError{Torn: *v.report.Torn, Line: v.line + 1}
	}
	if v.report.Lines == 0 {
		return v.tamperedAt(1, "there is no whole line")
	}
	return nil
}

func (v *verifier) tampered(reason string) error { return v.tamperedAt(v.line, reason) }

func (v *verifier) tamperedAt(line int, reason string) error {
	return &TamperedError{File: v.report.Files, Name: v.name, Line: line, Reason: reason}
}

func sameTorn(a, b *Torn) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

var errLongLine = errors.New("record: a line is too long")

// readLine returns the next line without its newline, or nil and what is left
// without one. A tail can be of any length, so only its digest is kept, and no line is
// longer than the limit. It is good until the next call.
func readLine(r *bufio.Reader, limit int64) (line []byte, tail *Torn, err error) {
	var whole []byte
	var long hash.Hash // of what is too long to be a line
	size := int64(0)
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		switch {
		case err == nil && long != nil:
			return nil, nil, errLongLine
		case err == nil && whole == nil:
			return part[:len(part)-1], nil, nil
		case err == nil:
			return append(whole, part[:len(part)-1]...), nil, nil
		case !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF):
			return nil, nil, err
		}
		if long == nil && size > limit {
			long = sha256.New()
			long.Write(whole)
			whole = nil
		}
		if long != nil {
			long.Write(part)
		} else {
			whole = append(whole, part...)
		}
		if errors.Is(err, io.EOF) {
			switch {
			case size == 0:
				return nil, nil, nil
			case long != nil:
				return nil, &Torn{Bytes: size, SHA256: hex.EncodeToString(long.Sum(nil))}, nil
			}
			return nil, tornOf(whole), nil
		}
	}
}

// tornOf describes the beginning of a line.
func tornOf(part []byte) *Torn {
	sum := sha256.Sum256(part)
	return &Torn{Bytes: int64(len(part)), SHA256: hex.EncodeToString(sum[:])}
}

// plausible reports whether a file without a whole line can be the beginning of an
// audit: a process that died while it wrote the first one, or a disk that lost power
// and has zeros there. Anything else is somebody's file, and not ours to overwrite.
func plausible(r io.Reader) (bool, error) {
	head := make([]byte, len(hashBegin))
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	head = head[:n]
	return bytes.HasPrefix([]byte(hashBegin), head) || len(bytes.Trim(head, "\x00")) == 0, nil
}
