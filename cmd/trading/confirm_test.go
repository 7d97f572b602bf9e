package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Nothing is sent unless somebody says so.
func TestAsksBeforeItWrites(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		types    string
		more     []string
		code     int
	}{
		"yes":                      {true, "y\n", nil, cli.Done},
		"yes in full":              {true, "YES\n", nil, cli.Done},
		"no":                       {true, "n\n", nil, cli.NotApplied},
		"enter":                    {true, "\n", nil, cli.NotApplied},
		"something else":           {true, "yellow\n", nil, cli.NotApplied},
		"the end of the input":     {true, "", nil, cli.NotApplied},
		"nobody there":             {false, "y\n", nil, cli.Usage},
		"nobody there, beforehand": {false, "", []string{"--yes"}, cli.Done},
		"beforehand":               {true, "", []string{"--yes"}, cli.Done},
		"dry run":                  {false, "", []string{"--dry-run"}, cli.Done},
		"dry run, and yes":         {true, "y\n", []string{"--dry-run", "--yes"}, cli.Done},
	} {
		for command, args := range map[string][]string{
			"place":   place("--yes=false"),
			"close":   {"close", "--env", "live", "--account", "acc_1", "--symbol", "ETH"},
			"flatten": {"flatten", "--env", "live", "--account", "acc_1", "--symbol", "ETH"},
			"tpsl":    {"tpsl", "--env", "live", "--account", "acc_1", "--symbol", "ETH", "--stop-loss", "3000"},
		} {
			t.Run(name+"/"+command, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t)
					r.sim.Trade("acc_1", "long", "1", "ETH")
					r.terminal, r.types = c.terminal, c.types
					code, out, errs := r.run(append(args, c.more...)...)
					assert.Equal(t, c.code, code, "%s%s", out, errs)
					written := strings.Contains(requests(r.sim), "POST ")
					assert.Equal(t, c.code == cli.Done && !strings.HasPrefix(name, "dry run"), written, "%s", requests(r.sim))
				})
			})
		}
	}
}

func requests(sim *tradingsim.Sim) string {
	var all []string
	for _, r := range sim.Requests() {
		all = append(all, r.Operation)
	}
	return strings.Join(all, "\n")
}

// What is shown before an order is sent.
func TestPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.terminal, r.types = true, "n\n"
		var all strings.Builder
		for _, args := range [][]string{
			place("--yes=false", "--stop-loss", "63000", "--take-profit", "66000"),
			{"place", "--symbol", "BTC", "--side", "short", "--size", "1"},
			append([]string{"limit", "--limit-price", "60000"}, place("--yes=false")[1:]...),
			{"pro", "ladder", "--env", "live", "--account", "acc_1", "--symbol", "ETH", "--side", "long", "--size", "1", "--leverage", "2", "--from", "3000", "--to", "3100", "--rungs", "5"},
			{"close", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--percent", "50"},
			{"cancel", "--env", "live", "--account", "acc_1", "--run", "run_1"},
			{"tpsl", "--symbol", "BTC", "--stop-loss", "clear"},
			{"flatten", "--env", "live", "--all-accounts", "--all-symbols"},
			{"flatten", "--symbol", "BTC", "--symbol", "ETH"},
		} {
			code, out, errs := r.run(args...)
			require.Equal(t, cli.NotApplied, code, "%s%s", out, errs)
			require.Empty(t, out)
			all.WriteString("$ trading " + strings.Join(args, " ") + "\n" + errs + "\n")
		}
		golden(t, "previews.txt", all.String())
		assert.NotContains(t, requests(r.sim), "POST")
	})
}

// A client order id is there before the order is.
func TestTheClientOrderIDIsPrintedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		code, _, errs := r.cut("POST /orders", tradingsim.DropResponse(), place()...)
		require.Equal(t, cli.Unknown, code)
		_, rest, ok := strings.Cut(errs, "client order id: ")
		require.True(t, ok, errs)
		id, _, _ := strings.Cut(rest, "\n")
		assert.Contains(t, rest, "--client-order-id "+id)
		r.done(place("--client-order-id", id)...)
		r.done(place("--client-order-id", id)...)
		assert.Len(t, r.sim.Ledger(), 1, "at most once")
	})
}

