package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/contrib/docs"
	"github.com/tradingapi/trading-go/internal/claims"
	"github.com/tradingapi/trading-go/internal/disk"
)

// Mode is what the tools may do.
type Mode string

const (
	// Read only looks.
	Read Mode = "read"
	// Paper trades the paper account.
	Paper Mode = "paper"
	// Live trades the live accounts of the policy.
	Live Mode = "live"
)

// Approve says what waits for a person.
type Approve string

const (
	// ApproveEntries are entries, and what loosens: a stop that is cleared or widened, and the
	// cancel of an order that reduces.
	ApproveEntries Approve = "entries"
	// ApproveNothing is nothing.
	ApproveNothing Approve = "nothing"
)

// Config says what an engine serves. Client and Mode are required, and but in mode Read a Dir.
type Config struct {
	// Client carries everything out. In modes Paper and Live it has a journal. Its holder closes it,
	// after the engine. A sidecar's is [sidecar.Server.Client]: then the sidecar has the locks.
	Client *trading.Client
	// BaseURL is the service, and KeyID names the API key: a ticket is for both.
	BaseURL, KeyID string
	Mode           Mode
	// Dir has the engine's own files. It belongs to this user, and is on a local disk.
	Dir string
	// Approvals is the folder of the passphrase, which engines of one user share; Dir unless set.
	Approvals string
	// Locks is the folder in which the accounts are locked for this user, as a sidecar does it.
	// Empty leaves that to whoever made the client.
	Locks string
	// Policy is the file of the operator's limits; required in mode Live.
	Policy string
	// Approve is what waits for a person: in mode Live the entries, unless it is set.
	Approve Approve
	// Docs serves the tools of the documentation; nil leaves them out.
	Docs *docs.Client
	// Pro serves preview_pro.
	Pro bool
	// Logger hears what an operator has to know; nil logs nothing.
	Logger *slog.Logger

	// For tests.
	clock func() Moment
	step  func(name string) // before and after each fact
}

// Engine is the one process of a user that trades a service for language models.
type Engine struct {
	config Config
	client *trading.Client
	now    func() Moment
	began  Moment
	facts  *facts
	locks  *disk.Accounts
	gate   *gate
	page   string // where people approve; empty while nothing serves it

	ctx  context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	peakMu sync.Mutex
	peaks  map[trading.AccountID]decimal.Decimal

	haltMu sync.Mutex // the file of a halt; before mu

	mu       sync.Mutex
	closed   bool // to entries
	gone     bool // to everything
	own      []trading.AccountID
	tick     uint64
	writes   []*write
	tickets  map[string]*ticket
	states   map[string]*state
	claims   map[trading.AccountID]*claims.Set[*write]
	turns    map[trading.AccountID]chan struct{}
	halted   bool
	markets  []trading.Market
	marketAt Moment
	calls    map[string][]Moment
}

// New opens the folder, and takes over what an earlier process left. It sends nothing that trades.
func New(c Config) (_ *Engine, err error) {
	switch {
	case c.Client == nil:
		return nil, errors.New("mcp: Config.Client is required")
	case !slices.Contains([]Mode{Read, Paper, Live}, c.Mode):
		return nil, fmt.Errorf("mcp: Config.Mode is %q: it must be read, paper or live", c.Mode)
	case c.Mode != Read && c.Dir == "":
		return nil, errors.New("mcp: Config.Dir is required")
	case !slices.Contains([]Approve{"", ApproveEntries, ApproveNothing}, c.Approve):
		return nil, fmt.Errorf("mcp: Config.Approve is %q: it must be entries or nothing", c.Approve)
	}
	if c.Approve == "" && c.Mode == Live {
		c.Approve = ApproveEntries
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.clock == nil {
		c.clock = systemClock()
	}
	e := &Engine{
		config: c, client: c.Client, now: c.clock, began: c.clock(), tickets: map[string]*ticket{}, states: map[string]*state{}, claims: map[trading.AccountID]*claims.Set[*write]{},
		turns: map[trading.AccountID]chan struct{}{}, peaks: map[trading.AccountID]decimal.Decimal{}, calls: map[string][]Moment{},
	}
	e.ctx, e.end = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	p, err := readPolicy(c.Policy, c.Mode)
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	if c.Mode == Read {
		return e, nil
	}
	if err := disk.OwnFolder(c.Dir, disk.NoAccess); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	e.own = e.accounts(p)
	if c.Locks != "" {
		if e.locks, err = disk.LockAccounts(c.Locks, c.BaseURL); err != nil {
			return nil, fmt.Errorf("mcp: %w", err)
		}
		for _, id := range e.own {
			if err := e.locks.Take(e.lockName(id)); err != nil {
				return nil, fmt.Errorf("mcp: %w", err)
			}
		}
	}
	e.gate = &gate{dir: cmp.Or(c.Approvals, c.Dir)}
	if err := errors.Join(e.loadHalt(), e.loadPeaks()); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	var left []*write
	if e.facts, left, err = openFacts(filepath.Join(c.Dir, "tickets"), e.began, c.step); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	e.takeOver(left)
	e.background(func(ctx context.Context) { _, _ = e.client.Recover(ctx) }) // its errors are the outcomes that stay unknown
	return e, nil
}

// accounts are those that the engine trades: "" is the paper account.
func (e *Engine) accounts(p *policy) []trading.AccountID {
	if e.config.Mode == Live {
		return p.Accounts
	}
	return []trading.AccountID{""}
}

// lockName is the account among those that are locked, as a sidecar has it. Each key has a paper
// account.
func (e *Engine) lockName(id trading.AccountID) string {
	if id == "" {
		return "paper " + e.config.KeyID
	}
	return string(id)
}

// accountName is the account for people and models.
func accountName(id trading.AccountID) string {
	if id == "" {
		return "paper"
	}
	return name(id)
}

// background runs until the engine is closed; nothing is begun after that.
func (e *Engine) background(run func(ctx context.Context)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.work.Go(func() { run(e.ctx) })
	}
}

