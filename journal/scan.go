package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// scanner reads a file once, from its beginning to its end. The segment ends with the
// last valid frame.
type scanner struct {
	segment
	path  string
	state *state
	floor int64 // the highest of all frames and marks
	torn  int64 // bytes behind the end, up to the last that is not zero
}

func (s *scanner) damage(at int64, format string, args ...any) error {
	return &DamageError{Path: s.path, Offset: at, What: fmt.Sprintf(format, args...)}
}

// scan reads a file. After a *DamageError it has what is before the damage.
func scan(path string, f file) (s *scanner, err error) {
	s = &scanner{path: path, state: newState(), segment: segment{file: f}}
	s.room, err = f.Size()
	for _, read := range []func() error{s.readHeader, s.readFrames, s.readTail} {
		if err == nil {
			err = read()
		}
	}
	s.synced = s.end
	return s, err
}

// reader reads the rest of the file.
func (s *scanner) reader() *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(s.file, s.end, s.room-s.end), 64<<10)
}

func (s *scanner) readHeader() error {
	if s.room < framesAt {
		return s.damage(s.room, "it is cut, or not a journal: it has less than %d bytes", framesAt)
	}
	b := make([]byte, framesAt)
	if _, err := io.ReadFull(s.reader(), b); err != nil {
		return err
	}
	life, ok := decodeHeader(b)
	if !ok {
		return s.damage(0, "the header is not that of a journal, or of another version")
	}
	s.life = life
	marks := 0
	for at := int64(page); at < framesAt; at += page {
		m, ok := decodeMark(b[at:], life)
		if !ok || m.at() != at {
			continue // torn by a power cut
		}
		if marks == 0 || m.count > s.mark.count {
			s.mark = m
		}
		marks++
	}
	if marks == 0 {
		return s.damage(page, "both marks are invalid")
	}
	s.floor = s.mark.end
	return nil
}

// readFrames reads up to the first frame that is not valid.
func (s *scanner) readFrames() error {
	s.end = framesAt
	marked := s.mark.end == s.end && s.mark.chain == s.chain
	r := s.reader()
	var payload []byte
	for s.room-s.end >= frameHead {
		b, err := r.Peek(frameHead)
		if err != nil {
			return err
		}
		h, ok := decodeHead(b, s.life, s.end)
		if !ok || h.chain != s.chain || h.size() > s.room-s.end {
			break
		}
		payload = append(payload[:0], make([]byte, h.size())...)
		if _, err := io.ReadFull(r, payload); err != nil {
			return err
		}
		of := payload[frameHead:][:h.length]
		if sum(of) != h.payload {
			break
		}
		if !s.state.replay(of) {
			return s.damage(s.end, "a frame says what cannot follow from those before it")
		}
		s.end, s.chain, s.floor = s.end+h.size(), h.sum, max(s.floor, h.floor)
		marked = marked || s.mark.end == s.end && s.mark.chain == s.chain
	}
	if s.end < s.floor {
		return s.damage(s.end, "a frame is invalid that was synced: all up to byte %d was", s.floor)
	}
	if !marked {
		return s.damage(s.mark.at(), "the mark is not at the end of a frame")
	}
	return nil
}

// readTail looks for signs that what is invalid was synced once: frames that were
// written after it was.
func (s *scanner) readTail() error {
	r := s.reader()
	zero := make([]byte, frameHead)
	for at := s.end; at < s.room; at += frameAlign {
		b, err := r.Peek(frameHead)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !bytes.Equal(b, zero[:len(b)]) {
			s.torn = at + int64(len(bytes.TrimRight(b, "\x00"))) - s.end
			if len(b) < frameHead {
				break
			}
			if h, ok := decodeHead(b, s.life, at); ok && h.floor > s.end {
				return s.damage(s.end, "a frame is invalid that was synced: the one at byte %d was written later", at)
			}
		}
		if _, err := r.Discard(frameAlign); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}
