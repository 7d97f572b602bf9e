package trading

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The limit of a key is what the service told last, also where that is the
// contract's again; one that the program gave stands.
func TestBudgets_Believe(t *testing.T) {
	b := newBudgets(Budget{}, logger{})
	for _, told := range []int{keyLimit, 2 * keyLimit, keyLimit / 2, keyLimit} {
		assert.Equal(t, told, b.believe("key", told).Limit)
		assert.Equal(t, told, b.bucket("key", b.limit.key).Limit, "from then on")
		assert.Equal(t, keyLimit, b.bucket("another", b.limit.key).Limit)
	}
	b = newBudgets(Budget{PerKey: 7}, logger{})
	assert.Equal(t, 7, b.believe("key", 2*keyLimit).Limit)
}
