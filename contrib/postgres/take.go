package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradingapi/trading-go/journal"
)

// Errors of [Open], to be compared with [errors.Is]. Waiting mends none of them.
var (
	// ErrAccount means that an account is of another lease.
	ErrAccount = errors.New("postgres: an account is of another lease")
	// ErrDiffers means that the holder has other accounts, another service, or another
	// Options.Declares. Once it has released the lease, the next one may differ.
	ErrDiffers = errors.New("postgres: the holder was started with other options")
	// ErrVersion means that the tables are missing, or of a version that this one cannot use.
	ErrVersion = errors.New("postgres: the tables")
)

// held is a lease as it was taken.
type held struct {
	conn       *connection
	holder     string
	epoch, seq int64
	gap        bool    // something may be missing that was pending
	lost       bool    // something may be missing that was acknowledged
	halt       *string // why entries are refused
	from       moment  // before the taking was sent
}

// seenLease is a lease as a candidate reads it.
type seenLease struct {
	epoch, beat int64
	released    bool
	elsewhere   bool // noted by a server of another timeline: a standby may lack the last taking
	lasts       time.Duration
	digest      string
	place       string
}

// candidate waits for a lease.
type candidate struct {
	Options
	url   string
	clock clock
	wrong *trouble
	conn  *connection
}

// wait takes the lease as soon as it may.
func (c *candidate) wait(ctx context.Context) (*held, error) {
	var last seenLease
	var since, read moment
	ready := false
	for first := true; ; first = false {
		if !first {
			if err := sleep(ctx, c.poll()); err != nil {
				c.conn.close()
				return nil, err
			}
		}
		seen, err := c.look(ctx, ready)
		at := c.clock()
		if ready = err == nil; !ready {
			c.conn.close()
			last = seenLease{}
			if final(err) {
				return nil, err
			}
			c.wrong.is(slog.LevelWarn, waiting, err)
			continue
		}
		if !c.asLeft && !seen.released && seen.digest != c.digest() {
			c.conn.close()
			return nil, fmt.Errorf("%w: %q is held by %s", ErrDiffers, c.Name, seen.place)
		}
		// A candidate that was itself stopped, or read nothing, has not seen the beat stand still.
		if seen.epoch != last.epoch || seen.beat != last.beat || at.since(read) > 2*c.poll()+c.Lease/8 {
			since = at
		}
		last, read = *seen, at
		if (!seen.released || seen.elsewhere) && at.boot-since.boot < max(c.Lease, seen.lasts) {
			c.wrong.is(slog.LevelInfo, waiting, fmt.Errorf("held by %s", seen.place))
			continue
		}
		answered := c.wrong.asks()
		h, err := c.take(seen)
		answered()
		if err != nil {
			c.wrong.is(slog.LevelWarn, waiting, err)
			c.conn.close()
			ready, last = false, seenLease{}
			continue
		}
		if h != nil {
			return h, nil
		}
	}
}

// waiting is what a candidate logs, and why.
const waiting = "waiting for the lease"

// final reports whether waiting cannot mend an error.
func final(err error) bool {
	refused := (*pgconn.PgError)(nil)
	if errors.As(err, &refused) && (refused.Code == "42501" || strings.HasPrefix(refused.Code, "28") || refused.Code == "3D000") {
		return true // no permission, no login, no such database
	}
	return errors.Is(err, ErrAccount) || errors.Is(err, ErrVersion)
}

// prepare connects, and claims the accounts.
func (c *candidate) prepare(ctx context.Context) (err error) {
	if c.conn, err = connect(ctx, c.url); err != nil {
		return err
	}
	if err = c.claim(); err != nil {
		c.conn.close()
	}
	return err
}

