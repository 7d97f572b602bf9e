package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

const service = "https://service.example/v1"

var leases atomic.Int64

// options are for a lease, and an account, of a test's own.
func options() Options {
	n := leases.Add(1)
	return Options{Name: fmt.Sprint("lease ", n), BaseURL: service, Accounts: []string{fmt.Sprint("acc_", n)}, Lease: time.Second}
}

func opened(t testing.TB, url string, o Options) *Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := Open(ctx, url, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func record(i int) journal.Record {
	return journal.Record{Intent: fmt.Sprint("intent ", i), Data: []byte("x")}
}

func intents(t testing.TB, s *Store) (all []string) {
	t.Helper()
	for h, err := range s.Pending(context.Background()) {
		require.NoError(t, err)
		all = append(all, h.Intent)
	}
	return all
}

// The rules of a journal, on a real server, by a role that may only read, append and move its
// lease.
func TestJournal(t *testing.T) {
	at := address(t)
	execute(t, at, "DROP ROLE IF EXISTS bot; CREATE ROLE bot LOGIN; "+Grants("bot"))
	asBot := shared.url("bot")
	journalRules(t, asBot)
	conn, err := connect(t.Context(), asBot)
	require.NoError(t, err)
	defer conn.close()
	for _, more := range []string{"DELETE FROM trading.record", "UPDATE trading.record SET data = ''", "DELETE FROM trading.lease", "UPDATE trading.lease SET halt = NULL", "UPDATE trading.lease SET name = 'x'", "UPDATE trading.account SET lease = 'x'", "CREATE TABLE trading.x ()"} {
		_, err := conn.Exec(t.Context(), more)
		require.ErrorContains(t, err, "permission denied", more)
	}
}

// A bot's role has nothing that it does not need: without any one of its privileges no lease is taken, used
// and handed over.
func TestEachPrivilegeIsNeeded(t *testing.T) {
	at := database(t)
	execute(t, at, "DROP ROLE IF EXISTS needs; CREATE ROLE needs LOGIN; "+Grants("needs"))
	asBot := strings.Replace(at, "postgres@", "needs@", 1)
	cycle := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), leastLease)
		defer cancel()
		o := options()
		o.Lease = leastLease
		s, err := Open(ctx, asBot, o)
		if err != nil {
			return err
		}
		return errors.Join(s.Append(ctx, true, record(1)), s.SetGap(true), s.Release(ctx), s.Err())
	}
	require.Eventually(t, func() bool { return cycle() == nil }, patience, time.Millisecond)
	columns := regexp.MustCompile(`GRANT UPDATE \((.*)\) ON`).FindStringSubmatch(Grants("needs"))
	privileges := []string{"USAGE ON SCHEMA trading", "INSERT ON trading.record", "INSERT ON trading.account", "INSERT (name) ON trading.lease"}
	for _, table := range []string{"version", "lease", "account", "record"} {
		privileges = append(privileges, "SELECT ON trading."+table)
	}
	for _, column := range strings.Split(columns[1], ", ") {
		privileges = append(privileges, "UPDATE ("+column+") ON trading.lease")
	}
	for _, privilege := range privileges {
		execute(t, at, "REVOKE "+privilege+" FROM needs")
		require.Error(t, cycle(), privilege)
		execute(t, at, "GRANT "+privilege+" TO needs")
	}
}

// Migrate does nothing the second time, and many may run it at once.
func TestMigrateAgain(t *testing.T) {
	at := address(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { assert.NoError(t, Migrate(context.Background(), at)) })
	}
	wg.Wait()
}

// A holder that falls silent is taken over after its lease and not before, when its own deadline is
// past: what it sends finds no row. The taking is a gap.
func TestASilentHolderIsTakenOver(t *testing.T) {
	at, o := address(t), options()
	o.Alive = 200 * time.Millisecond // it does not report
	old := opened(t, at, o)
	require.NoError(t, old.Append(t.Context(), true, record(1)))
	require.NotZero(t, old.Deadline())
	gap, err := old.Gap()
	require.NoError(t, err)
	require.False(t, gap, "the first taking follows nothing")

	o.Alive = 0
	next := opened(t, at, o)
	assert.False(t, time.Now().Before(old.Deadline()), "the old one sends no more")
	require.ErrorIs(t, old.Append(t.Context(), true, record(2)), journal.ErrFenced)
	<-old.over // it was in doubt, and has read the lease since
	require.ErrorIs(t, old.Err(), journal.ErrFenced)
	assert.True(t, old.Deadline().IsZero())
	assert.Equal(t, []string{"intent 1"}, intents(t, next))
	gap, err = next.Gap()
	require.NoError(t, err)
	assert.True(t, gap)
	require.NoError(t, next.SetGap(false))
	assert.Equal(t, []string{"intent 1"}, intents(t, old)[:1], "reads go on")
}

// A release hands over at once, and is no gap; a holder that lives is not taken over.
func TestARelease(t *testing.T) {
	at, o := address(t), options()
	o.Lease = 5 * time.Second
	old := opened(t, at, o)
	require.NoError(t, old.Append(t.Context(), false, record(1)))
	taken := make(chan *Store)
	go func() { taken <- opened(t, at, o) }()
	select {
	case <-taken:
		t.Fatal("taken from a holder that lives")
	case <-time.After(o.Lease / 4):
	}
	began := time.Now()
	require.NoError(t, old.Close())
	next := <-taken
	assert.Less(t, time.Since(began), o.Lease, "as long as one that says nothing takes")
	assert.Equal(t, []string{"intent 1"}, intents(t, next))
	gap, _ := next.Gap()
	assert.False(t, gap)
	require.ErrorIs(t, old.Append(t.Context(), true, record(2)), journal.ErrClosed)
}

// The server is killed and started again, and its connections are cut: the holder goes on with all
// that was acknowledged.
func TestTheServerIsKilled(t *testing.T) {
	s := ownServer(t)
	o := options()
	o.Lease = 10 * time.Second
	store := opened(t, s.url("postgres"), o)
	acknowledged := 0
	appends := func(n int) {
		for range n {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			err := store.Append(ctx, true, record(acknowledged))
			if errors.Is(err, journal.ErrUnanswered) { // it comes before what is next
				require.Eventually(t, func() bool { err = store.Append(ctx, true); return err == nil }, patience, 10*time.Millisecond)
			}
			if err == nil {
				acknowledged++
			} else {
				require.NotErrorIs(t, err, journal.ErrFenced)
				time.Sleep(20 * time.Millisecond)
			}
			cancel()
		}
	}
	appends(20)
	execute(t, s.url("postgres"), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
	appends(20)
	s.kill()
	began := time.Now()
	err := store.Append(t.Context(), true, record(1000))
	require.ErrorIs(t, err, journal.ErrUnanswered)
	require.False(t, journal.IsFencing(err), "exits go out beside it")
	require.Less(t, time.Since(began), o.Lease/2, "nobody waits for a server that is gone")
	err = store.Append(t.Context(), true, record(1001))
	require.ErrorContains(t, err, "no connection")
	require.NotErrorIs(t, err, journal.ErrUnanswered)
	require.False(t, journal.IsFencing(err))
	require.NoError(t, store.Err())
	s.start()
	require.Eventually(t, func() bool { return store.Append(t.Context(), true, record(2000)) == nil }, patience, 10*time.Millisecond)
	require.NoError(t, store.Close())
	again := opened(t, s.url("postgres"), o)
	all := intents(t, again)
	assert.GreaterOrEqual(t, len(all), acknowledged)
	assert.Contains(t, all, "intent 1000")
	assert.NotContains(t, all, "intent 1001")
	assert.Equal(t, "intent 2000", all[len(all)-1])
}

// A server that is frozen for longer than the lease: nothing leaves, no call waits longer than it
// wants to, and then the holder goes on, since nobody has taken over.
func TestTheServerIsFrozen(t *testing.T) {
	s := ownServer(t)
	store := opened(t, s.url("postgres"), options())
	require.NoError(t, store.Append(t.Context(), true, record(1)))
	s.signal(syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.Error(t, store.Append(ctx, true, record(2)))
	require.Eventually(t, func() bool { return !time.Now().Before(store.Deadline()) }, patience, 10*time.Millisecond)
	require.NoError(t, store.Err(), "a passed deadline is no end")
	s.signal(syscall.SIGCONT)
	require.Eventually(t, func() bool { return store.Append(t.Context(), true, record(3)) == nil }, patience, 10*time.Millisecond)
	assert.True(t, time.Now().Before(store.Deadline()))
	assert.Equal(t, []string{"intent 1", "intent 2", "intent 3"}, intents(t, store))
}

// A database that has less than it acknowledged is an older copy, by its count or by its epoch.
func TestLostHistory(t *testing.T) {
	at := address(t)
	for name, older := range map[string]string{
		"records":  "UPDATE trading.lease SET seq = seq - 1 WHERE name = ",
		"a taking": "UPDATE trading.lease SET epoch = epoch - 1 WHERE name = ",
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			s := opened(t, at, o)
			require.NoError(t, s.Append(t.Context(), true, record(1)))
			execute(t, at, older+"'"+o.Name+"'")
			require.Error(t, s.Append(t.Context(), true, record(2))) // or a renewal was the first to see it
			<-s.over
			require.ErrorIs(t, s.Append(t.Context(), true, record(2)), journal.ErrLostHistory)
			require.ErrorIs(t, s.Err(), journal.ErrLostHistory)
			assert.True(t, s.Deadline().IsZero())
		})
	}
}

