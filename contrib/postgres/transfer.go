package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// A journal moves from a file into the database, and back.

// Errors of [Import] and [Export], to be compared with [errors.Is].
var (
	// ErrHeld means that a process holds the lease, or one that held it has died: its holder
	// releases it, or a person does by [OpenAsLeft].
	ErrHeld = errors.New("postgres: the lease is held, or was not released")
	// ErrNotEmpty means that the lease has a journal already.
	ErrNotEmpty = errors.New("postgres: the lease has a journal already")
	// ErrTorn means that a power cut has torn the end of the file. Opening it has left that out; to
	// import it again takes what is there.
	ErrTorn = errors.New("postgres: the end of the file is torn")
)

const (
	// transferTimeout bounds the one statement of an import.
	transferTimeout = time.Minute
	// lastIntent is of a copy of the last record, which [Store.Quiet] returns.
	lastIntent = "the last record"
)

// Import copies the journal in a file into the lease of o, for bots that were on one machine: all of
// it at once or, on an error other than [journal.ErrUnanswered], nothing: [Histories] shows it. It returns how many writes it has
// copied. The bots are stopped: the file must not be open elsewhere,
// the lease must be free and have no journal, and each pending write must be of the service and an
// account of o. The file stays as it is. No bot may go on with it.
func Import(ctx context.Context, url string, o Options, path string) (copied int, err error) {
	if o, err = o.checked(); err != nil {
		return 0, err
	}
	if _, err := os.Lstat(path); err != nil {
		return 0, fmt.Errorf("postgres: import: %w", err) // to open it would make one
	}
	file, err := journal.Open(path, journal.WithLockTimeout(0))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if torn := file.Repaired(); torn > 0 {
		return 0, fmt.Errorf("%w: %q: %d bytes, of appends that were not durable", ErrTorn, path, torn)
	}
	gap, err := file.Gap()
	if err != nil {
		return 0, err
	}
	rows, copied, err := o.rowsOf(path)
	if err != nil {
		return 0, err
	}
	rows = append(rows, row{kindFinal, []byte(lastIntent), []byte{}, append([]byte{}, file.Quiet()...)})
	conn, err := connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer conn.close()
	if err := (&candidate{Options: o, conn: conn}).claim(); err != nil {
		return 0, err
	}
	return copied, conn.fill(o.Name, gap, rows)
}

// rowsOf are the records in a file, of so many writes.
func (o *Options) rowsOf(path string) (rows []row, writes int, err error) {
	for h, err := range journal.Read(path) {
		if err == nil {
			err = o.concerns(h)
		}
		if err != nil {
			return nil, 0, err
		}
		writes++
		for i, data := range h.Records {
			rows = append(rows, rowOf(journal.Record{Intent: h.Intent, Name: h.Name, Final: h.Final && i == len(h.Records)-1, Data: data}))
		}
	}
	return rows, writes, nil
}

// concerns refuses a pending write that nobody who holds the lease could resolve.
func (o *Options) concerns(h journal.History) error {
	if h.Final {
		return nil
	}
	w, err := trading.DescribeHistory(h)
	if err != nil {
		return err
	}
	if base, err := url.Parse(w.BaseURL); err != nil || journal.Service(base) != o.BaseURL {
		return fmt.Errorf("postgres: pending write %s is of the service at %q, and the lease of %q", w.ID, w.BaseURL, o.BaseURL)
	}
	if w.Account != "" && !slices.Contains(o.Accounts, string(w.Account)) {
		return fmt.Errorf("postgres: pending write %s is of account %q, which is not one of the lease", w.ID, w.Account)
	}
	return nil
}

