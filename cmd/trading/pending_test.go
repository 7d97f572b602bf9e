package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/sidecar"
)

// Who finds out nothing about a write reads whether entries go on in its market. (The transcript of this name
// has the command without a sidecar.)
func TestFound24_AMarketThatIsOpenAgain(t *testing.T) {
	for _, open := range []bool{false, true} {
		var out bytes.Buffer
		app := &cli.App{Out: &out}
		o := &sidecarOperator{out: app.Output(&cobra.Command{})}
		require.NoError(t, o.printPending([]sidecar.Pending{{MarketOpen: open}}, time.Now()))
		assert.Equal(t, open, strings.Contains(out.String(), "go on"))
		assert.Equal(t, !open, strings.Contains(out.String(), "refused"))
	}
}
