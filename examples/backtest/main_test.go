package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/internal/testing/program"
)

func TestMain(m *testing.M) { program.Main(m, main) }

const oneDay = `prices        random walk of BTC, seed 1 (SYNTHETIC), 2000-01-01 to 2000-01-02
service       by the document alone
floors        daily $95000.00 (fixed and moving, the worse), global $90000.00, target $110000.00
verdict       open; by the service open; lowest room $4706.25
finding       It cannot be said whether this bot has an edge: luck explains what it earned. (before costs -1.81 bp a round trip (-114.00 to 110.38), after them -10.81 (-123.00 to 101.38))
              ` + backtest.FindingLimits + `
equity        $100000.00 to $99961.39
return        -0.04%
drawdown      0.29%, $293.75
round trips   3, won 66.67% (20.77% to 93.85%), profit factor 0.85
fees          $32.15, funding $0.00
assumed       no spread, no slippage, no funding, no latency, no lag; equity at further costs a side: +1 bp $99954.25, +2 bp $99947.10, +5 bp $99925.67
sharpe        too short to quote: 1 complete day of 30
requests      28818, refused 0
`

func TestProgram(t *testing.T) {
	for _, account := range []string{"", "acc_1"} {
		file := filepath.Join(t.TempDir(), "report.html")
		out, errs, status := program.Start(t, "-days", "1", "-report", file, "-account", account)
		require.Equal(t, 0, status, errs)
		if account == "" {
			require.Contains(t, out, oneDay)
		}
		page, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, bytes.Contains(page, []byte("synthetic prices")))
	}
}

func TestProgramReadsAFile(t *testing.T) {
	out, errs, status := program.Start(t, "-prices", "../../backtest/testdata/synthetic.csv", "-candles", "open", "-report", filepath.Join(t.TempDir(), "r.html"))
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, "prices        synthetic.csv, 2026-01-01 to 2026-01-04")
	require.Contains(t, out, "the worse of two")
}

func TestProgramSweeps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.html")
	out, errs, status := program.Start(t, "-days", "1", "-sweep", "-report", file)
	require.Equal(t, 0, status, errs)
	require.Contains(t, out, "9 variants tried, 0 broken")
	require.Contains(t, errs, "train: 9 of 9 runs")
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.Contains(page, []byte("the best of 9 variants")))
}

func TestProgramSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, "flag provided but not defined", []string{"-weeks", "3"}},
		{2, `unexpected argument "30"`, []string{"30"}},
		{1, "WalkOptions.Length is -24h0m0s; it must be greater than 0", []string{"-days", "-1"}},
		{1, "no such file", []string{"-prices", "nowhere.csv"}},
		{1, "it must be open or close", []string{"-prices", "main.go", "-candles", "mid"}},
		{1, "report: open", []string{"-days", "1", "-report", "nowhere/report.html"}},
		{0, "how many days", []string{"-h"}},
	} {
		_, errs, status := program.Start(t, c.args...)
		require.Equal(t, c.status, status, "%v: %s", c.args, errs)
		require.Contains(t, errs, c.want, "%v", c.args)
	}
}
