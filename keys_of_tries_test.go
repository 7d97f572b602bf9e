package trading

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tries of a decision have keys that any run of the program finds again; those of
// any other write are new each time.
func TestKeysOfTries(t *testing.T) {
	const stale = `{"error":"STALE_PRICE","message":"no"}`
	keys := func(t *testing.T, opts ...CallOption) []string {
		t.Helper()
		var sent []string
		synctest.Test(t, func(t *testing.T) {
			script := newScript(t, answered(409, stale), answered(409, stale), answered(409, stale))
			// A journal that outlives the program, or the first try would be in doubt.
			_, err := newTestClient(t, script, WithJournal(NewMemoryJournal())).Live.Account("acc_1").PlaceOrder(context.Background(), testOrder(), opts...)
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
	decision := WithDecision("breakout", "2026-11-20T10:15")
	first := keys(t, decision)
	assert.Equal(t, first, keys(t, decision), "by another client")
	name := decisionName("acc_1", OpOrder, []string{"breakout", "2026-11-20T10:15"})
	for i, key := range first {
		assert.Equal(t, string(keyOfTry(name, i+1)), key)
	}
	own, others := keys(t), keys(t)
	for i := range own {
		assert.NotEqual(t, own[i], others[i])
		assert.NoError(t, uuid.Validate(own[i]))
	}
}
