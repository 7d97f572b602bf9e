package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradingapi/trading-go/doctor"
)

// Doctor looks at what a bot under a lease depends on: the database, its settings and its role, the way
// to it, and the lease. It is for Options.More of package doctor. It only reads, and waits for no lock.
// Of the options it takes what is set: the lease by its name, whether that is for the accounts at the
// service, and whether a failover loses nothing.
func Doctor(ctx context.Context, url string, o Options) []doctor.Line {
	l := &looks{o: o}
	if l.o.Lease == 0 {
		l.o.Lease = defaultLease
	}
	if conn := l.database(ctx, url); conn != nil {
		defer conn.close()
		l.settings(ctx, conn)
		if l.tables(ctx, conn) {
			l.role(ctx, conn)
			l.locks(ctx, conn)
			l.lease(ctx, conn)
		}
		l.standby(ctx, conn)
		l.pooler(ctx, conn, url)
		l.clock(ctx, conn)
	}
	return l.lines
}

// looks are the lines of one run.
type looks struct {
	o     Options
	lines []doctor.Line
}

func (l *looks) add(check string, status doctor.Status, do, format string, args ...any) {
	l.lines = append(l.lines, doctor.Line{Subject: "fleet", Check: "fleet-" + check, Status: status, Saw: fmt.Sprintf(format, args...), Do: do})
}

func (l *looks) ok(check, format string, args ...any) { l.add(check, doctor.OK, "", format, args...) }

func (l *looks) skip(check string, err error) {
	l.add(check, doctor.Skipped, "", "it cannot be seen: %v", err)
}

func (l *looks) warn(check, do, format string, args ...any) {
	l.add(check, doctor.Warn, do, format, args...)
}

func (l *looks) fail(check, do, format string, args ...any) {
	l.add(check, doctor.Fail, do, format, args...)
}

// database connects, and says how the connection is.
func (l *looks) database(ctx context.Context, url string) *connection {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		l.fail("database", "Write it as postgres://user@host/database, with a password in PGPASSWORD or a password file.", "the address cannot be read: %v", err)
		return nil
	}
	conn, err := dial(ctx, url)
	if err != nil {
		l.fail("database", cureOf(err), "%v", err)
		return nil
	}
	at := net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	encrypted := conn.PgConn().Conn()
	switch _, plain := encrypted.(*net.TCPConn); {
	case plain && !isLoopback(encrypted.RemoteAddr()):
		l.warn("database", "Say sslmode=verify-full in the address.", "%s answers, and the connection is not encrypted", at)
	case config.TLSConfig != nil && config.TLSConfig.InsecureSkipVerify && config.TLSConfig.VerifyConnection == nil && config.TLSConfig.VerifyPeerCertificate == nil && !isLoopback(encrypted.RemoteAddr()):
		l.warn("database", "Say sslmode=verify-full in the address.", "%s answers, and nothing says that it is the right server", at)
	default:
		l.ok("database", "%s answers as %s", at, config.User)
	}
	return conn
}

func isLoopback(at net.Addr) bool {
	if at.Network() == "unix" {
		return true
	}
	of, err := netip.ParseAddrPort(at.String())
	return err == nil && of.Addr().Unmap().IsLoopback()
}

// cureOf is what to do about a connection that does not come about.
func cureOf(err error) string {
	refused, lookup := (*pgconn.PgError)(nil), (*net.DNSError)(nil)
	switch {
	case errors.As(err, &refused) && strings.HasPrefix(refused.Code, "28"):
		return "Check the role and its password (PGPASSWORD, or a password file), and pg_hba.conf."
	case errors.As(err, &refused) && refused.Code == "3D000":
		return "Make the database, or correct its name in the address."
	case errors.As(err, &refused) && strings.HasPrefix(refused.Code, "53"):
		return "The server has no room: for connections, on its disk or in memory."
	case errors.As(err, &lookup):
		return "Correct the host in the address."
	default:
		return "Start the database, or correct the address; a bot waits for it, and says so."
	}
}

