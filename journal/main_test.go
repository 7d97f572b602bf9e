//go:build unix

package journal_test

import (
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/leak"
)

// TestMain is also the child that is killed, and looks for goroutines that the tests
// have left behind.
func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		os.Exit(child(path, os.Getenv(childRound), os.Getenv(childLimit) != ""))
	}
	os.Exit(leak.Main(m))
}
