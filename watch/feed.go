package watch

import (
	"context"
	"sync"
	"time"
)

// feed is what the loops of one watch share: the looking, while somebody listens.
type feed struct {
	mu  sync.Mutex
	run *run // nil while nobody listens
}

// run is one time of looking, from the first listener to the last.
type run struct {
	feed      *feed
	watch     Watch
	cancel    context.CancelFunc
	done      chan struct{}
	eager     chan struct{} // somebody wants to look more often
	listeners map[*listener]struct{}
	standing  standing
}

// standing is what the listeners have not yet seen.
type standing struct {
	node  *node
	err   *Error // of the last look; nil after one that went well
	errs  int
	ended bool
}

// node is a look that can be delivered, with the difference to the one before it. It is
// never changed, and listeners that keep up share that difference.
type node struct {
	look   look
	number int
	events []Event
	began  time.Time
	at     time.Time
	gaps   int       // how many there have been so far
	reason string    // of the last one
	from   time.Time // when the last one began
}

// listener is one loop's place at a feed.
type listener struct {
	run      *run
	wake     chan<- struct{}
	every    time.Duration
	snapshot bool
	seen     *node
	errs     int
	over     bool
}

// join begins to listen. The first listener starts the looking.
func (f *feed) join(ctx context.Context, w Watch, wake chan<- struct{}, delay time.Duration) *listener {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.run
	if r == nil {
		r = &run{
			feed:      f,
			watch:     w,
			done:      make(chan struct{}),
			eager:     make(chan struct{}, 1),
			listeners: make(map[*listener]struct{}),
		}
		f.run = r
		ctx, r.cancel = context.WithCancel(ctx)
	}
	l := &listener{run: r, wake: wake, every: w.interval(), snapshot: w.snapshot, errs: r.standing.errs}
	if r.standing.err != nil {
		l.errs-- // it stands
	}
	first := len(r.listeners) == 0
	r.listeners[l] = struct{}{}
	if first {
		go r.keepLooking(ctx, delay)
	} else {
		signal(r.eager)
		signal(wake)
	}
	return l
}

// leave stops listening. The last one to leave ends the looking, and gets a channel
// that is closed when it has ended.
func (l *listener) leave() <-chan struct{} {
	r := l.run
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	delete(r.listeners, l)
	if len(r.listeners) > 0 {
		return nil
	}
	r.feed.run = nil
	r.cancel()
	return r.done
}

// every is the shortest interval that a listener asks for.
func (r *run) every() time.Duration {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	shortest := time.Duration(0)
	for l := range r.listeners {
		if shortest == 0 || l.every < shortest {
			shortest = l.every
		}
	}
	return max(shortest, 1)
}

// update changes what the listeners see next, and wakes the listeners.
func (r *run) update(change func(*standing)) {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	change(&r.standing)
	for l := range r.listeners {
		signal(l.wake)
	}
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // a signal is waiting already
	}
}

// news is what a listener has not received yet.
type news struct {
	events []Event
	err    *Error
	ended  bool
}

func (l *listener) take() news {
	l.run.feed.mu.Lock()
	now := l.run.standing
	l.run.feed.mu.Unlock()

	news := news{ended: now.ended}
	if is := now.node; is != nil && is != l.seen {
		switch was := l.seen; {
		case was == nil && (l.snapshot || now.ended): // what has ended is delivered at least once
			news.events = is.look.since(nil)
		case was == nil:
		case was.number+1 == is.number:
			news.events = is.events
		default:
			news.events = between(l.run.watch.name, was, is)
		}
		l.seen = is
	}
	if now.errs != l.errs {
		l.errs, news.err = now.errs, now.err
	}
	return news
}

// between is what happened from one look to another.
func between(name string, was, is *node) []Event {
	events := is.look.since(was.look)
	if was.gaps == is.gaps {
		return events
	}
	gap := Gap{From: earlier(was.began, is.from), To: is.at, Watch: name, Reason: is.reason}
	return append([]Event{gap}, events...)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
