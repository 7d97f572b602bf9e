package answers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

// Kept is how long a write is kept: the service knows a key for as long.
const Kept = 24 * time.Hour

// What is kept at the most, which bounds memory and the file.
const (
	mostWrites = 100_000
	mostBody   = 64 << 10 // bytes of an answer
)

// ErrFull means that no further write can be begun: too many are not known to be heard.
var ErrFull = errors.New("answers: too many writes are not known to be heard")

// File is the file. It is safe for concurrent use.
type File struct {
	log  *journal.Log
	most int // writes

	mu    sync.Mutex
	known map[string]*Write // without bodies
	order []*Write          // as they were begun
	first map[string]time.Time
}

// Open opens the file at path, and makes it if there is none. What is older than [Kept] is
// forgotten. The errors are those of [journal.Open].
func Open(ctx context.Context, path string, now time.Time, opts ...journal.Option) (*File, error) {
	log, err := journal.Open(path, opts...)
	if err != nil {
		return nil, err
	}
	f := &File{log: log, most: mostWrites, known: make(map[string]*Write), first: make(map[string]time.Time)}
	err = f.load(path, now)
	if err == nil {
		err = f.Tidy(ctx, now)
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return f, nil
}

// load reads what earlier runs have written, at the beginning of this one.
func (f *File) load(path string, now time.Time) error {
	for h, err := range journal.Read(path) {
		if err != nil {
			return err
		}
		if strings.HasPrefix(h.Name, firstPrefix) {
			if err := f.loadFirst(h, now); err != nil {
				return err
			}
			continue
		}
		w := f.known[h.Name]
		if w == nil {
			w = new(Write)
			f.known[h.Name] = w
			f.order = append(f.order, w)
		}
		if err := w.add(h); err != nil {
			return err
		}
		w.Answer.Header, w.Answer.Body = nil, nil
	}
	for id, w := range f.known {
		w.At = here(w.At, now)
		if w.ID != id {
			return fmt.Errorf("answers: the write %q is noted as heard, and was never begun", id)
		}
	}
	return nil
}

// here is a moment that an earlier run has noted as this one measures time, by a clock that nobody sets: it is as old
// as it was when this run began, and no younger than that.
func here(at, now time.Time) time.Time { return now.Add(min(at.Sub(now), 0)) }

// Begin notes a write. When it returns, the note survives a power cut; on an error nothing must be
// sent that could add exposure. The end of the context does not end it.
func (f *File) Begin(ctx context.Context, b Begun) error {
	if b.ID == "" || strings.ContainsAny(b.ID, " ") {
		return fmt.Errorf("answers: the id of a write is %q: it must not be empty, and have no space", b.ID)
	}
	ctx = context.WithoutCancel(ctx)
	data, err := record{Begun: &b}.encode()
	if err != nil {
		return err
	}
	if err := f.room(ctx); err != nil {
		return err
	}
	w := &Write{Begun: b}
	f.mu.Lock()
	if f.known[b.ID] != nil {
		f.mu.Unlock()
		return fmt.Errorf("answers: the write %q was begun before", b.ID)
	}
	f.known[b.ID] = w
	f.order = append(f.order, w)
	f.mu.Unlock()
	if err := f.log.Append(ctx, true, journal.Record{Intent: b.ID, Name: b.ID, Data: data}); err != nil {
		f.drop(w)
		return err
	}
	return nil
}

// room forgets the oldest writes that were heard, or not sent, if there are too many.
func (f *File) room(ctx context.Context) error {
	f.mu.Lock()
	var old []*Write
	if len(f.order) >= f.most {
		for _, w := range f.order {
			if len(old) <= f.most/100 && (w.Answer.Unsent || w.resolved() && (w.Heard || w.Answer.Outcome == hearing.NotApplied)) {
				old = append(old, w)
			}
		}
	}
	full := len(f.order)-len(old) >= f.most
	f.mu.Unlock()
	if full {
		return ErrFull
	}
	return f.forget(ctx, old)
}

// Answer notes what a write was answered. The note survives a kill when it returns; with the next
// Begin it survives a power cut. An answer may follow one whose outcome was unknown; the first
// with a known outcome stays. The end of the context does not end it.
func (f *File) Answer(ctx context.Context, id string, a Answer) error {
	a.At = a.At.Round(0)
	if len(a.Body) > mostBody {
		a.Status, a.Header, a.Body = 0, nil, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.known[id]
	switch {
	case w == nil:
		return fmt.Errorf("answers: the write %q was not begun", id)
	case w.resolved():
		return nil
	}
	r := record{Answer: &a}
	final := a.Outcome != hearing.Unknown
	if final {
		r.Begun = &w.Begun // what is before the last record is dropped
	}
	data, err := r.encode()
	if err != nil {
		return err
	}
	if err := f.log.Append(context.WithoutCancel(ctx), false, journal.Record{Intent: id, Name: id, Final: final, Data: data}); err != nil {
		return err
	}
	a.Header, a.Body = nil, nil
	w.Answer, w.Answered = a, true
	return nil
}

// Heard notes that the bot has heard what became of a write. Without a known outcome there is
// nothing to hear, and nothing is noted. The end of the context does not end it.
func (f *File) Heard(ctx context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.known[id]
	if w == nil || !w.resolved() || w.Heard {
		return nil
	}
	err := f.log.Append(context.WithoutCancel(ctx), false, journal.Record{Intent: heardPrefix + id, Name: id, Final: true})
	w.Heard = err == nil
	return err
}

// Get returns a write, with the answer's header and body.
func (f *File) Get(ctx context.Context, id string) (w Write, ok bool, err error) {
	f.mu.Lock()
	ok = f.known[id] != nil
	f.mu.Unlock()
	if !ok {
		return w, false, nil
	}
	histories, err := f.log.Named(ctx, id)
	if err != nil {
		return w, false, err
	}
	for _, h := range histories {
		if err := w.add(h); err != nil {
			return Write{}, false, err
		}
	}
	return w, w.ID == id, nil
}

// Keyed returns the ids of the writes that a bot has asked for under its Idempotency-Key, oldest
// first.
func (f *File) Keyed(bot, key string) (ids []string) {
	for _, w := range f.all(func(w *Write) bool { return w.Key == key && w.Place.Bot == bot }) {
		ids = append(ids, w.ID)
	}
	return ids
}

// Since returns the writes that a bot has begun at a time or later, oldest first, without headers
// and bodies. An empty bot means every one.
func (f *File) Since(bot string, at time.Time) []Write {
	return f.all(func(w *Write) bool { return (bot == "" || w.Place.Bot == bot) && !w.At.Before(at) })
}

// Unresolved returns the writes whose outcome is not noted, oldest first, without headers and bodies.
func (f *File) Unresolved() []Write { return f.all(func(w *Write) bool { return !w.resolved() }) }

// Unsent returns the ids of the writes that a bot has asked for under the same key as another and with the
// same bytes, and that were not sent.
func (f *File) Unsent(id string) (ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.known[id]
	if of == nil || of.Key == "" {
		return nil
	}
	for _, w := range f.order {
		if w.Answer.Unsent && w.SameKey(of.Write) {
			ids = append(ids, w.ID)
		}
	}
	return ids
}

// Unheard returns the writes that are not noted as heard, oldest first, without headers and bodies.
func (f *File) Unheard() []Write { return f.all(func(w *Write) bool { return !w.Heard }) }

func (f *File) all(wanted func(*Write) bool) (all []Write) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.order {
		if wanted(w) {
			all = append(all, *w)
		}
	}
	return all
}

// Tidy forgets what is older than [Kept].
func (f *File) Tidy(ctx context.Context, now time.Time) error {
	f.mu.Lock()
	var old []*Write
	for _, w := range f.order {
		if now.Sub(w.At) > Kept {
			old = append(old, w)
		}
	}
	f.mu.Unlock()
	return f.forget(ctx, old)
}

// forget removes writes from the file, as many at once as one sync makes durable.
func (f *File) forget(ctx context.Context, old []*Write) error {
	const atOnce = 256
	for some := range slices.Chunk(old, atOnce) {
		failed := make([]error, len(some))
		var all sync.WaitGroup
		for i, w := range some {
			all.Go(func() { failed[i] = f.forgetOne(ctx, w) })
		}
		all.Wait()
		if err := errors.Join(failed...); err != nil {
			return err
		}
		f.drop(some...)
	}
	return nil
}

func (f *File) forgetOne(ctx context.Context, w *Write) error {
	f.mu.Lock()
	resolved := w.resolved()
	f.mu.Unlock()
	if !resolved { // nobody has found out, and nobody will
		data, err := record{Begun: &w.Begun}.encode()
		if err != nil {
			return err
		}
		err = f.log.Append(ctx, false, journal.Record{Intent: w.ID, Name: w.ID, Final: true, Data: data})
		if err != nil && !errors.Is(err, journal.ErrResolved) {
			return err
		}
	}
	return f.log.Forget(ctx, w.ID)
}

// drop takes writes out of memory.
func (f *File) drop(some ...*Write) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range some {
		delete(f.known, w.ID)
	}
	f.order = slices.DeleteFunc(f.order, func(w *Write) bool { return f.known[w.ID] != w })
}

