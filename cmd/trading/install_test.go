package main

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

const (
	clientModule  = "github.com/tradingapi/trading-go"
	commandModule = clientModule + "/cmd/trading"
	released      = "v" + trading.Version
)

// What a user types is run as it is, against a proxy that is a folder with the
// modules as they would be released from this work tree.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds everything anew")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("not in the repository")
	}
	proxy, gobin, cache := t.TempDir(), t.TempDir(), t.TempDir()
	env := append(os.Environ(), "GOWORK=off", "GOBIN="+gobin, "GOMODCACHE="+cache, "GOFLAGS=-modcacherw -trimpath", "GOSUMDB=off", "GONOSUMDB=", "GOPRIVATE=",
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(run(t, root, os.Environ(), "go", "env", "GOMODCACHE"), "cache", "download"))

	files := workTree(t, root)
	var client, command []string
	libraries := map[string][]string{"contrib/docs": nil, "contrib/mcp": nil, "contrib/postgres": nil, "contrib/redis": nil}
	nested := nestedModules(files)
	for _, f := range files {
		switch {
		case strings.HasPrefix(f, "cmd/trading/"):
			command = append(command, strings.TrimPrefix(f, "cmd/trading/"))
		case strings.HasPrefix(f, "contrib/docs/"), strings.HasPrefix(f, "contrib/mcp/"), strings.HasPrefix(f, "contrib/postgres/"), strings.HasPrefix(f, "contrib/redis/"):
			folder := strings.Join(strings.SplitN(f, "/", 3)[:2], "/")
			libraries[folder] = append(libraries[folder], strings.TrimPrefix(f, folder+"/"))
		case !isNested(f, nested):
			client = append(client, f)
		}
	}
	publish(t, proxy, clientModule, root, client)
	for folder, files := range libraries {
		library := copyOf(t, filepath.Join(root, folder), files)
		run(t, root, append(env, "RELEASE_OFFLINE=1"), "bash", ".ci/release", "pin", released, library)
		publish(t, proxy, clientModule+"/"+folder, library, files)
	}
	release := copyOf(t, filepath.Join(root, "cmd", "trading"), command)
	run(t, root, env, "bash", ".ci/release", "pin", released, release)
	publish(t, proxy, commandModule, release, command)

	run(t, gobin, env, "go", "install", commandModule+"@latest")
	program := filepath.Join(gobin, "trading")
	assert.Equal(t, "trading "+released+", client "+trading.Version, run(t, gobin, nil, program, "version"))
	assert.Contains(t, run(t, gobin, nil, program, "--help"), "Exit codes")
}

// run runs a program that must succeed, and returns what it printed on standard output.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var errs strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, &errs
	out, err := cmd.Output()
	require.NoError(t, err, "%s %q: %s%s", name, args, out, &errs)
	return strings.TrimSpace(string(out))
}

// workTree lists the files that are in the repository, or would be with the next commit.
func workTree(t *testing.T, root string) (files []string) {
	for _, f := range strings.Split(run(t, root, os.Environ(), "git", "ls-files", "-co", "--exclude-standard"), "\n") {
		if info, err := os.Lstat(filepath.Join(root, f)); err == nil && info.Mode().IsRegular() {
			files = append(files, f)
		}
	}
	require.NotEmpty(t, files)
	return files
}

// nestedModules are the folders of other modules: a module does not have them.
func nestedModules(files []string) (folders []string) {
	for _, f := range files {
		if folder, ok := strings.CutSuffix(f, "/go.mod"); ok {
			folders = append(folders, folder+"/")
		}
	}
	return folders
}

func isNested(file string, folders []string) bool {
	for _, folder := range folders {
		if strings.HasPrefix(file, folder) {
			return true
		}
	}
	return false
}

func copyOf(t *testing.T, from string, files []string) (to string) {
	to = t.TempDir()
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(from, f))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, f)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(to, f), text, 0o600))
	}
	return to
}

// publish puts a module on a proxy of files.
func publish(t *testing.T, proxy, module, from string, files []string) {
	t.Helper()
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"list": released + "\n", released + ".mod": string(mod), released + ".info": `{"Version":"` + released + `","Time":"2026-11-20T00:00:00Z"}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	archive, err := os.Create(filepath.Join(dir, released+".zip"))
	require.NoError(t, err)
	w := zip.NewWriter(archive)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(from, f))
		require.NoError(t, err)
		entry, err := w.Create(module + "@" + released + "/" + f)
		require.NoError(t, err)
		_, err = entry.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, archive.Close())
}
