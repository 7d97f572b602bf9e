package risk_test

import (
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/leak"
	proof "github.com/tradingapi/trading-go/internal/testing/rig"
)

// raceDetector tells that everything takes several times as long.
const raceDetector = proof.RaceDetector

// TestMain looks for goroutines that the tests have left behind.
func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }
