package risk_test

import (
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/leak"
)

// TestMain looks for goroutines that the tests have left behind.
func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }
