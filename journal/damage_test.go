package journal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	l := openSim(t, d, usual)
	r := recorded{ends: []int64{l.end}, want: []string{dump(l.state)}}
	for i := range count {
		rec := Record{Intent: fmt.Sprint("intent ", i/2), Data: bytes.Repeat([]byte{byte(i)}, 10*i), Final: i%4 == 1}
		require.NoError(t, l.Append(t.Context(), true, rec))
		l.work.Wait()
		r.ends, r.want = append(r.ends, l.end), append(r.want, dump(l.state))
	}
	if closed {
		require.NoError(t, l.Close())
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
		require.NoError(t, l.Close())
		return dump(l.state), nil
	}
	var damage *DamageError
	require.ErrorAs(t, err, &damage)
	require.Equal(t, simPath, damage.Path)
	require.NotEmpty(t, damage.What)
	require.True(t, bytes.Equal(d.names[simPath].now, image) && len(d.names) == 1, "Open has changed a damaged journal")
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
			if got, damage := tryOpen(t, image); damage == nil {
				require.False(t, covered(image, at), "closed: %t; byte %d was changed, and Open has not noticed", closed, at)
				require.Equal(t, whole, got, "closed: %t; byte %d was changed", closed, at)
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

// TestAJournalOfItsHeader: a process that ends before its first record leaves the header, and no more.
func TestAJournalOfItsHeader(t *testing.T) {
	r := record(t, 0, false)
	got, damage := tryOpen(t, r.image[:framesAt])
	require.Nil(t, damage)
	require.Equal(t, r.want[0], got)
}

// TestLine shows where the line lies for a file that has lost its power: the last
// synced batch, and no other.
func TestLine(t *testing.T) {
	d := newSimDisk()
	l := openSim(t, d, usual)
	ends := []int64{l.end}
	for i := range 4 {
		require.NoError(t, l.Append(t.Context(), true, Record{Intent: fmt.Sprint(i)}))
		l.work.Wait()
		ends = append(ends, l.end)
	}
	f := d.powerCut(rand.New(rand.NewPCG(1, 1)), 0, 0).names[simPath]
	for batch, end := range ends[:4] {
		image := slices.Clone(f.now)
		image[end] ^= 1
		_, damage := tryOpen(t, image)
		assert.Equal(t, batch < 3, damage != nil, "batch %d of 4 is noticed", batch+1)
		if damage != nil {
			assert.Equal(t, end, damage.Offset)
		}
	}
}

// TestWhatNoJournalSays has payloads with a right checksum that no journal has written: they are damage.
func TestWhatNoJournalSays(t *testing.T) {
	begun := appendRecord(nil, Record{Intent: "i", Name: "n"})
	ended := appendRecord(slices.Clone(begun), Record{Intent: "i", Name: "n", Final: true})
	for name, row := range map[string]struct {
		payload []byte
		valid   bool
	}{
		"a name that has ended is forgotten":  {appendForget(slices.Clone(ended), "n"), true},
		"a name that nobody has is forgotten": {appendForget(nil, "n"), false},
		"a name is forgotten that is pending": {appendForget(slices.Clone(begun), "n"), false},
		"a forgotten intent begins again":     {appendRecord(appendForget(slices.Clone(ended), "n"), Record{Intent: "i", Name: "n"}), false},
		"an intent changes its name":          {appendRecord(slices.Clone(begun), Record{Intent: "i", Name: "other"}), false},
		"a record behind the end":             {appendRecord(slices.Clone(ended), Record{Intent: "i", Name: "n"}), false},
		"an unknown flag":                     {appendText(appendText(appendText([]byte{'?'}, "i"), "n"), ""), false},
		"a record that is cut short":          {begun[:len(begun)-1], false},
	} {
		assert.Equal(t, row.valid, newState().replay(row.payload), name)
	}
}

// TestFloor has both marks lost behind a frame that was written after the sync of
// an invalid one: the frame says so.
func TestFloor(t *testing.T) {
	r := record(t, 4, true)
	image := withoutMarks(r.image)
	holds(t, r.want[4], image)
	image[r.ends[1]] ^= 1
	_, damage := tryOpen(t, image)
	require.NotNil(t, damage)
	assert.Equal(t, r.ends[1], damage.Offset)
	clear(image[r.ends[2]:])
	holds(t, r.want[1], image) // what may have been torn is left out
}

// holds wants an image to be opened, and to hold this.
func holds(t *testing.T, want string, image []byte) {
	t.Helper()
	got, damage := tryOpen(t, image)
	assert.Nil(t, damage)
	assert.Equal(t, want, got)
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
	holds(t, r.want[6], append(slices.Clone(r.image), r.image[r.ends[5]:]...))
	holds(t, r.want[6], append(slices.Clone(r.image), other.image[r.ends[3]:]...))
	_, ok := decodeHead(r.image[r.ends[5]:], lifeOf(r.image), r.ends[5]+frameAlign)
	assert.False(t, ok, "a frame at another place is taken for one")
	_, damage := tryOpen(t, append(slices.Clone(r.image[:framesAt]), other.image[framesAt:]...))
	assert.NotNil(t, damage, "the frames of another journal are taken")
}
