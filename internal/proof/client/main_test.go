package client

import (
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/leak"
)

// TestMain runs in the root of the repository, whose pages and sources some tests read,
// and looks for goroutines that a client, or a test, has left behind.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(leak.Main(m))
}
