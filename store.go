package trading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/journal"
)

// store is the journal as one client uses it. Without a journal it keeps what was
// resolved under a client order id for as long as the process runs.
type store struct {
	journal journal.Store // nil without one
	log     logger

	mu     sync.Mutex
	finals map[string]*final // by name, where there is no journal
	order  []string
}

// maxFinals bounds the named writes that a client without a journal remembers.
const maxFinals = 10_000

// record is one record of a journal.
type record struct {
	Begin *begin       `json:"begin,omitempty"`
	Key   *keyOfTry    `json:"key,omitempty"`
	Fact  *ledger.Fact `json:"fact,omitempty"`
	// Beside is what other writes did beside it.
	Beside *books.Note `json:"beside,omitempty"`
	// Newer is a setting of levels that was begun after this one, and NewerEnd what one
	// came to.
	Newer    *newerSetting `json:"newer,omitempty"`
	NewerEnd *newerEnd     `json:"newerEnd,omitempty"`
	End      *final        `json:"end,omitempty"`
}

// begin is a write as it was decided.
type begin struct {
	Intent Intent               `json:"intent"`
	Terms  ledger.Terms         `json:"terms"`
	Base   *accounting.Baseline `json:"base,omitempty"`
	Beside books.Note           `json:"beside,omitzero"`
	// Unnamed and Restores are of a setting of levels.
	Unnamed  unnamedLevels `json:"unnamed,omitzero"`
	Restores IntentID      `json:"restores,omitempty"`
	// Sent is when the first send was about to begin: what is not known of it counts as
	// sent.
	Sent ledger.Instant `json:"sent"`
}

// keyOfTry is the next key, and when the first send under it was about to begin.
type keyOfTry struct {
	Key  Key            `json:"key"`
	Try  int            `json:"try"`
	Sent ledger.Instant `json:"sent"`
}

// final is how a write ended, and all that is kept of one that has a name.
type final struct {
	Outcome       Outcome
	Evidence      Evidence        `json:",omitempty"`
	At            time.Time       `json:",omitzero"`
	Key           Key             `json:",omitempty"`
	Try           int             `json:",omitempty"`
	Dead          bool            `json:",omitempty"` // a refusal, or a fence, is stored under the key
	FirstUseKnown bool            `json:",omitempty"`
	Digest        []byte          `json:",omitempty"` // of the body
	Code          Code            `json:",omitempty"`
	Answer        json.RawMessage `json:",omitempty"`
	Note          string          `json:",omitempty"`
}

// registry is what the clients of one journal share: the writes whose outcome is not
// decided, and those who work on them.
type registry struct {
	pending.Registry[*write]

	clock    *clock
	resolved resolutions
	requests atomic.Uint64 // of the drivers, numbered

	mu      sync.Mutex
	loaded  bool
	views   map[string]*view // by base URL
	clients []*core          // open ones
	orphans []*write         // of clients that have closed
}

// view is what the clients of one service know of its accounts: a write of one is an own
// write to the others.
type view struct {
	books  *books.Books
	levels settings
}

// viewOf returns what is known of the accounts of a service.
func (r *registry) viewOf(baseURL string, began time.Time) *view {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.viewLocked(baseURL, began)
}

func (r *registry) viewLocked(baseURL string, began time.Time) *view {
	if r.views == nil {
		r.views = make(map[string]*view)
	}
	if r.views[baseURL] == nil {
		r.views[baseURL] = &view{books: books.New(began)}
	}
	return r.views[baseURL]
}

// join adds a client.
func (r *registry) join(c *core) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients = append(r.clients, c)
}

// leave removes a client that has closed. Another one takes its writes over, or the
// next that comes.
func (r *registry) leave(c *core) (left []*write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left = c.driver.writes()
	at := slices.Index(r.clients, c)
	if at < 0 {
		return left // closed before
	}
	r.clients = slices.Delete(r.clients, at, at+1)
	r.orphans = append(r.orphans, left...)
	for _, other := range r.clients {
		if other.closing.Err() == nil {
			r.adoptOrphans(other)
		}
	}
	return left
}

