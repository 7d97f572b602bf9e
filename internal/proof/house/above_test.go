package house

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What stands above the client stands on its public API, so that anybody could have written
// it. The bot of the demonstration is internal for nobody's sake but its own: it is held to
// this too.
func TestNothingAboveTheClientNeedsItsInternals(t *testing.T) {
	const client, demonstration = "github.com/tradingapi/trading-go", "github.com/tradingapi/trading-go/internal/demobot"
	out := runGo(t, "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	above := 0
	for line := range strings.Lines(out) {
		names := strings.Fields(line)
		name, imports := names[0], names[1:]
		if !slices.Contains(imports, client) || strings.HasPrefix(name, client+"/internal/proof/") {
			continue
		}
		above++
		for _, imported := range imports {
			ours := strings.HasPrefix(imported, client+"/internal/") && imported != demonstration
			assert.False(t, ours, "%s imports the client and %s", name, imported)
		}
	}
	require.Greater(t, above, 10)
}
