package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradingapi/trading-go/journal"
)

// One goroutine talks to the database, over one connection: so what is appended is in order, and
// it knows the lease's epoch and count. Each statement is one transaction that names both.

// run appends, renews and hands over.
func (s *Store) run() {
	defer func() { s.conn.close() }()
	defer close(s.over)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.wake:
		case <-timer.C:
		}
		for more := true; more; {
			var ok bool
			if more, ok = s.step(); !ok {
				return
			}
		}
		timer.Reset(max(time.Millisecond, s.next.boot-s.clock().boot))
	}
}

// step does one thing. more means that there is more to do now; not ok that the store is over.
func (s *Store) step() (more, ok bool) {
	s.mu.Lock()
	closing, queue, gap := s.closing != nil, len(s.queue), len(s.gapWaits)
	s.mu.Unlock()
	defer s.wrong.asks()()
	switch {
	case s.clock().boot >= s.next.boot || gap > 0:
		ok = s.renew()
	case queue > 0:
		ok = s.append()
	case closing:
		s.handOver()
		return false, false
	default:
		return false, true
	}
	return ok, ok
}

// append sends what waits, as one statement.
func (s *Store) append() bool {
	s.mu.Lock()
	n, size := 0, 0
	for ; n < len(s.queue) && (n == 0 || size+len(s.queue[n].rows) <= mostRows); n++ {
		size += len(s.queue[n].rows)
		s.queued -= s.queue[n].size
	}
	s.flying = s.queue[:n:n]
	s.queue = s.queue[n:]
	s.mu.Unlock()
	var rows []row
	for _, j := range s.flying {
		rows = append(rows, j.rows...)
	}
	if len(rows) == 0 { // who only wants to know that all before is durable, which it is
		s.answer(nil)
		return true
	}
	kinds, intents, names, data := columns(rows)
	var halt *string
	var count int
	found, err := s.conn.change(s.o.Lease, []any{&halt, &count}, `,
		l AS (UPDATE trading.lease SET seq = $4 FROM s WHERE name = $1 AND epoch = $2 AND seq = $3 AND s.c = 'on' RETURNING halt),
		i AS (INSERT INTO trading.record (lease, n, kind, format, intent, name, data)
			SELECT $1, $3 + r.nr, r.kind, $5, r.intent, r.name, r.data
			FROM l, unnest($6::smallint[], $7::bytea[], $8::bytea[], $9::bytea[]) WITH ORDINALITY r (kind, intent, name, data, nr) RETURNING 1)
		SELECT l.halt, (SELECT count(*) FROM i) FROM l`,
		s.o.Name, s.epoch, s.seq, s.seq+int64(len(rows)), format, kinds, intents, names, data)
	if err != nil || !found {
		return s.mend(err) && s.again(err)
	}
	if s.refusals > 0 {
		s.wrong.over()
	}
	s.refusals = 0
	s.seq += int64(len(rows))
	s.setHalt(halt)
	s.answer(nil)
	return true
}

// again waits before what the database has refused is sent once more: a role that may not append any
// more, or a full disk. Nobody else waits for that. It returns false when the store is closed.
func (s *Store) again(cause error) bool {
	if s.refusals++; s.refusals == 1 { // it may have been the connection
		return true
	}
	s.unanswered(cause)
	s.wrong.is(slog.LevelWarn, "the database takes no appends", cmp.Or(cause, errAsLeft))
	if closing := s.closingContext(); closing != nil && closing.Err() != nil {
		s.setReleased(fmt.Errorf("postgres: not released: %w", cmp.Or(cause, errAsLeft)))
		s.end(journal.ErrClosed)
		return false
	}
	time.Sleep(min(10*time.Millisecond<<min(s.refusals, 10), s.o.Lease/20))
	return true
}

// answer ends what is in flight.
func (s *Store) answer(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answerAll(s.flying, err)
	s.flying = nil
}

func answerAll(jobs []*job, err error) {
	for _, j := range jobs {
		if j.done != nil {
			j.done <- err // which has room for it
		}
	}
}

func (s *Store) setHalt(halt *string) {
	s.mu.Lock()
	changed := (halt == nil) != (s.halt == nil)
	s.halt = halt
	s.mu.Unlock()
	if changed {
		s.o.Logger.Warn("entries halted", slog.String("lease", s.o.Name), slog.Bool("halted", halt != nil))
	}
}

// renew raises the beat, unless the bot has not reported.
func (s *Store) renew() bool {
	from := s.clock()
	s.next = from
	s.next.boot += s.o.Lease / 5
	s.mu.Lock()
	waits, gap := s.gapWaits, s.gap
	s.gapWaits = nil
	s.mu.Unlock()
	beat := 1
	if !s.isAlive(from) {
		beat = 0
	}
	var halt *string
	found, err := s.conn.change(s.o.Lease, []any{&halt}, `
		UPDATE trading.lease SET beat = beat + $4, gap = $5, renewed_at = CASE WHEN $4 = 1 THEN now() ELSE renewed_at END
		FROM s WHERE s.c = 'on' AND name = $1 AND epoch = $2 AND seq = $3 AND current_setting('transaction_isolation') = 'read committed' RETURNING halt`,
		s.o.Name, s.epoch, s.seq, beat, gap)
	failed := err
	if !found && err == nil {
		failed = journal.ErrFenced
	}
	if failed == nil {
		s.setHalt(halt)
		if beat == 1 {
			s.renewedFrom(from)
		}
	}
	for _, w := range waits { // who knows by now what was read
		w <- failed
	}
	return failed == nil || s.mend(err)
}

func (s *Store) isAlive(at moment) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.Alive == 0 || at.since(s.alive) < s.o.Alive
}

func (s *Store) renewedFrom(from moment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed = from
	s.tell()
}

// mend goes on behind a statement that had no answer, or another than was wanted; nil is one that
// found no row. The statement may be carried out still. So the store takes the lease from itself,
// which waits for it or keeps it from running, and reads what is there. Behind a connection that
// broke, what comes meanwhile waits for the first try, as what was in flight does. It returns false
// when the lease is lost, or the store is closed.
func (s *Store) mend(cause error) bool {
	if cause == nil || doubtful(cause) || pgconn.Timeout(cause) {
		s.nothingNow(cause)
	}
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		lost, err := s.retake()
		switch {
		case lost != nil:
			s.end(lost)
			return false
		case err == nil:
			return true
		}
		s.nothingNow(err)
		s.unanswered(err)
		if closing := s.closingContext(); closing != nil && closing.Err() != nil {
			s.setReleased(fmt.Errorf("postgres: not released: %w", err))
			s.end(journal.ErrClosed)
			return false
		}
		time.Sleep(wait)
	}
}

var errAsLeft = errors.New("the lease is not as it was left")

// nothingNow has appends fail, at once, until the lease is taken again.
func (s *Store) nothingNow(cause error) {
	s.wrong.is(slog.LevelWarn, "the journal takes nothing", s.goAway(cause))
}

func (s *Store) goAway(cause error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved = s.moved || cause == nil
	if cause == nil || doubtful(cause) {
		s.doubted = true
	}
	if s.doubted {
		cause = cmp.Or(cause, errAsLeft)
		s.away = fmt.Errorf("%w: %w", journal.ErrFenced, cause)
	} else {
		s.away = fmt.Errorf("postgres: no connection: %w", cause)
	}
	for _, w := range s.gapWaits {
		w <- s.away
	}
	s.gapWaits = nil
	return s.away
}

// unanswered has whoever waits for an append wait no longer. It goes on by itself.
func (s *Store) unanswered(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := fmt.Errorf("%w: %w", journal.ErrUnanswered, cmp.Or(s.away, cause, errAsLeft))
	for _, jobs := range [...][]*job{s.flying, s.queue} {
		answerAll(jobs, err)
		for _, j := range jobs {
			j.done = nil
		}
	}
}