// drop forgets a write that nobody works on.
func (r *registry) drop(w *write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orphans = slices.DeleteFunc(r.orphans, func(o *write) bool { return o == w })
}

// adoptOrphans gives a client what those that have closed left. The lock is held.
func (r *registry) adoptOrphans(c *core) {
	var left []*write
	for _, w := range r.orphans {
		if w.intent.BaseURL == c.baseURL {
			w.core = c
			left = append(left, w)
		}
	}
	c.adopt(left)
	r.orphans = slices.DeleteFunc(r.orphans, func(w *write) bool { return w.core == c })
}

// newRegistry returns the registry of a journal's handle, or one of the client's own.
func newRegistry(j journal.Store) *registry {
	if j == nil {
		return &registry{loaded: true, clock: newClock()}
	}
	return j.Shared().Value(func() any { return &registry{clock: newClock()} }).(*registry)
}

// durable reports whether what it keeps outlives the process.
func (s *store) durable() bool { return s.journal != nil }

// begin makes a write durable before its first byte.
func (s *store) begin(ctx context.Context, w *write, base *accounting.Baseline, beside books.Note) error {
	if s.journal == nil {
		return nil
	}
	return s.append(ctx, true, w,
		record{Begin: &begin{
			Intent: w.intent, Terms: w.ledger.Terms, Base: base, Beside: beside,
			Unnamed: w.unnamed, Restores: w.restores, Sent: w.core.clock.now(),
		}})
}

// rekey makes the next key durable before its first byte.
func (s *store) rekey(ctx context.Context, w *write) error {
	if s.journal == nil {
		return nil
	}
	return s.append(ctx, true, w, record{Key: &keyOfTry{w.intent.Key, w.intent.Try, w.core.clock.now()}})
}

// before makes a fact durable before the byte that it is about.
func (s *store) before(ctx context.Context, w *write, f ledger.Fact) error {
	if s.journal == nil || !w.journaled {
		return nil
	}
	return s.append(ctx, true, w, record{Fact: &f})
}

// note writes a fact down without waiting for the disk.
func (s *store) note(w *write, f ledger.Fact) {
	s.later(w, record{Fact: &f})
}

func (s *store) later(w *write, r record) {
	if s.journal == nil || !w.journaled {
		return
	}
	s.write(w, r, false)
}

// beside writes down what other writes did.
func (s *store) beside(w *write, n books.Note, durable bool) {
	s.write(w, record{Beside: &n}, durable)
}

func (s *store) write(w *write, r record, durable bool) {
	if err := s.append(context.Background(), durable, w, r); err != nil {
		s.log.unwritten(w, err)
	}
}

// end writes down how a write ended.
func (s *store) end(ctx context.Context, w *write, f final, durable bool) error {
	switch {
	case s.journal == nil && w.Name != "":
		s.remember(w.Name, f)
		return nil
	case s.journal == nil || !w.journaled:
		return nil
	default:
		return s.writeEnd(ctx, w, f, durable)
	}
}

func (s *store) writeEnd(ctx context.Context, w *write, f final, durable bool) error {
	return s.append(ctx, durable, w, record{End: &f})
}

