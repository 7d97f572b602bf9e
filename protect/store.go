package protect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
)

var (
	// ErrLocked means that another protection uses the folder.
	ErrLocked = errors.New("protect: the folder is in use by another protection")
	// ErrCorrupt means that a state cannot be read. The account is halted until a person
	// resumes it.
	ErrCorrupt = errors.New("protect: the state is corrupt")
)

// record is what is kept of an account.
type record struct {
	Account trading.AccountID
	State   State
	Since   time.Time
	Reason  string
	// Manual means that a person has halted or flattened it.
	Manual bool
	// Blind and Broken are why entries are refused whatever the state is.
	Blind  bool
	Broken string `json:",omitempty"`
	Floors floors
	// Day is the service's day that the daily floor was last seen on.
	Day string
	// Starting is the balance that the account began with.
	Starting decimal.Decimal
	// Again counts how often exposure was found while it was Held.
	Again int `json:",omitempty"`
	// Reserved is what writes may still do that were let pass.
	Reserved []kept `json:",omitempty"`
	// Beat is when the protection last wrote.
	Beat time.Time
}

// allowsEntry reports whether entries are judged at all.
func (r *record) allowsEntry() bool {
	return r.State.AllowsEntry() && !r.Blind && r.Broken == "" && !r.Manual
}

// why says why they are not.
func (r *record) why() string {
	switch {
	case r.Broken != "":
		return r.Broken
	case r.Blind:
		return "no good look at the account for some time"
	case r.Reason == "":
		return string(r.State)
	default:
		return string(r.State) + ": " + r.Reason
	}
}

// status is what those who only have the file know.
func (r *record) status() Status {
	s := Status{
		Account: r.Account, State: r.State, Since: r.Since, Reason: r.Reason,
		Running: r.runs(), Blind: r.Blind, Manual: r.Manual, Entries: r.allowsEntry(),
	}
	if !s.Entries {
		s.Refusal = r.why()
	}
	return s
}

// signOfLife is how old the last one of a protection that runs may be.
const signOfLife = 60 * time.Second

// runs reports whether a protection has given a sign of life lately.
func (r *record) runs() bool {
	age := time.Since(r.Beat.Round(0))
	return !r.Beat.IsZero() && age <= signOfLife && age >= -signOfLife
}

func (r *record) lastSign() string {
	if r.Beat.IsZero() {
		return "it has stopped"
	}
	return "its last sign of life was at " + r.Beat.Format(time.RFC3339)
}

// ReadStatus reads what the protection that uses a folder has written of an account, from
// whatever process. It has no amounts. Its Entries is what programs that [Follow] the
// folder go by.
func ReadStatus(dir string, id trading.AccountID) (Status, error) {
	return readStatus(dir, id, anybodys)
}

func readStatus(dir string, id trading.AccountID, read func(path string) ([]byte, error)) (Status, error) {
	asked, err := requests(dir, id) // first: one that is gone is in the state by then
	if err != nil {
		return Status{}, fmt.Errorf("protect: %w", err)
	}
	r, err := load(dir, id, read)
	if err != nil {
		return Status{}, err
	}
	if r == nil {
		return Status{}, fmt.Errorf("%w: %q: no protection of it has used the folder %s", ErrUnknownAccount, id, dir)
	}
	s := r.status()
	switch {
	case !s.Entries:
	case len(asked) > 0:
		s.Refusal = "its protection has not taken up what was asked for: " + asked[0]
	case !s.Running:
		s.Refusal = "its protection does not run: " + r.lastSign()
	}
	s.Entries = s.Refusal == ""
	return s, nil
}

// store keeps one file for each account: its checksum in the first line, and the record.
type store struct {
	dir  string
	lock *disk.Folder
}

// openStore locks the folder, in which others can put nothing: what is in it is believed.
func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("protect: %w", err)
	}
	lock, err := disk.LockFolder(dir)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("%w: %s", ErrLocked, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("protect: %w", err)
	}
	return &store{dir, lock}, nil
}

func (s *store) close() error { return s.lock.Close() }

func fileOf(dir string, id trading.AccountID) string {
	return filepath.Join(dir, url.PathEscape(string(id))+".state")
}

// save writes a record whole, unless the folder is not the one that is locked any more. A durable
// one is on the disk when it returns.
func (s *store) save(r *record, durable bool) error {
	body, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return fmt.Errorf("protect: %w", err)
	}
	if err := s.lock.Check(); err != nil {
		return fmt.Errorf("protect: %w", err)
	}
	if err := disk.Replace(fileOf(s.dir, r.Account), seal(body), durable); err != nil {
		return fmt.Errorf("protect: %w", err)
	}
	return nil
}

// trusted reads a file that nobody else can have written.
func trusted(path string) ([]byte, error) {
	data, _, err := disk.Read(path, maxRecord, disk.NoWrite)
	return data, err
}

// anybodys reads a file of whoever it belongs to: root looks at the folder of another user.
func anybodys(path string) ([]byte, error) { return disk.ReadAny(path, maxRecord) }

// load reads a record; nil without an error if there is none.
func load(dir string, id trading.AccountID, read func(path string) ([]byte, error)) (*record, error) {
	data, err := read(fileOf(dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	r, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: account %s: %w", ErrCorrupt, id, err)
	}
	if r.Account != id {
		return nil, fmt.Errorf("%w: it is of account %q, and not of %q", ErrCorrupt, r.Account, id)
	}
	return r, nil
}

// maxRecord is more than any file has.
const maxRecord = 1 << 20

// seal puts a checksum before a body.
func seal(body []byte) []byte {
	return fmt.Appendf(nil, "%s\n%s\n", checksum(body), body)
}

// unseal returns a body that is whole.
func unseal(data []byte) ([]byte, error) {
	sum, body, found := bytes.Cut(data, []byte("\n"))
	body, whole := bytes.CutSuffix(body, []byte("\n"))
	if !found || !whole || string(sum) != checksum(body) {
		return nil, errors.New("the checksum does not agree")
	}
	return body, nil
}

// decode reads a file.
func decode(data []byte) (*record, error) {
	body, err := unseal(data)
	if err != nil {
		return nil, err
	}
	r := &record{}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, err
	}
	if !r.State.known() {
		return nil, fmt.Errorf("no such state: %q", r.State)
	}
	return r, nil
}

func (s State) known() bool {
	switch s {
	case Starting, OK, Warned, SoftHalt, Flattening, Held, TooLate, Stuck, Lost, Passed:
		return true
	default:
		return false
	}
}

func checksum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
