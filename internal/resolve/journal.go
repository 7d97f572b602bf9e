package resolve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/journal"
)

// store is the journal as one client uses it.
type store struct {
	journal   journal.Store                // nil without one
	unwritten func(*pending.Intent, error) // called for each record that the journal did not take
	baseURL   string
	view      *view // of the service there
	shared    *shared
}

// record is one record of a journal.
type record struct {
	Begin *begin       `json:"begin,omitempty"`
	Key   *keyOfTry    `json:"key,omitempty"`
	Fact  *ledger.Fact `json:"fact,omitempty"`
	// Note is a person's, of a fact that they acknowledge.
	Note string `json:"note,omitempty"`
	// Beside is what other writes did beside it.
	Beside *books.Note `json:"beside,omitempty"`
	// Newer is a setting of levels that was begun after this one, and NewerEnd what one
	// came to.
	Newer    *newerSetting `json:"newer,omitempty"`
	NewerEnd *newerEnd     `json:"newerEnd,omitempty"`
	End      *Final        `json:"end,omitempty"`
	// Last is when the write ended, which may be the last of its run.
	Last *last `json:"last,omitempty"`
}

// last is a moment by a client's clocks, and the base URL of the service that has one of them.
type last struct {
	BaseURL string         `json:"at"`
	Ended   ledger.Instant `json:"ended"`
	// Still are the accounts in which nothing of the program's rests or runs.
	Still []pending.AccountID `json:"still,omitempty"`
	// Handed is what the program hands over of its declared accounts, when it ends in order.
	Handed map[pending.AccountID]*books.Handed `json:"handed,omitempty"`
}

// lastOf is when the last write of earlier runs ended; nil if that is not known, or another one
// was pending then.
func (s *store) lastOf() *last {
	j, ok := s.journal.(interface{ Quiet() []byte })
	if !ok || s.gap() {
		return nil
	}
	r := record{}
	if err := json.Unmarshal(j.Quiet(), &r); err != nil || r.Last == nil || r.Last.BaseURL != s.baseURL {
		return nil
	}
	if l, ok := s.journal.(journal.Leaser); !ok || !l.CompleteFrom().IsZero() { // an older copy would not show it
		r.Last.Handed = nil
	}
	return r.Last
}

// mostHanded bounds what is handed over: an append has to take it.
const mostHanded = 1 << 20

// handOver writes down what the next holder of a lease goes on with, when nothing of this run's is
// open any more. ended is when its last write ended.
func (s *store) handOver(ended ledger.Instant, handed map[pending.AccountID]*books.Handed) error {
	if _, ok := s.journal.(journal.Leaser); !ok || len(handed) == 0 || s.gap() {
		return nil
	}
	data, err := json.Marshal(&record{Last: &last{s.baseURL, ended, s.view.Books.Still(), handed}})
	if err != nil || len(data) > mostHanded {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), exitWaits, errHangs)
	defer cancel()
	return s.journal.Append(ctx, false, journal.Record{Intent: "handed over " + uuid.NewString(), Final: true, Data: data})
}

// begin is a write as it was decided.
type begin struct {
	Intent *pending.Intent `json:"intent"`
	Try    Try             `json:"first,omitzero"`
	Terms  ledger.Terms    `json:"terms"`
	Beside books.Note      `json:"beside,omitzero"`
	// Unnamed and Restores are of a setting of levels.
	Setting
	// Sent is when the first send was about to begin: what is not known of it counts as
	// sent.
	Sent ledger.Instant `json:"sent"`
}

// keyOfTry is the next key, and when the first send under it was about to begin.
type keyOfTry struct {
	Try
	Sent ledger.Instant `json:"sent"`
}

// Final is how a write ended, and all that is kept of one that has a name.
type Final struct {
	Outcome       ledger.Outcome
	Evidence      Evidence        `json:",omitempty"`
	At            time.Time       `json:",omitzero"`
	Key           pending.Key     `json:",omitempty"`
	Try           int             `json:",omitempty"`
	Unbegun       bool            `json:",omitempty"` // its journal does not have its beginning
	Dead          bool            `json:",omitempty"` // the key is spent: an answer or a fence is stored under it, or a person said how it ended
	FirstUseKnown bool            `json:",omitempty"`
	Digest        []byte          `json:",omitempty"` // of what was asked for
	Of            *Summary        `json:",omitempty"` // the same for a person
	Code          string          `json:",omitempty"`
	Answer        json.RawMessage `json:",omitempty"`
	Refused       *Refused        `json:",omitempty"` // of a named write, to be repeated
	Note          string          `json:",omitempty"`
}