// settings are those that the lease rests on, and those that would cut its statements short.
func (l *looks) settings(ctx context.Context, conn *connection) {
	switch err := conn.check(ctx); {
	case errors.Is(err, ErrSettings):
		l.fail("settings", "Change it for the role or the server; of several servers name all, with target_session_attrs=read-write.", "%v", err)
	case err != nil:
		l.skip("settings", err)
		return
	default:
		l.ok("settings", "read committed, fsync on, it takes writes")
	}
	rows, err := conn.Query(ctx, `SELECT name, setting::bigint FROM pg_settings
		WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout') ORDER BY name`)
	if err != nil {
		l.skip("timeouts", err)
		return
	}
	var name string
	var ms int64
	var short []string
	open := false
	_, err = pgx.ForEachRow(rows, []any{&name, &ms}, func() error {
		within := time.Duration(ms) * time.Millisecond
		switch {
		case name == "idle_in_transaction_session_timeout":
			open = ms == 0
		case ms > 0 && within < l.o.Lease:
			short = append(short, fmt.Sprintf("%s is %s", name, within))
		}
		return nil
	})
	switch {
	case err != nil:
		l.skip("timeouts", err)
	case len(short) > 0:
		l.fail("timeouts", "Set it to 0 for the bot's role: a statement that is cut short lets nothing leave.", "%s, and the lease is %s", strings.Join(short, ", "), l.o.Lease)
	case open:
		l.warn("timeouts", "Run what Grants says: a terminal under this role that leaves a transaction open holds the lease's row.", "idle_in_transaction_session_timeout is 0")
	default:
		l.ok("timeouts", "none is shorter than the lease, %s", l.o.Lease)
	}
}

// tables looks for those of this version.
func (l *looks) tables(ctx context.Context, conn *connection) bool {
	reads := 0
	err := conn.QueryRow(ctx, `SELECT min_reader FROM trading.version ORDER BY version DESC LIMIT 1`).Scan(&reads)
	missing := (*pgconn.PgError)(nil)
	switch {
	case errors.As(err, &missing) && (missing.Code == "42P01" || missing.Code == "3F000"):
		l.fail("tables", "Call Migrate once, by a role that may create a schema; or this is another database.", "they are missing")
	case errors.As(err, &missing) && missing.Code == "42501":
		l.fail("tables", "Run what Grants says for this role.", "the role may not read them")
	case err != nil:
		l.skip("tables", err)
	case reads > format:
		l.fail("tables", "Use the version of this module that wrote them.", "they are for format %d and later, and this version has %d", reads, format)
	default:
		l.ok("tables", "they are there")
		return true
	}
	return false
}

// role compares what the role may with what a bot needs.
func (l *looks) role(ctx context.Context, conn *connection) {
	var name string
	var lacks, more []string
	err := conn.QueryRow(ctx, `
		WITH needs (what, has) AS (
			SELECT 'SELECT ON trading.' || t, has_table_privilege('trading.' || t, 'SELECT') FROM unnest(ARRAY['version', 'lease', 'account', 'record']) t
			UNION ALL SELECT 'INSERT ON trading.' || t, has_table_privilege('trading.' || t, 'INSERT') FROM unnest(ARRAY['account', 'record']) t
			UNION ALL SELECT 'INSERT (name) ON trading.lease', has_column_privilege('trading.lease', 'name', 'INSERT')
			UNION ALL SELECT 'UPDATE (' || c || ') ON trading.lease', has_column_privilege('trading.lease', c, 'UPDATE')
				FROM unnest(ARRAY['epoch', 'beat', 'seq', 'holder', 'place', 'released', 'gap', 'lease_ms', 'digest', 'timeline', 'lost_at', 'taken_at', 'renewed_at']) c
		), has_more (what, has) AS (
			SELECT 'DELETE ON trading.record', has_table_privilege('trading.record', 'DELETE')
			UNION ALL SELECT 'UPDATE ON trading.record', has_table_privilege('trading.record', 'UPDATE')
			UNION ALL SELECT 'UPDATE (halt) ON trading.lease', has_column_privilege('trading.lease', 'halt', 'UPDATE')
		)
		SELECT current_user, ARRAY(SELECT what FROM needs WHERE NOT has), ARRAY(SELECT what FROM has_more WHERE has)`).Scan(&name, &lacks, &more)
	switch {
	case err != nil:
		l.skip("role", err)
	case len(lacks) > 0:
		l.fail("role", "Run what Grants says for this role.", "%s lacks %s", name, strings.Join(lacks, ", "))
	case len(more) > 0:
		l.warn("role", "Give the bot a role of its own, with what Grants says.", "%s may more than a bot: %s", name, strings.Join(more, ", "))
	default:
		l.ok("role", "%s may what a bot needs, and no more", name)
	}
}

