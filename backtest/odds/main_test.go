package odds

import (
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/internal/testing/leak"
)

// TestMain looks for goroutines that the tests have left behind.
func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// skipUnderRace skips statistics, which start no goroutine.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if depth.Race {
		t.Skip("takes minutes under the race detector")
	}
}
