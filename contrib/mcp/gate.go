package mcp

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/tradingapi/trading-go/internal/disk"
)

// gate knows the passphrase by its hash. A guess is counted durably before it is judged, so that
// neither many at once, nor a second engine, nor a restart has more of them.
type gate struct {
	dir string

	mu sync.Mutex
}

const (
	mostGuesses    = 5
	leastPhrase    = 10
	hashIterations = 600_000
)

// Errors of an approval, to be compared with errors.Is.
var (
	ErrNoPassphrase = errors.New("no passphrase is set: run trading approve --set-passphrase in a terminal")
	ErrGuessed      = errors.New("approvals are locked after five wrong passphrases: set another one in a terminal")
	ErrPassphrase   = errors.New("the passphrase is wrong")
)

type phraseHash struct{ Salt, Hash []byte }

func (g *gate) phraseFile() string { return filepath.Join(g.dir, "passphrase") }
func (g *gate) guessFile() string  { return filepath.Join(g.dir, "guesses") }

// count notes a guess, and returns how many there were since the last right one: a byte for each, since
// engines of one user share the file.
func (g *gate) count() (n int64, err error) {
	f, err := disk.Open(g.guessFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if n, err = f.Size(); err != nil || n >= mostGuesses {
		return n + 1, err
	}
	if _, err = f.Write([]byte{'.'}); err == nil {
		err = errors.Join(f.Sync(), disk.SyncFolder(g.guessFile()))
	}
	if err != nil {
		return 0, err
	}
	return f.Size()
}

// judge lets through who knows the passphrase.
func (g *gate) judge(phrase string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	data, _, err := disk.Read(g.phraseFile(), mostBytes, disk.NoAccess)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoPassphrase
	}
	if err != nil {
		return err
	}
	var want phraseHash
	if err := json.Unmarshal(data, &want); err != nil || len(want.Hash) == 0 {
		return fmt.Errorf("%s cannot be read", g.phraseFile())
	}
	n, err := g.count()
	if err != nil {
		return err
	}
	if n > mostGuesses {
		return ErrGuessed
	}
	got, err := hashOf(phrase, want.Salt)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(got, want.Hash) != 1 {
		return ErrPassphrase
	}
	return disk.Remove(g.guessFile())
}

func hashOf(phrase string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, phrase, salt, hashIterations, sha256.Size)
}

// SetPassphrase sets the passphrase of the engine whose folder it is, which may be running, and
// unlocks approvals. It is for a terminal: a passphrase that was typed into a chat is the model's.
func SetPassphrase(dir, phrase string) error {
	if len(phrase) < leastPhrase {
		return fmt.Errorf("the passphrase has %d characters: it must have %d or more", len(phrase), leastPhrase)
	}
	p := phraseHash{Salt: make([]byte, 16)}
	_, _ = rand.Read(p.Salt) // it cannot fail
	var err error
	if p.Hash, err = hashOf(phrase, p.Salt); err != nil {
		return err
	}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	g := &gate{dir: dir}
	if err := disk.Replace(g.phraseFile(), data, true); err != nil {
		return err
	}
	return disk.Remove(g.guessFile())
}
