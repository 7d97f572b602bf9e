package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/program"
)

func TestMain(m *testing.M) { program.Main(m, main) }

// From a bot to its chances, or to why there are none.
func TestProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.html")
	out, errs, status := program.Start(t, "-report", file)
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, "chances       Of 100 such accounts between ")
	require.Contains(t, out, " are lost within 30 days; 90 days cannot say it closer, and a more restless market would lose more.")
	require.Contains(t, out, "seen          90 days, 90 with trades")
	require.Contains(t, out, "the prices are synthetic: the forecast says nothing of a market")
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.Contains(page, []byte("What are the")))

	out, errs, status = program.Start(t, "-days", "3")
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, "chances       No chance can be given: 3 days are too few days for an interval.")
}

func TestProgramSaysWhatIsWrong(t *testing.T) {
	for want, args := range map[string][]string{
		"flag provided but not defined":                           {"-weeks", "3"},
		`unexpected argument "30"`:                                {"30"},
		"WalkOptions.Length is -24h0m0s; it must be greater than": {"-days", "-1"},
		"Options.Horizon is -1":                                   {"-horizon", "-1"},
	} {
		_, errs, status := program.Start(t, args...)
		require.NotEqual(t, 0, status, "%v", args)
		require.Contains(t, errs, want, "%v", args)
	}
}
