package refusals

import (
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/leak"
)

// TestMain looks for goroutines that a client, or a test, has left behind.
func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }
