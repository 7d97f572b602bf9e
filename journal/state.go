package journal

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// entry is an intent that is pending, or resolved and named.
type entry struct {
	History
	first uint64 // orders intents by their first record
}

// state is what a journal holds: all records of pending intents, and the Final
// record of resolved intents that have a name.
type state struct {
	intents map[string]*entry
	names   map[string][]*entry
	pending []*entry // in the order of their first record
	first   uint64   // of the last intent
	size    int64    // what the records take when they are written
	last    []byte   // the Data of the record that came last, if it was a Final one, and is not long
	recent  recent
}

func newState() *state {
	return &state{intents: map[string]*entry{}, names: map[string][]*entry{}}
}

// check says why records cannot be appended.
func (s *state) check(records []Record) error {
	batch := map[string]Record{} // the last one of each intent
	for i, r := range records {
		name, final, known := r.Name, false, false
		if e, ok := s.intents[r.Intent]; ok {
			name, final, known = e.Name, e.Final, true
		}
		if last, ok := batch[r.Intent]; ok {
			name, final, known = last.Name, last.Final, true
		}
		switch {
		case r.Intent == "":
			return fmt.Errorf("%w: records[%d].Intent must not be empty", ErrInvalid, i)
		case final, !known && s.recent.has(r.Intent):
			return fmt.Errorf("%w: records[%d].Intent is %q", ErrResolved, i, r.Intent)
		case name != r.Name:
			return fmt.Errorf("%w: records[%d].Name of intent %q must stay %q, is %q", ErrInvalid, i, r.Intent, name, r.Name)
		}
		if len(records) > 1 {
			batch[r.Intent] = r
		}
	}
	return nil
}

// lastMost bounds the data of a last record that is kept.
const lastMost = 16 << 10

// apply appends a record that passed check. It keeps r.Data.
func (s *state) apply(r Record) {
	if s.last = nil; r.Final && len(r.Data) <= lastMost {
		s.last = r.Data
	}
	e, known := s.intents[r.Intent]
	if !known {
		if r.Final && r.Name == "" {
			s.recent.add(r.Intent)
			return
		}
		s.first++
		e = &entry{History: History{Intent: r.Intent, Name: r.Name}, first: s.first}
		s.intents[r.Intent] = e
		if r.Name != "" {
			s.names[r.Name] = append(s.names[r.Name], e)
		}
		if !r.Final {
			s.pending = append(s.pending, e)
		}
	}
	if !r.Final {
		e.Records = append(e.Records, r.Data)
		s.size += e.recordSize(r.Data)
		return
	}
	if known {
		at, _ := slices.BinarySearchFunc(s.pending, e.first, func(e *entry, first uint64) int { return cmp.Compare(e.first, first) })
		s.pending = slices.Delete(s.pending, at, at+1)
	}
	s.drop(e)
	if e.Name == "" {
		delete(s.intents, e.Intent)
		s.recent.add(e.Intent)
		return
	}
	e.Final, e.Records = true, [][]byte{r.Data}
	s.size += e.recordSize(r.Data)
}

// drop takes the records of an intent off the size.
func (s *state) drop(e *entry) {
	for _, data := range e.Records {
		s.size -= e.recordSize(data)
	}
}

func (e *entry) recordSize(data []byte) int64 {
	return int64(len(e.Intent) + len(e.Name) + len(data) + recordHead)
}

// forgettable says whether the name is known, and why it cannot be forgotten.
func (s *state) forgettable(name string) (bool, error) {
	for _, e := range s.names[name] {
		if !e.Final {
			return true, fmt.Errorf("%w: %q", ErrPending, e.Intent)
		}
	}
	return len(s.names[name]) > 0, nil
}

func (s *state) forget(name string) {
	for _, e := range s.names[name] {
		s.drop(e)
		delete(s.intents, e.Intent)
		s.recent.add(e.Intent)
	}
	delete(s.names, name)
}

// named returns copies of the intents of a name.
func (s *state) named(name string) []History {
	histories := snapshot(s.names[name])
	for i, h := range histories {
		histories[i] = h.owned()
	}
	return histories
}

// all returns the intents in the order of their first record.
func (s *state) all() []*entry {
	return slices.SortedFunc(maps.Values(s.intents), func(a, b *entry) int { return cmp.Compare(a.first, b.first) })
}

// snapshot returns what the entries hold now. The records are shared: they are
// never changed, only appended to or replaced.
func snapshot(entries []*entry) []History {
	histories := make([]History, len(entries))
	for i, e := range entries {
		histories[i] = e.History
	}
	return histories
}

// owned copies the records for a caller.
func (h History) owned() History {
	h.Records = slices.Clone(h.Records)
	for i, data := range h.Records {
		h.Records[i] = bytes.Clone(data)
	}
	return h
}

// yieldAll yields what look returns, until the context ends.
func yieldAll(ctx context.Context, look func(context.Context) ([]History, error)) iter.Seq2[History, error] {
	return func(yield func(History, error) bool) {
		histories, err := look(ctx)
		for _, h := range histories {
			if err = ctx.Err(); err != nil {
				break
			}
			if !yield(h.owned(), nil) {
				return
			}
		}
		if err != nil {
			yield(History{}, err)
		}
	}
}

// recent remembers the intents that were dropped last, so that a record which comes
// late does not make one of them pending again.
type recent struct {
	known map[string]bool
	order []string // a ring, once it is full
	next  int
}

const recentMost = 4096

func (r *recent) has(intent string) bool { return r.known[intent] }

func (r *recent) add(intent string) {
	if r.known == nil {
		r.known = map[string]bool{}
	}
	if len(r.order) < recentMost {
		r.order = append(r.order, intent)
	} else {
		delete(r.known, r.order[r.next])
		r.order[r.next] = intent
		r.next = (r.next + 1) % recentMost
	}
	r.known[intent] = true
}
