package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/journal/journaltest"
)

// pooler starts a PgBouncer in front of a server, in transaction mode: each statement meets
// another of the few connections behind it. It returns the URL by which a role reaches it.
func pooler(t *testing.T, s *server, role string) string {
	t.Helper()
	return poolerIn(t, s, role, "transaction")
}

// poolerIn is pooler in a mode.
func poolerIn(t *testing.T, s *server, role, mode string) string {
	t.Helper()
	bouncer := program(t, "pgbouncer")
	dir, err := os.MkdirTemp("", "pgbouncer")
	require.NoError(t, err)
	as := &server{t: t, dir: dir, port: freePort(t)}
	config := fmt.Sprintf(`[databases]
postgres = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = %s
default_pool_size = 4
max_client_conn = 200
logfile = %s
`, s.port, as.port, filepath.Join(dir, "users"), mode, filepath.Join(dir, "log"))
	for name, text := range map[string]string{"config": config, "users": fmt.Sprintf("%q \"\"\n", role)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	cmd := exec.Command(bouncer, filepath.Join(dir, "config"))
	as.asUser(cmd)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	require.Eventually(t, func() bool {
		conn, err := connect(context.Background(), as.url(role))
		if err == nil {
			conn.close()
		}
		return err == nil
	}, patience, 10*time.Millisecond)
	return as.url(role)
}

// The rules of a journal behind PgBouncer in transaction mode, by the role of a bot.
func TestJournalBehindPgBouncer(t *testing.T) {
	t.Parallel()
	at := address(t)
	execute(t, at, "DROP ROLE IF EXISTS pooled; CREATE ROLE pooled LOGIN; "+Grants("pooled"))
	journalRules(t, pooler(t, shared.server, "pooled"))
}

// Many at once on few connections: all is there, in the order of each. The pooler cuts what is
// under way when it cannot reach the server, and they go on.
func TestManyBehindPgBouncer(t *testing.T) {
	t.Parallel()
	s := ownServer(t)
	at := pooler(t, s, "postgres")
	var wg sync.WaitGroup
	for range 16 {
		o := options()
		store := opened(t, at, o)
		wg.Go(func() {
			for i := range 40 {
				there := false // or comes by itself
				require.Eventually(t, func() bool {
					var records []journal.Record
					if !there {
						records = append(records, record(i))
					}
					err := store.Append(context.Background(), i%2 == 0, records...)
					there = there || errors.Is(err, journal.ErrUnanswered)
					return !assertNotFenced(t, err)
				}, patience, 5*time.Millisecond)
			}
			assert.Eventually(t, func() bool { return !assertNotFenced(t, store.Append(context.Background(), true)) }, patience, 5*time.Millisecond)
			assert.Equal(t, 40, len(intents(t, store)))
		})
	}
	wg.Go(func() {
		for range 3 {
			execute(t, s.url("postgres"), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
			time.Sleep(50 * time.Millisecond)
		}
	})
	wg.Wait()
	n := scalar[int](t, s.url("postgres"), "SELECT count(*)::int FROM trading.record")
	assert.Equal(t, 16*40, n)
}

// assertNotFenced reports whether an append has failed, which none may for the lease.
func assertNotFenced(t *testing.T, err error) (failed bool) {
	t.Helper()
	assert.False(t, journal.IsFencing(err), "%v", err)
	return err != nil
}

// journalRules runs the rules of a journal on the database of a URL.
func journalRules(t *testing.T, url string) {
	of := map[journal.Store]Options{}
	var mu sync.Mutex
	open := func(t *testing.T, o Options) journal.Store {
		s := opened(t, url, o)
		mu.Lock()
		defer mu.Unlock()
		of[s] = o
		return s
	}
	journaltest.Run(t, func(t *testing.T) journal.Store { return open(t, options()) }, journaltest.Reopen(func(t *testing.T, s journal.Store) journal.Store {
		require.NoError(t, s.(*Store).Close())
		mu.Lock()
		o := of[s]
		mu.Unlock()
		return open(t, o)
	}))
}
