package budgettest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// store is right as it stands, and wrong in one respect with a defect. It outlives
// its processes, as far as a value in memory can.
type store struct {
	defect string

	mu    sync.Mutex
	books map[string]*book
	taken int
}

// book is one bucket, with a line for each place.
type book struct {
	limit          int
	lines          []line
	closed         time.Time
	left           int
	leftUntil      time.Time
	elsewhere      int
	elsewhereUntil time.Time
	count          int // in the present minute of a clock, and its end
	countUntil     time.Time
}

type line struct {
	place    string
	underWay bool
	until    time.Time
}

func (s *store) is(defect string) bool { return s.defect == defect }

func (s *store) book(b trading.Bucket) *book {
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

func (s *store) Take(_ context.Context, claims []trading.Claim, hold time.Duration) (trading.Taken, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := trading.Taken{}
	for _, c := range claims {
		if wait := s.wait(s.book(c.Bucket), c.Keep, c.Bucket.Window); wait > answer.Wait {
			answer = trading.Taken{Wait: wait, Lacks: c.Bucket.Name}
		}
	}
	if answer.Wait > 0 {
		if s.is("takes what it can") {
			s.write(claims[:1], hold)
		}
		if s.is("names a bucket that has places") {
			answer.Lacks = claims[0].Bucket.Name
		}
		return answer, nil
	}
	if s.is("looks, and then takes") {
		s.mu.Unlock()
		time.Sleep(time.Millisecond)
		s.mu.Lock()
	}
	return trading.Taken{Place: s.write(claims, hold)}, nil
}

// write notes a place in each bucket.
func (s *store) write(claims []trading.Claim, hold time.Duration) string {
	s.taken++
	place := fmt.Sprint(s.taken)
	for _, c := range claims {
		book := s.book(c.Bucket)
		until := time.Now().Add(hold + c.Bucket.Window)
		if s.is("gives back what died too early") || s.is("lets go of what is under way") {
			until = time.Now().Add(hold)
		}
		book.lines = append(book.lines, line{place, true, until})
		book.count++
		if book.leftUntil.After(time.Now()) {
			book.left--
		}
	}
	return place
}

// wait is how long a bucket has no place that leaves keep others.
func (s *store) wait(b *book, keep int, window time.Duration) time.Duration {
	now := time.Now()
	switch {
	case s.is("ignores what is kept"):
		keep = 0
	case s.is("gives out one too many"):
		keep--
	case s.is("keeps one from all"):
		keep++
	}
	if s.is("counts minutes of the clock") {
		return b.fixedWait(now, keep, window)
	}
	wait := max(time.Duration(0), b.closed.Sub(now))
	if s.is("ignores blocks") {
		wait = 0
	}
	if b.leftUntil.After(now) && b.left <= keep && !s.is("ignores the service's word") {
		wait = max(wait, b.leftUntil.Sub(now))
	}
	if lacking := keep + 1 - (b.limit - len(b.lines)); lacking > 0 {
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
func (b *book) fixedWait(now time.Time, keep int, window time.Duration) time.Duration {
	if !b.countUntil.After(now) {
		b.count, b.countUntil = 0, now.Add(window)
	}
	if b.count < b.limit-keep {
		return 0
	}
	return b.countUntil.Sub(now)
}

func (s *store) Return(_ context.Context, place string, claims []trading.Claim, sent bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.defect {
	case "holds what was not sent":
		sent = true
	case "gives back what was sent":
		sent = false
	}
	for _, c := range claims {
		book := s.book(c.Bucket)
		at := slices.IndexFunc(book.lines, func(l line) bool { return l.place == place })
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
			if book.leftUntil.After(time.Now()) {
				book.left++
			}
			continue
		}
		hold := c.Bucket.Window
		if s.is("holds for two windows") {
			hold *= 2
		}
		book.lines = append(book.lines, line{place, false, time.Now().Add(hold)})
	}
	return nil
}

func (s *store) Block(_ context.Context, b trading.Bucket, d time.Duration) error {
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
			book.elsewhere, book.elsewhereUntil = max(book.limit-len(book.lines), 0), book.closed
		}
	}
	return nil
}

func (s *store) Learn(_ context.Context, b trading.Bucket, left int, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	book := s.book(b)
	now := time.Now()
	if book.leftUntil.After(now) && s.is("keeps the first word") {
		return nil
	}
	underWay := 0
	for _, l := range book.lines {
		if l.underWay {
			underWay++
		}
	}
	book.elsewhere, book.elsewhereUntil = max(book.limit-left-len(book.lines), 0), now.Add(d)
	if !s.is("forgets who is under way") {
		left = max(left-max(underWay-1, 0), 0)
	}
	book.left, book.leftUntil = left, now.Add(d)
	if s.is("believes it for ever") {
		book.leftUntil = now.Add(time.Hour)
	}
	return nil
}

func (s *store) Usage(_ context.Context, buckets []trading.Bucket) ([]trading.Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var usages []trading.Usage
	now := time.Now()
	for _, b := range buckets {
		book := s.book(b)
		u := trading.Usage{Bucket: b, Left: max(book.limit-len(book.lines), 0), Closed: max(0, book.closed.Sub(now))}
		for _, l := range book.lines {
			if !(l.underWay && s.is("does not count what is under way") || !l.underWay && s.is("counts only what is under way")) {
				u.Spent++
			}
		}
		if book.leftUntil.After(now) {
			u.Left = min(u.Left, max(book.left, 0))
		}
		if book.elsewhereUntil.After(now) {
			u.Elsewhere = book.elsewhere
		}
		if u.Closed > 0 && !s.is("has places left while it is closed") {
			u.Left = 0
		}
		usages = append(usages, u)
	}
	return usages, nil
}
