package client

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/journal"
)

// The tries of a client order id have keys that any run of the program finds again; those of
// any other write are new each time.
func TestKeysOfTries(t *testing.T) {
	const stale = `{"error":"STALE_PRICE","message":"no"}`
	keys := func(t *testing.T, opts ...trading.CallOption) []string {
		t.Helper()
		var sent []string
		synctest.Test(t, func(t *testing.T) {
			script := rig.NewScript(t, rig.Answered(404, `{"error":"account_not_found","message":"no"}`), rig.Answered(409, stale), rig.Answered(409, stale), rig.Answered(409, stale))
			// A journal that outlives the program, or the first try would be in doubt. The first
			// entry reads the account, by which the service's time is known.
			_, err := rig.ScriptedClient(t, script, trading.WithJournal(journal.NewMemory())).Live.Account("acc_1").PlaceOrder(context.Background(), rig.Buy("0.01"), opts...)
			require.ErrorIs(t, err, trading.CodeStalePrice)
			script.Done()
			for _, request := range script.Received() {
				for name, values := range request.Header {
					if strings.EqualFold(name, "Idempotency-Key") {
						sent = append(sent, values...)
					}
				}
			}
		})
		require.Len(t, sent, 3)
		return sent
	}
	named := trading.WithClientOrderID("breakout 2026-11-20T10:15")
	first := keys(t, named)
	assert.Equal(t, first, keys(t, named), "by another client")
	const want = "d-bEYKCCWzBn8VtVykqxT67a4i7M3IXwjzvgmPQ9blK-M-"
	assert.Equal(t, []string{want + "1", want + "2", want + "3"}, first, "in every version of the client")
	own, others := keys(t), keys(t)
	for i := range own {
		assert.NotEqual(t, own[i], others[i])
		assert.NoError(t, uuid.Validate(own[i]))
	}
}
