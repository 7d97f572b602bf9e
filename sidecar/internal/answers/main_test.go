package answers

import (
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }
