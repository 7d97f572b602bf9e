package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradingapi/trading-go/journal"
)

// Store is a journal that is held under a lease. It implements [journal.Store], [journal.Leaser]
// and [journal.Gapper]. What it holds is kept in memory, so reads cost nothing.
type Store struct {
	o      Options
	url    string
	clock  clock
	wrong  *trouble
	holder string
	shared journal.Shared
	memory journal.Store // what the journal has, and what is on its way there
	taken  moment        // when the taking was answered
	lost   bool          // acknowledged records of before may be missing
	isNew  bool          // nobody has held the lease before
	quiet  []byte        // never changes once the store is open
	wake   chan struct{} // something is to be done
	over   chan struct{} // closed when the lease is lost for good
	done   chan struct{} // closed when nothing of it runs any more

	mu       sync.Mutex
	queue    []*job        // not sent yet
	flying   []*job        // sent, and not answered
	queued   int           // bytes of the queue
	renewed  moment        // before the last renewal was sent
	doubted  bool          // the lease may be another's, until it is read
	moved    bool          // and is not as this process left it
	news     chan struct{} // closed, and another one, when more is known of that
	away     error         // why nothing is taken at the moment
	ended    error         // why nothing is taken any more
	halt     *string
	gap      bool
	gapWaits []chan error
	alive    moment
	closing  context.Context // of Release; nil before it
	released error           // what it came to

	// Of the one goroutine that talks to the database.
	conn       *connection
	epoch, seq int64
	next       moment // when the next renewal is due
	refusals   int    // of appends, one after the other
}

// job is what one call appends.
type job struct {
	rows []row
	size int
	last bool       // of a write: there is room for it where there was for the first one
	done chan error // has room for one; nil if nobody waits, or does any more
}

const (
	// mostBytes bounds the records of one call, and what waits while the database is slow.
	mostBytes, mostQueued = 4 << 20, 32 << 20
	mostRows              = 1000 // of one statement
	rowHead               = 64   // about what a row takes besides
)

// Open waits for the lease, and returns the journal once it is held. It ends with ctx. Most
// programs call [Campaign], which hands over when it is over.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	return open(ctx, url, o, now)
}

func open(ctx context.Context, url string, o Options, clock clock) (*Store, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	if _, err := pgx.ParseConfig(url); err != nil {
		return nil, fmt.Errorf("postgres: %w", err) // which no waiting mends
	}
	c := candidate{Options: o, url: url, clock: clock, wrong: &trouble{log: o.Logger, lease: o.Name}}
	h, err := c.wait(ctx)
	if err != nil {
		return nil, err
	}
	s := &Store{
		o: o, url: url, clock: clock, holder: h.holder, memory: journal.NewMemory(), taken: clock(), wrong: &trouble{log: o.Logger, lease: o.Name},
		lost: h.lost && !o.FailoverLosesNothing, isNew: h.epoch == 1 && h.seq == 0,
		news: make(chan struct{}), wake: make(chan struct{}, 1), over: make(chan struct{}), done: make(chan struct{}),
		renewed: h.from, halt: h.halt, gap: h.gap, alive: clock(),
		conn: h.conn, epoch: h.epoch, seq: h.seq, next: h.from,
	}
	o.Logger.Info("lease taken", slog.String("lease", o.Name), slog.Int64("epoch", h.epoch), slog.Bool("gap", h.gap))
	var work sync.WaitGroup
	work.Go(s.run)
	work.Go(s.watch)
	go func() {
		work.Wait()
		close(s.done)
	}()
	if s.quiet, err = load(ctx, url, &s.o, h.seq, s.memory); err != nil {
		return nil, errors.Join(err, s.Release(ctx))
	}
	return s, nil
}

// Campaign waits for the lease, calls run with the journal while it is held, and hands over when
// run returns. The context of run ends with ctx, and when the lease is lost for good. run closes
// its client before it returns. Campaign returns the error of run, and why the lease was lost.
func Campaign(ctx context.Context, url string, o Options, run func(context.Context, *Store) error) error {
	return campaign(ctx, url, o, now, run)
}

func campaign(ctx context.Context, url string, o Options, clock clock, run func(context.Context, *Store) error) error {
	s, err := open(ctx, url, o, clock)
	if err != nil {
		return err
	}
	running, stop := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-s.over:
			stop(s.Err())
		case <-running.Done():
		}
	}()
	err = run(running, s)
	stop(context.Canceled)
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Lease)
	defer cancel()
	return errors.Join(err, s.Release(bound))
}

// Release makes everything durable and hands the lease over, so that the next candidate has it at
// once. Nothing leaves from then on: close the client first. What ctx cuts short ends like a crash.
// Of a lease that was lost it returns why.
func (s *Store) Release(ctx context.Context) error {
	s.mu.Lock()
	if s.closing == nil {
		s.closing = ctx
	}
	s.mu.Unlock()
	s.nudge()
	<-s.done
	if lost := s.Err(); lost != nil {
		return lost
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released
}

// Close is Release, for as long as the lease lasts.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Lease)
	defer cancel()
	return s.Release(ctx)
}

// Err returns why the lease was lost for good: [journal.ErrFenced] or [journal.ErrLostHistory]; nil
// while it may be held.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.ended, journal.ErrClosed) {
		return nil
	}
	return s.ended
}

// Alive is called by the bot's loop, where Options.Alive is set.
func (s *Store) Alive() {
	at := s.clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive = at
}

// Deadline implements [journal.Leaser].
func (s *Store) Deadline() time.Time {
	at := s.clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil || s.doubted || s.closing != nil {
		return time.Time{}
	}
	return time.Now().Add(s.o.sends() - at.since(s.renewed))
}

