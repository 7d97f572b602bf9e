package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/journal"
)

// What a person needs: to look at leases beside their holders, to halt them, and to take one.

// Lease is a lease as its table has it. Times are the database's, and decide nothing.
type Lease struct {
	Name string
	// Place is the machine and process that holds it, or had it last; empty if nobody had it yet.
	Place string
	// Released means that it was handed over in order, and nobody has taken it since.
	Released bool
	// Silent is how long ago the holder renewed it, and Lasts how long it may be silent.
	Silent, Lasts time.Duration
	// TakenAt is when it was taken last. LostAt is when a taking found that the database had failed
	// over; the zero time if none has.
	TakenAt, LostAt time.Time
	// Takings counts how often it was taken, a holder's own after a lost answer included.
	Takings int64
	// Records counts what was appended, and Pending the writes that are not resolved. Oldest is when
	// the first of those was appended; the zero time without one.
	Records, Pending int64
	Oldest           time.Time
	// Gap means that something may be missing that was pending.
	Gap bool
	// Halted means that entries are refused, and Reason why.
	Halted bool
	Reason string
	// Accounts are those that are of the lease.
	Accounts []LeasedAccount
}

// LeasedAccount is an account that a lease is for.
type LeasedAccount struct{ BaseURL, Account string }

// Held reports whether somebody holds it, as far as the database's clock says.
func (l *Lease) Held() bool { return !l.Released && l.Silent < l.Lasts }

// ErrNoLease means that there is no lease of a name.
var ErrNoLease = errors.New("postgres: no such lease")

// Leases are all of them, by name.
func Leases(ctx context.Context, url string) (list []Lease, err error) {
	conn, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.close()
	return leasesOf(ctx, conn)
}

func leasesOf(ctx context.Context, conn *connection) (list []Lease, err error) {
	rows, err := conn.Query(ctx, `
		SELECT name, place, released, coalesce(extract(epoch FROM now() - renewed_at), 0)::float8, lease_ms, taken_at, lost_at, epoch, seq,
			(SELECT count(*) FROM trading.pending p WHERE p.lease = l.name), (SELECT min(since) FROM trading.pending p WHERE p.lease = l.name),
			gap, halt, ARRAY(SELECT base_url FROM trading.account a WHERE a.lease = l.name ORDER BY base_url, account),
			ARRAY(SELECT account FROM trading.account a WHERE a.lease = l.name ORDER BY base_url, account)
		FROM trading.lease l ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("postgres: leases: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var l Lease
		var silent float64
		var ms int64
		var taken, lost, oldest *time.Time
		var halt *string
		var urls, accounts []string
		if err := rows.Scan(&l.Name, &l.Place, &l.Released, &silent, &ms, &taken, &lost, &l.Takings, &l.Records, &l.Pending, &oldest, &l.Gap, &halt, &urls, &accounts); err != nil {
			return nil, fmt.Errorf("postgres: leases: %w", err)
		}
		l.Silent, l.Lasts = time.Duration(silent*float64(time.Second)), time.Duration(ms)*time.Millisecond
		l.TakenAt, l.LostAt, l.Oldest = valueOf(taken), valueOf(lost), valueOf(oldest)
		if l.Halted = halt != nil; l.Halted {
			l.Reason = *halt
		}
		for i := range urls {
			l.Accounts = append(l.Accounts, LeasedAccount{urls[i], accounts[i]})
		}
		list = append(list, l)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("postgres: leases: %w", err)
	}
	return list, nil
}

func valueOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Histories yields what the journal of a lease keeps, beside its holder: the pending writes, and the
// resolved ones that have a name. An error is the last.
func Histories(ctx context.Context, url, lease string) iter.Seq2[journal.History, error] {
	return func(yield func(journal.History, error) bool) {
		list, err := histories(ctx, url, lease)
		for _, h := range list {
			if !yield(h, nil) {
				return
			}
		}
		if err != nil {
			yield(journal.History{}, err)
		}
	}
}

func histories(ctx context.Context, url, lease string) (list []journal.History, err error) {
	conn, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.close()
	return historiesOf(ctx, conn, lease)
}

func historiesOf(ctx context.Context, conn *connection, lease string) (list []journal.History, err error) {
	found := false
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM trading.lease WHERE name = $1)`, lease).Scan(&found); err != nil {
		return nil, fmt.Errorf("postgres: histories: %w", err)
	}
	if !found {
		return nil, fmt.Errorf("%w: %q", ErrNoLease, lease)
	}
	rows, err := conn.Query(ctx, kept, lease)
	if err != nil {
		return nil, fmt.Errorf("postgres: histories: %w", err)
	}
	defer rows.Close()
	at := map[string]int{}
	for rows.Next() {
		r, err := scan(rows, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		if r.kind == kindForget {
			for i := range list {
				if h := &list[i]; h.Final && h.Name == string(r.name) {
					h.Records = nil
				}
			}
			continue
		}
		i, ok := at[string(r.intent)]
		if !ok {
			i = len(list)
			at[string(r.intent)] = i
			list = append(list, journal.History{Intent: string(r.intent), Name: string(r.name)})
		}
		list[i].Records = append(list[i].Records, r.data)
		list[i].Final = list[i].Final || r.kind == kindFinal
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("postgres: histories: %w", err)
	}
	return slices.DeleteFunc(list, func(h journal.History) bool { return h.Records == nil }), nil
}

// Halt has whoever holds the lease, now or later, refuse entries: from its next append or renewal
// on, which is within a fifth of the lease. Exits pass. It lasts until [Resume].
func Halt(ctx context.Context, url, lease, reason string) error {
	return setHalt(ctx, url, lease, &reason)
}

// Resume ends a halt.
func Resume(ctx context.Context, url, lease string) error { return setHalt(ctx, url, lease, nil) }

func setHalt(ctx context.Context, url, lease string, reason *string) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.close()
	done, err := conn.Exec(ctx, `UPDATE trading.lease SET halt = $2 WHERE name = $1`, lease, reason)
	if err != nil {
		return fmt.Errorf("postgres: halt: %w", err)
	}
	if done.RowsAffected() == 0 {
		return fmt.Errorf("%w: %q", ErrNoLease, lease)
	}
	return nil
}

