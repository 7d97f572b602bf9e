package watch

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Events looks at everything that it is given, at the interval of each, and yields what
// changes, and the errors of looks that failed (an [*Error] beside a nil event).
//
// It outlives errors: the watch backs off and goes on. It ends when ctx does, which is
// not yielded; when the loop breaks; when every watch has ended; or after an error that
// cannot heal, which is yielded last and has [Error.Ends] set. Nothing runs on after it:
// a look that is under way is cancelled and waited for, which takes no time as long as
// the Trader that it uses heeds its context, as those of the client do. A break is as
// quick beside an hourly watch.
//
// Looks go on while the body of the loop runs, so stops of the paper account are kept
// alive by a slow body too. What happens meanwhile is delivered in one step when the body
// is done; see [Watch.Shared]. Each range over the result begins anew.
// Without a watch or a context there is one error, which ends the loop.
func Events(ctx context.Context, watches ...Watch) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		switch {
		case ctx == nil:
			yield(nil, hopelessError("nothing", errors.New("watch: the context is nil")))
			return
		case len(watches) == 0:
			yield(nil, hopelessError("nothing", errors.New("watch: Events needs at least one watch")))
			return
		case ctx.Err() != nil:
			return
		}
		l := loop{wake: make(chan struct{}, 1)}
		defer l.end()
		for i, w := range watches {
			// First looks that begin a moment apart are no burst; in virtual time, where
			// a moment is enough for a look, they come in the order given.
			l.listen(ctx, w, time.Duration(i)*time.Millisecond)
		}
		l.run(ctx, yield)
	}
}

// loop is one range over Events.
type loop struct {
	listeners []*listener
	wake      chan struct{} // something can be delivered
}

func (l *loop) listen(ctx context.Context, w Watch, delay time.Duration) {
	f, own := w.feed, false
	if f == nil {
		f, own = &feed{}, true
	}
	if w.open == nil {
		w = misuse("nothing", "watch: a Watch needs one of the functions that make it")
	}
	if !own {
		ctx = context.WithoutCancel(ctx) // the looks are everybody's
	}
	l.listeners = append(l.listeners, f.join(ctx, w, l.wake, delay))
}

func (l *loop) run(ctx context.Context, yield func(Event, error) bool) {
	for {
		open := false
		for _, listener := range l.listeners {
			if listener.over {
				continue
			}
			news := listener.take()
			for _, ev := range news.events {
				if ctx.Err() != nil || !yield(ev, nil) {
					return
				}
			}
			if err := news.err; err != nil && (ctx.Err() != nil || !yield(nil, err) || err.Ends) {
				return
			}
			listener.over = news.ended
			open = open || !news.ended
		}
		if !open {
			return
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return
		}
	}
}

// end leaves all feeds, and waits for those that nobody listens to any more.
func (l *loop) end() {
	var ending []<-chan struct{}
	for _, listener := range l.listeners {
		if done := listener.leave(); done != nil {
			ending = append(ending, done)
		}
	}
	for _, done := range ending {
		<-done
	}
}