// locks looks twice for one of the table of leases: a renewal takes milliseconds.
func (l *looks) locks(ctx context.Context, conn *connection) {
	const apart = 500 * time.Millisecond
	look := func() (holds map[int64]bool, err error) {
		rows, err := conn.Query(ctx, `SELECT pid::bigint FROM pg_locks WHERE relation = 'trading.lease'::regclass AND mode <> 'AccessShareLock' AND granted AND pid <> pg_backend_pid()`)
		if err != nil {
			return nil, err
		}
		pids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		holds = map[int64]bool{}
		for _, pid := range pids {
			holds[pid] = true
		}
		return holds, err
	}
	before, err := look()
	if err == nil && len(before) > 0 {
		err = sleep(ctx, apart)
	}
	if err != nil {
		l.skip("locks", err)
		return
	}
	now, err := look()
	if err != nil {
		l.skip("locks", err)
		return
	}
	for pid := range now {
		if before[pid] {
			l.fail("locks", "Find it in pg_stat_activity, and end it with pg_terminate_backend.", "process %d of the server holds rows of trading.lease: the holder can neither append nor renew", pid)
			return
		}
	}
	l.ok("locks", "nobody holds rows of trading.lease")
}

// standby says what a failover would lose.
func (l *looks) standby(ctx context.Context, conn *connection) {
	var names, commit string
	var senders int
	err := conn.QueryRow(ctx, `SELECT current_setting('synchronous_standby_names'), current_setting('synchronous_commit'), (SELECT count(*) FROM pg_stat_replication)`).
		Scan(&names, &commit, &senders)
	switch {
	case err != nil:
		l.skip("standby", err)
	case names != "":
		l.ok("standby", "each append waits for %q", names)
	case l.o.FailoverLosesNothing:
		l.fail("standby", "Set synchronous_standby_names, or take Options.FailoverLosesNothing out.", "no standby is waited for, and the options say that a failover loses nothing")
	case senders > 0:
		l.warn("standby", "Set synchronous_standby_names: a failover to an asynchronous standby loses the last records.", "%d standbys, and none is waited for", senders)
	default:
		l.ok("standby", "there is none: a failover is a restart")
	}
}

// pooler finds out whether one is in front, and whether it keeps a transaction together.
func (l *looks) pooler(ctx context.Context, conn *connection, url string) {
	var pid uint32
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		l.skip("pooler", err)
		return
	}
	if pid == conn.PgConn().PID() {
		l.ok("pooler", "none is in front")
		return
	}
	tx, err := conn.Begin(ctx)
	if err == nil {
		_, err = tx.Exec(ctx, `SELECT`)
		_ = tx.Rollback(ctx)
	}
	if err != nil {
		l.fail("pooler", "Set pool_mode = transaction.", "a pooler is in front that takes no transactions: %v", err)
		return
	}
	second, err := dial(ctx, url)
	if err != nil {
		l.fail("pooler", "Raise its limits: a bot needs two connections while it takes a lease.", "a pooler is in front, and has no second connection: %v", err)
		return
	}
	defer second.close()
	var other uint32
	switch err := second.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&other); {
	case err != nil:
		l.skip("pooler", err)
	case other == pid:
		l.ok("pooler", "a pooler is in front, in transaction mode")
	default:
		l.warn("pooler", "In session mode each bot that waits holds a connection of the server: set pool_mode = transaction.", "a pooler is in front, and gives each connection one of its own")
	}
}

