package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// line is what stands behind a word in a file of sidecar/deploy.
func line(t *testing.T, file, word string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "sidecar", "deploy", file))
	require.NoError(t, err)
	for one := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(one, word); ok {
			return strings.TrimSpace(rest)
		}
	}
	t.Fatalf("%s has no %s", file, word)
	return ""
}

func TestSidecarUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("NOT TESTED: there is no systemd-analyze on this machine")
	}
	text, err := os.ReadFile("../../sidecar/deploy/trading-sidecar.service")
	require.NoError(t, err)
	unit := filepath.Join(t.TempDir(), "trading-sidecar.service")
	require.NoError(t, os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/trading", os.Args[0])), 0o600))
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", unit).CombinedOutput()
	assert.NoError(t, err)
	assert.Empty(t, string(out))
}

// The command of the unit serves a bot, in the folders that the unit names.
func TestSidecarUnitServes(t *testing.T) {
	r, _ := onLoopback(t)
	root := t.TempDir()
	replaced := strings.NewReplacer("/usr/local/bin/trading ", "", "/var/lib/trading-sidecar", root+"/state", "/etc/trading", root, "127.0.0.1:8700", "127.0.0.1:0")
	command := strings.Fields(replaced.Replace(line(t, "trading-sidecar.service", "ExecStart=")))
	require.NoError(t, os.Mkdir(root+"/state", 0o700))
	layOut(t, r.sim, root+"/state", root+"/sidecar.keys")
	cmd := exec.CommandContext(t.Context(), os.Args[0], append(command, "--exits", "1ms")...)
	cmd.Env = []string{childCommand + "=1", r.env[0], "HOME=" + root + "/state", "GORACE=atexit_sleep_ms=0"}
	servesBot(t, cmd, root+"/state")
}

// The command of the image serves a bot, with nothing but the files of the image, by the user of
// the image. CI does not build the image: a runtime of containers is missing on most machines.
func TestSidecarContainer(t *testing.T) {
	switch {
	case testing.Short():
		t.Skip("it builds the program anew")
	case os.Getuid() != 0:
		t.Skip("NOT TESTED: the container file: it needs root")
	}
	r, _ := onLoopback(t)
	root, err := os.MkdirTemp("/tmp", "sidecar") // whose parents the image's user can enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	require.NoError(t, os.Chmod(root, 0o755))
	files, err := filepath.Abs("../..")
	require.NoError(t, err)
	run(t, files, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux"), "go", "-C", "cmd/trading", "build", "-trimpath", "-ldflags=-s", "-o", filepath.Join(root, "trading"), ".")
	require.Equal(t, "scratch", line(t, "Containerfile", "FROM "))
	require.Equal(t, "build/trading LICENSE /", line(t, "Containerfile", "COPY "))
	const user = 65534
	require.Equal(t, "65534:65534", line(t, "Containerfile", "USER "))
	require.NoError(t, os.Mkdir(root+"/state", 0o700))
	layOut(t, r.sim, root+"/state", root+"/keys")
	for _, file := range []string{"state", "state/keys", "keys"} {
		require.NoError(t, os.Chown(filepath.Join(root, file), user, user))
	}
	var entry []string
	require.NoError(t, json.Unmarshal([]byte(strings.Replace(line(t, "Containerfile", "ENTRYPOINT "), ":8700", ":0", 1)), &entry))
	cmd := exec.CommandContext(t.Context(), entry[0], append(entry[1:], "--exits", "1ms")...)
	cmd.Env, cmd.Dir = append(r.env[:1:1], line(t, "Containerfile", "ENV ")), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
	servesBot(t, cmd, root+"/state")
}

// layOut writes what is there before a sidecar starts.
func layOut(t *testing.T, sim *tradingsim.Sim, state, keys string) {
	t.Helper()
	require.NoError(t, os.WriteFile(keys, []byte(sim.LiveKey()+"\n"+sim.SandboxKey()+"\n"), 0o600))
	secret, err := sidecar.AddKey(state, sidecar.Key{Name: "grid", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
	require.NoError(t, err)
	t.Setenv("TEST_LOCAL_KEY", secret)
}

// servesBot starts a sidecar, has it place an order, and ends it.
func servesBot(t *testing.T, cmd *exec.Cmd, state string) {
	t.Helper()
	says, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	base := ""
	lines := bufio.NewScanner(says)
	for base == "" && lines.Scan() {
		t.Log(lines.Text())
		base, _ = strings.CutPrefix(lines.Text(), "bots: ")
		if base == lines.Text() {
			base = ""
		}
	}
	require.NotEmpty(t, base, "it does not start")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/orders",
		strings.NewReader(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2}`))
	require.NoError(t, err)
	request.Header.Set("X-API-Key", os.Getenv("TEST_LOCAL_KEY"))
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "applied", response.Header.Get("Trading-Outcome"))
	assert.FileExists(t, filepath.Join(state, "journal"))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	for lines.Scan() {
		t.Log(lines.Text())
	}
	assert.NoError(t, cmd.Wait())
}
