package journal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// segment is a file that frames are appended to.
type segment struct {
	file   file
	life   uint64
	end    int64  // where the next frame goes
	chain  uint32 // of the last frame
	room   int64  // the file's size: zeros from end on
	synced int64  // all before it is durable
	mark   mark   // the newest in the file
}

// put writes a frame, which beginFrame began.
func (s *segment) put(b []byte, chunk int64) error {
	b, chain := endFrame(b, s.life, s.end, s.synced, s.chain)
	end, room := s.end+int64(len(b)), s.room
	if end > room {
		room = end + chunk
		b = append(b, make([]byte, chunk)...)
	}
	if _, err := s.file.WriteAt(b, s.end); err != nil {
		return err
	}
	s.end, s.chain, s.room = end, chain, room
	return nil
}

// putMark says in the file that all before end was synced.
func (s *segment) putMark(end int64, chain uint32) error {
	s.synced, s.mark = end, mark{s.mark.count + 1, end, chain}
	_, err := s.file.WriteAt(s.mark.encode(s.life), s.mark.at())
	return err
}

// errWrittenOver means that somebody else has written to the file, or cut it.
var errWrittenOver = errors.New("the file was written over while it was open: put back what was there, and start again")

// checkFile checks that the file is the one at its path, and has what was written to it: the header and the newest
// mark.
func (s *segment) checkFile() error {
	if err := s.file.Check(); err != nil {
		return err
	}
	var header [headerSize]byte
	var newest [markSize]byte
	_, err := s.file.ReadAt(header[:], 0)
	if err == nil {
		_, err = s.file.ReadAt(newest[:], s.mark.at())
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	life, whole := decodeHeader(header[:])
	if m, ok := decodeMark(newest[:], s.life); !whole || life != s.life || !ok || m != s.mark {
		return errWrittenOver
	}
	return nil
}

// flush makes everything durable, and then the mark that says so.
func (s *segment) flush() error {
	if s.synced < s.end {
		if err := s.file.Sync(); err != nil {
			return err
		}
		if err := s.putMark(s.end, s.chain); err != nil {
			return err
		}
	}
	return s.file.Sync()
}

// fill writes what is alive to a new file.
func (s *segment) fill(alive *state, chunk int64) error {
	var life [8]byte
	_, _ = rand.Read(life[:]) // which never fails
	s.life, s.end, s.room = binary.BigEndian.Uint64(life[:]), framesAt, framesAt+chunk
	if _, err := s.file.WriteAt(make([]byte, s.room), 0); err != nil {
		return err
	}
	b := beginFrame()
	add := func(r Record, size int64) (err error) {
		if len(b) > frameHead && int64(len(b))+size > frameMost/16 {
			err = s.put(b, chunk)
			b = beginFrame()
		}
		b = appendRecord(b, r)
		return err
	}
	for _, e := range alive.all() {
		for _, data := range e.Records {
			if err := add(Record{Intent: e.Intent, Name: e.Name, Final: e.Final, Data: data}, e.recordSize(data)); err != nil {
				return err
			}
		}
	}
	if alive.last != nil || len(alive.names) > 0 { // else an older one would look like the last
		last := entry{History: History{Intent: lastIntent}}
		if err := add(Record{Intent: lastIntent, Final: true, Data: alive.last}, last.recordSize(alive.last)); err != nil {
			return err
		}
	}
	if len(b) > frameHead {
		if err := s.put(b, chunk); err != nil {
			return err
		}
	}
	for range 2 { // one mark for each slot
		if err := s.putMark(s.end, s.chain); err != nil {
			return err
		}
	}
	if _, err := s.file.WriteAt(encodeHeader(s.life), 0); err != nil {
		return err
	}
	return s.file.Sync()
}

// lastIntent is what a file that was written anew has the last record of, once more.
const lastIntent = "the last record"

// bloated says whether much of the file is of no use any more.
func (l *Log) bloated(atLeast int64) bool {
	return l.end-framesAt > max(atLeast, 4*l.state.size)
}

// rewrite writes what is alive to a new file, which takes the place of the old one
// when it is complete and synced. Until then the old one stays as it is.
func (l *Log) rewrite() error {
	if l.file != nil {
		if err := l.checkFile(); err != nil { // what is there now is not for us to replace
			return err
		}
	}
	f, err := l.disk.create(l.path + temporary)
	if err != nil {
		return err
	}
	s := segment{file: f}
	if err := s.fill(l.state, l.sizes.chunk); err != nil {
		return fmt.Errorf("rewrite: %w", errors.Join(err, f.Close()))
	}
	old := l.file
	l.file = nil // it is closed
	if s.file, err = l.disk.become(f, old, l.path); err != nil {
		return err
	}
	l.segment = s
	return l.disk.syncDir(l.path)
}

// temporary is what the name of a file ends in that is being written anew.
const temporary = ".tmp"
