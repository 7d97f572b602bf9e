package resolve

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// A write with a name of the caller's, and those that had it before.

// Take makes a write the one of its name, from here to its end: so what its call learns of
// earlier ones stays true until then, whatever holds it back. It returns the write that has
// the name already; else how the one before it ended that went furthest, nil if there is
// none. An error is that of the journal, and the write has its name all the same.
func (d *Driver) Take(ctx context.Context, w *OpenWrite) (earlier *OpenWrite, last *Final, err error) {
	if !w.Intent.Entry { // which goes out without what the journal knows
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, notePatience, errHangs)
		defer cancel()
	}
	unread := d.Load(ctx)
	if taker := d.pending.take(w); taker != nil {
		return taker, nil, nil
	}
	last, err = d.store.last(ctx, w.Name)
	if unread != nil && (last == nil || last.Outcome != ledger.Applied) {
		err = unread
	}
	return nil, last, err
}

// further is the one of two ends under a name that went further, f if they are alike. A try
// began only when none before it could run any more.
func (f *Final) further(than *Final) *Final {
	if than == nil {
		return f
	}
	furthest := *f
	if than.beyond(f) {
		furthest = *than
	}
	furthest.FirstUseKnown = f.FirstUseKnown && than.FirstUseKnown
	return &furthest
}

func (f *Final) beyond(o *Final) bool {
	applied := f.Outcome == ledger.Applied
	switch {
	case applied != (o.Outcome == ledger.Applied):
		return applied
	case f.Try != o.Try:
		return f.Try > o.Try
	default:
		return f.Dead && !o.Dead
	}
}

// Spent reports whether the key is dead, and the service still knows why. After that another
// program may have used it, so it is asked again before the next one.
func (f *Final) Spent(without ledger.Without) bool {
	return f.Dead && time.Now().Round(0).Sub(f.At.Round(0)) < max(ledger.Forgotten, without.Dead)
}

// finals are the ends of named writes that no journal has: there is none, or it did not
// take them. What its own run knows, a client does not unlearn.
type finals struct {
	mu     sync.Mutex
	byName map[string]*Final
	order  []string
}

// maxFinals bounds them.
const maxFinals = 10_000

func (k *finals) keep(name string, f Final) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byName == nil {
		k.byName = make(map[string]*Final)
	}
	before := k.byName[name]
	if before == nil {
		k.order = append(k.order, name)
	}
	k.byName[name] = f.further(before)
	if len(k.order) > maxFinals {
		delete(k.byName, k.order[0])
		k.order = k.order[1:]
	}
}

func (k *finals) find(name string) *Final {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byName[name]
}

func (k *finals) forget(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byName[name] != nil {
		delete(k.byName, name)
		k.order = slices.DeleteFunc(k.order, func(n string) bool { return n == name })
	}
}
