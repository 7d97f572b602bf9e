package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// bot opens a journal, recovers and places an order.
	bot = "./house/testdata/bot"
	// mostLinked is how many modules of others it links.
	mostLinked = 6
	// mostBytes bounds it, stripped: 8,609,954 and a margin; some 12,000 listen to writes; 155,648 are the replays of the accounting, some
	// 40,000 the lease of a journal and the requests of others, 24,576 whose a file is and
	// whether it is at its path. A program that sends one request by net/http is 5,841,058.
	mostBytes = 8_640_000
)

// What the client links, every bot links.
func TestFewModulesAreLinked(t *testing.T) {
	out := runGo(t, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{if not .Replace}}{{.Path}}{{end}}{{end}}{{end}}", bot)
	modules := strings.Fields(out)
	slices.Sort(modules)
	modules = slices.Compact(modules)
	require.NotEmpty(t, modules)
	assert.LessOrEqual(t, len(modules), mostLinked, "%s", modules)
	assert.NotContains(t, modules, "github.com/stretchr/testify", "only tests need it")
}

// The bound is a ratchet: who makes a bot smaller lowers it.
func TestBotIsSmall(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" || !strings.HasPrefix(runtime.Version(), "go1.26") {
		t.Skip("the bound is of Go 1.26 for linux/amd64")
	}
	program := filepath.Join(t.TempDir(), "bot")
	runGo(t, "build", "-trimpath", "-ldflags=-s -w", "-o", program, bot)
	info, err := os.Stat(program)
	require.NoError(t, err)
	assert.LessOrEqual(t, info.Size(), int64(mostBytes))
}

// runGo runs the go command on this module alone, as a user's build has it.
func runGo(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	command := exec.CommandContext(t.Context(), "go", args...)
	command.Dir = ".."
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	command.Stderr = t.Output()
	out, err := command.Output()
	require.NoError(t, err)
	return string(out)
}
