package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOperations(t *testing.T) {
	c := readContract(t)
	seen := map[string]bool{}
	for _, op := range Operations() {
		assert.False(t, seen[op.ID], "%s is there twice", op.ID)
		seen[op.ID] = true
		want, ok := c.Paths[op.Path][strings.ToLower(op.Method)]
		require.True(t, ok, "%s %s is not in the contract", op.Method, op.Path)
		assert.Equal(t, want.OperationID, op.ID)
		assert.Equal(t, KeyKind(want.Key), op.Key, op.ID)
		assert.Equal(t, want.Write, op.Write, op.ID)
		assert.Equal(t, want.Class, op.LimitClass, op.ID)
		assert.Equal(t, want.PerMinute, op.LimitPerMinute, op.ID)
		assert.Equal(t, want.Refusals, op.Refusals, op.ID)
	}
	for path, methods := range c.Paths {
		for method, op := range methods {
			assert.True(t, seen[op.OperationID], "%s %s is not in the table", method, path)
		}
	}
}

// T48: no key goes to the keyless routes. T92: a live write has a rate limit.
func TestOperations_KeysAndRateLimits(t *testing.T) {
	for _, op := range Operations() {
		sandbox := strings.HasPrefix(op.Path, "/sandbox/")
		assert.Equal(t, sandbox, op.Key == KeyTest, op.ID)
		assert.Equal(t, op.Method == "POST", op.Write, op.ID)
		assert.Equal(t, op.Write && !sandbox, op.LimitPerMinute > 0, op.ID)
		assert.NotEmpty(t, op.Refusals, op.ID)
	}
}