func (s *store) remember(name string, f final) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.finals == nil {
		s.finals = make(map[string]*final)
	}
	if s.finals[name] == nil {
		s.order = append(s.order, name)
	}
	s.finals[name] = &f
	if len(s.order) > maxFinals {
		delete(s.finals, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *store) append(ctx context.Context, durable bool, w *write, records ...record) error {
	var room [1]journal.Record
	all := room[:0]
	for i := range records {
		data, err := json.Marshal(&records[i])
		if err != nil {
			return fmt.Errorf("trading: journal record: %w", err)
		}
		all = append(all, journal.Record{Intent: w.Entry.ID, Name: w.Name, Final: records[i].End != nil, Data: data})
	}
	return s.journal.Append(ctx, durable, all...)
}

// noteGap notes that the journal lacks an exit, or a part of one, and why.
func (s *store) noteGap(why error) error {
	if g, ok := s.journal.(journal.Gapper); ok {
		if err := g.SetGap(true); err != nil {
			return fmt.Errorf("%w; nor can it be noted that it is missing: %w", why, err)
		}
	}
	return why
}

// gap reports whether the journal lacks an exit that can matter to the writes that
// earlier runs left. Without any it matters no longer.
func (s *store) gap(left []*write) bool {
	g, ok := s.journal.(journal.Gapper)
	if !ok {
		return false
	}
	missing, err := g.Gap()
	if missing && err == nil && len(left) == 0 {
		_ = g.SetGap(false) // or the next start does
		return false
	}
	return missing || err != nil
}

// last returns how the last write under a name ended; nil if there is none.
func (s *store) last(ctx context.Context, name string) (*final, error) {
	if s.journal == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.finals[name], nil
	}
	histories, err := s.journal.Named(ctx, name)
	if err != nil {
		return nil, err
	}
	var last *final
	for i := range histories {
		for _, data := range histories[i].Records {
			var r record
			if err := json.Unmarshal(data, &r); err != nil {
				return nil, fmt.Errorf("trading: journal: write %s: %w", histories[i].Intent, err)
			}
			if r.End != nil {
				last = r.End
			}
		}
	}
	return last, nil
}

// load takes over, once, what earlier runs of the program left, and what clients left
// that have closed.
func (c *core) load(ctx context.Context) error {
	r := c.pending
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.orphans) > 0 {
		r.adoptOrphans(c)
	}
	if r.loaded {
		return nil
	}
	return c.loadFrom(ctx, r)
}

// loadFrom reads the journal. The registry's lock is held.
func (c *core) loadFrom(ctx context.Context, r *registry) error {
	var left []*write
	for h, err := range c.store.journal.Pending(ctx) {
		if err != nil {
			return fmt.Errorf("the journal cannot be read: %w", err)
		}
		w, err := c.restore(&h)
		if err != nil {
			return err
		}
		if w != nil {
			left = append(left, w)
		}
	}
	gap := c.store.gap(left)
	var taken []*write
	defer func() { c.adopt(taken) }()
	for _, w := range left {
		w.gap = gap
		if !r.Add(&w.Entry) {
			continue // of this process, and at work
		}
		if w.ledger.Forget() { // its key may be another program's, and it needs no resolution
			f := final{Outcome: Unknown}
			w.finish(&f)
			if err := c.store.end(ctx, w, f, false); err != nil {
				return fmt.Errorf("the journal cannot be written: %w", err)
			}
			r.Remove(&w.Entry)
			continue
		}
		c.store.note(w, ledger.Fact{Kind: ledger.Restarted, At: c.clock.now()})
		r.Doubt(&w.Entry)
		if w.intent.BaseURL != c.baseURL {
			w.core, w.reason = nil, fmt.Sprintf("it was sent to %s", w.intent.BaseURL)
			r.orphans = append(r.orphans, w)
			continue
		}
		taken = append(taken, w)
	}
	r.loaded = true
	return nil
}