// Each kind of write, as it is sent and as it is printed.
func TestWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		live := []string{"--env", "live", "--account", "acc_1", "--yes"}
		order := append([]string{"--symbol", "ETH", "--side", "long", "--size", "1", "--leverage", "2"}, live...)
		var all strings.Builder
		for i, args := range [][]string{
			place(), place("--limit-price", "65000"), place("--side", "short", "--size", "0.01", "--reduce-only"),
			append([]string{"limit", "--limit-price", "3000"}, order...),
			append([]string{"pro", "conditional", "--trigger", "3100"}, order...),
			append([]string{"pro", "conditional", "--trigger", "3100", "--limit-price", "3090"}, order...),
			append([]string{"pro", "ladder", "--from", "3000", "--to", "3100", "--rungs", "5", "--size-skew", "1.5"}, order...),
			append([]string{"pro", "twap", "--duration", "1h", "--randomize-size", "true"}, order...),
			append([]string{"pro", "chase", "--to", "3300"}, order...),
			append([]string{"pro", "chase-twap", "--duration", "1h"}, order...),
			append([]string{"pro", "swarm", "--orders", "5", "--aggression", "high"}, order...),
			append([]string{"pro", "edit", "run_4", "--total-size", "2"}, live...),
			append([]string{"cancel", "--run", "run_4"}, live...),
			append([]string{"cancel", "--order", "ord_1"}, live...),
			append([]string{"tpsl", "--symbol", "BTC", "--stop-loss", "60000", "--take-profit", "clear"}, live...),
			append([]string{"tpsl", "--symbol", "BTC", "--take-profit", "70000"}, live...),
			append([]string{"close", "--symbol", "BTC", "--percent", "50"}, live...),
			{"place", "--symbol", "BTC", "--side", "long", "--size", "0.1", "--yes"},
			{"tpsl", "--symbol", "BTC", "--stop-loss", "60000", "--yes"},
			{"close", "--symbol", "BTC", "--yes"},
		} {
			if args[len(args)-1] == "--yes" && strings.Contains(strings.Join(args, " "), "live") && args[0] != "tpsl" {
				args = append(args, "--client-order-id", "id-"+string(rune('a'+i)))
			}
			all.WriteString("$ trading " + strings.Join(args, " ") + "\n" + r.done(args...) + "\n")
		}
		golden(t, "writes.txt", all.String())
	})
}

// slowReader is somebody who thinks it over.
type slowReader struct {
	after time.Duration
	text  io.Reader
}

func (s slowReader) Read(p []byte) (int, error) {
	time.Sleep(s.after)
	return s.text.Read(p)
}

func TestAnOldPreviewIsNotSent(t *testing.T) {
	for after, code := range map[time.Duration]int{59 * time.Second: cli.Done, 61 * time.Second: cli.Refused} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.terminal = true
			r.in = slowReader{after, strings.NewReader("y\n")}
			got, _, errs := r.run(place("--yes=false")...)
			assert.Equal(t, code, got, "%s: %s", after, errs)
			assert.Equal(t, code == cli.Done, len(r.sim.Ledger()) == 1)
		})
	}
}

// Interrupted at the question, nothing is pending.
func TestInterruptedWhileAsked(t *testing.T) {
	for _, args := range [][]string{place("--yes=false"), {"flatten", "--env", "live", "--account", "acc_1", "--all-symbols"}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			ctx, interrupt := context.WithCancel(t.Context())
			keyboard, keys := io.Pipe()
			r.terminal, r.in, r.ctx = true, keyboard, ctx
			time.AfterFunc(10*time.Second, interrupt)
			assert.Empty(t, r.ends(cli.Interrupted, "", args...))
			assert.NotContains(t, requests(r.sim), "POST")
			require.NoError(t, keys.Close())
		})
	}
}
