package house

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostLinked is how many modules of others a bot links with the client and its journal.
const mostLinked = 6

// What the client links, every bot links.
func TestFewModulesAreLinked(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".", "./journal")
	list.Dir = "../.."
	list.Env = append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	require.NoError(t, err)
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	modules = slices.Compact(modules)
	require.NotEmpty(t, modules)
	assert.LessOrEqual(t, len(modules), mostLinked, "%s", modules)
	assert.NotContains(t, modules, "github.com/stretchr/testify", "only tests need it")
}
