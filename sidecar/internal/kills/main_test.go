package kills

import (
	"fmt"
	"os"
	"testing"

	"github.com/tradingapi/trading-go/internal/testing/leak"
)

func TestMain(m *testing.M) {
	switch os.Getenv("KILLS") {
	case "sidecar":
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "bot":
		runBot()
	case "leaver":
		runLeaver()
	default:
		os.Exit(leak.Main(m))
	}
}
