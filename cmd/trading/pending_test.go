package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Who finds out nothing about a write reads whether entries go on in its market.
func TestFound24_AMarketThatIsOpenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
		r.ends(cli.Unknown, "", place()...)
		var pending []struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(r.done("pending", "ls", "-o", "json")), &pending))
		require.Len(t, pending, 1)
		r.ends(cli.Unknown, "still not known; entries in its market refused", "pending", "resolve", pending[0].ID)
	})
	for _, open := range []bool{false, true} {
		var out bytes.Buffer
		app := &cli.App{Out: &out}
		o := &sidecarOperator{out: app.Output(&cobra.Command{})}
		require.NoError(t, o.printPending([]sidecar.Pending{{MarketOpen: open}}, time.Now()))
		assert.Equal(t, open, strings.Contains(out.String(), "go on"))
		assert.Equal(t, !open, strings.Contains(out.String(), "refused"))
	}
}