// Errors behind which the lease may be another's let nothing leave, until it is read.
func TestADoubtfulError(t *testing.T) {
	at := address(t)
	execute(t, at, "DROP ROLE IF EXISTS doubtful; CREATE ROLE doubtful LOGIN; "+Grants("doubtful"))
	s := opened(t, shared.url("doubtful"), options())
	execute(t, at, "REVOKE UPDATE ON trading.lease FROM doubtful")
	require.Eventually(t, func() bool { return s.Deadline().IsZero() }, patience, time.Millisecond)
	require.ErrorIs(t, s.Append(t.Context(), true, record(1)), journal.ErrFenced)
	execute(t, at, "GRANT UPDATE ON trading.lease TO doubtful")
	require.Eventually(t, func() bool { return s.Append(t.Context(), true, record(1)) == nil }, patience, 10*time.Millisecond)
	assert.False(t, s.Deadline().IsZero())
}

// A database that takes no appends, and all else: nobody waits for it, it is asked now and then, the store can
// be closed, and what was refused comes once it may.
func TestARefusedAppend(t *testing.T) {
	t.Parallel()
	at, o := database(t), options()
	execute(t, at, "DROP ROLE IF EXISTS refused; CREATE ROLE refused LOGIN; "+Grants("refused"))
	asBot := strings.Replace(at, "postgres@", "refused@", 1)
	s := opened(t, asBot, o)
	may := func(does string) { execute(t, at, does+" refused") }
	epoch := func() int { return scalar[int](t, at, "SELECT epoch::int FROM trading.lease WHERE name = $1", o.Name) }
	may("REVOKE INSERT ON trading.record FROM")
	bound, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	require.ErrorIs(t, s.Append(bound, true, record(1)), journal.ErrUnanswered)
	before := epoch()
	time.Sleep(o.Lease / 2)
	assert.Less(t, epoch()-before, 15)
	require.NoError(t, s.Err())
	may("GRANT INSERT ON trading.record TO")
	require.Eventually(t, func() bool { return s.Append(bound, true, record(2)) == nil }, patience, 10*time.Millisecond)
	assert.Equal(t, "intent 1", intents(t, s)[0])
	may("REVOKE INSERT ON trading.record FROM")
	require.Error(t, s.Append(bound, true, record(3)))
	soon, end := context.WithTimeout(t.Context(), o.Lease/2)
	defer end()
	require.ErrorContains(t, s.Release(soon), "not released")
}

// A lease that an operator has locked lets nothing leave after the statement's own limit, while the
// server answers all else; the statement does not wait on without its client. Then it goes on.
func TestALockedLease(t *testing.T) {
	t.Parallel()
	at, o := database(t), options()
	o.Lease = 5 * time.Second
	s := opened(t, at, o)
	operator, err := connect(t.Context(), at)
	require.NoError(t, err)
	defer operator.close()
	tx, err := operator.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM trading.lease WHERE name = $1 FOR UPDATE", o.Name)
	require.NoError(t, err)
	began := time.Now()
	require.Eventually(t, func() bool { return s.Deadline().IsZero() }, patience, time.Millisecond)
	assert.Less(t, time.Since(began), o.Lease*9/10, "a fifth until the renewal, half for the lock")
	require.ErrorIs(t, s.Append(t.Context(), true, record(1)), journal.ErrFenced)
	require.Eventually(t, func() bool {
		return scalar[int](t, at, "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()") <= 1
	}, patience, time.Millisecond, "the one that asks again")
	require.NoError(t, tx.Rollback(t.Context()))
	require.Eventually(t, func() bool { return s.Append(t.Context(), true, record(1)) == nil }, patience, time.Millisecond)
}