// retake takes the lease from this process itself. lost is why it is lost for good; err why that is
// not known yet.
func (s *Store) retake() (lost, err error) {
	if s.conn == nil || s.conn.IsClosed() {
		if s.conn, err = connect(context.Background(), s.url); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			s.conn.close()
			s.conn = nil
		}
	}()
	bound, cancel := context.WithTimeout(context.Background(), s.o.Lease)
	defer cancel()
	if err := s.conn.check(bound); err != nil { // they may have changed
		return nil, err
	}
	s.mu.Lock()
	gap := s.gap
	s.mu.Unlock()
	from := s.clock()
	beat := 1
	if !s.isAlive(from) {
		beat = 0
	}
	var epoch, seq int64
	var halt *string
	// A server of another timeline that has all that this process knows of lacks nothing: a standby has
	// what comes before what it has.
	found, err := s.conn.change(s.o.Lease, []any{&epoch, &seq, &halt},
		`UPDATE trading.lease SET epoch = epoch + 1, beat = beat + $3, gap = gap OR $4,
			timeline = CASE WHEN epoch >= $5 AND seq >= $6 THEN `+timeline+` ELSE timeline END
		FROM s WHERE s.c = 'on' AND name = $1 AND holder = $2 RETURNING epoch, seq, halt`,
		s.o.Name, s.holder, beat, gap, s.epoch, s.seq)
	if err != nil {
		return nil, err
	}
	if !found {
		return s.whoHasIt()
	}
	flying := int64(0)
	for _, j := range s.flying {
		flying += int64(len(j.rows))
	}
	switch {
	case epoch <= s.epoch:
		return fmt.Errorf("%w: the lease is back at epoch %d from %d", journal.ErrLostHistory, epoch-1, s.epoch), nil
	case seq < s.seq:
		return fmt.Errorf("%w: %d records of %d are there", journal.ErrLostHistory, seq, s.seq), nil
	case seq != s.seq && seq != s.seq+flying:
		return fmt.Errorf("%w: %d records are there, and this process knows of %d", journal.ErrFenced, seq, s.seq), nil
	}
	s.mu.Lock()
	if seq == s.seq { // what was in flight is not there, and will not be
		s.queue = append(s.flying, s.queue...)
		for _, j := range s.flying {
			s.queued += j.size
		}
	} else {
		answerAll(s.flying, nil)
	}
	s.flying = nil
	s.epoch, s.seq, s.halt = epoch, seq, halt
	s.doubted, s.moved, s.away = false, false, nil
	if beat == 1 {
		s.renewed = from
	}
	s.tell()
	s.mu.Unlock()
	s.wrong.over()
	s.o.Logger.Info("lease taken again", slog.String("lease", s.o.Name), slog.Int64("epoch", epoch))
	return nil, nil
}

// whoHasIt says why the lease is not this process's.
func (s *Store) whoHasIt() (lost, err error) {
	var epoch int64
	var place string
	found, err := s.conn.row(s.o.Lease, []any{&epoch, &place}, `SELECT epoch, place FROM trading.lease WHERE name = $1`, s.o.Name)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return fmt.Errorf("%w: the lease is gone", journal.ErrLostHistory), nil
	case epoch < s.epoch:
		return fmt.Errorf("%w: the lease is back at epoch %d from %d", journal.ErrLostHistory, epoch, s.epoch), nil
	default:
		return fmt.Errorf("%w: %s has it", journal.ErrFenced, place), nil
	}
}

// end ends the store, and whoever waits.
func (s *Store) end(why error) {
	s.mu.Lock()
	s.ended = why
	answerAll(s.flying, why)
	answerAll(s.queue, why)
	for _, w := range s.gapWaits {
		w <- why
	}
	s.flying, s.queue, s.gapWaits = nil, nil, nil
	s.tell()
	s.mu.Unlock()
	if !errors.Is(why, journal.ErrClosed) {
		s.o.Logger.Error("lease lost", slog.String("lease", s.o.Name), slog.String("err", why.Error()))
	}
}

// handOver releases the lease.
func (s *Store) handOver() {
	s.mu.Lock()
	gap := s.gap
	s.mu.Unlock()
	var name string
	found, err := s.conn.change(s.o.Lease, []any{&name},
		`UPDATE trading.lease SET beat = beat + 1, holder = '', released = true, gap = $4 FROM s WHERE s.c = 'on' AND name = $1 AND epoch = $2 AND seq = $3 RETURNING name`,
		s.o.Name, s.epoch, s.seq, gap)
	switch {
	case err != nil:
		s.setReleased(fmt.Errorf("postgres: not released: %w", err))
	case !found:
		s.setReleased(fmt.Errorf("postgres: not released: %w", journal.ErrFenced))
	}
	s.end(journal.ErrClosed)
}

func (s *Store) setReleased(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = err
}

func (s *Store) closingContext() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}
