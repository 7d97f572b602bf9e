package limiter

import (
	"context"
	"fmt"
	"slices"

	"github.com/tradingapi/trading-go/ratelimit"
)

// Take returns a slot, at once if there is room and nobody waits. Its error is a
// [*Full] if the wait would outlive a.Until or the context's deadline, or a fails
// fast; the context's if that ends first; or [ErrClosed].
func (l *Limiter) Take(ctx context.Context, a *Ask) (Slot, error) {
	if a.Class != "" && l.names[a.Class] == "" {
		return Slot{}, fmt.Errorf("limiter: the class %q has no limit", a.Class)
	}
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		return Slot{}, ErrClosed
	}
	if l.waiting == 0 && !l.asksRemote() {
		if slot, full := l.tryNear(a); full.Wait == 0 {
			l.mu.Unlock()
			return slot, nil
		}
	}
	w := l.join(ctx, a)
	l.serve()
	l.mu.Unlock()
	return l.await(ctx, w)
}

// Return ends a slot. sent says whether the request may have left. It does not wait
// for the program's store.
func (l *Limiter) Return(slot Slot, sent bool) {
	if slot.shared {
		l.returnShare(&slot, sent)
	}
	if slot.near {
		l.returnNear(&slot, sent)
	}
	switch {
	case slot.remote:
		name, needs := slot.name, slices.Clone(slot.needs.all())
		l.passOn(func() {
			l.remote.giveBack(name, needs, sent)
			if !sent {
				l.returned()
			}
		})
	case slot.near && !sent:
		l.returned()
	}
}

// returnNear ends a slot as this process counts it.
func (l *Limiter) returnNear(slot *Slot, sent bool) {
	if !slot.near {
		return
	}
	n := slot.needs
	for i := range n.all() {
		if slot.exits[i] {
			n.of[i].Bucket.Name = exitsOf(n.of[i].Bucket.Name)
		}
	}
	_ = l.near.Return(context.Background(), "", n.all(), sent)
}

// returned serves the waiters again after a slot was returned unused.
func (l *Limiter) returned() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.freeSlots()
}

// passOn calls the program's store, and Close waits for it. The lock is not
// held.
func (l *Limiter) passOn(do func()) {
	l.mu.Lock()
	ended := l.ended
	if !ended {
		l.work.Go(do)
	}
	l.mu.Unlock()
	if ended {
		do()
	}
}

// tryNear takes a slot that is counted in this process, or returns what is full. The
// lock is held.
func (l *Limiter) tryNear(a *Ask) (Slot, Full) {
	slot := Slot{needs: l.needs(a)}
	if closed := l.tryClosed(&slot.needs); closed.Wait > 0 {
		return Slot{}, closed
	}
	if l.near == nil {
		return Slot{}, Full{}
	}
	if a.Priority == ratelimit.Recovery {
		if full := l.takeShare(&slot); full.Wait > 0 {
			return Slot{}, full
		}
	}
	var full Full
	if l.remote != nil { // this process has its part beside others whose store is away
		if !l.remote.available() {
			l.goneAway()
		}
		full = l.takePart(a.Priority, &slot, a.Hold)
	} else {
		grant, _ := l.near.Take(context.Background(), "", slot.needs.all(), a.Hold)
		slot.near = grant.Wait == 0
		full = Full{Wait: grant.Wait, Bucket: grant.Bucket}
	}
	if full.Wait > 0 {
		l.dropShare(&slot)
		return Slot{}, full
	}
	return slot, Full{}
}

// takeShare takes recovery's share of a slot's buckets. The lock is held.
func (l *Limiter) takeShare(slot *Slot) Full {
	needs := slot.needs.share()
	grant, _ := l.share.Take(context.Background(), "", needs.all(), 0)
	slot.shared = grant.Wait == 0
	return Full{Wait: grant.Wait, Bucket: grant.Bucket, ofShare: true}
}

// dropShare returns a share that was not used.
func (l *Limiter) dropShare(slot *Slot) {
	if slot.shared {
		l.returnShare(slot, false)
		slot.shared = false
	}
}

func (l *Limiter) returnShare(slot *Slot, sent bool) {
	needs := slot.needs.share()
	_ = l.share.Return(context.Background(), "", needs.all(), sent)
}

// asksRemote reports whether the next slot comes from the program's store.
func (l *Limiter) asksRemote() bool { return l.remote != nil && l.remote.available() }
