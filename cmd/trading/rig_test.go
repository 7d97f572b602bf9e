package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/tradingsim"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "go test . -update writes %s anew", path)
}

// rig runs commands in process, against a simulation.
type rig struct {
	t        *testing.T
	sim      *tradingsim.Sim
	env      []string
	terminal bool      // somebody is there
	types    string    // what they type
	in       io.Reader // instead of types
	ctx      context.Context
	network  bool     // commands reach what listens, and not the simulation in process
	watched  *watched // the transport of what is interrupted; nil for the simulation's own
}

func newRig(t *testing.T, opts ...tradingsim.Option) *rig {
	t.Helper()
	opts = append([]tradingsim.Option{tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200")}, opts...)
	sim := tradingsim.New(opts...)
	t.Cleanup(func() { _ = sim.Close() })
	return &rig{t: t, sim: sim, ctx: t.Context(), env: []string{
		"TRADING_BASE_URL=" + sim.URL(), "TRADING_SANDBOX_KEY=" + sim.SandboxKey(), "TRADING_LIVE_KEY=" + sim.LiveKey(),
		"XDG_STATE_HOME=" + t.TempDir(),
	}}
}

// run runs a command and returns its exit code and what it printed.
func (r *rig) run(args ...string) (code int, out, errs string) {
	r.t.Helper()
	var o, e bytes.Buffer
	in := r.in
	if in == nil {
		in = strings.NewReader(r.types)
	}
	app := r.app(in, &o, &e)
	code = app.Run(r.ctx, newRoot(app), args)
	r.keyless(o.String() + e.String())
	return code, o.String(), e.String()
}

func (r *rig) app(in io.Reader, out, errs io.Writer) *cli.App {
	app := &cli.App{In: in, Out: out, Err: errs, InTerminal: r.terminal, OutTerminal: r.terminal, Environ: r.env}
	if !r.network {
		app.Options, app.Transport = []trading.Option{trading.WithTransport(r.sim.Transport())}, r.sim.Transport()
	}
	if r.watched != nil {
		app.Options = []trading.Option{trading.WithTransport(r.watched)}
	}
	return app
}

// keyless holds what was printed to show no key.
func (r *rig) keyless(printed string) {
	r.t.Helper()
	for _, key := range []string{r.sim.LiveKey(), r.sim.SandboxKey()} {
		require.NotContains(r.t, printed, key, "a key is printed")
	}
}

// done runs a command that ends with 0, and returns what it printed on standard output.
func (r *rig) done(args ...string) string {
	r.t.Helper()
	code, out, errs := r.run(args...)
	require.Zero(r.t, code, "%q: %s%s", args, out, errs)
	return out
}

// ends runs a command that ends with a code and says something on standard error, and returns what
// it printed on standard output.
func (r *rig) ends(code int, says string, args ...string) string {
	r.t.Helper()
	got, out, errs := r.run(args...)
	assert.Equal(r.t, code, got, "%q: %s%s", args, out, errs)
	assert.Contains(r.t, errs, says, "%q", args)
	return out
}

// refusal is a command line that is refused: how it ends, and what it says.
type refusal struct {
	code int
	says string
	args string // in words
}

// refuses runs command lines of a command that are refused. What is no command line prints nothing
// on standard output.
func (r *rig) refuses(command string, all []refusal) {
	r.t.Helper()
	for _, c := range all {
		out := r.ends(c.code, c.says, strings.Fields(command+" "+c.args)...)
		if c.code == cli.Usage {
			assert.Empty(r.t, out, c.args)
		}
	}
}

// cut runs a command that is interrupted as the bytes of an operation have left, whose fault is given.
func (r *rig) cut(operation string, fault tradingsim.Fault, args ...string) (code int, out, errs string) {
	r.t.Helper()
	before := r.ctx
	ctx, interrupt := context.WithCancel(before)
	defer interrupt()
	r.ctx, r.watched = ctx, &watched{r.sim.Transport(), operation, func() { time.AfterFunc(time.Millisecond, interrupt) }}
	r.sim.FaultEach(tradingsim.Always(operation, fault))
	code, out, errs = r.run(args...)
	r.sim.FaultEach(nil)
	r.ctx, r.watched = before, nil
	return code, out, errs
}

// watched is a transport that says when the bytes of an operation have left.
type watched struct {
	http.RoundTripper
	operation string
	left      func()
}

func (w *watched) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method+" "+strings.TrimPrefix(req.URL.Path, "/v1") == w.operation {
		req = req.WithContext(req.Context())
		req.Body = &watchedBody{req.Body, w.left}
	}
	return w.RoundTripper.RoundTrip(req)
}

type watchedBody struct {
	io.ReadCloser
	ended func()
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended()
	}
	return n, err
}

// place are the arguments of a live order.
func place(more ...string) []string {
	return append([]string{
		"place", "--env", "live", "--account", "acc_1", "--symbol", "BTC", "--side", "long", "--size", "0.05", "--leverage", "2", "--yes",
	}, more...)
}
