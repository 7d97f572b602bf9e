package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A release of a copy of the repository: each module is tagged, and what is published has
// no replace line and requires the version.
func TestRelease(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	for _, needed := range []string{"git", "bash", "go"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skip("needs " + needed)
		}
	}
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("needs the repository, and not the module alone")
	}
	repo := filepath.Join(t.TempDir(), "copy")
	run := func(dir, name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "RELEASE_OFFLINE=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.test",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.test")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	must := func(dir, name string, args ...string) string {
		out, err := run(dir, name, args...)
		require.NoError(t, err, "%s %s: %s", name, args, out)
		return out
	}
	must(root, "git", "clone", "-q", "--no-hardlinks", "--depth", "1", "file://"+root, repo)
	for _, file := range []string{".ci/release", "CHANGELOG.md", "doc.go"} { // as they are in the work tree
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(repo, file), text, 0o755))
	}
	must(repo, "git", "add", "-A")
	must(repo, "git", "commit", "-q", "--allow-empty", "-m", "as it is")
	version := "v" + strings.Split(strings.SplitAfter(readFile(t, filepath.Join(repo, "doc.go")), "const Version = \"")[1], "\"")[0]

	assert.NotEmpty(t, must(repo, ".ci/release", "notes", version))
	for _, wrong := range [][]string{{"notes", "v9.9.9"}, {"check", "v9.9.9"}, {"check", "0.2.0"}, {"nested", version}, {"publish", version}} {
		out, err := run(repo, ".ci/release", wrong...)
		assert.Error(t, err, "%s: %s", wrong, out)
	}
	before := must(repo, "git", "rev-parse", "HEAD")
	assert.Contains(t, must(repo, ".ci/release", "root", version), "git push origin "+version)
	assert.Contains(t, must(repo, ".ci/release", "nested", version), "git push origin contrib/redis/"+version)
	assert.Equal(t, before, must(repo, "git", "rev-parse", "HEAD"), "main keeps its replace lines")

	tags := strings.Fields(must(repo, "git", "tag"))
	assert.Contains(t, tags, "contrib/otel/"+version)
	assert.NotContains(t, tags, "bench/"+version)
	for _, tag := range tags {
		folder := strings.TrimSuffix(strings.TrimSuffix(tag, version), "/")
		if folder == "" {
			continue
		}
		published := must(repo, "git", "show", tag+":"+folder+"/go.mod")
		assert.NotContains(t, published, "replace", tag)
		assert.Contains(t, published, "github.com/tradingapi/trading-go "+version, tag)
	}
	_, err = run(repo, ".ci/release", "root", version)
	assert.Error(t, err, "the tag exists")
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}
