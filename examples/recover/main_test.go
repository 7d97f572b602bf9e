package main

import (
	"bytes"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

func TestRun(t *testing.T) {
	for name, row := range map[string]struct {
		fault tradingsim.Fault
		want  string
	}{
		"executed": {tradingsim.DropResponse(), "  after the restart: applied, found out in 5s (evidence: its stored answer)\n  the service holds 0.01 BTC\n"},
		"lost":     {tradingsim.DropRequest(), "  after the restart: not applied, found out in 10s (evidence: accounting)\n  the service holds 0 BTC\n"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "test.journal")
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				require.NoError(t, run(t.Context(), &out, file, row.fault))
				require.Equal(t, row.want, out.String())
			})
		})
	}
}
