package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A flattening that was interrupted leaves a close whose outcome is not known. It, and the
// next one, say how to find out, and nothing twice.
func TestFlattenNamesWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.sim.Trade("acc_1", "long", "1", "BTC")
		args := []string{"flatten", "--env", "live", "--account", "acc_1", "--all-symbols", "--yes"}
		code, _, errs := r.cut("POST /positions/close", tradingsim.DropResponse(), args...)
		assert.Equal(t, cli.NotFlat, code)
		assert.Contains(t, errs, "POST /positions/close BTC: its outcome is not known; find out: trading pending resolve ")
		assert.Equal(t, 1, strings.Count(errs, "the connection was cut"), errs)

		code, _, errs = r.run(append(args, "--proof-interval", "4s")...) // before the reads show what became of the close
		assert.Equal(t, cli.Done, code)
		_, rest, named := strings.Cut(errs, "trading pending resolve ")
		assert.True(t, named, errs)
		id, rest, _ := strings.Cut(rest, " --journal ")
		journal, _, _ := strings.Cut(rest, "\n")
		assert.Contains(t, r.done("pending", "resolve", id, "--journal", journal), "applied")
		_, _, errs = r.run(args...)
		assert.NotContains(t, errs, "pending")
	})
}