// An account is of one lease, at one service however it is spelled; what differs does not
// campaign beside a holder; a halt reaches the holder.
func TestAccountsAndHalts(t *testing.T) {
	at, o := address(t), options()
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s := opened(t, at, o)
	other := options()
	other.Accounts, other.BaseURL = o.Accounts, "https://SERVICE.example:443/v1"
	_, err := Open(soon, at, other)
	require.ErrorIs(t, err, ErrAccount)
	differs := o
	differs.Declares = "another"
	_, err = Open(soon, at, differs)
	require.ErrorIs(t, err, ErrDiffers)
	assert.True(t, s.Covers(service, o.Accounts[0]))
	assert.False(t, s.Covers(service, "acc_0"))
	execute(t, at, "UPDATE trading.lease SET halt = 'maintenance' WHERE name = '"+o.Name+"'")
	require.NoError(t, s.Append(t.Context(), true, record(1)))
	reason, halted := s.Halted()
	assert.True(t, halted)
	assert.Equal(t, "maintenance", reason)
}

// A role may be set to acknowledge what is not durable. What the lease rests on is durable all the same.
func TestALeaseWaitsForItsStandby(t *testing.T) {
	server := ownServer(t)
	url := server.url("postgres")
	execute(t, url, `ALTER ROLE postgres SET synchronous_commit = off`)
	o := options()
	o.Lease = leastLease
	s := opened(t, url, o)

	standby := func(names string) {
		execute(t, url, `ALTER SYSTEM SET synchronous_standby_names = '`+names+`'`)
		execute(t, url, `SELECT pg_reload_conf()`)
	}
	standby("nobody")
	require.Eventually(t, func() bool {
		waits := scalar[int](t, url, "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%trading.lease%'")
		return waits == 1 && time.Until(s.Deadline()) < 0
	}, patience, 10*time.Millisecond, "a renewal counts that no standby has")
	soon, cancel := context.WithTimeout(t.Context(), 4*leastLease)
	defer cancel()
	_, err := Open(soon, url, o)
	require.Error(t, err, "nor does a taking")
	standby("")
	require.Eventually(t, func() bool { return time.Until(s.Deadline()) > 0 || s.Err() != nil }, patience, 10*time.Millisecond)
}

// A database that does not do is refused.
func TestSettings(t *testing.T) {
	at := address(t)
	for _, setting := range []string{"default_transaction_isolation = 'repeatable read'", "default_transaction_read_only = on"} {
		execute(t, at, "DROP ROLE IF EXISTS odd; CREATE ROLE odd LOGIN; ALTER ROLE odd SET "+setting)
		_, err := connect(t.Context(), shared.url("odd"))
		require.ErrorIs(t, err, ErrSettings, setting)
	}
}

// Settings that change under a holder are seen by its next renewal: nothing leaves while they do not do.
func TestSettingsThatChange(t *testing.T) {
	t.Parallel()
	server := ownServer(t)
	at := server.url("postgres")
	s := opened(t, at, options())
	set := func(isolation string) {
		execute(t, at, "ALTER SYSTEM SET default_transaction_isolation = '"+isolation+"'")
		execute(t, at, "SELECT pg_reload_conf()")
	}
	set("repeatable read")
	require.Eventually(t, func() bool { return s.Deadline().IsZero() }, patience, time.Millisecond)
	for range 20 {
		require.ErrorIs(t, s.Append(t.Context(), true, record(1)), journal.ErrFenced)
		require.True(t, s.Deadline().IsZero())
		time.Sleep(10 * time.Millisecond)
	}
	require.NoError(t, s.Err())
	direct, err := pgx.Connect(t.Context(), at) // our own connections are refused as well
	require.NoError(t, err)
	defer direct.Close(context.Background())
	for _, statement := range []string{"ALTER SYSTEM RESET default_transaction_isolation", "SELECT pg_reload_conf()"} {
		_, err = direct.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return s.Append(t.Context(), true, record(1)) == nil }, patience, 10*time.Millisecond)
}

