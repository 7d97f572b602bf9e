package trading

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// However a missing mark comes, and however a number that is no price comes, it is
// an unpriced mark.
func TestTrap_T49_T50_WhatIsNoPriceIsUnpriced(t *testing.T) {
	for name, answer := range map[string]step{
		"404 no_price": answered(404, refusalBody(CodeNoPrice)),
		"503 no_price": answered(503, refusalBody(CodeNoPrice)),
		"null":         answered(200, `{"symbol":"BTC","price":null}`),
		"zero":         answered(200, `{"symbol":"BTC","price":0}`),
		"negative":     answered(200, `{"symbol":"BTC","price":-64000}`),
	} {
		t.Run(name, func(t *testing.T) {
			script := newScript(t, answer)
			mark, err := newTestClient(t, script).Sandbox.Price(context.Background(), "BTC")
			require.NoError(t, err)
			_, ok := mark.Price()
			assert.False(t, ok)
			script.done()
		})
	}
}
