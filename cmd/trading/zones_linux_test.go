package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFound27_ZonesInAnEmptyImage runs the command where nothing else is, as in an image from scratch: it
// knows the zones of the world itself.
func TestFound27_ZonesInAnEmptyImage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command anew")
	}
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: zones in an empty image: it needs root")
	}
	image := t.TempDir()
	require.NoError(t, os.Chmod(image, 0o755))
	run(t, ".", append(os.Environ(), "CGO_ENABLED=0"), "go", "build", "-o", filepath.Join(image, "trading"), ".")
	says := func(zone string) string {
		cmd := exec.CommandContext(t.Context(), "/trading", "backtest", "./bot", "--prices", "btc.csv", "--zone", zone)
		cmd.Env, cmd.Dir = []string{}, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: image}
		out, err := cmd.CombinedOutput()
		require.Error(t, err) // there is no bot
		return string(out)
	}
	require.NotContains(t, says("Europe/Athens"), "--zone")
	require.Contains(t, says("Europe/Nowhere"), `--zone "Europe/Nowhere": want a zone`)
}
