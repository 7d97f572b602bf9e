package watch

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// defaultInterval is that of a watch which names none.
const defaultInterval = 2 * time.Second

// Watch is something to look at again and again. It does nothing until it is given to
// [Events]; it is a value, and its methods return a changed copy.
type Watch struct {
	name     string
	open     func() source
	every    time.Duration
	exact    bool // no jitter: a clock
	snapshot bool
	seed     *uint64
	feed     *feed // of a shared watch
}

// source looks. One goroutine uses it, so it may remember what it needs from one look
// to the next.
type source interface {
	// look returns what there is now, given what the look before saw, which is nil at
	// first. Both a look and an error are returned where only a part could be read.
	// ended means that there is nothing more to see.
	look(ctx context.Context, was look) (is look, ended bool, err error)
}

// look is what there was at one time. It is never changed.
type look interface {
	// since returns what changed since an earlier look, or everything if that is nil.
	since(was look) []Event
}

// WithInterval sets how far apart looks begin, at least: 2 seconds unless set. A shared watch
// is looked at as often as the most eager of its loops asks for.
func (w Watch) WithInterval(d time.Duration) Watch {
	w.every = d
	return w
}

// WithSnapshot also delivers what is there at the first look: every position as opened,
// every trade that the list shows as closed, every price as changed. Without it only what
// changes afterwards is delivered: a program that acts on one watch before another has
// looked for the first time does not see the result.
func (w Watch) WithSnapshot() Watch {
	w.snapshot = true
	return w
}

// Seed makes the jitter of the interval the same in each run, for tests and backtests.
func (w Watch) Seed(seed uint64) Watch {
	w.seed = &seed
	return w
}

// Shared returns a watch whose looks are shared by all the loops that it is given to:
// one look feeds them all, so that a hundred cost the requests of one. It is looked at
// while at least one loop is there, and leaves nothing behind when the last has ended.
//
// Each loop goes at its own speed: none waits for another, and for none is anything
// kept or dropped. One that is slow gets the difference between the look that it has
// seen last and the latest, so it sees fewer steps and ends where the others do; it gets
// closed trades one by one all the same.
func (w Watch) Shared() Watch {
	w.feed = &feed{}
	return w
}

func (w Watch) interval() time.Duration {
	if w.every <= 0 {
		return defaultInterval
	}
	return w.every
}

// jitter is what spreads the looks of many programs.
func (w Watch) jitter() *rand.Rand {
	switch {
	case w.exact:
		return nil
	case w.seed != nil:
		return rand.New(rand.NewPCG(*w.seed, 0))
	default:
		return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
}

// misuse is a watch of nothing.
func misuse(name, what string) Watch {
	return Watch{name: name, open: func() source { return broken{errors.New(what)} }}
}

type broken struct{ err error }

func (b broken) look(context.Context, look) (look, bool, error) { return nil, false, hopeless{b.err} }

// hopeless is an error of a source that cannot heal.
type hopeless struct{ error }

func (h hopeless) Unwrap() error { return h.error }
