package mcp

import (
	"testing"

	"github.com/tradingapi/trading-go/internal/proof/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
