package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// The log is a head, a note and frames. What of them a crash can leave half
// written is told from what has been damaged since:
//
//   - The head is complete before the file has its name, and never changes. It
//     names the log, as the state of the tables does.
//   - A frame is one batch of writes: its rows, and the totals with them. It is
//     written and synced before the next one begins, so only the last can be torn.
//     Frames are numbered from 1 in each generation; the tables say which
//     generation goes on from them. What an earlier one has left behind is void.
//   - The note says how many frames of which generation have been synced. It is
//     written after each sync and goes to the disk with the next one, so it is
//     never ahead. A torn one says nothing.
//
// So a log ends where no frame of its generation begins that is whole. It has been
// damaged if there is one further on, or if the note knows of more.
const (
	logMagic   = "intents\n"
	logVersion = 1
	headSize   = 8 + 4*8 + 4 // magic, version, ID, room, reserved, checksum
	noteAt     = 512         // in a sector of its own
	noteSize   = 3*8 + 4     // ID, generation, number, checksum
	framesAt   = 4096
	frameHead  = 4*8 + 2*4 // ID, generation, number, length, checksums of the payload and the head
	frameAlign = 8
	logRoom    = 512 << 10 // what the file has from the start
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendNumbers(b []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

func appendChecksum(b []byte, of []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(of, castagnoli))
}

// checked cuts the checksum off the end, if it is right.
func checked(b []byte) ([]byte, bool) {
	of := b[:len(b)-4]
	return of, binary.BigEndian.Uint32(b[len(of):]) == crc32.Checksum(of, castagnoli)
}

// number reads the n-th of the numbers that b begins with.
func number(b []byte, n int) uint64 { return binary.BigEndian.Uint64(b[8*n:]) }

func encodeHead(id uint64) []byte {
	b := appendNumbers([]byte(logMagic), logVersion, id, logRoom, 0)
	return appendChecksum(b, b)
}

func encodeNote(id, generation, count uint64) []byte {
	b := appendNumbers(make([]byte, 0, noteSize), id, generation, count)
	return appendChecksum(b, b)
}

// frame is a batch of writes in the log.
type frame struct {
	generation, number uint64
	payload            []byte
	end                int
}

// appendFrame appends a frame that will be at an offset of the log. The offset is
// part of its checksum: the same bytes elsewhere are no frame.
func appendFrame(b []byte, id, generation, number uint64, at int64, payload []byte) []byte {
	start := len(b)
	b = appendNumbers(b, id, generation, number, uint64(len(payload)))
	b = appendChecksum(b, payload)
	b = binary.BigEndian.AppendUint32(b, headChecksum(b[start:], at))
	b = append(b, payload...)
	for (len(b)-start)%frameAlign != 0 {
		b = append(b, 0)
	}
	return b
}

func headChecksum(head []byte, at int64) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, appendNumbers(nil, uint64(at)))
}

// frameHeadAt reads where a frame begins; it says nothing of its payload.
func frameHeadAt(log []byte, id uint64, at int) (f frame, length uint64, ok bool) {
	if at+frameHead > len(log) || number(log[at:], 0) != id {
		return frame{}, 0, false
	}
	head := log[at : at+frameHead]
	if binary.BigEndian.Uint32(head[frameHead-4:]) != headChecksum(head[:frameHead-4], int64(at)) {
		return frame{}, 0, false
	}
	return frame{generation: number(head, 1), number: number(head, 2)}, number(head, 3), true
}

func frameAt(log []byte, id uint64, at int) (frame, bool) {
	f, length, ok := frameHeadAt(log, id, at)
	if !ok || length > uint64(len(log)-at-frameHead) {
		return frame{}, false
	}
	f.payload = log[at+frameHead:][:length]
	if binary.BigEndian.Uint32(log[at+frameHead-8:]) != crc32.Checksum(f.payload, castagnoli) {
		return frame{}, false
	}
	f.end = at + frameHead + (int(length)+frameAlign-1)/frameAlign*frameAlign
	return f, true
}

var errLog = errors.New("the log beside it cannot be read")

// logID reads the head.
func logID(log []byte) (uint64, error) {
	if len(log) < framesAt {
		return 0, fmt.Errorf("%w: it has been cut", errLog)
	}
	head, ok := checked(log[:headSize])
	if string(log[:len(logMagic)]) != logMagic || !ok {
		return 0, fmt.Errorf("%w: it has no valid head", errLog)
	}
	head = head[len(logMagic):]
	if version := number(head, 0); version != logVersion {
		return 0, &VersionError{Format: int(version), Known: logVersion}
	}
	if room := number(head, 2); uint64(len(log)) < room {
		return 0, fmt.Errorf("%w: of %d bytes there are %d", errLog, room, len(log))
	}
	return number(head, 1), nil
}

// readFrames returns the frames of a generation, none if an earlier one is all
// there is.
func readFrames(log []byte, id, generation uint64) ([]frame, error) {
	var frames []frame
	at := framesAt
	for {
		f, ok := frameAt(log, id, at)
		if !ok || f.generation < generation {
			break
		}
		if f.generation > generation {
			return nil, fmt.Errorf("the log beside it is of a later time: generation %d, after %d", f.generation, generation)
		}
		if f.number != uint64(len(frames))+1 {
			return nil, fmt.Errorf("the log beside it has frame %d after %d frames", f.number, len(frames))
		}
		frames, at = append(frames, f), f.end
	}
	for further := at + frameAlign; further < len(log); further += frameAlign {
		if f, _, ok := frameHeadAt(log, id, further); ok && f.generation >= generation {
			return nil, fmt.Errorf("the log beside it is damaged at byte %d, before its frame %d", at, f.number)
		}
	}
	if note, ok := checked(log[noteAt : noteAt+noteSize]); ok && number(note, 0) == id {
		if of, count := number(note, 1), number(note, 2); of > generation || of == generation && count > uint64(len(frames)) {
			return nil, fmt.Errorf("the log beside it has %d frames of generation %d, and had %d of %d", len(frames), generation, count, of)
		}
	}
	return frames, nil
}
