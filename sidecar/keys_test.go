package sidecar

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A key that is made or taken back while the sidecar runs counts from the next request on.
func TestKeysWhileItRuns(t *testing.T) {
	r := newRig(t, nil)
	secret, err := AddKey(r.config.Dir, Key{Name: "late", Live: true, Accounts: []string{EveryAccount}, May: Trade})
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, r.do(secret, "POST /orders", buy).status)
	require.NoError(t, RemoveKey(r.config.Dir, "late"))
	assert.Equal(t, http.StatusUnauthorized, r.do(secret, "POST /orders", buy).status)
	assert.Len(t, r.sim.Ledger(), 1)
	keys, err := Keys(r.config.Dir)
	require.NoError(t, err)
	require.Len(t, keys, 3)
	assert.Equal(t, "late", keys[2].Name)
	assert.False(t, keys[2].TakenBack.IsZero())
}
