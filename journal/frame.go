package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// A file is a header, two marks, and frames, each on a multiple of frameAlign; all
// behind the last frame is zeros.
//
//   - The header names the file's life, a random number. Checksums contain it and
//     the offset, so bytes of another file or from another place are no frame.
//   - A mark says up to which offset all is synced. Marks alternate between two
//     slots, in pages of their own. One is written after a sync and becomes durable
//     with the next, so it is never ahead and at most one is torn.
//   - A frame is what one call has appended. It also says up to which offset all was
//     synced when it was written (its floor). An invalid frame below the highest
//     mark or floor was acknowledged, so the file is damaged. One above was not:
//     a crash can leave any part of it, and the pages behind it in any order.
//
// No offset of a life is written twice, except for the marks: what a crash has left
// is never repaired in place, but written anew, with another life.
const (
	magic      = "trdjrnl1"
	headerSize = 8 + 8 + 4 // magic, life, checksum
	page       = 4096
	markSize   = 3*8 + 4 + 4 // life, count, end, chain, checksum
	framesAt   = 3 * page
	frameHead  = 8 + 4*4 // floor, length, chain, checksums of the payload and of the head
	frameAlign = 8
	frameMost  = 1 << 20 // of a payload
	recordHead = 3 * 4   // flags and name lengths, and the length of the data
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func appendSum(b []byte) []byte { return binary.BigEndian.AppendUint32(b, sum(b)) }

// summed cuts off the checksum that appendSum added, if it is right.
func summed(b []byte) ([]byte, bool) {
	of := b[:len(b)-4]
	return of, binary.BigEndian.Uint32(b[len(of):]) == sum(of)
}

func encodeHeader(life uint64) []byte {
	return appendSum(binary.BigEndian.AppendUint64([]byte(magic), life))
}

func decodeHeader(b []byte) (life uint64, ok bool) {
	b, ok = summed(b[:headerSize])
	return binary.BigEndian.Uint64(b[len(magic):]), ok && string(b[:len(magic)]) == magic
}

// mark says that all before end is synced, and that the last frame before it ends
// the chain.
type mark struct {
	count uint64 // of marks; its parity is the slot
	end   int64
	chain uint32
}

func (m mark) at() int64 { return page * int64(1+m.count%2) }

func (m mark) encode(life uint64) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, markSize), life)
	b = binary.BigEndian.AppendUint64(b, m.count)
	b = binary.BigEndian.AppendUint64(b, uint64(m.end))
	return appendSum(binary.BigEndian.AppendUint32(b, m.chain))
}

func decodeMark(b []byte, life uint64) (m mark, ok bool) {
	b, ok = summed(b[:markSize])
	m = mark{binary.BigEndian.Uint64(b[8:]), int64(binary.BigEndian.Uint64(b[16:])), binary.BigEndian.Uint32(b[24:])}
	return m, ok && binary.BigEndian.Uint64(b) == life
}

// head is the head of a frame. Its sum is the chain for the next frame, which
// starts at 0.
type head struct {
	floor        int64
	length       uint32
	chain        uint32 // the sum of the frame before
	payload, sum uint32
}

// size is what the frame takes in the file.
func (h head) size() int64 {
	return (frameHead + int64(h.length) + frameAlign - 1) / frameAlign * frameAlign
}

// beginFrame leaves room for the head, in front of the payload.
func beginFrame() []byte { return make([]byte, frameHead, 512) }

// endFrame fills in the head, pads the frame, and returns the next chain.
func endFrame(b []byte, life uint64, at, floor int64, chain uint32) ([]byte, uint32) {
	payload := b[frameHead:]
	binary.BigEndian.PutUint64(b, uint64(floor))
	binary.BigEndian.PutUint32(b[8:], uint32(len(payload)))
	binary.BigEndian.PutUint32(b[12:], chain)
	binary.BigEndian.PutUint32(b[16:], sum(payload))
	chain = headSum(b, life, at)
	binary.BigEndian.PutUint32(b[20:], chain)
	for len(b)%frameAlign != 0 {
		b = append(b, 0)
	}
	return b, chain
}

func headSum(b []byte, life uint64, at int64) uint32 {
	var place [16]byte
	binary.BigEndian.PutUint64(place[:], life)
	binary.BigEndian.PutUint64(place[8:], uint64(at))
	return crc32.Update(sum(place[:]), castagnoli, b[:frameHead-4])
}

// decodeHead reads the head of a frame at an offset, and whether it is one.
func decodeHead(b []byte, life uint64, at int64) (h head, ok bool) {
	h = head{
		floor: int64(binary.BigEndian.Uint64(b)), length: binary.BigEndian.Uint32(b[8:]), chain: binary.BigEndian.Uint32(b[12:]),
		payload: binary.BigEndian.Uint32(b[16:]), sum: binary.BigEndian.Uint32(b[20:]),
	}
	return h, h.sum == headSum(b, life, at) && h.floor <= at && h.length <= frameMost
}

// A payload is flags followed by what they say: a name to forget, or a record,
// and then the next.
const (
	flagRecord = 'r'
	flagFinal  = 'f'
	flagForget = 'x'
)

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendRecord(b []byte, r Record) []byte {
	flag := byte(flagRecord)
	if r.Final {
		flag = flagFinal
	}
	b = appendText(append(b, flag), r.Intent)
	return appendText(appendText(b, r.Name), r.Data)
}

func appendForget(b []byte, name string) []byte { return appendText(append(b, flagForget), name) }

// cutText cuts a text off the front.
func cutText(b []byte) (text, rest []byte, ok bool) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) {
		return nil, nil, false
	}
	end := n + int(length)
	return b[n:end:end], b[end:], true
}

// replay does what a payload says. Its checksum was right, so what it says was
// checked when it was written, and anything else is damage.
func (s *state) replay(payload []byte) bool {
	for len(payload) > 0 {
		flag := payload[0]
		name, rest, ok := cutText(payload[1:])
		if flag == flagForget && ok {
			if known, err := s.forgettable(string(name)); !known || err != nil {
				return false
			}
			s.forget(string(name))
			payload = rest
			continue
		}
		r := Record{Intent: string(name), Final: flag == flagFinal}
		name, rest, _ = cutText(rest) // what is cut short has no data
		data, rest, ok := cutText(rest)
		r.Name, r.Data, payload = string(name), bytes.Clone(data), rest
		if !ok || flag != flagRecord && flag != flagFinal || s.check([]Record{r}) != nil {
			return false
		}
		s.apply(r)
	}
	return true
}
