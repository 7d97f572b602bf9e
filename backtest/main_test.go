package backtest

import (
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/internal/testing/leak"
)

// asProgram makes the test binary one of the programs below, and its workers too.
const asProgram = "BACKTEST_AS_PROGRAM"

// TestMain looks for goroutines that the tests have left behind.
func TestMain(m *testing.M) {
	if name := os.Getenv(asProgram); name != "" {
		Main(programs[name])
	}
	os.Exit(leak.Main(m))
}

// skipUnderRace skips what takes minutes under the race detector, on one goroutine: CI runs
// it without.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if depth.Race {
		t.Skip("takes minutes under the race detector")
	}
}
