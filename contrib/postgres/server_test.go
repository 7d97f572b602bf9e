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

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/contrib/postgres/postgrestest"
)

// A real server, the distribution's, started by the tests.

// patience is how long a test waits for what comes by itself, on a machine that does much else.
const patience = time.Minute

// server is one, with a folder of its own.
type server struct {
	t    testing.TB
	dir  string
	port int
	env  []string // beside what this process has
	cmd  *exec.Cmd

	ended chan struct{} // closed when cmd is over
}

var shared struct {
	sync.Mutex
	*server
	opening sync.Mutex
	cluster *server // never started: others are copies of it
}

// address is that of the server which most tests share. Each has a lease of its own.
func address(t testing.TB) string {
	t.Helper()
	shared.opening.Lock()
	defer shared.opening.Unlock()
	if shared.server == nil {
		shared.server = newServer(t)
		require.NoError(t, Migrate(context.Background(), shared.url("postgres")))
	}
	return shared.url("postgres")
}

func TestMain(m *testing.M) {
	if text := os.Getenv(botEnv); text != "" {
		liveAsBot(text)
	}
	code := m.Run()
	if shared.cluster != nil {
		shared.cluster.remove()
	}
	if shared.server != nil {
		shared.remove()
	}
	os.Exit(code)
}

// program finds one of the server's programs, which distributions keep out of the way.
func program(t testing.TB, name string) string {
	t.Helper()
	return postgrestest.Program(t, name)
}

// newServer makes a cluster and starts it.
func newServer(t testing.TB) *server {
	t.Helper()
	s := emptyServer(t)
	shared.Lock()
	if shared.cluster == nil {
		shared.cluster = emptyServer(t)
		shared.cluster.runs(exec.Command(program(t, "initdb"), "-D", shared.cluster.data(), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C"))
	}
	shared.Unlock()
	s.runs(exec.Command("cp", "-R", shared.cluster.data(), s.dir)) // sooner than another initdb
	s.start()
	return s
}

// emptyServer has a folder and a port, and no cluster.
func emptyServer(t testing.TB) *server {
	t.Helper()
	program(t, "initdb")
	dir, err := os.MkdirTemp("", "postgres")
	require.NoError(t, err)
	return &server{t: t, dir: dir, port: freePort(t)}
}

func freePort(t testing.TB) int {
	t.Helper()
	return postgrestest.FreePort(t)
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// runs runs one of the server's programs to its end.
func (s *server) runs(cmd *exec.Cmd) {
	s.t.Helper()
	postgrestest.Run(s.t, s.dir, cmd)
}

// ownServer is one for a test that does it harm.
func ownServer(t *testing.T) *server {
	s := newServer(t)
	t.Cleanup(s.remove)
	require.NoError(t, Migrate(t.Context(), s.url("postgres")))
	return s
}

func (s *server) remove() {
	s.kill()
	_ = os.RemoveAll(s.dir)
}

func (s *server) asUser(cmd *exec.Cmd) { postgrestest.AsUser(s.t, s.dir, cmd) }

// start returns once the server answers. One whose processes were killed a moment ago may refuse to
// start, while the last of them goes.
func (s *server) start() {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		if s.cmd == nil || isOver(s.ended) {
			s.launch()
		}
		conn, err := connect(context.Background(), s.url("postgres"))
		if err == nil {
			conn.close()
		}
		return err == nil || errors.Is(err, ErrSettings) // as a standby's are
	}, 30*time.Second, 20*time.Millisecond)
}

func (s *server) launch() {
	s.cmd = postgrestest.Launch(s.t, s.dir, s.port, s.env...)
	cmd, ended := s.cmd, make(chan struct{})
	s.ended = ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
}

func isOver(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

// signal sends one to the server and its processes: each backend is a group of its own.
func (s *server) signal(sig syscall.Signal) { postgrestest.Signal(s.cmd, sig) }

// kill ends it as a power cut does, but for the disk.
func (s *server) kill() {
	if s.cmd != nil {
		s.signal(syscall.SIGKILL)
		<-s.ended
		s.cmd = nil
	}
}

func (s *server) url(role string) string { return s.urlOf(role, "postgres") }

func (s *server) urlOf(role, database string) string {
	return postgrestest.Address(s.port, role, database)
}

// database is a new one of the shared server, for a test that does it harm.
func database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("d", leases.Add(1))
	execute(t, address(t), "CREATE DATABASE "+name)
	at := shared.urlOf("postgres", name)
	require.NoError(t, Migrate(context.Background(), at))
	return at
}

// exec runs statements of an operator's.
func execute(t testing.TB, url, statements string) {
	t.Helper()
	conn, err := connect(context.Background(), url)
	require.NoError(t, err)
	defer conn.close()
	_, err = conn.PgConn().Exec(context.Background(), statements).ReadAll()
	require.NoError(t, err)
}
