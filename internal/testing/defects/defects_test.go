package defects

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/broken"
)

var leaveOut = flag.Bool("defects.break", false, "leave out what mends one defect after another: minutes")

// TestEachIsShown leaves out what mends a defect: its seed shows it then.
func TestEachIsShown(t *testing.T) {
	const root = "../../.."
	for _, d := range table {
		t.Run(d.String(), func(t *testing.T) {
			file := filepath.Join(root, d.File)
			code, err := os.ReadFile(file)
			require.NoError(t, err)
			if !assert.Equal(t, 1, bytes.Count(code, []byte(d.Rule)), "%s: %s", d.File, d.Rule) || !*leaveOut {
				return
			}
			printed, err := broken.Without(t, file, d.Rule, d.Without, "-run", "^TestDefects$", filepath.Join(root, d.Suite))
			require.Error(t, err, "it is not shown")
			assert.Contains(t, printed, "    --- FAIL: TestDefects/"+strings.ReplaceAll(d.String(), " ", "_"))
		})
	}
}
