package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/disk"
	"github.com/tradingapi/trading-go/ratelimit"
	"github.com/tradingapi/trading-go/tradingsim"
)

// rig is a simulated service and a client of it that is audited.
type rig struct {
	*trading.Client
	t     testing.TB
	sim   *tradingsim.Sim
	audit *Audit
	path  string
}

func newRig(t testing.TB, o Options, opts ...trading.Option) *rig {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := OpenAudit(path, o)
	require.NoError(t, err)
	return join(t, a, path, opts...)
}

// join makes an audited client of a new simulation.
func join(t testing.TB, a *Audit, path string, opts ...trading.Option) *rig {
	t.Helper()
	sim := tradingsim.New()
	client, err := trading.New(sim.URL(), append([]trading.Option{
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()),
		trading.WithHooks(a.Hooks()),
		trading.WithGuard(a.Guard()),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		_ = a.Close() // a test about that has its own
	})
	return &rig{client, t, sim, a, path}
}

func buy(size string, change ...func(*trading.Order)) trading.Order {
	o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec(size), Leverage: trading.Dec("2")}
	for _, c := range change {
		c(&o)
	}
	return o
}

// account is the one live account of a simulation.
func (r *rig) account() *trading.Account { return r.Live.Account("acc_1") }

// events reads all files, which have to verify, without what is about the audit itself.
func (r *rig) events() []Event {
	r.t.Helper()
	return slices.DeleteFunc(eventsOf(r.t, r.path), func(e Event) bool { return e.Operation == "" })
}

// eventsOf reads all files of an audit, which have to verify.
func eventsOf(t testing.TB, path string) []Event {
	t.Helper()
	var events []Event
	for e, err := range FileEvents(path) {
		require.NoError(t, err)
		events = append(events, e)
	}
	return events
}

// kinds are the kinds of events, in a line.
func kinds(events []Event) string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = string(e.Kind)
	}
	return strings.Join(names, " ")
}

// only returns the events of a kind.
func only(events []Event, kind Kind) []Event {
	return slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return e.Kind != kind })
}

// written returns what a short session leaves in an audit, in files of at most so many
// bytes. Each is closed properly.
func written(t testing.TB, maxFile int64, symbols ...string) (path string, contents [][]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := OpenAudit(path, Options{MaxFile: maxFile})
	require.NoError(t, err)
	h := a.Hooks()
	if symbols == nil {
		symbols = []string{"BTC", "ETH", "SOL"}
	}
	for _, symbol := range symbols {
		tellWrite(h, symbol)
	}
	require.NoError(t, a.Close())
	return path, contentsOf(t, path)
}

// tellWrite tells hooks what a client tells of an order that goes well.
func tellWrite(h trading.Hooks, symbol string) {
	body := []byte(`{"accountId":"acc_1","symbol":"` + symbol + `","side":"long","size":0.01,"leverage":2}`)
	c := trading.Call{
		Operation: trading.OpOrder, Environment: trading.EnvLive, Account: "acc_1", Symbol: symbol, Write: true, Entry: true,
		Priority: ratelimit.Entry, Body: body,
	}
	ctx := h.CallStart(context.Background(), c)
	c.Intent = "intent"
	ctx = h.AttemptStart(ctx, c, 1)
	h.AttemptDone(ctx, c, trading.Attempt{
		Number: 1, Key: "key", Status: 200, Request: body, Response: []byte(`{"success":true}`), Written: true, Outcome: trading.Applied,
	})
	h.CallDone(ctx, c, trading.Done{Outcome: trading.Applied, Attempts: 1})
}

func contentsOf(t testing.TB, path string) [][]byte {
	t.Helper()
	names, err := Files(path)
	require.NoError(t, err)
	var contents [][]byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		contents = append(contents, text)
	}
	return contents
}

func verify(contents ...[]byte) (Report, error) {
	var v verifier
	for _, text := range contents {
		if err := v.file("", bytes.NewReader(text), nil); err != nil {
			return v.report, err
		}
	}
	return v.report, v.ended()
}

// lines cuts a file into its lines, newlines included.
func lines(text []byte) [][]byte {
	return slices.Collect(bytes.Lines(text))
}

func parse(t testing.TB, line []byte) map[string]any {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal(line, &m))
	return m
}

var errFull error = syscall.ENOSPC

// faultyDisk is a disk that can be full, and whose syncs can fail.
type faultyDisk struct {
	mu     sync.Mutex
	room   int  // bytes that still go in; negative is unlimited
	noSync bool // a sync fails
	noMake bool // no file can be made
	syncs  int
}

func (d *faultyDisk) set(change func(*faultyDisk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func (d *faultyDisk) disk() storage {
	return storage{
		open: func(path string, flag int) (file, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.noMake && flag&os.O_CREATE != 0 {
				return nil, errFull
			}
			f, err := disk.Lock(path, flag)
			if err != nil {
				return nil, err
			}
			return &faultyFile{f, d}, nil
		},
		rename: os.Rename,
	}
}

type faultyFile struct {
	*disk.File
	disk *faultyDisk
}

func (f *faultyFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.room < 0 || f.disk.room >= len(p) {
		n, err := f.File.Write(p)
		if f.disk.room >= 0 {
			f.disk.room -= n
		}
		return n, err
	}
	n, err := f.File.Write(p[:f.disk.room])
	f.disk.room = 0
	return n, errors.Join(err, errFull)
}

func (f *faultyFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.syncs++
	if f.disk.noSync {
		return syscall.EIO
	}
	return nil
}
