package journal

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/jsontext"
)

// FuzzOpen opens any bytes: behind a valid header, or as they are.
func FuzzOpen(f *testing.F) {
	begin := emptyImage(f)
	f.Add(false, []byte{})
	f.Add(false, begin)
	f.Add(true, []byte{1, 2, 3})
	f.Add(true, bytes.Repeat([]byte{0xff}, 100))
	f.Fuzz(func(t *testing.T, header bool, b []byte) {
		if header {
			b = append(slices.Clone(begin), b...)
		}
		_, _ = tryOpen(t, b)
	})
}

// FuzzReplay opens a journal with a frame that is valid but for what it says: it
// holds what its records say, or is refused.
func FuzzReplay(f *testing.F) {
	begin := emptyImage(f)
	jsontext.Add[[]byte](f, 200, jsontext.Spoiled(2, jsontext.Of(
		string(appendForget(appendRecord(nil, Record{Intent: "a", Name: "n", Final: true, Data: []byte("1")}), "n")),
		string(appendRecord(appendRecord(nil, Record{Intent: "a", Final: true}), Record{Intent: "a"})),
		string(append([]byte{'r'}, binary.AppendUvarint(nil, 1<<63)...)),
	)))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) > frameMost {
			return
		}
		b, _ := endFrame(append(beginFrame(), payload...), lifeOf(begin), framesAt, 0, 0)
		got, damage := tryOpen(t, append(slices.Clone(begin), b...))
		s := newState()
		if ok := s.replay(payload); ok != (damage == nil) || ok && dump(s) != got {
			t.Errorf("replayed: %t; Open returns %v and %s", ok, damage, got)
		}
	})
}

// FuzzMutated changes a real journal: each five bytes of the edits are what to do,
// where, and with what. It is refused, or holds what it held after some append, and
// that is the last one unless the header was changed as well.
func FuzzMutated(f *testing.F) {
	r := record(f, 8, true)
	for dice := range jsontext.Dice(100) {
		at := uint16(dice.IntN(len(r.image)))
		f.Add([]byte{byte(dice.IntN(5)), byte(at >> 8), byte(at), byte(dice.IntN(2)), byte(dice.IntN(256))})
	}
	f.Fuzz(func(t *testing.T, edits []byte) {
		image := slices.Clone(r.image)
		for e := range slices.Chunk(edits, 5) {
			if len(e) == 5 && len(image) > 0 {
				image = edit(image, e[0], int(e[1])<<8+int(e[2]), int(e[3])<<8+int(e[4]))
			}
		}
		got, damage := tryOpen(t, image)
		if damage != nil {
			return
		}
		last := len(r.want) - 1
		header := len(image) < framesAt || !bytes.Equal(image[:framesAt], r.image[:framesAt])
		if got != r.want[last] && (!header || !slices.Contains(r.want, got)) {
			t.Errorf("the header was changed: %t; the journal holds\n%s", header, got)
		}
	})
}

func edit(image []byte, what byte, at, with int) []byte {
	at %= len(image)
	end := min(len(image), at+with)
	switch what % 5 {
	case 0:
		image[at] ^= byte(with)
	case 1:
		clear(image[at:end])
	case 2:
		return slices.Delete(image, at, end)
	case 3:
		return slices.Insert(image, at, image[at:end]...)
	default:
		return image[:at]
	}
	return image
}

// emptyImage is the header of a journal without frames.
func emptyImage(t testing.TB) []byte { return record(t, 0, true).image }
