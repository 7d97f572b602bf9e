package answers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

// On a full disk no write is begun, so no entry is sent. What was begun before is there when there
// is room again.
func TestAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=640k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: it takes root to make a small disk: %s", out)
	}
	t.Cleanup(func() { assert.NoError(t, exec.Command("umount", dir).Run()) })
	path := filepath.Join(dir, "answers")
	f := open(t, path)
	require.NoError(t, f.Begin(t.Context(), begun("1")))
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, []byte(strings.Repeat("x", 1<<20)), 0o600) // as much as there is room for
	var failed error
	ids := []string{"1"}
	for i := 0; failed == nil && i < 4000; i++ {
		b := begun(strings.Repeat("x", 1000) + string(rune('a'+i%26)) + strings.Repeat("y", i))
		if failed = f.Begin(t.Context(), b); failed == nil {
			ids = append(ids, b.ID)
		}
	}
	require.ErrorIs(t, failed, journal.ErrFailed)
	require.Error(t, f.Begin(t.Context(), begun("2")))
	assert.Len(t, f.Unheard(), len(ids))
	_ = f.Close()
	require.NoError(t, os.Remove(filler))
	f, err := Open(t.Context(), path, t0)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(f.Unheard()), len(ids))
	for _, id := range ids {
		get(t, f, id)
	}
	require.NoError(t, f.Begin(t.Context(), begun("2")))
	require.NoError(t, f.Close())
}