// restore folds the records of a write that an earlier run left.
func (c *core) restore(h *journal.History) (*write, error) {
	w := &write{core: c, left: true, registered: true, journaled: true, handed: closedChannel()}
	var terms ledger.Terms
	var facts []ledger.Fact
	var base *accounting.Baseline
	var beside books.Note
	for i, data := range h.Records {
		var r record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("trading: journal: write %s, record %d: %w", h.Intent, i+1, err)
		}
		switch {
		case r.Begin != nil:
			w.intent, terms = r.Begin.Intent, r.Begin.Terms
			base, beside = r.Begin.Base, r.Begin.Beside
			w.unnamed, w.restores = r.Begin.Unnamed, r.Begin.Restores
			facts = append(facts, ledger.Fact{Kind: ledger.SendBegun, At: r.Begin.Sent})
		case r.Key != nil:
			w.intent.Key, w.intent.Try = r.Key.Key, r.Key.Try
			facts = append(facts, ledger.Fact{Kind: ledger.KeyChanged, At: r.Key.Sent}, ledger.Fact{Kind: ledger.SendBegun, At: r.Key.Sent})
		case r.Fact != nil:
			facts = append(facts, *r.Fact)
		case r.Newer != nil, r.NewerEnd != nil:
			w.keepNewer(&r)
		case r.Beside != nil:
			beside.Add(*r.Beside)
		}
	}
	if w.intent.ID == "" {
		return nil, nil // its beginning failed, and so it was not journaled
	}
	terms.Exclusive = c.isExclusive(w.intent.Account)
	terms.NoProbe = terms.NoProbe || c.withoutProbe
	w.Entry.ID, w.Name, w.Places, w.Write = h.Intent, h.Name, w.intent.places(), w
	w.keyInStore = w.intent.Key
	w.side = w.askedFor().Side
	w.books, w.booked = c.pending.viewLocked(w.intent.BaseURL, time.Now()).books, c.bookWrite(w)
	if beside.NoBaseline {
		base = nil
	}
	if w.intent.trades() {
		w.books.Restore(&w.booked, base, beside.Own)
	}
	w.ledger = ledger.Restore(terms, facts, c.clock.now())
	return w, nil
}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// noteInJournal registers a write before its first byte, and makes durable what has
// to be: the write itself, each new key, and a second send under one key.
func (c *call) noteInJournal() error {
	w := c.write
	if w == nil || !w.ledger.Resolves {
		return nil
	}
	var err error
	switch {
	case w.keyInStore == "" && !w.registered:
		err = c.register(w)
	case !w.journaled:
	case w.keyInStore != w.intent.Key:
		err = c.core.store.rekey(c, w)
		w.keyInStore = w.intent.Key
	case c.sends > 0:
		err = c.core.store.before(c, w, ledger.Fact{Kind: ledger.SendBegun, At: c.core.clock.now()})
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, errTaken) {
		return err
	}
	if c.Err() != nil {
		return c.Err()
	}
	if c.entry {
		return &GuardError{Kind: ErrJournal, Reason: "entries wait until it can be written", Err: err}
	}
	if c.endpoint.trades { // no verdict on another write needs levels
		err = c.core.store.noteGap(err)
	}
	w.unjournaled = err
	return nil
}

// register adds a write to those that are open, and to the journal.
func (c *call) register(w *write) error {
	live := c.env == EnvLive
	w.booked = c.core.bookWrite(w)
	if live && c.entry && c.core.store.durable() {
		c.readBaseline()
	}
	if err := c.core.load(c); err != nil && c.entry {
		return err
	}
	if !c.core.pending.Add(&w.Entry) {
		return fmt.Errorf("trading: write %s is registered already", w.Entry.ID)
	}
	if w.Name != "" && c.core.pending.Named(w.Name)[0] != &w.Entry {
		c.core.pending.Remove(&w.Entry) // two calls took the id at once: this one joins the other
		w.handOver()
		return errTaken
	}
	w.registered = true
	if c.endpoint.levels {
		return c.registerLevels(w)
	}
	base, beside := w.books.Enter(&w.booked)
	if !live {
		return nil
	}
	began, err := c.begin(w, base, beside)
	if began {
		w.journaled = true
		w.books.Journaled(&w.booked, beside.NoBaseline)
	}
	return err
}

// registerLevels is register for a setting of levels. The paper account has no journal.
func (c *call) registerLevels(w *write) error {
	if c.env != EnvLive {
		return nil
	}
	c.core.levels.began(w)
	c.core.levels.noteNewer(w)
	began, err := c.begin(w, nil, books.Note{})
	if began {
		c.core.levels.journaled(w)
	}
	return err
}

// begin puts a write into the journal, before its first byte. began means that it may be
// there, whatever the error.
func (c *call) begin(w *write, base *accounting.Baseline, beside books.Note) (began bool, err error) {
	w.ledger.Date(c.core.clock.now()) // by an answer that came since the call began
	err = c.core.store.begin(c, w, base, beside)
	w.keyInStore = w.intent.Key
	// A context that ended while the disk was waited for leaves open whether it is there.
	return c.core.store.durable() && (err == nil || c.Err() != nil), err
}
