package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

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
}

func TestNothingConfigured(t *testing.T) {
	configure(t, "", "")
	for name, tc := range map[string]struct {
		args           []string
		exit           int
		says, saysNot  []string
		mentionsBroken string
	}{
		"account":      {says: []string{"cancel run run_1: applied", "cancel limit ord_1: applied", "close BTC: applied", "close ETH", "\nflat: account acc_1"}},
		"symbols":      {args: []string{"-symbols", "BTC"}, says: []string{"close BTC", "flat:"}, saysNot: []string{"close ETH"}},
		"no time":      {args: []string{"-within", "1ms"}, exit: notProven, says: []string{"NOT PROVEN FLAT"}, mentionsBroken: "not proven flat"},
		"a wrong one":  {args: []string{"-account", "acc_9"}, exit: notProven, says: []string{"NOT PROVEN FLAT"}, mentionsBroken: "nothing more can be done"},
		"no such flag": {args: []string{"-now"}, exit: misused, mentionsBroken: "-now"},
		"too much":     {args: []string{"acc_1"}, exit: misused, mentionsBroken: "acc_1"},
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
					assert.Equal(t, 1, strings.Count(problems, "\n"), "said once: %s", problems)
				}
			})
		})
	}
}

// Where a service is configured, the account has to be named.
func TestConfigured(t *testing.T) {
	sim := tradingsim.Start(t)
	configure(t, sim.URL(), sim.LiveKey())
	exit, _, problems := flat(t)
	assert.Equal(t, misused, exit)
	assert.Contains(t, problems, "-account is missing")

	configure(t, "http://example.com/v1", "")
	exit, _, problems = flat(t, "-account", "acc_1")
	assert.Equal(t, notProven, exit)
	assert.Contains(t, problems, "https")
}

// An operator who leaves sees what is left.
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