// Refused is a refusal that the service has stored under a key.
type Refused struct {
	Status int
	Body   json.RawMessage
}

// maxRefused bounds the body of one that is kept.
const maxRefused = 4096

// refusedBy is the refusal in an answer that is stored, nil if it is too long.
func refusedBy(a *Response) *Refused {
	if len(a.Body) > maxRefused || !json.Valid(a.Body) {
		return nil
	}
	return &Refused{a.Status, a.Body}
}

// Summary is what is kept of a named write for a person, and when it was decided.
type Summary struct {
	Operation     spec.Operation
	Environment   spec.Environment
	Account       pending.AccountID
	Symbol        string `json:",omitempty"`
	ClientOrderID string `json:",omitempty"`
	Decided       time.Time
}

// before makes a record durable before the byte that it is about. Where it fails no byte leaves, but for
// that of an exit, and the journal is to know so if it may have the record all the same.
func (s *store) before(ctx context.Context, w *OpenWrite, r record) error {
	if s.journal == nil || !w.journaled && r.Begin == nil {
		return nil
	}
	err := s.append(ctx, true, w, r)
	if f := r.Fact; f != nil && mayBeThere(ctx, err) {
		ended, isSend := ends[f.Kind]
		if isSend && (f.Kind != ledger.SendBegun || w.Intent.Entry) {
			end := ledger.Fact{Kind: ended, At: f.At, Answer: ledger.Answer{Class: ledger.Unsent}}
			if ended == ledger.SendEnded {
				end.Send = w.Ledger.Sends() + 1
			}
			s.note(w, end)
		}
	}
	return err
}

// ends are how what is noted before its byte ends.
var ends = map[ledger.FactKind]ledger.FactKind{
	ledger.SendBegun: ledger.SendEnded, ledger.FenceBegun: ledger.FenceEnded, ledger.ProbeBegun: ledger.ProbeEnded,
}

// mayBeThere reports whether the journal may have what it did not say that it has: it has not answered, or
// was not waited for.
func mayBeThere(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, journal.ErrUnanswered))
}

// note writes a fact down without waiting for the disk.
func (s *store) note(w *OpenWrite, f ledger.Fact) {
	_ = s.later(w, record{Fact: &f}) // what is missing is taken for the worst
}

// later writes down what the next run is to know, where it has the write.
func (s *store) later(w *OpenWrite, r record) error {
	if s.journal == nil || !w.journaled {
		return nil
	}
	return s.write(w, r)
}

func (s *store) write(w *OpenWrite, r record) error {
	err := s.append(context.Background(), false, w, r)
	s.logged(w, err)
	if errors.Is(err, journal.ErrResolved) { // it has ended meanwhile, and needs no more
		return nil
	}
	return err
}

func (s *store) logged(w *OpenWrite, err error) {
	if err != nil {
		s.unwritten(&w.Intent, err)
	}
}

// end writes down how a write ended. Of one with a name this run keeps what the journal
// does not take.
func (s *store) end(ctx context.Context, w *OpenWrite, f *Final) (err error) {
	if s.journal != nil && w.journaled {
		end := *f // so that f is on the heap only where there is a journal
		ended := &last{BaseURL: s.baseURL, Ended: s.view.Clocks.Now(), Still: s.view.Books.Still()}
		s.view.last.Store(&ended.Ended)
		r := record{End: &end, Last: ended}
		if err = s.append(ctx, false, w, r); err == nil || errors.Is(err, journal.ErrResolved) { // or was owed
			return nil
		}
		s.shared.owed.add(s.recordOf(w, r))
	}
	s.keep(w, f)
	return err
}

// keep keeps the end of a write with a name that no journal has.
func (s *store) keep(w *OpenWrite, f *Final) {
	if w.Name != "" {
		s.shared.kept.keep(w.Name, *f)
	}
}

func (s *store) append(ctx context.Context, durable bool, w *OpenWrite, r record) error {
	is, err := s.recordOf(w, r)
	if err != nil {
		return err
	}
	if !durable { // nobody waits for it, so it holds up nobody
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, exitWaits, errHangs)
		defer cancel()
	}
	s.pay(ctx)
	return s.journal.Append(ctx, durable, is)
}

func (s *store) recordOf(w *OpenWrite, r record) (journal.Record, error) {
	data, err := json.Marshal(&r)
	if err != nil {
		return journal.Record{}, fmt.Errorf("trading: journal record: %w", err)
	}
	return journal.Record{Intent: string(w.Intent.ID), Name: w.Name, Final: r.End != nil, Data: data}, nil
}

