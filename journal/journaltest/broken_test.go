package journaltest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tradingapi/trading-go/journal"
)

// store is right as it stands, and wrong in one respect with a defect.
type store struct {
	defect    string
	shared    journal.Shared
	mu        sync.Mutex
	histories []*journal.History
	busy      atomic.Int32
	reading   atomic.Int32
	quiet     []byte
	closed    bool
	kept      *kept
}

// kept is what outlives a store, beside its histories.
type kept struct {
	opened int
	gap    bool
	last   []byte
}

func newStore(defect string) *store { return (&store{defect: defect, kept: &kept{}}).next() }

// next is the store when it is opened again.
func (s *store) next() *store {
	next := &store{defect: s.defect, histories: s.histories, kept: s.kept}
	s.kept.opened++
	if s.is("forgets that something is missing") {
		s.kept.gap = false
	}
	if len(s.pending()) == 0 || s.is("knows what was last beside a pending one") {
		next.quiet = s.kept.last
	}
	if s.is("knows what was last once") {
		s.kept.last = nil
	}
	return next
}

// open is the error of a store that is closed.
func (s *store) open(does string) error {
	if s.closed && !s.is(does+" after Close") {
		return journal.ErrClosed
	}
	return nil
}

func (s *store) Close() error {
	err := s.open("closes")
	s.closed = true
	if s.is("closes once") {
		return err
	}
	return nil
}

func (s *store) New() bool     { return s.kept.opened == 1 || s.is("is new again") }
func (s *store) Quiet() []byte { return s.quiet }

func (s *store) SetGap(missing bool) error {
	s.kept.gap = missing && !s.is("notes nothing missing") || s.kept.gap && s.is("never ends what is missing")
	return nil
}

func (s *store) Gap() (bool, error) {
	gap := s.kept.gap
	s.kept.gap = gap && !s.is("says once that something is missing")
	return gap, nil
}

func (s *store) is(defect string) bool { return s.defect == defect }

func (s *store) find(intent string) *journal.History {
	for _, h := range s.histories {
		if h.Intent == intent {
			return h
		}
	}
	return nil
}

func (s *store) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if err := s.open("appends"); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil && !s.is("appends once the context has ended") {
		return err
	}
	if len(records) == 0 && s.is("refuses an Append without records") {
		return journal.ErrInvalid
	}
	if !durable && s.is("drops what is not durable") {
		return nil
	}
	if large := len(records) > 0 && len(records[0].Data) > 1<<20; large && s.is("ends with what is too large") {
		s.closed = true
		return journal.ErrInvalid
	} else if large && s.is("has another error for what is too large") {
		return errors.New("too large")
	}
	s.busy.Add(1)
	defer s.busy.Add(-1)
	for range 1000 { // to let others come
		if !s.is("loses what comes while it is busy") {
			break
		}
		if s.busy.Load() > 1 {
			return nil
		}
		runtime.Gosched()
	}
	if s.is("takes one intent an Append") {
		records = slices.DeleteFunc(slices.Clone(records), func(r journal.Record) bool { return r.Intent != records[0].Intent })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.copies()
	for _, r := range records {
		if err := s.take(r); err != nil {
			if !s.is("keeps what came before an error") {
				s.histories = before
			}
			return err
		}
	}
	return nil
}

func (s *store) take(r journal.Record) error {
	h := s.find(r.Intent)
	switch {
	case r.Intent == "" && !s.is("takes a record without an Intent"):
		return journal.ErrInvalid
	case h == nil && r.Final && s.is("knows only what was pending"):
		return nil
	case h == nil:
		h = &journal.History{Intent: r.Intent, Name: r.Name}
		s.histories = append(s.histories, h)
	case h.Final && s.is("takes records of a resolved intent"):
	case h.Final && s.is("takes another Final record") && r.Final:
		h.Records = nil
	case h.Final && s.is("ignores records of a resolved intent"):
		return nil
	case h.Final:
		return journal.ErrResolved
	case h.Name != r.Name && s.is("takes the last Name"):
		h.Name = r.Name
	case h.Name != r.Name && !s.is("keeps the first Name"):
		return journal.ErrInvalid
	}
	s.fill(h, r)
	if r.Final && (h == s.histories[len(s.histories)-1] || !s.is("knows the end of what began last")) {
		s.kept.last = r.Data
	}
	if s.is("moves an intent with each record") {
		s.histories = append(slices.DeleteFunc(s.histories, func(other *journal.History) bool { return other == h }), h)
	}
	return nil
}

