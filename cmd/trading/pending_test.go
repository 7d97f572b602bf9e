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

// An entry that an earlier write keeps out names the command that finds out about it: waiting
// helps nobody once the command has ended.
func TestAnEntryBehindAPendingWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		args := []string{"place", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--side", "long", "--size", "0.01", "--leverage", "2", "--yes"}
		r.sim.Fault("POST /orders", tradingsim.FailAfter(500, "internal_error"))
		r.ends(cli.Unknown, "", args...)
		code, out, errs := r.run(args...)
		assert.Equal(t, cli.Refused, code)
		assert.Contains(t, out, "find out, decide anew")
		assert.Regexp(t, "first find out about the earlier write: trading pending resolve [0-9a-f-]+ --journal /", errs)
	})
}

// A list without writes names the journals that were read: a bot's is not among them unless it
// is named.
func TestNoPendingWritesOfWhichJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		const hint = "--journal FILE shows those of a bot too\n"
		assert.Equal(t, "no pending writes; this command has no journal here\n"+hint, r.done("pending", "ls"))
		r.done("place", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--side", "long", "--size", "0.01", "--leverage", "2", "--yes")
		assert.Regexp(t, `^no pending writes; read: /\S+\.journal\n`+hint+"$", r.done("pending", "ls"))
	})
}
