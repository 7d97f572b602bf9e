package main

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestNothingConfigured(t *testing.T) {
	t.Setenv("TRADING_BASE_URL", "")
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		require.NoError(t, run(t.Context(), slog.New(slog.NewTextHandler(&log, nil))))
		require.Contains(t, log.String(), "msg=bought")
		require.Contains(t, log.String(), "msg=out\n")
	})
}