// Close makes everything durable and closes the file.
func (f *File) Close() error { return f.log.Close() }

// firstPrefix begins the name of the entry that says when a bot first wrote to an account. No id of
// a write has a space.
const firstPrefix = "first "

func firstName(bot, account string) string { return firstPrefix + bot + " " + account }

// First returns when a bot first wrote to an account, which is now if it never did. When it
// returns, the note survives a power cut; it is never forgotten. The end of the context does not
// end it.
func (f *File) First(ctx context.Context, bot, account string, now time.Time) (time.Time, error) {
	name := firstName(bot, account)
	f.mu.Lock()
	at, known := f.first[name]
	f.mu.Unlock()
	if known {
		return at, nil
	}
	data, err := now.MarshalText()
	if err != nil {
		return now, fmt.Errorf("answers: %w", err)
	}
	err = f.log.Append(context.WithoutCancel(ctx), true, journal.Record{Intent: name, Name: name, Final: true, Data: data})
	if errors.Is(err, journal.ErrResolved) { // another one of the bot's was as early
		err = nil
	}
	if err == nil {
		f.mu.Lock()
		f.first[name] = now
		f.mu.Unlock()
	}
	return now, err
}

func (f *File) loadFirst(h journal.History, now time.Time) error {
	for _, data := range h.Records {
		var at time.Time
		if err := at.UnmarshalText(data); err != nil {
			return fmt.Errorf("answers: the entry %q: %w", h.Intent, err)
		}
		f.first[h.Name] = here(at, now)
	}
	return nil
}
