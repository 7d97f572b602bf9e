package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkStart is how long the program takes to start, say its version and end. It
// also reports the size of the stripped program.
func BenchmarkStart(b *testing.B) {
	program := filepath.Join(b.TempDir(), "trading")
	out, err := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".").CombinedOutput()
	require.NoError(b, err, "%s", out)
	info, err := os.Stat(program)
	require.NoError(b, err)
	for b.Loop() {
		if err := exec.CommandContext(b.Context(), program, "version").Run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/start")
}