// What a statement needs is set for it alone, whoever sees the connection next: so it does through a
// pooler too. The role's own setting is of whatever else runs under it.
func TestAStatementHasItsSettings(t *testing.T) {
	at := address(t)
	execute(t, at, "DROP ROLE IF EXISTS sets; CREATE ROLE sets LOGIN; "+Grants("sets"))
	const settings = `SELECT concat_ws(' ', current_setting('lock_timeout'), current_setting('tcp_user_timeout'), current_setting('tcp_keepalives_idle'),
		current_setting('tcp_keepalives_interval'), current_setting('tcp_keepalives_count'), current_setting('synchronous_commit'))`
	for name, url := range map[string]string{"direct": shared.url("sets"), "PgBouncer": pooler(t, shared.server, "sets")} {
		t.Run(name, func(t *testing.T) {
			conn, err := connect(t.Context(), url)
			require.NoError(t, err)
			defer conn.close()
			var before, within, after, idle string
			_, err = conn.row(time.Second, []any{&before}, settings)
			require.NoError(t, err)
			_, err = conn.change(4*time.Second, []any{&within}, settings+` FROM s WHERE s.c = 'on'`)
			require.NoError(t, err)
			assert.Equal(t, "2s 5000 5 1 5 on", within)
			_, err = conn.row(time.Second, []any{&after}, settings)
			require.NoError(t, err)
			assert.Equal(t, before, after)
			_, err = conn.row(time.Second, []any{&idle}, `SHOW idle_in_transaction_session_timeout`)
			require.NoError(t, err)
			assert.Equal(t, "5s", idle)
		})
	}
}

// A machine is gone in the middle of a message: the server has carried its statement out, and waits for
// the rest. It asks the machine within seconds whether it is still there, and gives the row back.
func TestAMachineThatIsGoneHoldsNoRow(t *testing.T) {
	at, o := address(t), options()
	require.NoError(t, opened(t, at, o).Close())
	conn, err := connect(t.Context(), at)
	require.NoError(t, err)
	raw, err := conn.PgConn().Hijack()
	require.NoError(t, err)
	defer raw.Conn.Close()
	raw.Frontend.Send(&pgproto3.Parse{Query: fmt.Sprintf(durably, 1000) + `UPDATE trading.lease SET beat = beat FROM s WHERE s.c = 'on' AND name = '` + o.Name + `'`})
	raw.Frontend.Send(&pgproto3.Bind{})
	raw.Frontend.Send(&pgproto3.Execute{})
	raw.Frontend.Send(&pgproto3.Flush{}) // and no Sync
	require.NoError(t, raw.Frontend.Flush())
	for done := false; !done; {
		message, err := raw.Frontend.Receive()
		require.NoError(t, err)
		_, done = message.(*pgproto3.CommandComplete)
	}
	ours := raw.Conn.LocalAddr().(*net.TCPAddr).Port
	// As /proc/net/tcp has a socket: local and remote address, state, queues, which timer runs, and
	// when it ends, in hundredths of a second.
	of := regexp.MustCompile(fmt.Sprintf(`0100007F:%04X 0100007F:%04X 01 \S+ (\d\d):([0-9A-F]{8})`, shared.port, ours))
	require.Eventually(t, func() bool {
		table, _ := os.ReadFile("/proc/net/tcp")
		socket := of.FindSubmatch(table)
		if socket == nil {
			return false
		}
		ends, err := strconv.ParseUint(string(socket[2]), 16, 64)
		return err == nil && string(socket[1]) == "02" && ends <= 500 // the timer that asks
	}, patience, 10*time.Millisecond)
}

// The deadline is counted by the clock that says longer, and a clock that is set back gives no more.
func TestTheDeadlineByBothClocks(t *testing.T) {
	var boot, wall atomic.Int64
	start := now()
	s := &Store{o: Options{Lease: 15 * time.Second}, renewed: start, clock: func() moment {
		return moment{start.boot + time.Duration(boot.Load()), start.wall.Add(time.Duration(wall.Load()))}
	}}
	left := func(b, w time.Duration) time.Duration {
		boot.Store(int64(b))
		wall.Store(int64(w))
		return time.Until(s.Deadline()).Round(time.Second)
	}
	assert.Equal(t, 13*time.Second, left(0, 0))
	assert.Equal(t, 3*time.Second, left(10*time.Second, 0))
	assert.Negative(t, left(0, time.Hour))
	assert.Equal(t, 8*time.Second, left(5*time.Second, -time.Hour))
	assert.Negative(t, left(time.Minute, time.Second), "a suspend")
}
