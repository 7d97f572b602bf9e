package tradingsim_test

import (
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/leak"
)

// TestMain looks for goroutines that the tests have left behind, and tells which
// codes of the contract none has produced, after a run of all tests.
func TestMain(m *testing.M) {
	status := leak.Main(m)
	if status == 0 && wholeRun() {
		status = missingCodes()
	}
	os.Exit(status)
}
