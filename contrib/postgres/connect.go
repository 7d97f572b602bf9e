package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connection is one connection to the database. Nothing that it has begun is cancelled: to cancel
// a statement that waits for a standby commits it, without the standby.
type connection struct {
	*pgx.Conn
	warned atomic.Pointer[pgconn.Notice] // by the server, during the last statement
}

var errSealed = errors.New("no statement is cancelled")

// dialTimeout bounds a connection that comes about.
const dialTimeout = 5 * time.Second

// connect opens a connection, and checks that the database is one to be trusted with a journal.
func connect(ctx context.Context, url string) (*connection, error) {
	c, err := dial(ctx, url)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*dialTimeout)
	defer cancel()
	if err := c.check(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// dial opens a connection.
func dial(ctx context.Context, url string) (*connection, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err) // which holds no password
	}
	c := &connection{}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler keeps no prepared statements
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			c.warned.Store(n)
		}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTimeout
	}
	sealed := atomic.Bool{}
	dialer := &net.Dialer{KeepAlive: 5 * time.Second, Control: boundUnacknowledged}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if sealed.Load() { // pgx would cancel what the connection has begun
			return nil, errSealed
		}
		return dialer.DialContext(ctx, network, address)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*config.ConnectTimeout)
	defer cancel()
	c.Conn, err = pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres: connect: %w", err)
	}
	sealed.Store(true)
	return c, nil
}

// check refuses a database whose settings break what the lease rests on.
func (c *connection) check(ctx context.Context) error {
	var isolation, readOnly, fsync string
	err := c.QueryRow(ctx, `SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only'), current_setting('fsync')`).
		Scan(&isolation, &readOnly, &fsync)
	switch {
	case err != nil:
		return fmt.Errorf("postgres: settings: %w", err)
	case isolation != "read committed":
		return fmt.Errorf("%w: default_transaction_isolation is %q, and must be \"read committed\"", ErrSettings, isolation)
	case readOnly != "off":
		return fmt.Errorf("%w: the database takes no writes: it is a standby, or default_transaction_read_only is on", ErrSettings)
	case fsync != "on":
		return fmt.Errorf("%w: fsync is off: what is acknowledged would not survive a power cut", ErrSettings)
	}
	return nil
}

// ErrSettings is the error of a database whose settings do not do for a journal.
var ErrSettings = errors.New("postgres: settings of the database")

// close ends the connection, and does not wait for a server that does not answer.
func (c *connection) close() {
	if c == nil || c.Conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// durably begins a statement that is on disk, and with the standbys that are waited for, once it is
// answered, whatever the role's setting: what else is built on it could be taken back by a crash. It
// waits for a row that another transaction has locked for so many milliseconds, and ends by itself.
// A server that has run it, and waits for the end of the message from a machine that is gone,
// holds the lease's row until it notices: after 10 s, and not after two hours. The settings are of
// the one transaction, so a pooler may give each statement another connection.
const durably = `WITH s AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true) c WHERE concat(
	set_config('lock_timeout', '%d', true), set_config('tcp_user_timeout', '5000', true), set_config('tcp_keepalives_idle', '5', true),
	set_config('tcp_keepalives_interval', '1', true), set_config('tcp_keepalives_count', '5', true)) <> '') `

// change is row for a statement that changes the lease, where s.c = 'on' guards it.
func (c *connection) change(bound time.Duration, into []any, statement string, args ...any) (found bool, err error) {
	return c.row(bound, into, fmt.Sprintf(durably, (bound/2).Milliseconds())+statement, args...)
}

// row runs one statement that returns at most one row, for as long as it is given. found is false
// without a row.
func (c *connection) row(bound time.Duration, into []any, statement string, args ...any) (found bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	c.warned.Store(nil)
	err = c.QueryRow(ctx, statement, args...).Scan(into...)
	if warning := c.warned.Load(); warning != nil && err == nil {
		return true, &warnedError{warning}
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// warnedError is a statement that the server has carried out with a warning: it may not have
// waited for its standby.
type warnedError struct{ notice *pgconn.Notice }

func (e *warnedError) Error() string {
	return fmt.Sprintf("the server warns: %s (%s)", e.notice.Message, e.notice.Code)
}

// doubtful are the errors behind which the lease may be another's, rather than the server away.
func doubtful(err error) bool {
	refused := (*pgconn.PgError)(nil)
	if !errors.As(err, &refused) {
		return errors.Is(err, ErrSettings)
	}
	switch refused.Code[:2] {
	case "08", "53": // the connection, resources
		return false
	case "57": // an operator, but a statement that somebody cancelled
		return refused.Code == "57014"
	default: // serialization, a deadlock, read-only, permissions, a lock timeout, and what is not known here
		return true
	}
}
