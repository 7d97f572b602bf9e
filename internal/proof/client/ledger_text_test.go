package client

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// A failing test prints the ledger: an execution reads as a line, and its body as text.
func TestFound30_AnExecutionIsALine(t *testing.T) {
	r := rig.New(t, nil)
	r.Open(rig.Buy("0.05"))
	text := fmt.Sprintf("%v", r.Sim.Ledger())
	assert.Contains(t, text, `acc_1 POST /orders: long 0.05 BTC at 64000 {"accountId":"acc_1"`)
}