func (s *store) fill(h *journal.History, r journal.Record) {
	data := r.Data
	if !s.is("keeps the caller's memory") {
		data = bytes.Clone(data)
	}
	switch s.defect {
	case "takes data for text":
		data = []byte(strings.ToValidUTF8(string(data), "?"))
	case "ends data at a zero byte":
		data, _, _ = bytes.Cut(data, []byte{0})
	case "cuts long data":
		data = data[:min(len(data), 1<<16)]
	case "keeps the last record alone":
		h.Records = nil
	}
	h.Final = r.Final && !s.is("does not resolve")
	if r.Final && s.is("drops the Final record") {
		return
	}
	h.Records = append(h.Records, data)
}

// copies are of the histories, but not of their bytes.
func (s *store) copies() []*journal.History {
	var all []*journal.History
	for _, h := range s.histories {
		h := *h
		h.Records = slices.Clone(h.Records)
		all = append(all, &h)
	}
	return all
}

func (s *store) giveOut(h *journal.History) journal.History {
	out := *h
	if s.is("gives its own memory") {
		return out
	}
	out.Records = slices.Clone(out.Records)
	for i, data := range out.Records {
		out.Records[i] = bytes.Clone(data)
	}
	return out
}

func (s *store) Pending(ctx context.Context) iter.Seq2[journal.History, error] {
	used := false
	return func(yield func(journal.History, error) bool) {
		if used && s.is("iterates once") {
			return
		}
		used = true
		s.reading.Add(1)
		defer s.reading.Add(-1)
		pending := s.pending()
		if err := s.open("yields what there is"); err != nil {
			_ = s.is("yields nothing after Close") || yield(journal.History{}, err)
			return
		}
		for i := 0; i < len(pending); i++ {
			if ctx.Err() != nil && !s.is("yields once the context has ended") {
				break
			}
			if !yield(pending[i], nil) && !s.is("goes on when left") {
				return
			}
			if s.is("yields what is pending now") {
				pending = s.pending()
			}
		}
		if err := ctx.Err(); err != nil && !s.is("does not say that the context has ended") {
			yield(journal.History{}, err)
		}
	}
}

func (s *store) pending() (pending []journal.History) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.histories {
		if !h.Final || s.is("yields resolved ones") {
			pending = append(pending, s.giveOut(h))
		}
	}
	switch s.defect {
	case "sorts by intent":
		slices.SortFunc(pending, func(a, b journal.History) int { return strings.Compare(a.Intent, b.Intent) })
	case "newest first":
		slices.Reverse(pending)
	case "yields the first hundred":
		pending = pending[:min(len(pending), 100)]
	}
	return pending
}

func (s *store) Named(ctx context.Context, name string) ([]journal.History, error) {
	if err := s.open("reads"); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil && !s.is("reads once the context has ended") {
		return nil, err
	}
	if s.is("is locked while it is read") && s.reading.Load() > 0 {
		return nil, errors.New("locked")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var named []journal.History
	for _, h := range s.histories {
		same := h.Name == name && name != ""
		switch s.defect {
		case "takes no name for one":
			same = h.Name == name
		case "ignores case":
			same = name != "" && strings.EqualFold(h.Name, name)
		case "takes a beginning for a name":
			same = name != "" && strings.HasPrefix(h.Name, name)
		case "trims names":
			same = same || strings.TrimSpace(h.Name) == name && name != ""
		case "does not return what is pending":
			same = same && h.Final
		}
		if same {
			named = append(named, s.giveOut(h))
		}
	}
	if s.is("the last one first") {
		slices.Reverse(named)
	}
	return named, nil
}

func (s *store) Forget(ctx context.Context, name string) error {
	if err := s.open("forgets"); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil && !s.is("forgets once the context has ended") {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := false
	for _, h := range s.histories {
		if h.Name != name {
			continue
		}
		known = true
		if !h.Final && name != "" && !s.is("forgets what is pending") && !s.is("keeps what is pending") {
			return journal.ErrPending
		}
	}
	if !known && s.is("refuses an unknown name") {
		return errors.New("unknown")
	}
	s.histories = slices.DeleteFunc(s.histories, func(h *journal.History) bool {
		switch {
		case s.is("does not forget"), s.is("keeps what is pending") && !h.Final:
			return false
		case s.is("forgets what has no name") && name == "":
			return h.Name == name
		case s.is("forgets every name") && name != "":
			return h.Name != ""
		}
		return name != "" && h.Name == name
	})
	return nil
}

func (s *store) Shared() *journal.Shared {
	if s.is("shares nothing") {
		return &journal.Shared{}
	}
	return &s.shared
}
