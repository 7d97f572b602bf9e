package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// flat runs the program and returns its exit code and what it printed.
func flat(t *testing.T, args ...string) (exit int, out, problems string) {
	t.Helper()
	var o, p bytes.Buffer
	exit = run(t.Context(), args, &o, &p)
	return exit, o.String(), p.String()
}

func configure(t *testing.T, baseURL, liveKey string) {
	t.Helper()
	t.Setenv("TRADING_BASE_URL", baseURL)
	t.Setenv("TRADING_LIVE_KEY", liveKey)
	t.Setenv("TRADING_SANDBOX_KEY", "")
	t.Setenv("TRADING_ACCOUNT", "")
}

func TestNothingConfigured(t *testing.T) {
	configure(t, "", "")
	for name, tc := range map[string]struct {
		args           []string
		exit           int
		says, saysNot  []string
		mentionsBroken string
	}{
		"account":      {says: []string{"acc_1: cancel run run_1: applied", "acc_1: cancel limit ord_1: applied", "acc_1: close BTC: applied", "acc_1: close ETH", "\nflat: account acc_1"}},
		"symbols":      {args: []string{"-symbols", "BTC"}, says: []string{"close BTC", "flat:"}, saysNot: []string{"ETH"}},
		"all":          {args: []string{"-all"}, says: []string{"flat: account acc_1"}},
		"sandbox":      {args: []string{"-sandbox"}, says: []string{"paper: close BTC: applied", "flat: the paper account"}},
		"look":         {args: []string{"-look"}, says: []string{"run run_1 in ETH, limit ord_1 in BTC", "long 0.1 BTC"}, saysNot: []string{"close", "cancel", "flat"}},
		"look at all":  {args: []string{"-look", "-all"}, says: []string{"long 0.1 BTC"}},
		"no time":      {args: []string{"-within", "1ms"}, exit: notProven, says: []string{"NOT PROVEN FLAT"}, mentionsBroken: "not proven flat"},
		"a wrong one":  {args: []string{"-account", "acc_9"}, exit: notProven, says: []string{"NOT PROVEN FLAT"}, mentionsBroken: "nothing more can be done"},
		"look, wrong":  {args: []string{"-look", "-account", "acc_9"}, exit: notProven, mentionsBroken: "account_not_found"},
		"no such flag": {args: []string{"-now"}, exit: misused, mentionsBroken: "-now"},
		"too much":     {args: []string{"acc_1"}, exit: misused, mentionsBroken: "acc_1"},
		"two at once":  {args: []string{"-all", "-sandbox"}, exit: misused, mentionsBroken: "one of"},
		"paper look":   {args: []string{"-sandbox", "-look"}, exit: misused, mentionsBroken: "triggers"},
		"no symbol":    {args: []string{"-symbols", ""}, exit: misused, saysNot: []string{"close"}, mentionsBroken: "-symbols is empty"},
		"no account":   {args: []string{"-account", ""}, exit: misused, saysNot: []string{"close"}, mentionsBroken: "-account is empty"},
		"an empty one": {args: []string{"-symbols", "BTC,"}, exit: notProven, mentionsBroken: "a symbol is empty"},
		"help":         {args: []string{"-h"}, says: []string{"-within"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				exit, out, problems := flat(t, tc.args...)
				assert.Equal(t, tc.exit, exit, "%s%s", out, problems)
				for _, text := range tc.says {
					assert.Contains(t, out, text)
				}
				for _, text := range tc.saysNot {
					assert.NotContains(t, out, text)
				}
				if tc.mentionsBroken == "" {
					assert.Empty(t, problems)
				}
				assert.Contains(t, problems, tc.mentionsBroken)
				if tc.exit == misused {
					assert.Equal(t, 1, strings.Count(problems, "\n"), "told once: %s", problems)
				}
			})
		})
	}
}

// Where a service is configured it has to be said what to flatten.
func TestConfigured(t *testing.T) {
	sim := tradingsim.Start(t)
	configure(t, sim.URL(), sim.LiveKey())
	exit, _, problems := flat(t)
	assert.Equal(t, misused, exit)
	assert.Contains(t, problems, "which account?")

	sim.Trade("acc_1", "long", "0.1", "BTC")
	exit, out, problems := flat(t, "-interval", "1ms", "-all")
	require.Equal(t, proven, exit, problems)
	assert.Contains(t, out, "flat: account acc_1")
	assert.True(t, sim.Position("acc_1", "BTC").IsZero())

	t.Setenv("TRADING_ACCOUNT", "acc_1")
	exit, _, _ = flat(t, "-interval", "1ms")
	assert.Equal(t, proven, exit)

	t.Setenv("TRADING_BASE_URL", "http://example.com/v1")
	exit, _, problems = flat(t)
	assert.Equal(t, notProven, exit)
	assert.Contains(t, problems, "https")
}

// An operator who leaves is told what is left.
func TestInterrupted(t *testing.T) {
	configure(t, "", "")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var out, problems bytes.Buffer
		exit := run(ctx, nil, stopper{&out, cancel}, &problems)
		assert.Equal(t, notProven, exit)
		assert.Contains(t, problems.String(), "context canceled")
		assert.Contains(t, out.String(), "NOT PROVEN FLAT")
	})
}

// stopper interrupts the program at its first look.
type stopper struct {
	*bytes.Buffer
	stop context.CancelFunc
}

func (s stopper) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("seen:")) {
		s.stop()
	}
	return s.Buffer.Write(p)
}
