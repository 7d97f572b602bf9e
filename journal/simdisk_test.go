package journal

import (
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/disk"
)

// simDisk is a disk in memory that knows what has been synced, and so what a power
// cut can leave.
type simDisk struct {
	mu     sync.Mutex
	names  map[string]*simFile // as programs see them
	synced map[string]*simFile // as they are after a power cut
	change []func(map[string]*simFile)
	syncs  int

	// before is called before each step that changes something, and after it. What
	// it returns before a step is the step's error.
	before func(step string) error
	after  func(step string)
}

type simFile struct {
	disk   *simDisk
	now    []byte
	synced []byte
	writes []simWrite // since the last sync
}

type simWrite struct {
	at int64
	b  []byte
}

const sector = 512

func newSimDisk() *simDisk {
	return &simDisk{names: map[string]*simFile{}, synced: map[string]*simFile{}}
}

// openSim opens the journal of a disk.
func openSim(t testing.TB, d *simDisk, s sizes) *Log {
	t.Helper()
	l, err := openLog(d, simPath, s)
	require.NoError(t, err)
	return l
}

// do does one step.
func (d *simDisk) do(step string, f func() error) error {
	if d.before != nil {
		if err := d.before(step); err != nil {
			return err
		}
	}
	d.mu.Lock()
	err := f()
	d.mu.Unlock()
	if d.after != nil && err == nil {
		d.after(step)
	}
	return err
}

// rename is a change of names, which a power cut undoes.
func (d *simDisk) changeNames(f func(map[string]*simFile)) {
	f(d.names)
	d.change = append(d.change, f)
}

func (d *simDisk) open(path string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.names[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return f, nil
}

func (d *simDisk) create(path string) (file, error) {
	f := &simFile{disk: d}
	err := d.do("create", func() error {
		if _, ok := d.names[path]; ok {
			return fs.ErrExist
		}
		d.changeNames(func(names map[string]*simFile) { names[path] = f })
		return nil
	})
	return f, err
}

func (d *simDisk) remove(path string) error {
	if _, err := d.open(path); err != nil {
		return err
	}
	return d.do("remove", func() error {
		d.changeNames(func(names map[string]*simFile) { delete(names, path) })
		return nil
	})
}

func (d *simDisk) become(f, _ file, to string) (file, error) {
	return f, d.do("rename", func() error {
		d.changeNames(func(names map[string]*simFile) {
			for from, has := range names {
				if has == f && from != to {
					names[to] = has
					delete(names, from)
				}
			}
		})
		return nil
	})
}

func (d *simDisk) syncDir(string) error {
	return d.do("sync folder", func() error {
		d.synced, d.change = maps.Clone(d.names), nil
		return nil
	})
}

func (f *simFile) ReadAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if at >= int64(len(f.now)) {
		return 0, io.EOF
	}
	n := copy(b, f.now[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *simFile) WriteAt(b []byte, at int64) (int, error) {
	b = slices.Clone(b)
	return len(b), f.disk.do("write", func() error {
		w := simWrite{at, b}
		f.now = w.apply(f.now, 0, len(b))
		f.writes = append(f.writes, w)
		return nil
	})
}

// apply writes a part of the write.
func (w simWrite) apply(image []byte, from, to int) []byte {
	if missing := int(w.at) + to - len(image); missing > 0 {
		image = append(image, make([]byte, missing)...)
	}
	copy(image[int(w.at)+from:], w.b[from:to])
	return image
}

func (f *simFile) Sync() error {
	return f.disk.do("sync", func() error {
		f.disk.syncs++
		for _, w := range f.writes {
			f.synced = w.apply(f.synced, 0, len(w.b))
		}
		f.writes = nil
		return nil
	})
}

func (f *simFile) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.now)), nil
}

func (f *simFile) Check() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	for _, at := range f.disk.names {
		if at == f {
			return nil
		}
	}
	return disk.ErrMoved
}

func (f *simFile) Close() error { return nil }

// killed is the disk that a killed process leaves.
func (d *simDisk) killed() *simDisk {
	return d.copy(func(f *simFile) *simFile {
		return &simFile{now: slices.Clone(f.now), synced: slices.Clone(f.synced), writes: slices.Clone(f.writes)}
	}, d.names, len(d.change))
}

// powerCut is a disk that a power cut may leave: of the writes since the last sync,
// each sector or a part of it with a probability of keep, and a number of changes of
// names.
func (d *simDisk) powerCut(r *rand.Rand, keep float64, changes int) *simDisk {
	names := maps.Clone(d.synced)
	for _, change := range d.change[:changes] {
		change(names)
	}
	return d.copy(func(f *simFile) *simFile {
		image := slices.Clone(f.synced)
		for _, w := range f.writes {
			for from := 0; from < len(w.b); {
				to := min(len(w.b), from+sector-(int(w.at)+from)%sector)
				if r.Float64() < keep {
					end := to
					if keep < 1 && r.IntN(3) == 0 {
						end = from + r.IntN(to-from+1)
					}
					image = w.apply(image, from, end)
				}
				from = to
			}
		}
		return &simFile{now: image, synced: slices.Clone(image)}
	}, names, 0)
}

func (d *simDisk) copy(each func(*simFile) *simFile, names map[string]*simFile, changes int) *simDisk {
	to := newSimDisk()
	done := map[*simFile]*simFile{}
	once := func(f *simFile) *simFile {
		if done[f] == nil {
			done[f] = each(f)
			done[f].disk = to
		}
		return done[f]
	}
	for name, f := range names {
		to.names[name] = once(f)
	}
	if changes == 0 {
		to.synced = maps.Clone(to.names)
		return to
	}
	for name, f := range d.synced {
		to.synced[name] = once(f)
	}
	to.change = []func(map[string]*simFile){func(names map[string]*simFile) {
		clear(names)
		maps.Copy(names, to.names)
	}}
	return to
}
