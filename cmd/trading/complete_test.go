package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// complete is what the shell offers for a command line whose last word is begun.
func (r *rig) complete(args ...string) []string {
	r.t.Helper()
	code, out, errs := r.run(append([]string{"__completeNoDesc"}, args...)...)
	require.Zero(r.t, code, "%q: %s%s", args, out, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[:len(lines)-1] // the last is for the shell
}

func TestCompletion(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"pl"}, []string{"place"}},
		{[]string{"pro", "t"}, []string{"twap"}},
		{[]string{"place", "--side", ""}, []string{"long", "short"}},
		{[]string{"place", "--side", "l"}, []string{"long", "short"}}, // the shell takes those that begin so
		{[]string{"place", "--env", ""}, []string{"sandbox", "live"}},
		{[]string{"positions", "--output", ""}, []string{"table", "json"}},
		{[]string{"place", "--symbol", ""}, []string{"BTC", "ETH"}},
		{[]string{"flatten", "--symbol", ""}, []string{"BTC", "ETH"}},
		{[]string{"place", "--env", "live", "--account", ""}, []string{"acc_1"}},
		{[]string{"place", "--size", ""}, nil},
	} {
		got := r.complete(c.args...)
		assert.ElementsMatch(t, c.want, got, "%q", c.args)
	}
	assert.Contains(t, r.complete(""), "place")

	// Without a service, or a key, there is nothing to offer, and no error.
	r.env = nil
	assert.Empty(t, r.complete("place", "--symbol", ""))
	r.env = []string{"TRADING_BASE_URL=" + r.sim.URL(), "TRADING_SANDBOX_KEY="}
	assert.Empty(t, r.complete("place", "--symbol", ""))
	assert.Equal(t, []string{"long", "short"}, r.complete("place", "--side", ""))
}
