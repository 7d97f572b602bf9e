package postgres

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A real server, the distribution's, started by the tests.

// server is one, with a folder of its own.
type server struct {
	t    testing.TB
	dir  string
	port int
	cmd  *exec.Cmd
}

var shared struct {
	sync.Mutex
	*server
}

// address is that of the server which most tests share. Each has a lease of its own.
func address(t testing.TB) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		shared.server = newServer(t)
		require.NoError(t, Migrate(context.Background(), shared.url("postgres")))
	}
	return shared.url("postgres")
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		shared.kill()
		_ = os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// program finds one of the server's programs, which distributions keep out of the way.
func program(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
		return found[len(found)-1]
	}
	missing := "NOT TESTED AGAINST A REAL POSTGRESQL: there is no " + name + " on this machine; install the distribution's postgresql"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// newServer makes a cluster and starts it.
func newServer(t testing.TB) *server {
	t.Helper()
	initdb := program(t, "initdb")
	dir, err := os.MkdirTemp("", "postgres")
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{t: t, dir: dir, port: listener.Addr().(*net.TCPAddr).Port}
	require.NoError(t, listener.Close())
	made := exec.Command(initdb, "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C")
	s.asUser(made)
	out, err := made.CombinedOutput()
	require.NoError(t, err, string(out))
	s.start()
	return s
}

// ownServer is one for a test that does it harm.
func ownServer(t *testing.T) *server {
	s := newServer(t)
	t.Cleanup(func() {
		s.kill()
		_ = os.RemoveAll(s.dir)
	})
	require.NoError(t, Migrate(t.Context(), s.url("postgres")))
	return s
}

// asUser runs a program as somebody who is not root, which the server refuses to be.
func (s *server) asUser(cmd *exec.Cmd) {
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return
	}
	who, err := user.Lookup("nobody")
	require.NoError(s.t, err)
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	require.NoError(s.t, os.Chown(s.dir, uid, gid))
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// start returns once the server answers.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command(program(s.t, "postgres"), "-D", filepath.Join(s.dir, "data"), "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+s.dir, "-c", "max_connections=50", "-c", "shared_buffers=16MB")
	s.asUser(s.cmd)
	require.NoError(s.t, s.cmd.Start())
	require.Eventually(s.t, func() bool {
		conn, err := connect(context.Background(), s.url("postgres"))
		if err == nil {
			conn.close()
		}
		return err == nil
	}, 20*time.Second, 20*time.Millisecond)
}

// signal sends one to the server and its processes: each backend is a group of its own.
func (s *server) signal(sig syscall.Signal) {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", s.cmd.Process.Pid, s.cmd.Process.Pid))
	_ = s.cmd.Process.Signal(sig)
	var pid int
	for text := string(children); ; {
		if n, _ := fmt.Sscan(text, &pid); n == 0 {
			return
		}
		_ = syscall.Kill(pid, sig)
		text = text[len(strconv.Itoa(pid)):]
		for len(text) > 0 && text[0] == ' ' {
			text = text[1:]
		}
	}
}

// kill ends it as a power cut does, but for the disk.
func (s *server) kill() {
	if s.cmd != nil {
		s.signal(syscall.SIGKILL)
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *server) url(role string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", role, s.port)
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
