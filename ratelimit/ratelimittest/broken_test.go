package ratelimittest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
)

// store is right as it stands, and wrong in one respect with a defect. It outlives
// its processes, as far as a value in memory can.
type store struct {
	defect string

	mu    sync.Mutex
	books map[string]*book
	taken int
}

// book is one bucket, with a line for each slot.
type book struct {
	limit      int
	lines      []line
	closed     time.Time
	elsewhere  int // while it is closed
	count      int // in the present minute of a clock, and its end
	countUntil time.Time
}

type line struct {
	slot     string
	underWay bool
	until    time.Time
}

func (s *store) is(defect string) bool { return s.defect == defect }

func (s *store) book(b ratelimit.Bucket) *book {
	name := b.Name
	if s.is("has one bucket for all") {
		name = ""
	}
	if s.books == nil {
		s.books = map[string]*book{}
	}
	if s.books[name] == nil {
		s.books[name] = &book{limit: b.Limit}
	}
	book := s.books[name]
	if !s.is("keeps the first limit") {
		book.limit = b.Limit
	}
	book.lines = slices.DeleteFunc(book.lines, func(l line) bool {
		return !l.until.After(time.Now()) && !(l.underWay && s.is("never gives back what died"))
	})
	return book
}

func (s *store) Take(_ context.Context, _ string, needs []ratelimit.Need, hold time.Duration) (ratelimit.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := ratelimit.Grant{}
	for _, c := range needs {
		if wait := s.wait(s.book(c.Bucket), c.Reserve, c.Bucket.Window); wait > answer.Wait {
			answer = ratelimit.Grant{Wait: wait, Bucket: c.Bucket.Name}
		}
	}
	if answer.Wait > 0 {
		if s.is("takes what it can") {
			s.write(needs[:1], hold)
		}
		if s.is("names a bucket that has slots") {
			answer.Bucket = needs[0].Bucket.Name
		}
		return answer, nil
	}
	if s.is("looks, and then takes") {
		s.mu.Unlock()
		time.Sleep(time.Millisecond)
		s.mu.Lock()
	}
	return ratelimit.Grant{Slot: s.write(needs, hold)}, nil
}

// write notes a slot in each bucket.
func (s *store) write(needs []ratelimit.Need, hold time.Duration) string {
	s.taken++
	slot := fmt.Sprint(s.taken)
	for _, c := range needs {
		book := s.book(c.Bucket)
		until := time.Now().Add(hold + c.Bucket.Window)
		if s.is("gives back what died too early") || s.is("lets go of what is under way") {
			until = time.Now().Add(hold)
		}
		book.lines = append(book.lines, line{slot, true, until})
		book.count++
	}
	return slot
}

// wait is how long a bucket has no slot that leaves the reserve free.
func (s *store) wait(b *book, reserve int, window time.Duration) time.Duration {
	now := time.Now()
	switch {
	case s.is("ignores the reserve"):
		reserve = 0
	case s.is("gives out one too many"):
		reserve--
	case s.is("keeps one from all"):
		reserve++
	}
	if s.is("counts minutes of the clock") {
		return b.fixedWait(now, reserve, window)
	}
	wait := max(time.Duration(0), b.closed.Sub(now))
	if s.is("ignores blocks") {
		wait = 0
	}
	if lacking := reserve + 1 - (b.limit - len(b.lines)); lacking > 0 {
		ends := []time.Time{}
		for _, l := range b.lines {
			if l.underWay {
				l.until = now.Add(window)
			}
			ends = append(ends, l.until)
		}
		slices.SortFunc(ends, time.Time.Compare)
		free := window
		if lacking <= len(ends) {
			free = ends[lacking-1].Sub(now)
		}
		switch {
		case s.is("tells a second"):
			free = time.Second
		case s.is("tells a whole window"):
			free = window
		}
		wait = max(wait, free)
	}
	return wait
}

// fixedWait counts as many services do, and as no client may.
func (b *book) fixedWait(now time.Time, reserve int, window time.Duration) time.Duration {
	if !b.countUntil.After(now) {
		b.count, b.countUntil = 0, now.Add(window)
	}
	if b.count < b.limit-reserve {
		return 0
	}
	return b.countUntil.Sub(now)
}

func (s *store) Return(_ context.Context, slot string, needs []ratelimit.Need, sent bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.defect {
	case "holds what was not sent":
		sent = true
	case "gives back what was sent":
		sent = false
	}
	for _, c := range needs {
		book := s.book(c.Bucket)
		at := slices.IndexFunc(book.lines, func(l line) bool { return l.slot == slot })
		if at >= 0 && s.is("holds from the send") {
			book.lines[at].until, book.lines[at].underWay = book.lines[at].until.Add(-time.Second), false
			continue
		}
		if at >= 0 {
			book.lines = slices.Delete(book.lines, at, at+1)
		} else if s.is("forgets what it thought dead") {
			continue
		}
		if !sent {
			continue
		}
		hold := c.Bucket.Window
		if s.is("holds for two windows") {
			hold *= 2
		}
		book.lines = append(book.lines, line{slot, false, time.Now().Add(hold)})
	}
	return nil
}

func (s *store) Block(_ context.Context, b ratelimit.Bucket, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	books := []*book{s.book(b)}
	if s.is("blocks all buckets") {
		for _, other := range s.books {
			books = append(books, other)
		}
	}
	until := time.Now().Add(d)
	if s.is("never opens again") {
		until = until.Add(time.Hour)
	}
	for _, book := range books {
		if until.After(book.closed) || s.is("lets a shorter block end a longer one") {
			book.closed = until
		}
		if !s.is("thinks of nobody else") {
			book.elsewhere = max(book.limit-len(book.lines), 0)
		}
	}
	return nil
}

func (s *store) Usage(_ context.Context, buckets []ratelimit.Bucket) ([]ratelimit.Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var usages []ratelimit.Usage
	now := time.Now()
	for _, b := range buckets {
		book := s.book(b)
		u := ratelimit.Usage{Bucket: b, Left: max(book.limit-len(book.lines), 0), Closed: max(0, book.closed.Sub(now))}
		for _, l := range book.lines {
			if !(l.underWay && s.is("does not count what is under way") || !l.underWay && s.is("counts only what is under way")) {
				u.Used++
			}
		}
		if u.Closed > 0 {
			u.Elsewhere = book.elsewhere
		}
		if u.Closed > 0 && !s.is("has slots left while it is closed") {
			u.Left = 0
		}
		usages = append(usages, u)
	}
	return usages, nil
}
