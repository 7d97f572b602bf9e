package trading

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/journal"
)

// The tries of a client order id have keys that any run of the program finds again; those of
// any other write are new each time.
func TestKeysOfTries(t *testing.T) {
	const stale = `{"error":"STALE_PRICE","message":"no"}`
	keys := func(t *testing.T, opts ...CallOption) []string {
		t.Helper()
		var sent []string
		synctest.Test(t, func(t *testing.T) {
			script := newScript(t, answered(404, `{"error":"account_not_found","message":"no"}`), answered(409, stale), answered(409, stale), answered(409, stale))
			// A journal that outlives the program, or the first try would be in doubt. The first
			// entry reads the account, by which the service's time is known.
			_, err := newTestClient(t, script, WithJournal(journal.NewMemory())).Live.Account("acc_1").PlaceOrder(context.Background(), testOrder(), opts...)
			require.ErrorIs(t, err, CodeStalePrice)
			script.done()
			for _, request := range script.received() {
				for name, values := range request.header {
					if strings.EqualFold(name, "Idempotency-Key") {
						sent = append(sent, values...)
					}
				}
			}
		})
		require.Len(t, sent, 3)
		return sent
	}
	named := WithClientOrderID("breakout 2026-11-20T10:15")
	first := keys(t, named)
	assert.Equal(t, first, keys(t, named), "by another client")
	name := (&keySource{id: "breakout 2026-11-20T10:15"}).name("acc_1", OpOrder)
	for i, key := range first {
		assert.Equal(t, string(derived(name, i+1)), key)
	}
	own, others := keys(t), keys(t)
	for i := range own {
		assert.NotEqual(t, own[i], others[i])
		assert.NoError(t, uuid.Validate(own[i]))
	}
}
