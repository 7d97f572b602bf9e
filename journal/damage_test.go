package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// recorded is a journal's file, and what it held after each of its appends.
type recorded struct {
	image []byte // without the zeros behind the last frame
	ends  []int64
	want  []string
}

// record writes a journal of durable appends, and closes it or not.
func record(t testing.TB, count int, closed bool) recorded {
	t.Helper()
	d := newSimDisk()
	l, err := openLog(d, simPath, usual)
	if err != nil {
		t.Fatal(err)
	}
	r := recorded{ends: []int64{l.end}, want: []string{dump(l.state)}}
	for i := range count {
		rec := Record{Intent: fmt.Sprint("intent ", i/2), Data: bytes.Repeat([]byte{byte(i)}, 10*i), Final: i%4 == 1}
		if err := l.Append(t.Context(), true, rec); err != nil {
			t.Fatal(err)
		}
		l.work.Wait()
		r.ends, r.want = append(r.ends, l.end), append(r.want, dump(l.state))
	}
	if closed {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r.image = d.names[simPath].now[:l.end]
	return r
}

func diskOf(image []byte) *simDisk {
	d := newSimDisk()
	f := &simFile{disk: d, now: image, synced: slices.Clone(image)}
	d.names[simPath], d.synced[simPath] = f, f
	return d
}

// tryOpen returns what an image holds, or the damage, after which it must be what
// it was.
func tryOpen(t testing.TB, image []byte) (string, *DamageError) {
	t.Helper()
	d := diskOf(slices.Clone(image))
	l, err := openLog(d, simPath, sizes{growth: 1 << 20, chunk: 64})
	if err == nil {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return dump(l.state), nil
	}
	var damage *DamageError
	if !errors.As(err, &damage) || damage.Path != simPath || damage.What == "" {
		t.Fatalf("Open: %v, want a *DamageError that says what and where", err)
	}
	if !bytes.Equal(d.names[simPath].now, image) || len(d.names) != 1 {
		t.Fatal("Open has changed a damaged journal")
	}
	return "", damage
}

// covered is what a change of the byte cannot go unnoticed in: all but what pads
// headers, marks and frames. A mark that is torn is no damage as long as the other
// one is there.
func covered(image []byte, at int) bool {
	if at < framesAt {
		return at < headerSize
	}
	for end := framesAt; ; {
		h, ok := decodeHead(image[end:], lifeOf(image), int64(end))
		if !ok {
			panic("the image is damaged")
		}
		if next := end + int(h.size()); at < next {
			return at < end+frameHead+int(h.length)
		} else {
			end = next
		}
	}
}

// padding says whether a byte is one of many that say nothing.
func padding(at int) bool { return at < framesAt && at%page > 50 && at%500 > 0 }

func lifeOf(image []byte) uint64 {
	life, _ := decodeHeader(image)
	return life
}

// TestEveryByte changes each byte of a journal.
func TestEveryByte(t *testing.T) {
	for _, closed := range []bool{true, false} {
		r := record(t, 8, closed)
		whole := r.want[len(r.want)-1]
		for at := range r.image {
			if padding(at) {
				continue
			}
			image := slices.Clone(r.image)
			image[at] ^= 0x5a
			got, damage := tryOpen(t, image)
			switch {
			case damage == nil && covered(image, at):
				t.Fatalf("closed: %t; byte %d was changed, and Open has not noticed", closed, at)
			case damage == nil && got != whole:
				t.Fatalf("closed: %t; byte %d was changed, and Open has lost something", closed, at)
			}
		}
	}
}

// TestCut cuts a journal everywhere, and blanks it from everywhere on. Each frame
// was answered for and the process has ended, so no cut is a torn write.
func TestCut(t *testing.T) {
	for _, closed := range []bool{true, false} {
		r := record(t, 8, closed)
		for at := range r.image {
			if padding(at) {
				continue
			}
			blank := slices.Clone(r.image)
			clear(blank[at:])
			if bytes.Equal(blank, r.image) {
				continue // nothing but padding was behind
			}
			for what, image := range map[string][]byte{"cut": r.image[:at], "blanked": blank} {
				if _, damage := tryOpen(t, image); damage == nil && what == "blanked" || damage == nil && covered(r.image, at) {
					t.Fatalf("closed: %t; %s from byte %d on, and Open has not noticed", closed, what, at)
				}
			}
		}
	}
}

// TestLine shows where the line lies for a file that has lost its power: the last
// synced batch, and no other.
func TestLine(t *testing.T) {
	d := newSimDisk()
	l, err := openLog(d, simPath, usual)
	if err != nil {
		t.Fatal(err)
	}
	ends := []int64{l.end}
	for i := range 4 {
		if err := l.Append(t.Context(), true, Record{Intent: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		l.work.Wait()
		ends = append(ends, l.end)
	}
	f := d.powerCut(rand.New(rand.NewPCG(1, 1)), 0, 0).names[simPath]
	for batch, end := range ends[:4] {
		image := slices.Clone(f.now)
		image[end] ^= 1
		_, damage := tryOpen(t, image)
		if noticed := damage != nil; noticed != (batch < 3) {
			t.Errorf("batch %d of 4 is damaged, and noticed: %t", batch+1, noticed)
		}
		if damage != nil && damage.Offset != end {
			t.Errorf("batch %d of 4 is damaged at byte %d, and the error names %d", batch+1, end, damage.Offset)
		}
	}
}

// TestFloor has both marks lost behind a frame that was written after the sync of
// an invalid one: the frame says so.
func TestFloor(t *testing.T) {
	r := record(t, 4, true)
	image := withoutMarks(r.image)
	if got, damage := tryOpen(t, image); damage != nil || got != r.want[4] {
		t.Fatalf("with old marks: %v", damage)
	}
	image[r.ends[1]] ^= 1
	if _, damage := tryOpen(t, image); damage == nil || damage.Offset != r.ends[1] {
		t.Errorf("Open returns %v, want a damage at byte %d", damage, r.ends[1])
	}
	clear(image[r.ends[2]:])
	if got, damage := tryOpen(t, image); damage != nil || got != r.want[1] {
		t.Errorf("what may have been torn is not left out: %v", damage)
	}
}

// withoutMarks has the marks of a new file.
func withoutMarks(image []byte) []byte {
	image = slices.Clone(image)
	for count := range uint64(2) {
		m := mark{count: count, end: framesAt}
		copy(image[m.at():], m.encode(lifeOf(image)))
	}
	return image
}

// TestOtherPlace puts frames of a journal to another place, and into another
// journal.
func TestOtherPlace(t *testing.T) {
	r, other := record(t, 6, true), record(t, 6, true)
	for name, image := range map[string][]byte{
		"a frame twice":             append(slices.Clone(r.image), r.image[r.ends[5]:]...),
		"frames of another journal": append(slices.Clone(r.image), other.image[r.ends[3]:]...),
	} {
		if got, damage := tryOpen(t, image); damage != nil || got != r.want[6] {
			t.Errorf("%s: Open returns %v, want what was there before", name, damage)
		}
	}
	if _, ok := decodeHead(r.image[r.ends[5]:], lifeOf(r.image), r.ends[5]+frameAlign); ok {
		t.Error("a frame at another place is taken for one")
	}
	swapped := append(slices.Clone(r.image[:framesAt]), other.image[framesAt:]...)
	if _, damage := tryOpen(t, swapped); damage == nil {
		t.Error("the frames of another journal are taken")
	}
}
