package limiter

import (
	"context"
	"math"
	"time"

	"github.com/tradingapi/trading-go/ratelimit"
)

// standIn counts in this client while the program's store is away. The others that share the store, those
// of this process among them, do the same, and together they must not send more than the service allows: so each keeps to its
// part, and does not take at once what the others have left over.
//
// In the first window without the store a process reads and enters no more than in the one before: what
// was free when it last heard of the store the others may have taken since. Its part of that is for
// exits alone, as is its part of the reserve. From the next window on it has its share of the limit, by
// how many shared the store at last. For a window after the store is back both have to agree, since a
// store that was started anew has forgotten who sent what.
type standIn struct {
	sharers int             // that the store knew of at last; 0 if it never said
	heard   time.Time       // when it said so
	since   time.Time       // from when on it knows what was taken
	left    map[string]int  // slots of each bucket that were free at last, the reserve included
	away    time.Time       // when the store went away, or forgot; zero while it is trusted
	then    map[string]then // how it was when it did
	back    time.Time       // when it answered again; zero while it does not
}

// then is how many slots of a bucket this process held at a moment, and how many were left.
type then struct{ own, left int }

// unknownSharers is how many processes are taken to share a store at least that has not answered for a
// window, or never.
const unknownSharers = 4

// exitsOf names the part of a bucket's reserve that this process has for its exits.
func exitsOf(bucket string) string { return bucket + "/exits" }

// heard takes in what the store says beside a grant. The lock is held.
func (l *Limiter) heard(n *needs, g *ratelimit.Grant) {
	s := &l.standIn
	if !g.Since.Equal(s.since) {
		if !s.since.IsZero() {
			l.goneAway()
		}
		s.since = g.Since
	}
	if g.Sharers > 0 {
		s.sharers, s.heard = g.Sharers, time.Now()
	}
	if len(g.Left) == n.n {
		if s.left == nil {
			s.left = make(map[string]int, 2)
		}
		for i := range n.all() {
			s.left[n.of[i].Bucket.Name] = g.Left[i]
		}
	}
	switch now := time.Now(); {
	case s.away.IsZero():
	case s.back.IsZero():
		s.back = now
	case now.Sub(s.back) >= Window:
		s.away, s.back, s.then = time.Time{}, time.Time{}, nil
	}
}

// goneAway notes that the store has failed, or has forgotten. The lock is held.
func (l *Limiter) goneAway() {
	s := &l.standIn
	s.back = time.Time{}
	if !s.away.IsZero() {
		return
	}
	s.away = time.Now()
	if s.away.Sub(s.heard) >= Window { // others may have come since
		s.sharers = max(s.sharers, unknownSharers)
	}
	s.then = make(map[string]then, len(s.left))
	for bucket, left := range s.left {
		s.then[bucket] = then{l.held(bucket), left}
	}
}

// held is how many slots of a bucket this process holds. The lock is held.
func (l *Limiter) held(bucket string) int {
	usages, _ := l.near.Usage(context.Background(), []ratelimit.Bucket{{Name: bucket, Limit: math.MaxInt32, Window: Window}})
	return usages[0].Used
}

// part is how many slots of a bucket this process may hold beside others, for exits or for the rest, and
// how many more its exits may. The lock is held.
func (l *Limiter) part(b *ratelimit.Bucket, exit bool) (most, exits int) {
	s := &l.standIn
	sharers := s.sharers
	if sharers == 0 {
		sharers = unknownSharers
	}
	reserve := l.reserve(ratelimit.Read, b.Limit)
	most, exits = max((b.Limit-reserve)/sharers, 1), max(reserve/sharers, 1)
	if s.left == nil || !s.away.IsZero() && time.Since(s.away) >= Window {
		return most, exits
	}
	was, known := s.then[b.Name]
	if s.away.IsZero() {
		was.left, known = s.left[b.Name]
		was.own = l.held(b.Name)
	}
	if !known { // it has used none of it
		was.left = b.Limit
	}
	free := 0
	if exit {
		free = max(was.left-reserve, 0) / sharers
	}
	return min(most, was.own+free), max(min(reserve, was.left)/sharers, 1)
}

// ofPart are the needs of a slot within this process's part. An exit that finds no room there takes
// what it has of the reserve. The lock is held.
func (l *Limiter) ofPart(p ratelimit.Priority, slot *Slot) needs {
	n := slot.needs
	for i := range n.all() {
		b := &n.of[i].Bucket
		exit := p >= ratelimit.Exit
		most, exits := l.part(b, exit)
		n.of[i].Reserve = 0
		if slot.exits[i] = exit && l.held(b.Name) >= most; slot.exits[i] {
			b.Name, b.Limit = exitsOf(b.Name), exits
		} else {
			b.Limit = most
		}
	}
	return n
}

// takePart takes a slot of this process's part. The lock is held.
func (l *Limiter) takePart(p ratelimit.Priority, slot *Slot, hold time.Duration) Full {
	n := slot.needs
	if l.standIn.sharers != 1 { // else all there is is its own
		n = l.ofPart(p, slot)
	}
	grant, _ := l.near.Take(context.Background(), "", n.all(), hold)
	if grant.Wait == 0 {
		slot.near = true
		return Full{}
	}
	full := Full{Wait: grant.Wait, Bucket: grant.Bucket}
	for i := range n.all() {
		if n.of[i].Bucket.Name == grant.Bucket {
			full.Bucket = slot.needs.of[i].Bucket.Name
		}
	}
	return full
}

// noteHere counts a slot of the store's in this process too.
func (l *Limiter) noteHere(slot *Slot) {
	n := slot.needs
	for i := range n.all() {
		n.of[i].Bucket.Limit, n.of[i].Reserve = math.MaxInt32, 0
	}
	grant, _ := l.near.Take(context.Background(), "", n.all(), 0)
	slot.near = grant.Wait == 0 // else the service has closed the bucket meanwhile
}
