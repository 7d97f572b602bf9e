// Package postgrestest starts a real PostgreSQL server, the distribution's, for tests. Where there is
// none the test is skipped, and fails where CI is set.
package postgrestest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/loopback"
)

// Server starts a server that lasts as long as the test, and returns its address for a role: such as
// "postgres", who may do everything.
func Server(t testing.TB) (address func(role string) string) {
	t.Helper()
	initdb := Program(t, "initdb")
	dir, err := os.MkdirTemp("", "postgres")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	Run(t, dir, exec.CommandContext(t.Context(), initdb, "-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C"))
	port := FreePort(t)
	server := Start(t, dir, port)
	t.Cleanup(func() {
		Signal(server, syscall.SIGKILL)
		_ = server.Wait()
	})
	return func(role string) string { return Address(port, role, "postgres") }
}

// Address is where a server on a port is.
func Address(port int, role, database string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", role, port, database)
}

// Program finds one of the server's programs, which distributions keep out of the way.
func Program(t testing.TB, name string) string {
	t.Helper()
	for _, place := range []string{"/usr/lib/postgresql/*/bin/", "/usr/sbin/"} {
		if found, _ := filepath.Glob(place + name); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	missing := "NOT TESTED AGAINST A REAL POSTGRESQL: there is no " + name + " on this machine; install the distribution's postgresql, pgbouncer and faketime"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// Start starts a server on the cluster in a folder, and returns once it answers.
func Start(t testing.TB, dir string, port int) *exec.Cmd {
	t.Helper()
	cmd := Launch(t, dir, port)
	require.Eventually(t, func() bool {
		conn, err := pgx.Connect(context.Background(), Address(port, "postgres", "postgres"))
		if err == nil {
			_ = conn.Close(context.Background())
		}
		return err == nil
	}, 20*time.Second, 20*time.Millisecond)
	return cmd
}

// Launch is Start, but does not wait; with variables of the environment beside this process's.
func Launch(t testing.TB, dir string, port int, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), Program(t, "postgres"), "-D", filepath.Join(dir, "data"), "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+dir, "-c", "max_connections=50", "-c", "shared_buffers=16MB")
	AsUser(t, dir, cmd)
	cmd.Env = append(os.Environ(), env...)
	assert.NoError(t, cmd.Start())
	return cmd
}

// AsUser has a program run as somebody who is not root, which the server refuses to be, in a folder
// that is theirs.
func AsUser(t testing.TB, dir string, cmd *exec.Cmd) {
	t.Helper()
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return
	}
	who, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	require.NoError(t, os.Chown(dir, uid, gid))
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// Run runs one of the server's programs to its end.
func Run(t testing.TB, dir string, cmd *exec.Cmd) {
	t.Helper()
	AsUser(t, dir, cmd)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// Signal sends a signal to a server and its processes: each backend is a group of its own.
func Signal(server *exec.Cmd, sig syscall.Signal) {
	pid := server.Process.Pid
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	_ = server.Process.Signal(sig)
	var child int
	for text := string(children); ; {
		if n, _ := fmt.Sscan(text, &child); n == 0 {
			return
		}
		_ = syscall.Kill(child, sig)
		text = text[len(strconv.Itoa(child)):]
		for len(text) > 0 && text[0] == ' ' {
			text = text[1:]
		}
	}
}

// FreePort is one that nobody listens on.
func FreePort(t testing.TB) int {
	t.Helper()
	port, err := loopback.Port()
	require.NoError(t, err)
	return port
}