// payLast has the journal take what it is owed before its last client closes.
func (s *store) payLast() {
	if s.journal == nil {
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), exitWaits, errHangs)
	defer cancel()
	s.pay(ctx)
}

// owed are the ends of writes that a journal did not take, which may have their beginnings: it takes them
// before what comes next.
type owed struct {
	mu   sync.Mutex
	ends []journal.Record
}

func (o *owed) add(r journal.Record, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil && len(o.ends) < maxFinals {
		o.ends = append(o.ends, r)
	}
}

// pay has the journal take what it is owed. Who finds another one at it does not wait.
func (s *store) pay(ctx context.Context) {
	o := &s.shared.owed
	if !o.mu.TryLock() {
		return
	}
	defer o.mu.Unlock()
	for len(o.ends) > 0 {
		if err := s.journal.Append(ctx, false, o.ends[0]); err != nil && !errors.Is(err, journal.ErrResolved) {
			return
		}
		o.ends = o.ends[1:]
	}
}

// noteGap notes that the journal lacks an exit, or a part of one, and why.
func (s *store) noteGap(why error) error {
	g, ok := s.journal.(journal.Gapper)
	if !ok {
		return why
	}
	noted := make(chan error, 1)
	go func() { noted <- g.SetGap(true) }() // which ends with the disk's call, at the latest
	var err error
	select {
	case err = <-noted:
	case <-time.After(exitWaits):
		err = errHangs
	}
	if err != nil {
		return fmt.Errorf("%w; nor can it be noted that it is missing: %w", why, err)
	}
	return why
}

// gap reports whether the journal lacks an exit, or a part of one.
func (s *store) gap() bool {
	g, ok := s.journal.(journal.Gapper)
	if !ok {
		return false
	}
	missing, err := g.Gap()
	return missing || err != nil
}

// closeGap notes that what the journal lacks matters no longer. If it cannot, the next
// start does.
func (s *store) closeGap() {
	if g, ok := s.journal.(journal.Gapper); ok && s.gap() {
		_ = g.SetGap(false)
	}
}

// last returns how the write under a name ended that went furthest; nil if there is none.
func (s *store) last(ctx context.Context, name string) (*Final, error) {
	last := s.shared.kept.find(name)
	if s.journal == nil || last != nil && last.Outcome == ledger.Applied {
		return last, nil
	}
	histories, err := s.journal.Named(ctx, name)
	if err != nil {
		return nil, err
	}
	known := last != nil // what ended without the journal
	for i := range histories {
		records, err := decode(&histories[i])
		if err != nil {
			return nil, err
		}
		begun, ended := false, false
		for _, r := range records {
			begun = begun || r.Begin != nil
			if r.End != nil && !r.End.Unbegun {
				ended, last = true, r.End.further(last)
			}
		}
		if begun && !ended && !known {
			return nil, fmt.Errorf("the journal has no end of write %s", histories[i].Intent)
		}
	}
	return last, nil
}

// decode reads the records of a write.
func decode(h *journal.History) ([]record, error) {
	records := make([]record, len(h.Records))
	for i, data := range h.Records {
		if err := json.Unmarshal(data, &records[i]); err != nil {
			return nil, fmt.Errorf("trading: journal: write %s, record %d: %w", h.Intent, i+1, err)
		}
		if b := records[i].Begin; b != nil && b.Intent == nil {
			b.Intent = new(pending.Intent)
		}
	}
	return records, nil
}

// DecidedAt is when a named write was decided.
func (f *Final) DecidedAt() time.Time {
	if f.Of == nil {
		return time.Time{}
	}
	return f.Of.Decided
}

// finish fills in what is kept of every write.
func (w *OpenWrite) finish(f *Final) {
	t := w.Try()
	f.At, f.Key, f.Try = time.Now(), t.Key, t.Number
	f.FirstUseKnown = w.Ledger.FirstUseKnown
	if w.Name == "" {
		f.Answer = nil
		return
	}
	in := &w.Intent
	f.Digest = w.Digest()
	f.Of = &Summary{in.Operation, in.Environment, in.Account, in.Symbol, in.ClientOrderID, in.Decided}
}

// Digest is what is kept of what a named write asked for: of which account, by which
// operation, in which bytes.
func (w *OpenWrite) Digest() []byte {
	digest := sha256.New()
	_, _ = fmt.Fprintf(digest, "%s %q %s", w.Intent.Operation, w.Intent.Account, []byte(w.Intent.Body)) // a Body prints cut
	return digest.Sum(nil)
}

// SameOrder reports whether another write asks for the same.
func (w *OpenWrite) SameOrder(other *OpenWrite) bool {
	return bytes.Equal(w.Digest(), other.Digest())
}