// Kept implements [journal.Leaser]. Before the deadline nobody else can have taken the lease, whatever
// keeps this process from reading it.
func (s *Store) Kept(ctx context.Context) bool {
	for {
		at := s.clock()
		s.mu.Lock()
		kept, over, news := !s.moved && at.since(s.renewed) < s.o.sends(), s.ended != nil || s.closing != nil, s.news
		s.mu.Unlock()
		if over || kept {
			return !over
		}
		select {
		case <-news:
		case <-ctx.Done():
			return false
		}
	}
}

// tell lets those go on who wait for news of the lease. The lock is held.
func (s *Store) tell() {
	close(s.news)
	s.news = make(chan struct{})
}

// Covers implements [journal.Leaser].
func (s *Store) Covers(baseURL, account string) bool {
	return baseURL == s.o.BaseURL && slices.Contains(s.o.Accounts, account)
}

// Halted implements [journal.Leaser].
func (s *Store) Halted() (reason string, halted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.halt == nil {
		return "", false
	}
	return *s.halt, true
}

// CompleteFrom implements [journal.Leaser].
func (s *Store) CompleteFrom() time.Time {
	if !s.lost {
		return time.Time{}
	}
	at := s.clock()
	return at.wall.Add(s.taken.boot - at.boot) // the wall clock may have been set since
}

// Shared implements [journal.Store].
func (s *Store) Shared() *journal.Shared { return &s.shared }

// New reports whether nobody has held the lease before, nor imported a journal into it. If that is a
// surprise, the journal is lost: look at the accounts before anything trades.
func (s *Store) New() bool { return s.isNew }

// Quiet returns the Data of the last record that there was when the lease was taken, if it is a Final
// one and nothing was pending; else nil.
func (s *Store) Quiet() []byte { return bytes.Clone(s.quiet) }

// Append implements [journal.Store]. The records of one call take at most 4 MiB. A durable one fails at
// once while there is no connection, but behind one that broke it waits for the first try of another;
// what nobody waits for waits for the next. What was sent before, or was about to be, is [journal.ErrUnanswered] once the server cannot be reached again; it is there
// before anything that comes later.
func (s *Store) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	j := &job{}
	for _, r := range records {
		j.add(rowOf(r))
		j.last = j.last || r.Final
	}
	return s.put(ctx, durable, j, func() error { return s.memory.Append(context.WithoutCancel(ctx), false, records...) })
}

// Forget implements [journal.Store].
func (s *Store) Forget(ctx context.Context, name string) error {
	j := &job{}
	j.add(row{kindForget, []byte{}, []byte(name), []byte{}})
	return s.put(ctx, true, j, func() error { return s.memory.Forget(context.WithoutCancel(ctx), name) })
}

func (j *job) add(r row) {
	j.rows = append(j.rows, r)
	j.size += len(r.intent) + len(r.name) + len(r.data) + rowHead
}

// put changes the memory, and sends the same to the database. If it is to be durable, put waits.
func (s *Store) put(ctx context.Context, durable bool, j *job, change func() error) error {
	var done chan error
	if durable {
		done = make(chan error, 1)
		j.done = done
	}
	if err := s.enqueue(ctx, j, change); err != nil || !durable {
		return err
	}
	s.nudge()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) enqueue(ctx context.Context, j *job, change func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing != nil:
		return journal.ErrClosed
	case s.ended != nil:
		return s.ended
	case s.away != nil && j.done != nil:
		return s.away
	case j.size > mostBytes:
		return fmt.Errorf("%w: the records of one call must take at most %d bytes, take %d", journal.ErrInvalid, mostBytes, j.size)
	case s.queued+j.size > mostQueued && !j.last:
		return fmt.Errorf("postgres: the database is too slow: %d bytes wait", s.queued)
	}
	if err := change(); err != nil {
		return err
	}
	s.queue = append(s.queue, j)
	s.queued += j.size
	if j.done == nil {
		s.nudge()
	}
	return nil
}

// Pending implements [journal.Store].
func (s *Store) Pending(ctx context.Context) iter.Seq2[journal.History, error] {
	if err := s.readable(); err != nil {
		return func(yield func(journal.History, error) bool) { yield(journal.History{}, err) }
	}
	return s.memory.Pending(ctx)
}

// Named implements [journal.Store].
func (s *Store) Named(ctx context.Context, name string) ([]journal.History, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	return s.memory.Named(ctx, name)
}

// readable refuses reads after Release alone: what a holder knew it may say.
func (s *Store) readable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing != nil {
		return journal.ErrClosed
	}
	return nil
}

// SetGap implements [journal.Gapper]: the lease says so, from the next renewal on.
func (s *Store) SetGap(missing bool) error {
	waiter := make(chan error, 1)
	s.mu.Lock()
	s.gap = missing
	err := s.ended
	if err == nil {
		err = s.away
	}
	if err == nil {
		s.gapWaits = append(s.gapWaits, waiter)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.nudge()
	return <-waiter
}

// Gap implements [journal.Gapper]: a taking that followed no release is one for what was pending.
func (s *Store) Gap() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gap, nil
}

func (s *Store) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// watch reports, once, that the lease is about to end.
func (s *Store) watch() {
	warned := false
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.over:
			return
		}
		left := time.Until(s.Deadline())
		if left > s.o.warn() {
			warned = false
			timer.Reset(left - s.o.warn())
			continue
		}
		if s.isClosing() {
			return
		}
		if !warned {
			warned = true
			left = max(left, 0)
			s.o.Logger.Warn("lease ending", slog.String("lease", s.o.Name), slog.Duration("left", left))
			if s.o.LeaseEnding != nil {
				s.o.LeaseEnding(left)
			}
		}
		timer.Reset(s.o.warn() / 4)
	}
}

func (s *Store) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing != nil
}
