package reliance

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/profile"
)

// Reliance is what one client does not rely on, as long as what was seen counts. It is safe for
// concurrent use.
type Reliance struct {
	seen       *profile.Profile // nil without one
	by, always ledger.Without
	over       atomic.Bool // the profile counts no longer
	once       sync.Once
	say        func(why error)
}

// For is what a client of a service does not rely on: what was seen, nil for nothing, and that reads are
// behind by no more than lag, if it is longer than usual. say is called once, if the profile does not
// count, or no longer.
func For(seen *profile.Profile, service string, lag time.Duration, say func(why error)) *Reliance {
	r := &Reliance{seen: seen, say: say, always: ledger.Without{Lag: lag}}
	if seen == nil {
		return r
	}
	r.by = withdrawnBy(seen).And(r.always)
	if why := counts(seen, service, time.Now()); why != nil {
		r.drop(why)
	}
	return r
}

// Now is what is not relied on at the moment.
func (r *Reliance) Now() ledger.Without {
	if r.seen == nil || r.over.Load() {
		return r.always
	}
	if why := r.seen.Stale(time.Now()); why != nil {
		r.drop(why)
		return r.always
	}
	return r.by
}

// Of is what is not relied on of a write that begins: what was seen is of live accounts.
func (r *Reliance) Of(live bool) ledger.Without {
	if live {
		return r.Now()
	}
	return r.always
}

// HolderIs takes in whose API keys the client has.
func (r *Reliance) HolderIs(id string) {
	if p := r.seen; p != nil && p.Holder != "" && p.Holder != profile.Token("holder", id) {
		r.drop(errors.New("the profile is of another holder's API keys"))
	}
}

func (r *Reliance) drop(why error) {
	r.over.Store(true)
	r.once.Do(func() { r.say(why) })
}
