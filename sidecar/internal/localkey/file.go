package localkey

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/disk"
)

// Errors, to be compared with [errors.Is].
var (
	ErrUnknown   = errors.New("localkey: no such key")
	ErrTakenBack = errors.New("localkey: the key was taken back")
	// ErrFile means that the file cannot be relied on, so nobody is let in.
	ErrFile = errors.New("localkey: the file of keys cannot be used")
)

// version is that of the file. An unknown one is refused.
const version = 1

// most is how large a file may be, in bytes.
const most = 1 << 20

// document is the file.
type document struct {
	Version int     `json:"version"`
	Keys    []entry `json:"keys"`
}

type entry struct {
	Key
	Digest digest `json:"sha256"`
}

type digest [sha256.Size]byte

// MarshalText implements [encoding.TextMarshaler].
func (d digest) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(d[:])), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(d)) {
		return fmt.Errorf("a digest has %d characters: it must have %d", len(text), hex.EncodedLen(len(d)))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// parse reads a file, and refuses what it does not know: a right that was meant and is not
// understood would be one too many.
func parse(text []byte) (d document, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return d, errors.New("there is something behind the end")
	}
	if d.Version != version {
		return d, fmt.Errorf("the version is %d: it must be %d", d.Version, version)
	}
	names, digests := map[string]bool{}, map[digest]bool{}
	for _, e := range d.Keys {
		if err := e.validate(); err != nil {
			return d, err
		}
		if digests[e.Digest] || e.Digest == (digest{}) {
			return d, fmt.Errorf("%s has no secret of its own", e.Name)
		}
		digests[e.Digest] = true
		if !e.TakenBack.IsZero() {
			continue
		}
		if names[e.Name] {
			return d, fmt.Errorf("two valid keys have the name %s", e.Name)
		}
		names[e.Name] = true
	}
	return d, nil
}

// File is the file of a running sidecar. It is safe for concurrent use.
type File struct {
	path string

	mu   sync.Mutex
	read fs.FileInfo // of what was read; nil for a file that is missing
	keys []entry
	err  error
}

// Open reads the file, which may be missing: then there are no keys yet.
func Open(path string) (*File, error) {
	f := &File{path: path}
	_, err := f.current()
	return f, err
}

// current returns the keys as they are in the file now. It reads the file only if it is another
// one than at the last call.
func (f *File) current() ([]entry, error) {
	info, err := os.Lstat(f.path)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.read, f.keys, f.err = nil, nil, nil
	case err != nil:
		f.read, f.keys, f.err = nil, nil, fmt.Errorf("%w: %w", ErrFile, err)
	case f.read == nil || !same(f.read, info):
		f.keys, f.read, f.err = load(f.path)
	}
	return f.keys, f.err
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && a.Mode() == b.Mode()
}

// load reads a file that nobody but its owner can use. The info is nil after an error: what was
// wrong with it may be mended without a trace.
func load(path string) ([]entry, fs.FileInfo, error) {
	text, info, err := disk.Read(path, most, disk.NoAccess)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	d, err := parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	}
	return d.Keys, info, nil
}

// Find returns the key with a secret, as the file is now. Its errors are [ErrUnknown],
// [ErrTakenBack] and [ErrFile].
func (f *File) Find(token string) (Key, error) {
	keys, err := f.current()
	if err != nil {
		return Key{}, err
	}
	sum := digestOf(token)
	found := -1
	for i := range keys {
		if subtle.ConstantTimeCompare(keys[i].Digest[:], sum[:]) == 1 {
			found = i
		}
	}
	switch {
	case found < 0:
		return Key{}, ErrUnknown
	case !keys[found].TakenBack.IsZero():
		return Key{}, ErrTakenBack
	}
	return keys[found].Key.clone(), nil
}

// Keys returns all keys, those taken back too, in the order in which they were made.
func (f *File) Keys() ([]Key, error) {
	entries, err := f.current()
	keys := make([]Key, len(entries))
	for i, e := range entries {
		keys[i] = e.Key.clone()
	}
	return keys, err
}

func (k Key) clone() Key {
	k.Accounts = slices.Clone(k.Accounts)
	return k
}

// Add makes a key, and returns its secret, which nothing can show again.
func Add(path string, k Key, now time.Time) (token string, err error) {
	k.Made, k.TakenBack = now.UTC(), time.Time{}
	if err := k.validate(); err != nil {
		return "", fmt.Errorf("localkey: %w", err)
	}
	token = newToken(k.Live)
	return token, change(path, func(d *document) error {
		if d.valid(k.Name) != nil {
			return fmt.Errorf("localkey: %s has a key: take it back first", k.Name)
		}
		d.Keys = append(d.Keys, entry{k, digestOf(token)})
		return nil
	})
}

// Remove takes a key back: from the next request on it lets nobody in.
func Remove(path, name string, now time.Time) error {
	return change(path, func(d *document) error {
		e := d.valid(name)
		if e == nil {
			return fmt.Errorf("%w: %q", ErrUnknown, name)
		}
		e.TakenBack = now.UTC()
		return nil
	})
}

// valid is the valid key of a name, or nil.
func (d *document) valid(name string) *entry {
	for i := range d.Keys {
		if d.Keys[i].Name == name && d.Keys[i].TakenBack.IsZero() {
			return &d.Keys[i]
		}
	}
	return nil
}

// change writes the file anew, whole or not at all, in the folder of this user.
func change(path string, how func(*document) error) (err error) {
	if err := disk.OwnFolder(filepath.Dir(path), disk.NoWrite); err != nil {
		return fmt.Errorf("localkey: %w", err)
	}
	lock, err := disk.Lock(path+".lock", os.O_RDWR|os.O_CREATE)
	if errors.Is(err, disk.ErrLocked) {
		return fmt.Errorf("localkey: somebody else changes the keys: try again: %w", err)
	}
	if err != nil {
		return fmt.Errorf("localkey: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	text, err := changed(path, how)
	if err != nil {
		return err
	}
	if err := lock.Check(); err != nil { // somebody else may change them
		return fmt.Errorf("localkey: %w", err)
	}
	if err := disk.Replace(path, text, true); err != nil {
		return fmt.Errorf("localkey: %w", err)
	}
	return nil
}

// changed is the text of a file with a change made.
func changed(path string, how func(*document) error) ([]byte, error) {
	keys, err := (&File{path: path}).current()
	if err != nil {
		return nil, err
	}
	d := document{version, slices.Clone(keys)}
	if err := how(&d); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	switch {
	case err != nil:
		return nil, fmt.Errorf("localkey: %w", err)
	case len(text) >= most:
		return nil, fmt.Errorf("localkey: %s would have more than %d bytes: begin a new one", path, most)
	}
	return append(text, '\n'), nil
}
