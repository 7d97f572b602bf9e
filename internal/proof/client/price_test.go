package client

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// However a missing mark comes, and however a number that is no price comes, it is
// an unpriced mark.
func TestTrap_T49_T50_WhatIsNoPriceIsUnpriced(t *testing.T) {
	for name, answer := range map[string]rig.Step{
		"404 no_price": rig.Answered(404, rig.RefusalBody(trading.CodeNoPrice)),
		"503 no_price": rig.Answered(503, rig.RefusalBody(trading.CodeNoPrice)),
		"null":         rig.Answered(200, `{"symbol":"BTC","price":null}`),
		"zero":         rig.Answered(200, `{"symbol":"BTC","price":0}`),
		"negative":     rig.Answered(200, `{"symbol":"BTC","price":-64000}`),
	} {
		t.Run(name, func(t *testing.T) {
			script := rig.NewScript(t, answer) // a second request fails the test
			var meta trading.Meta
			mark, err := rig.ScriptedClient(t, script).Sandbox.Price(context.Background(), "BTC", trading.ResponseInto(&meta))
			require.NoError(t, err)
			assert.Contains(t, string(meta.Body), "price")
			_, ok := mark.Price()
			assert.False(t, ok)
			script.Done()
		})
	}
}
