package resolve

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// A write that ends twice, by a person and by the service at once, takes the room of one
// among the resolutions that are kept.
func TestAResolutionIsKeptOnce(t *testing.T) {
	var kept resolutions
	id := func(n int) pending.IntentID { return pending.IntentID(fmt.Sprint("write ", n)) }
	looks := []*AccountLook{{}}
	for n := range maxResolved {
		for _, found := range []ledger.Outcome{ledger.NotApplied, ledger.Applied} {
			kept.keep(id(n), Found{Intent: pending.Intent{ID: id(n)}, Outcome: found, Looks: looks})
		}
	}
	for n := range maxResolved {
		r, ok := kept.find(id(n))
		require.True(t, ok, "%s", id(n))
		assert.Equal(t, ledger.Applied, r.Outcome, "the last word")
		assert.Equal(t, id(n), r.Intent.ID)
		assert.Equal(t, n >= maxResolved-resolvedWithLooks, len(r.Looks) > 0, "%s: the newest keep their looks", id(n))
	}
	kept.keep("one more", Found{})
	_, ok := kept.find(id(0))
	assert.False(t, ok, "the oldest goes")
	_, ok = kept.find(id(1))
	assert.True(t, ok)
}