// fill writes records under a lease that is free and has none, without taking it: one statement, so
// that no bot sees a part of them.
func (c *connection) fill(lease string, gap bool, rows []row) error {
	kinds, intents, names, data := columns(rows)
	count := 0
	found, err := c.change(transferTimeout, []any{&count}, `,
		l AS (UPDATE trading.lease SET epoch = epoch + 1, beat = beat + 1, seq = $2, gap = $3 FROM s
			WHERE name = $1 AND released AND seq = 0 AND s.c = 'on' RETURNING name),
		i AS (INSERT INTO trading.record (lease, n, kind, format, intent, name, data)
			SELECT $1, r.nr, r.kind, $4, r.intent, r.name, r.data
			FROM l, unnest($5::smallint[], $6::bytea[], $7::bytea[], $8::bytea[]) WITH ORDINALITY r (kind, intent, name, data, nr) RETURNING 1)
		SELECT (SELECT count(*) FROM i) FROM l`,
		lease, len(rows), gap, format, kinds, intents, names, data)
	if err != nil {
		return fmt.Errorf("postgres: import: %w: %w", journal.ErrUnanswered, err)
	}
	if found {
		return nil
	}
	released := false
	if _, err := c.row(transferTimeout, []any{&released}, `SELECT released FROM trading.lease WHERE name = $1`, lease); err != nil {
		return fmt.Errorf("postgres: import: %w", err)
	}
	if !released {
		return fmt.Errorf("%w: %q", ErrHeld, lease)
	}
	return fmt.Errorf("%w: %q", ErrNotEmpty, lease)
}

// columns are rows as the arrays of a statement.
func columns(rows []row) (kinds []int16, intents, names, data [][]byte) {
	for _, r := range rows {
		kinds, intents, names, data = append(kinds, r.kind), append(intents, r.intent), append(names, r.name), append(data, r.data)
	}
	return kinds, intents, names, data
}

// Export makes a journal in a file of that of a lease, for a bot that goes back to one machine, and
// returns how many writes it has; on an error there is no file. The lease must be released, and the
// file must not be there. Entries under the lease are halted first, by a role that may: so a bot that
// is started under it by mistake takes none. The records stay in the database.
func Export(ctx context.Context, url, lease, path string) (copied int, err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("postgres: export: %q: %w", path, cmp.Or(err, fs.ErrExist))
	}
	conn, err := connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer conn.close()
	var epoch int64
	var gap, lost bool
	found, err := conn.change(transferTimeout, []any{&epoch, &gap, &lost}, `
		UPDATE trading.lease SET halt = coalesce(halt, $2) FROM s WHERE name = $1 AND released AND s.c = 'on'
		RETURNING epoch, gap, coalesce(lost_at > now() - interval '1 day', false)`,
		lease, fmt.Sprintf("exported to %q at %s", path, time.Now().UTC().Format(time.DateTime)))
	if err != nil {
		return 0, fmt.Errorf("postgres: export: %w", err)
	}
	list, err := historiesOf(ctx, conn, lease) // whose error is that there is no such lease, too
	switch {
	case err != nil:
		return 0, err
	case !found:
		return 0, fmt.Errorf("%w: %q", ErrHeld, lease)
	case lost:
		return 0, fmt.Errorf("%w: the database has failed over within a day, and a file cannot say so", journal.ErrLostHistory)
	}
	var last []byte
	if !slices.ContainsFunc(list, func(h journal.History) bool { return !h.Final }) {
		if last, err = lastFinal(conn, transferTimeout, lease); err != nil {
			return 0, err
		}
	}
	still := false
	_, err = conn.row(transferTimeout, []any{&still}, `SELECT released AND epoch = $2 FROM trading.lease WHERE name = $1`, lease, epoch)
	switch {
	case err != nil:
		return 0, fmt.Errorf("postgres: export: %w", err)
	case !still:
		return 0, fmt.Errorf("%w: %q was taken meanwhile", ErrHeld, lease)
	}
	return len(list), journal.Create(path, last, gap, func(yield func(journal.History, error) bool) {
		for _, h := range list {
			if !yield(h, nil) {
				return
			}
		}
	})
}