// Drain ends all tickets, refuses entries from now on, and waits for the calls under way.
func (e *Engine) Drain(ctx context.Context) {
	e.mu.Lock()
	e.closed = true
	var under []chan struct{}
	for _, t := range e.tickets {
		t.end("closed")
	}
	for _, w := range e.writes {
		if w.done != nil {
			under = append(under, w.done)
		}
	}
	e.mu.Unlock()
	for _, done := range under {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends what the engine does. A call under way ends with its client.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed, e.gone = true, true
	e.mu.Unlock()
	e.end()
	e.work.Wait()
	var err error
	if e.facts != nil {
		err = e.facts.log.Close()
	}
	if e.locks != nil {
		e.locks.Close()
	}
	return err
}

// Busy reports whether something is under way, waits for a person, or is not known.
func (e *Engine) Busy() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	for _, w := range e.writes {
		if w.inFlight() || w.mayRun() && !w.known() && !now.past(*w.Sent, claims.Gone) {
			return true
		}
	}
	return len(e.waiting()) > 0
}

// newID is a random name.
func newID(prefix string) string {
	var random [10]byte
	_, _ = rand.Read(random[:]) // it cannot fail
	return prefix + strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
}

// ticketID is a random name with the time in it, so that what is forgotten is not said to be unknown.
func ticketID(now Moment) string {
	return newID("t_" + strconv.FormatInt(now.Wall.Unix(), 36) + "_")
}

func isTicket(id string) bool { return strings.HasPrefix(id, "t_") }

// forgotten reports whether a ticket is so old that its facts may be gone.
func (e *Engine) forgotten(id string) bool {
	at, _, _ := strings.Cut(strings.TrimPrefix(id, "t_"), "_")
	seconds, err := strconv.ParseInt(at, 36, 64)
	return isTicket(id) && err == nil && e.now().Wall.Sub(time.Unix(seconds, 0)) > 23*time.Hour
}

// turn is the lock of an account's entries. No exit takes it.
func (e *Engine) turn(ctx context.Context, id trading.AccountID) (release func(), ok bool) {
	e.mu.Lock()
	turn := e.turns[id]
	if turn == nil {
		turn = make(chan struct{}, 1)
		e.turns[id] = turn
	}
	e.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, true
	case <-ctx.Done():
		return nil, false
	}
}

// Calls a minute, so that bots on the key keep their limits. Exits and halts are not counted.
const (
	readsAMinute    = 60
	previewsAMinute = 20
	docsAMinute     = 10
)

// limit counts a call of a kind.
func (e *Engine) limit(kind string, most int) *refusal {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	kept := slices.DeleteFunc(e.calls[kind], func(at Moment) bool { return now.past(at, time.Minute) })
	if len(kept) >= most {
		e.calls[kind] = kept
		return refuse("too_many_calls", fmt.Sprintf("There are %d %s a minute. Wait a minute. Exits and halt are not counted.", most, kind))
	}
	e.calls[kind] = append(kept, now)
	return nil
}

// keep bounds what is kept of writes and tickets; the caller has the lock.
func (e *Engine) keep(now Moment) {
	const most = 4096
	if len(e.writes) > most {
		e.writes = slices.DeleteFunc(e.writes, func(w *write) bool {
			return w.known() && w.Ended != nil && (!w.Action.entry() || now.past(w.Consumed, 24*time.Hour) && !w.Adds)
		})
	}
	for id, t := range e.tickets {
		if t.phase != used && t.expired(now) {
			t.end("ticket_expired")
		}
		if _, most := now.since(t.issued); most > time.Hour { // what was sent is among the writes
			delete(e.tickets, id)
		}
	}
}
