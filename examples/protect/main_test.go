package main

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestRun: the careless bot's account is flattened, and is not lost.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), &out))
		require.Contains(t, out.String(), "bought 1 BTC")
		require.Contains(t, out.String(), "not enough room above the loss floor")
		require.Contains(t, out.String(), "from flattening to held")
		require.Contains(t, out.String(), "the account is ACTIVE")
	})
}