// Remove deletes a lease that is released, with its accounts and its records, or nothing: such as that
// of a drill. Who needs its journal exports it first. A pending write is [journal.ErrPending]. It takes
// a role that may delete; a bot's may not ([Grants]).
func Remove(ctx context.Context, url, lease string) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.close()
	var found, released, open, gone bool
	_, err = conn.row(transferTimeout, []any{&found, &released, &open, &gone}, `
		WITH now AS (SELECT released, seq FROM trading.lease WHERE name = $1 FOR UPDATE),
		open AS (SELECT EXISTS (SELECT FROM trading.pending WHERE lease = $1) pends),
		over AS (SELECT FROM now, open, trading.lease seen WHERE seen.name = $1 AND seen.seq = now.seq AND now.released AND NOT open.pends),
		a AS (DELETE FROM trading.account WHERE lease = $1 AND EXISTS (SELECT FROM over)),
		r AS (DELETE FROM trading.record WHERE lease = $1 AND EXISTS (SELECT FROM over)),
		l AS (DELETE FROM trading.lease WHERE name = $1 AND EXISTS (SELECT FROM over) RETURNING 1)
		SELECT EXISTS (SELECT FROM now), coalesce((SELECT released FROM now), false), (SELECT pends FROM open), EXISTS (SELECT FROM l)`, lease)
	switch {
	case err != nil:
		return fmt.Errorf("postgres: remove: %w", err)
	case gone:
		return nil
	case !found:
		return fmt.Errorf("%w: %q", ErrNoLease, lease)
	case released && open:
		return fmt.Errorf("%w: in lease %q", journal.ErrPending, lease)
	default: // or was taken meanwhile
		return fmt.Errorf("%w: %q", ErrHeld, lease)
	}
}

// OpenAsLeft is [Open] for a person: with the accounts and the length that the lease has, whatever
// else its holders had to agree on. A holder that lives is waited for as ever. baseURL says which
// service, where the lease has accounts of several; empty where it has one.
func OpenAsLeft(ctx context.Context, url, lease, baseURL string) (*Store, error) {
	all, err := Leases(ctx, url)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(l Lease) bool { return l.Name == lease })
	if i < 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoLease, lease)
	}
	o := Options{Name: lease, Lease: max(leastLease, cmp.Or(all[i].Lasts, defaultLease)), BaseURL: baseURL, asLeft: true}
	of := ""
	if baseURL != "" {
		if of, err = serviceOf(baseURL); err != nil {
			return nil, fmt.Errorf("postgres: base URL: %w", err)
		}
	}
	for _, a := range all[i].Accounts {
		switch {
		case of == "":
			of = a.BaseURL
		case baseURL == "" && a.BaseURL != of:
			return nil, fmt.Errorf("postgres: %q has accounts at %s and at %s: name one", lease, of, a.BaseURL)
		}
		if a.BaseURL == of {
			o.BaseURL, o.Accounts = of, append(o.Accounts, a.Account)
		}
	}
	if len(o.Accounts) == 0 {
		return nil, fmt.Errorf("postgres: %q has no account at %s", lease, of)
	}
	return Open(ctx, url, o)
}
