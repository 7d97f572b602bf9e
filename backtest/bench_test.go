package backtest_test

import (
	"os"
	"os/exec"
	"testing"
)

// BenchmarkThirtyDays is the example's bot, which looks every three seconds for 30 days, as a
// program on one processor: go test -run '^$' -bench ThirtyDays -benchtime 1x ./backtest
func BenchmarkThirtyDays(b *testing.B) {
	program := b.TempDir() + "/backtest"
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", program, "../examples/backtest").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), program, "-days", "30", "-report", b.TempDir()+"/report.html")
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		b.ReportMetric(cmd.ProcessState.UserTime().Seconds()+cmd.ProcessState.SystemTime().Seconds(), "cpu-s/run")
	}
}