// clock compares the database's with this machine's. It decides nothing but when a failover is a day old.
func (l *looks) clock(ctx context.Context, conn *connection) {
	const most = 2 * time.Second
	var at time.Time
	began := time.Now()
	if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at); err != nil {
		l.skip("clock", err)
		return
	}
	off := at.Sub(began.Add(time.Since(began) / 2))
	if off.Abs() > most {
		l.warn("clock", "Run chrony, ntpd or systemd-timesyncd on both. An order id that carries a time relies on clocks within 2 s.", "the database's clock is %s off this machine's", off.Round(time.Second/10))
		return
	}
	l.ok("clock", "it agrees with this machine's within %s", most)
}

// lease looks at the one of the options.
func (l *looks) lease(ctx context.Context, conn *connection) {
	if l.o.Name == "" {
		l.add("lease", doctor.Skipped, "", "none is named (--lease)")
		return
	}
	list, err := leasesOf(ctx, conn)
	if err != nil {
		l.skip("lease", err)
		return
	}
	var of *Lease
	for i := range list {
		if list[i].Name == l.o.Name {
			of = &list[i]
		}
	}
	l.accounts(list)
	switch {
	case of == nil:
		l.warn("lease", "The bot makes it. If it has traded before, this is another database: look at the accounts first.", "there is no lease %q", l.o.Name)
		return
	case of.Halted:
		l.warn("lease", "trading resume ends it.", "its entries are halted: %s", of.Reason)
	case of.Held():
		l.ok("lease", "held by %s, which renewed it %s ago", of.Place, of.Silent.Round(time.Second/10))
	case of.Released:
		l.warn("lease", "Start the bot.", "nobody holds it: it was released by %s", of.Place)
	default:
		l.fail("lease", "Start the bot, and see why nobody takes over.", "nobody holds it: %s has been silent for %s, and it lasts %s", of.Place, of.Silent.Round(time.Second), of.Lasts)
	}
	switch {
	case of.Pending > 0 && time.Since(of.Oldest) > 30*time.Minute:
		l.fail("pending", "trading pending ls shows them; a person has to look.", "%d writes, the oldest for %s", of.Pending, time.Since(of.Oldest).Round(time.Second))
	case of.Pending > 0:
		l.warn("pending", "The holder finds out; entries in these markets wait for it.", "%d writes, the oldest for %s", of.Pending, time.Since(of.Oldest).Round(time.Second))
	default:
		l.ok("pending", "none")
	}
	if age := time.Since(of.LostAt); !of.LostAt.IsZero() && age < 24*time.Hour && !l.o.FailoverLosesNothing {
		l.warn("failover", "Give order ids that say how old they are (trading.Since); docs/several-machines.md says why.", "the database failed over %s ago, and the journal may lack what was last before", age.Round(time.Second))
	}
}

// accounts compares whose the accounts of the options are.
func (l *looks) accounts(list []Lease) {
	if len(l.o.Accounts) == 0 || l.o.BaseURL == "" {
		return
	}
	at, err := serviceOf(l.o.BaseURL)
	if err != nil {
		l.fail("accounts", "", "the service's address: %v", err)
		return
	}
	for i := range list {
		for _, of := range list[i].Accounts {
			for _, id := range l.o.Accounts {
				if of == (LeasedAccount{at, id}) && list[i].Name != l.o.Name {
					l.fail("accounts", "An account is of one lease: name that one, or another account.", "%s at %s is of the lease %q", id, at, list[i].Name)
					return
				}
			}
		}
	}
	l.ok("accounts", "%s are of no other lease", strings.Join(l.o.Accounts, ", "))
}
