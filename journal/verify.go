package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// verifyFile reads every row of the file, without bbolt, which trusts what it
// finds, and compares the whole with what the last commit has noted of it. It
// relies on nothing that it has not checked.
func verifyFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return refuse(path, verify(file, info.Size()))
}

func verify(r io.ReaderAt, size int64) error {
	f := &pageFile{r: r, seen: map[uint64]bool{}}
	root, err := f.readMeta(size)
	if err != nil {
		return err
	}
	var got state
	var noted []byte
	names := map[string]bool{}
	err = f.walk(root, nil, nil, func(flags uint32, name, header []byte) error {
		if flags != bucketLeaf || len(header) < bucketHeader {
			return errors.New("its root holds something else than tables")
		}
		names[string(name)] = true
		return f.walkTable(header, func(flags uint32, key, value []byte) error {
			if flags != 0 {
				return errors.New("a table holds something else than rows")
			}
			if bytes.Equal(name, bucketState) {
				noted = bytes.Clone(value)
				return nil
			}
			got.rows++
			got.digest += digestRow(name, key, value)
			if string(name) == tableNames[tableHistory] {
				got.history++
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	want, err := decodeState(noted)
	if err != nil {
		return err
	}
	if want.format > format {
		return &VersionError{Format: int(want.format), Known: format}
	}
	for _, name := range tableNames {
		if !names[name] {
			return fmt.Errorf("it has no table %q", name)
		}
	}
	if got.rows != want.rows || got.digest != want.digest || got.history != want.history {
		return fmt.Errorf("it holds %d rows (%x), and %d (%x) were written", got.rows, got.digest, want.rows, want.digest)
	}
	return nil
}

// pageFile reads the pages of a bbolt file, as its format has been since 2013.
type pageFile struct {
	r        io.ReaderAt
	pageSize uint64
	pages    uint64          // how many are in use or were
	seen     map[uint64]bool // a page belongs to one place
}

// Sizes and flags of the format.
const (
	pageHeader    = 16 // id 8, flags 2, count 2, overflow 4
	element       = 16
	metaSize      = 64
	bucketHeader  = 16 // root page 8, sequence 8
	branchPage    = 0x01
	leafPage      = 0x02
	metaPage      = 0x04
	bucketLeaf    = 0x01
	magic         = 0xED0CDAED
	boltVersion   = 2
	checksumAt    = 56
	maxPageSize   = 64 << 10
	maxPageExtent = 1 << 30
)

var native = binary.NativeEndian // as bbolt writes

var errPage = errors.New("a page that cannot be right")

// readMeta returns the root page of the last commit. A commit writes one of two
// meta pages in turn; if the last one is broken, bbolt takes the one before, and
// the last commit is lost. So both have to be right, and of two commits in a row.
// A disk writes the part of a page that counts, which is within a sector, as a
// whole, so no crash leaves a broken one.
func (f *pageFile) readMeta(size int64) (root uint64, err error) {
	first := make([]byte, pageHeader+metaSize)
	if _, err := f.r.ReadAt(first, 0); err != nil {
		return 0, fmt.Errorf("no first page: %w", err)
	}
	f.pageSize = uint64(native.Uint32(first[pageHeader+8:]))
	if f.pageSize < 512 || f.pageSize > maxPageSize {
		return 0, errors.New("no valid first page")
	}
	second := make([]byte, len(first))
	if _, err := f.r.ReadAt(second, int64(f.pageSize)); err != nil {
		return 0, fmt.Errorf("no second page: %w", err)
	}
	var last []byte
	var commits [2]uint64
	for i, page := range [][]byte{first, second} {
		meta := page[pageHeader:]
		sum := fnv.New64a()
		sum.Write(meta[:checksumAt])
		if native.Uint64(page) != uint64(i) || native.Uint16(page[8:]) != metaPage || native.Uint32(meta) != magic ||
			native.Uint32(meta[4:]) != boltVersion || uint64(native.Uint32(meta[8:])) != f.pageSize ||
			native.Uint64(meta[checksumAt:]) != sum.Sum64() {
			return 0, fmt.Errorf("meta page %d is not valid", i)
		}
		if commits[i] = native.Uint64(meta[48:]); last == nil || commits[1] > commits[0] {
			last = meta
		}
	}
	if commits[0]+1 != commits[1] && commits[1]+1 != commits[0] {
		return 0, fmt.Errorf("its meta pages are of the commits %d and %d", commits[0], commits[1])
	}
	f.pages = native.Uint64(last[40:])
	if f.pages > uint64(size)/f.pageSize {
		return 0, fmt.Errorf("it has been cut: of %d pages there are %d", f.pages, uint64(size)/f.pageSize)
	}
	return native.Uint64(last[16:]), nil
}

// visit is called for each visit of a table, in order.
type visit func(flags uint32, key, value []byte) error

// walk reads the tree below a page. All its keys are at least low, and below
// high unless that is nil.
func (f *pageFile) walk(id uint64, low, high []byte, each visit) error {
	page, err := f.read(id)
	if err != nil {
		return err
	}
	return f.walkPage(page, low, high, each)
}

// walkTable reads a table, whose only page may be within its header.
func (f *pageFile) walkTable(header []byte, each visit) error {
	if root := native.Uint64(header); root != 0 {
		return f.walk(root, nil, nil, each)
	}
	page := header[bucketHeader:]
	if len(page) < pageHeader || native.Uint16(page[8:]) != leafPage {
		return errPage
	}
	return f.walkPage(page, nil, nil, each)
}

func (f *pageFile) read(id uint64) ([]byte, error) {
	header := make([]byte, pageHeader)
	if id < 2 || id >= f.pages {
		return nil, errPage
	}
	if _, err := f.r.ReadAt(header, int64(id*f.pageSize)); err != nil {
		return nil, err
	}
	extent := uint64(native.Uint32(header[12:])) + 1
	if native.Uint64(header) != id || extent > f.pages-id || extent*f.pageSize > maxPageExtent {
		return nil, errPage
	}
	for i := range extent {
		if f.seen[id+i] {
			return nil, errPage
		}
		f.seen[id+i] = true
	}
	page := make([]byte, extent*f.pageSize)
	_, err := f.r.ReadAt(page, int64(id*f.pageSize))
	return page, err
}

func (f *pageFile) walkPage(page, low, high []byte, each visit) error {
	flags, count := native.Uint16(page[8:]), int(native.Uint16(page[10:]))
	if pageHeader+count*element > len(page) || flags != leafPage && (flags != branchPage || count == 0) {
		return errPage
	}
	key := func(i int) (key, rest []byte, err error) {
		at := pageHeader + i*element
		position, size := native.Uint32(page[at:]), native.Uint32(page[at+4:])
		if flags == leafPage {
			position, size = native.Uint32(page[at+4:]), native.Uint32(page[at+8:])
		}
		start := uint64(at) + uint64(position)
		if size == 0 || start+uint64(size) > uint64(len(page)) {
			return nil, nil, errPage
		}
		return page[start : start+uint64(size)], page[start+uint64(size):], nil
	}
	for i := range count {
		this, rest, err := key(i)
		if err != nil {
			return err
		}
		if bytes.Compare(this, low) < 0 || high != nil && bytes.Compare(this, high) >= 0 {
			return errors.New("its rows are out of order")
		}
		low = append(bytes.Clone(this), 0) // the least key after this one
		at := pageHeader + i*element
		if flags == leafPage {
			size := native.Uint32(page[at+12:])
			if uint64(size) > uint64(len(rest)) {
				return errPage
			}
			if err := each(native.Uint32(page[at:]), this, rest[:size]); err != nil {
				return err
			}
			continue
		}
		below := high
		if i+1 < count {
			if below, _, err = key(i + 1); err != nil {
				return err
			}
		}
		if err := f.walk(native.Uint64(page[at+8:]), this, below, each); err != nil {
			return err
		}
	}
	return nil
}