// claim makes the lease, where it is new, and has each account be of it.
func (c *candidate) claim() error {
	reads := 0
	_, err := c.conn.row(c.Lease, []any{&reads}, `SELECT min_reader FROM trading.version ORDER BY version DESC LIMIT 1`)
	if missing := (*pgconn.PgError)(nil); errors.As(err, &missing) && (missing.Code == "42P01" || missing.Code == "3F000") {
		return fmt.Errorf("%w are missing: call Migrate: %w", ErrVersion, err)
	}
	switch {
	case err != nil:
		return fmt.Errorf("postgres: version: %w", err)
	case reads > format:
		return fmt.Errorf("%w are for format %d and later, this version has %d", ErrVersion, reads, format)
	}
	bound, cancel := context.WithTimeout(context.Background(), c.Lease)
	defer cancel()
	if _, err := c.conn.Exec(bound, `INSERT INTO trading.lease (name) VALUES ($1) ON CONFLICT DO NOTHING`, c.Name); err != nil {
		return fmt.Errorf("postgres: lease: %w", err)
	}
	for _, account := range c.Accounts {
		_, err := c.conn.Exec(bound, `INSERT INTO trading.account (base_url, account, lease) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, c.BaseURL, account, c.Name)
		if err != nil {
			return fmt.Errorf("postgres: account: %w", err)
		}
		of := ""
		if _, err := c.conn.row(c.Lease, []any{&of}, `SELECT lease FROM trading.account WHERE base_url = $1 AND account = $2`, c.BaseURL, account); err != nil {
			return fmt.Errorf("postgres: account: %w", err)
		}
		if of != c.Name {
			return fmt.Errorf("%w: %s at %s is of %q", ErrAccount, account, c.BaseURL, of)
		}
	}
	return nil
}

// look reads the lease, over a connection that is ready or is made so.
func (c *candidate) look(ctx context.Context, ready bool) (*seenLease, error) {
	defer c.wrong.asks()()
	if !ready {
		if err := c.prepare(ctx); err != nil {
			return nil, err
		}
	}
	return c.read()
}

func (c *candidate) read() (*seenLease, error) {
	var s seenLease
	var ms int64
	found, err := c.conn.row(c.Lease, []any{&s.epoch, &s.beat, &s.released, &s.elsewhere, &ms, &s.digest, &s.place},
		`SELECT epoch, beat, released, timeline NOT IN (0, `+timeline+`), lease_ms, digest, place FROM trading.lease WHERE name = $1`, c.Name)
	if err == nil && !found {
		err = errors.New("postgres: the lease is gone")
	}
	s.lasts = time.Duration(ms) * time.Millisecond
	return &s, err
}

// timeline is that of the server's log, which a failover changes.
const timeline = `('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint`

// take takes the lease, if it is still as it was seen; nil if it is not.
func (c *candidate) take(seen *seenLease) (*held, error) {
	h := &held{conn: c.conn, holder: uuid.NewString(), from: c.clock()}
	host, _ := os.Hostname()
	digest := c.digest()
	if c.asLeft {
		digest = seen.digest // those who wait are not to go away
	}
	found, err := h.conn.change(c.Lease, []any{&h.epoch, &h.seq, &h.gap, &h.halt, &h.lost}, `
		UPDATE trading.lease SET epoch = epoch + 1, beat = beat + 1, holder = $4, place = $5, gap = gap OR NOT released, released = false,
			lease_ms = $6, digest = $7, taken_at = now(), renewed_at = now(), timeline = `+timeline+`,
			lost_at = CASE WHEN timeline NOT IN (0, `+timeline+`) THEN now() ELSE lost_at END
		FROM s WHERE s.c = 'on' AND name = $1 AND epoch = $2 AND beat = $3
		RETURNING epoch, seq, gap, halt, coalesce(lost_at > now() - interval '1 day', false)`,
		c.Name, seen.epoch, seen.beat, h.holder, fmt.Sprintf("%s, process %d", host, os.Getpid()), c.Lease.Milliseconds(), digest)
	if err != nil || !found {
		return nil, err
	}
	return h, nil
}

// kept are the records of the writes that are pending, or have a name.
const kept = `
	SELECT n, kind, format, intent, name, data FROM trading.record r
	WHERE lease = $1 AND (name <> '' OR kind = 0 AND NOT EXISTS (
		SELECT FROM trading.record f WHERE f.lease = r.lease AND f.intent = r.intent AND f.kind = 1))
	ORDER BY n`

// load reads what the journal has, with a connection of its own, while the lease is renewed.
func load(ctx context.Context, url string, o *Options, seq int64, into journal.Store) (quiet []byte, err error) {
	conn, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.close()
	if err := loadInto(ctx, conn, o, seq, into); err != nil {
		return nil, err
	}
	return loadQuiet(ctx, conn, o, into)
}

// loadQuiet reads what [Store.Quiet] returns.
func loadQuiet(ctx context.Context, conn *connection, o *Options, has journal.Store) (data []byte, err error) {
	for _, err := range has.Pending(ctx) {
		return nil, err
	}
	return lastFinal(conn, o.Lease, o.Name)
}

// lastFinal is the Data of the last record of a lease, if it is a Final one; else nil.
func lastFinal(conn *connection, bound time.Duration, lease string) (data []byte, err error) {
	last := kindForget
	_, err = conn.row(bound, []any{&last, &data}, `SELECT kind, data FROM trading.record WHERE lease = $1 ORDER BY n DESC LIMIT 1`, lease)
	if err != nil {
		return nil, fmt.Errorf("postgres: load: %w", err)
	}
	if last != kindFinal {
		return nil, nil
	}
	return data, nil
}

func loadInto(ctx context.Context, conn *connection, o *Options, seq int64, into journal.Store) error {
	rows, err := conn.Query(ctx, kept, o.Name)
	if err != nil {
		return fmt.Errorf("postgres: load: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scan(rows, seq)
		if err != nil {
			return err
		}
		if err := r.replay(ctx, into); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("postgres: load: %w", err)
	}
	return nil
}

func scan(rows pgx.Rows, seq int64) (r row, err error) {
	var n int64
	var of int16
	if err := rows.Scan(&n, &r.kind, &of, &r.intent, &r.name, &r.data); err != nil {
		return r, fmt.Errorf("postgres: load: %w", err)
	}
	if of != format {
		return r, fmt.Errorf("%w: record %d has format %d, this version reads %d", ErrVersion, n, of, format)
	}
	if n > seq {
		return r, fmt.Errorf("%w: record %d is there, and the lease counts %d", journal.ErrLostHistory, n, seq)
	}
	return r, nil
}

// The kinds of a row.
const (
	kindRecord int16 = iota
	kindFinal
	kindForget
)

// row is a record as it is stored.
type row struct {
	kind               int16
	intent, name, data []byte
}

func rowOf(r journal.Record) row {
	kind := kindRecord
	if r.Final {
		kind = kindFinal
	}
	return row{kind, []byte(r.Intent), []byte(r.Name), append([]byte{}, r.Data...)}
}

// replay puts a row into memory.
func (r row) replay(ctx context.Context, into journal.Store) error {
	if r.kind == kindForget {
		return into.Forget(ctx, string(r.name))
	}
	err := into.Append(ctx, false, journal.Record{Intent: string(r.intent), Name: string(r.name), Final: r.kind == kindFinal, Data: r.data})
	if err != nil {
		return fmt.Errorf("postgres: load: intent %q: %w", r.intent, err)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
