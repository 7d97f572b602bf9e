package mcp

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// both runs a test on the paper account and on a live one.
func both(t *testing.T, run func(t *testing.T, r *rig)) {
	for _, mode := range []Mode{Paper, Live} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, newRig(t, mode, nil)) })
		})
	}
}

func TestATrade(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		time.Sleep(10 * time.Second)
		ticket := r.ticket(r.buy("stop_loss", "63000"))
		assert.Equal(t, "open", r.must("get_ticket", map[string]string{"ticket": ticket}).text("phase"))
		done := r.must("execute", map[string]string{"ticket": ticket})
		assert.Equal(t, []string{"done", "applied"}, []string{done.text("phase"), done.text("outcome")}, "%v", done)
		seen := r.must("account", nil)
		assert.Equal(t, "0.1", seen.list("positions")[0].text("size"))
		assert.Equal(t, ticket, seen.list("writes")[0].text("ticket"))
		out := r.must("close", map[string]string{"symbol": "BTC"})
		assert.Equal(t, "applied", out.text("outcome"), "%v", out)
		assert.Empty(t, r.must("account", nil).list("positions"))
		assert.Equal(t, 1, r.fills())
		assert.Len(t, r.must("history", nil).list("trades"), 1)
	})
}
