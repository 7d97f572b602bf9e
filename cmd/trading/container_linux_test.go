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
)

// The container file makes an image, which serves the simulator and its control. CI does
// not install buildah for it: not every machine lets it build.
func TestContainer(t *testing.T) {
	const needs = "NOT TESTED: the container file: it needs "
	buildah, err := exec.LookPath("buildah")
	switch {
	case testing.Short():
		t.Skip("it builds everything anew")
	case os.Getuid() != 0:
		t.Skip(needs + "root")
	case err != nil:
		t.Skip(needs + "buildah")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	files, stored := t.TempDir(), t.TempDir()
	build := func(args ...string) string {
		all := append([]string{"--root", filepath.Join(stored, "root"), "--runroot", filepath.Join(stored, "run"), "--storage-driver", "vfs"}, args...)
		return run(t, files, os.Environ(), buildah, all...)
	}
	run(t, root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux"),
		"go", "-C", "cmd/trading", "build", "-trimpath", "-ldflags=-s", "-o", filepath.Join(files, "build", "trading"), ".")
	for _, name := range []string{
		"LICENSE", "README.md", "tradingsim/control/page/NOTICE", "tradingsim/Containerfile", "tradingsim/Containerfile.dockerignore",
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(files, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(files, name), text, 0o600))
	}
	build("build", "--isolation", "chroot", "--ignorefile", "tradingsim/Containerfile.dockerignore", "-f", "tradingsim/Containerfile", "-t", "tradingsim", ".")
	container := build("from", "--pull-never", "tradingsim")

	var image struct {
		OCIv1 struct {
			Config struct {
				User       string
				Entrypoint []string
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(build("inspect", container)), &image))
	assert.Equal(t, "65534:65534", image.OCIv1.Config.User)

	mounted := build("mount", container)
	var held []string
	for _, name := range []string{"trading", "LICENSE", "NOTICE", "README.md", "build", "tradingsim"} {
		if _, err := os.Stat(filepath.Join(mounted, name)); err == nil {
			held = append(held, name)
		}
	}
	assert.Equal(t, []string{"trading", "LICENSE", "NOTICE"}, held)
	serveContainer(t, mounted, append(image.OCIv1.Config.Entrypoint, "--addr", "127.0.0.1:0", "--control", "127.0.0.1:0"))
	build("umount", container)
}

// serveContainer runs an entry point with nothing but the files of the image.
func serveContainer(t *testing.T, root string, entry []string) {
	t.Helper()
	require.NoError(t, os.Chmod(root, 0o755))
	cmd := exec.CommandContext(t.Context(), entry[0], entry[1:]...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	said := map[string]string{}
	for lines := bufio.NewScanner(out); len(said) < 6 && lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "=")
		said[name] = value
	}
	for url, header := range map[string]string{
		said["TRADING_BASE_URL"] + "/health":                "",
		said["TRADING_SIM_CONTROL"] + "/state":              "Bearer " + said["TRADING_SIM_TOKEN"],
		strings.SplitN(said["TRADING_SIM_PAGE"], "#", 2)[0]: "",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err, "%q", said)
		request.Header.Set("Authorization", header)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, http.StatusOK, response.StatusCode, url)
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	assert.NoError(t, cmd.Wait())
}
