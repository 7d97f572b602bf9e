package protect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

var (
	// ErrHalted means that the state of the account takes no entries.
	ErrHalted = errors.New("protect: the account takes no entries")
	// ErrRoom means that the entry could bring the account too near to its floor.
	ErrRoom = errors.New("protect: not enough room above the loss floor")
	// ErrNotJudged means that the entry could not be judged: it is refused.
	ErrNotJudged = errors.New("protect: the entry could not be judged")
	// ErrNoFloor means that no loss floor of the account is known: set Options.Floors, or
	// Options.WithoutFloors.
	ErrNoFloor = errors.New("protect: no loss floor is known")
	// ErrUnknownAccount is the error for an account that is not protected here.
	ErrUnknownAccount = errors.New("protect: the account is not protected here")
)

// Protection watches accounts. Make it with [New], and let it work with [Protection.Run].
type Protection struct {
	options  Options
	client   *trading.Client
	now      func() instant
	store    *store
	market   *market
	watchers map[trading.AccountID]*watcher
	hub      hub

	mu      sync.Mutex
	running bool
	closed  bool
}

// New opens the folder and reads what it holds. It sends nothing. [Protection.Close]
// gives the folder free.
func New(o Options) (*Protection, error) {
	return newProtection(o, clockFrom(time.Now()))
}

func newProtection(o Options, now func() instant) (*Protection, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	opened, err := openStore(o.Dir)
	if err != nil {
		return nil, err
	}
	p := &Protection{
		options: o, client: o.Client, now: now, store: opened,
		market:   newMarket(o.Client.Sandbox.MarketData, o.Limits, now),
		watchers: make(map[trading.AccountID]*watcher, len(o.Accounts)),
	}
	for _, id := range o.Accounts {
		p.watchers[id] = newWatcher(p, id)
	}
	return p, nil
}

// Close gives the folder free. Call it after Run has returned; entries are refused from
// then on.
func (p *Protection) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	if p.running {
		return errors.New("protect: Close while Run runs: end its context first")
	}
	p.closed = true
	return p.store.close()
}

// Run watches the accounts until ctx ends, and flattens the one that comes too near to its
// floor. It returns an error at once if an account is not the key's, or has no floor. Until
// it has looked at an account, and after it has returned, the account's entries are refused.
func (p *Protection) Run(ctx context.Context) error {
	if err := p.begin(); err != nil {
		return err
	}
	defer p.end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.takeRequests() // before any entry
	var wg sync.WaitGroup
	wg.Go(func() { p.listen(ctx) })
	for _, w := range p.watchers {
		wg.Go(func() {
			if err := w.run(ctx); err != nil {
				cancel(err) // it cannot start: the others must not seem to be all
			}
		})
	}
	wg.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return nil
}

func (p *Protection) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.running {
		return errors.New("protect: Run is called once at a time, and not after Close")
	}
	p.running = true
	return nil
}

func (p *Protection) end() {
	p.mu.Lock()
	p.running = false
	p.mu.Unlock()
	for _, w := range p.watchers {
		w.stopped()
	}
}

// Status is what is known of an account.
type Status struct {
	// Account is in State since Since.
	Account trading.AccountID
	State   State
	Since   time.Time
	// Reason is why it is in that state.
	Reason string
	// Running means that the protection runs. In a status that was read from the folder it
	// means a sign of life within the last minute.
	Running bool
	// Entries reports whether entries are judged at all; if not, Refusal says why.
	Entries bool
	Refusal string
	// Blind means that there was no good look for some time, and Manual that a person has
	// halted or flattened it.
	Blind, Manual bool
	// Equity, Floor, Room and Need are as last computed, in dollars; none if not known.
	Equity, Floor, Room, Need trading.Opt[decimal.Decimal]
	// Seen is when the newest look began; the zero time before the first.
	Seen time.Time
	// Interval is the time between looks.
	Interval time.Duration
	// Reserved counts the entries whose end no look has shown yet.
	Reserved int
}

// State returns what is known of an account.
func (p *Protection) State(id trading.AccountID) (Status, error) {
	w, err := p.watcher(id)
	if err != nil {
		return Status{}, err
	}
	return w.status(), nil
}

// Accounts are the accounts that are protected, in order.
func (p *Protection) Accounts() []trading.AccountID {
	return slices.Sorted(maps.Keys(p.watchers))
}

func (p *Protection) watcher(id trading.AccountID) (*watcher, error) {
	w := p.watchers[id]
	if w == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknownAccount, id)
	}
	return w, nil
}

// Halt refuses the account's entries until [Protection.Resume]. It is on the disk when it
// returns.
func (p *Protection) Halt(id trading.AccountID, reason string) error {
	w, err := p.watcher(id)
	if err != nil {
		return err
	}
	return w.ask(RequestHalt, reason)
}

// Flatten cancels and closes everything on the account, and keeps it flat until
// [Protection.Resume]. It returns when that is on the disk; Run does it, and events say
// how it goes.
func (p *Protection) Flatten(id trading.AccountID, reason string) error {
	w, err := p.watcher(id)
	if err != nil {
		return err
	}
	return w.ask(RequestFlatten, reason)
}

// Resume ends Held, what Halt and Flatten did, and a state that was corrupt. The account
// is looked at before entries are taken again.
func (p *Protection) Resume(id trading.AccountID) error {
	w, err := p.watcher(id)
	if err != nil {
		return err
	}
	return w.ask(RequestResume, "")
}
