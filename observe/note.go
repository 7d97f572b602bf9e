package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/disk"
)

// note says, on disk, that a run trades. It is there from before the first write until the account was
// seen to be flat; what a killed run leaves, the next one closes.
type note struct {
	Class   Class     `json:"class"`
	Account string    `json:"account,omitempty"`
	Symbol  string    `json:"symbol"`
	Largest string    `json:"largest"` // more than the run can have opened
	Began   time.Time `json:"began"`
}

const mostNote = 64 << 10 // bytes: many times what one has

func (q *Questions) noteOf(class Class) string { return q.Note + "." + string(class) }

// keepNote writes the note, synced, before the first write.
func (s *sender) keepNote(d *desk) error {
	text, err := json.Marshal(note{d.class, d.account, d.symbol, d.largest.String(), s.q.Clock.Now().UTC()})
	if err != nil {
		return fmt.Errorf("observe: %w", err)
	}
	path := s.q.noteOf(d.class)
	f, err := disk.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return fmt.Errorf("observe: another run trades, or a note cannot be written: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close(), disk.SyncFolder(path)); err != nil {
		return fmt.Errorf("observe: nothing was placed: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}

func (s *sender) dropNote(class Class) error {
	if err := os.Remove(s.q.noteOf(class)); err != nil {
		return fmt.Errorf("observe: %w", err)
	}
	return nil
}

// finish closes what killed runs have left, whatever is asked now.
func (s *sender) finish(ctx context.Context) error {
	if s.q.Note == "" {
		return nil
	}
	for _, class := range []Class{Trial, OnPaper} {
		text, _, err := disk.Read(s.q.noteOf(class), mostNote, disk.NoWrite)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("observe: %w", err)
		}
		var n note
		if len(text) > 0 { // killed while it was written: nothing was placed
			err = json.Unmarshal(text, &n)
		} else {
			n.Class = class
		}
		if err != nil || n.Class != class {
			return fmt.Errorf("observe: %s is no note of a run: look at the account, and remove it", s.q.noteOf(class))
		}
		if err := s.finishNote(ctx, n); err != nil {
			return err
		}
		if err := s.dropNote(class); err != nil {
			return err
		}
	}
	return nil
}

func (s *sender) finishNote(ctx context.Context, n note) error {
	if n.Symbol == "" {
		return nil
	}
	d := &desk{sender: s, class: n.Class, account: n.Account, symbol: n.Symbol, as: sandboxKey}
	if n.Class == Trial {
		d.as = liveKey
	}
	var err error
	if d.largest, err = decimal.NewFromString(n.Largest); err != nil || !asID(n.Symbol) || n.Class == Trial && !asID(n.Account) {
		return fmt.Errorf("observe: %s is no note of a run: look at the account, and remove it", s.q.noteOf(n.Class))
	}
	if n.Class == Trial && s.q.LiveKey == "" || n.Class == OnPaper && s.q.SandboxKey == "" {
		return fmt.Errorf("observe: a killed run has left %s, and the API key for it is missing", d.where())
	}
	if n.Class == Trial {
		accounts, err := s.list(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(accounts, func(a account) bool { return a.id == n.Account && a.trial }) {
			return &NotFlatError{d.where(), errors.New("the service does not call it a trial, and nothing was closed")}
		}
	}
	s.guard.reads["/sandbox/positions"] = s.guard.reads["/sandbox/positions"] || n.Class == OnPaper
	path, body := d.closing()
	s.guard.exact["POST "+path+"\n"+body] = true
	return d.leaveFlat(ctx, true)
}
