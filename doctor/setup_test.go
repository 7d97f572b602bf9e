package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

// setup is a sound set-up against a simulation. A test breaks it.
type setup struct {
	t      *testing.T
	sim    *tradingsim.Sim
	o      Options
	h      *host
	opts   []tradingsim.Option
	change func(*http.Response) // what the way back does to an answer
	folder string
}

func (s *setup) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.sim.Transport().RoundTrip(r)
	if err == nil && s.change != nil {
		s.change(resp)
	}
	return resp, err
}

// soundHost is a machine on which all is well.
func soundHost() *host {
	return &host{
		place: func(string) (place, error) { return place{kind: "ext", free: 40 << 30}, nil },
		sync: func(_ string, n int) ([]time.Duration, error) {
			return slices.Repeat([]time.Duration{2 * time.Millisecond}, n), nil
		},
		open:         openJournal,
		lockedBy:     func(string) (int, bool) { return 0, false },
		synchronised: func() (bool, error) { return true, nil },
		since:        since,
		stopGrace:    func(*Process) (time.Duration, string) { return 90 * time.Second, "TimeoutStopSec of bot.service" },
	}
}

// start makes the simulation, with what a test has put into opts.
func (s *setup) start() {
	s.sim = tradingsim.New(append([]tradingsim.Option{
		tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"),
		tradingsim.WithAccount(tradingsim.Account{ID: "acc_1"}), tradingsim.WithAccount(tradingsim.Account{ID: "acc_old", Status: "FAILED", Archived: true}),
	}, s.opts...)...)
	s.t.Cleanup(func() { _ = s.sim.Close() })
	s.o = Options{
		BaseURL: Setting{s.sim.URL(), "TRADING_BASE_URL"}, SandboxKey: Setting{s.sim.SandboxKey(), "TRADING_SANDBOX_KEY"},
		LiveKey: Setting{s.sim.LiveKey(), "TRADING_LIVE_KEY"},
		Environ: []string{"HOME=/root", "TRADING_BASE_URL=" + s.sim.URL()},
		Journal: filepath.Join(s.folder, "bot.journal"), SmallestOrder: decimal.NewFromInt(50), StopGrace: 30 * time.Second,
		Alert: func(string) error { return nil }, Transport: s, Started: time.Now(), Built: time.Now(), Profiled: time.Now(),
		host: s.h,
	}
	log, err := journal.Open(s.o.Journal)
	require.NoError(s.t, err)
	require.NoError(s.t, log.Close())
	time.Sleep(137 * time.Millisecond) // a moment that is no whole second
}

// client writes to the journal of the set-up.
func (s *setup) client(opts ...trading.Option) (client *trading.Client, done func()) {
	log, err := journal.Open(s.o.Journal)
	require.NoError(s.t, err)
	client = tradingtest.Client(s.t, s.sim, append(opts, trading.WithJournal(log), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))...)
	return client, func() { _ = client.Close(); require.NoError(s.t, log.Close()) }
}

// diagnose runs the doctor on a set-up, in virtual time.
func diagnose(t *testing.T, before func(*setup), after func(*setup)) (r *Report, sent []tradingsim.Request) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &setup{t: t, h: soundHost(), folder: folder}
		if before != nil {
			before(s)
		}
		s.start()
		if after != nil {
			after(s)
		}
		first := len(s.sim.Requests())
		r = Run(t.Context(), s.o)
		sent = s.sim.Requests()[first:]
		noKeys(t, r, s.sim.LiveKey(), s.sim.SandboxKey())
		assert.Zero(t, counted(sent, func(q tradingsim.Request) bool { return !strings.HasPrefix(q.Operation, "GET ") }), "it only reads")
		if s.o.StateDir == "" { // else the protection sends too
			assert.LessOrEqual(t, counted(sent, func(q tradingsim.Request) bool { return !strings.Contains(q.Path, "acc_") }), maxService)
			assert.LessOrEqual(t, counted(sent, func(q tradingsim.Request) bool { return strings.Contains(q.Path, "acc_1") }), maxAccount)
			assert.LessOrEqual(t, counted(sent, func(q tradingsim.Request) bool { return q.Status == http.StatusUnauthorized }), 2, "a refused key is sent once: repeated failures close the address")
		}
	})
	return r, sent
}

func noKeys(t *testing.T, r *Report, keys ...string) {
	t.Helper()
	text, err := json.Marshal(r.Lines)
	require.NoError(t, err)
	for _, key := range append(keys, "pk_live_stolen", "pk_test_stolen") {
		assert.NotContains(t, string(text)+r.String(), key)
	}
}

func onPlace(kind, lasting string, free uint64) func(string) (place, error) {
	return func(string) (place, error) { return place{kind, lasting, free}, nil }
}

// counted is how many requests are of some kind.
func counted(sent []tradingsim.Request, of func(tradingsim.Request) bool) (n int) {
	for _, q := range sent {
		if of(q) {
			n++
		}
	}
	return n
}

func rest(s *setup) {
	_, err := s.sim.Terminal("POST /orders/limit", `{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.01,"leverage":2,"limitPrice":60000}`)
	require.NoError(s.t, err)
}

func pendingWrite(s *setup) {
	client, done := s.client()
	defer done()
	s.sim.Fault("POST /orders", tradingsim.DropResponse())
	_, err := client.Live.Account("acc_1").PlaceOrder(s.t.Context(), trading.Order{
		Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2"),
	}, trading.WithSendTTL(0), trading.WithResolveTimeout(0))
	require.Equal(s.t, trading.Unknown, trading.OutcomeOf(err))
}

// protectedBy has a protection guard the account, until the test ends or it is told to end.
func protectedBy(s *setup) (p *protect.Protection, end func()) {
	s.o.StateDir = filepath.Join(s.folder, "state")
	p, err := protect.New(protect.Options{Client: tradingtest.Client(s.t, s.sim), Accounts: []trading.AccountID{"acc_1"}, Dir: s.o.StateDir})
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		assert.NoError(s.t, <-ended)
		assert.NoError(s.t, p.Close())
	})
	s.t.Cleanup(end)
	time.Sleep(time.Minute)
	return p, end
}

// rewrite changes the text of an answer.
func rewrite(r *http.Response, change func(body string) string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	text := change(string(body))
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	r.Header.Del("Content-Length")
}

// replaced is an answer with another text in place of one.
func replaced(old, now string) func(string) string {
	return func(body string) string { return strings.ReplaceAll(body, old, now) }
}

// levels are floors and levels of an answer.
var levels = regexp.MustCompile(`"(dailyLossFloor|globalLossFloor|stopLossPrice|takeProfitPrice)":[0-9.]+`)

// answers has each answer be this one.
func answers(status int, body string) func(*setup) {
	return changed(func(r *http.Response) {
		r.StatusCode = status
		rewrite(r, func(string) string { return strings.ReplaceAll(body, "@key", r.Request.Header.Get("X-Api-Key")) })
	})
}

func changed(change func(*http.Response)) func(*setup) { return func(s *setup) { s.change = change } }

// heldBy has a process hold the journal of the bot with the id 7: while it does, its disk is left alone.
func heldBy(pid int) func(*setup) {
	return func(s *setup) {
		held, err := journal.Open(s.o.Journal)
		require.NoError(s.t, err)
		s.t.Cleanup(func() { _ = held.Close() })
		s.h.lockedBy = func(string) (int, bool) { return pid, true }
		s.h.sync = func(string, int) ([]time.Duration, error) { s.t.Error("synced"); return nil, nil }
		s.o.Process = &Process{PID: 7, UID: 1000, OpenFiles: 1024}
	}
}

var asOfField = regexp.MustCompile(`"asOf":\d+`)

// assessment changes the time of GET /health.
func assessment(r *http.Response, change func(asOf int64) int64) {
	if !strings.HasSuffix(r.Request.URL.Path, "/health") {
		return
	}
	rewrite(r, func(body string) string {
		return asOfField.ReplaceAllStringFunc(body, func(field string) string {
			asOf, err := strconv.ParseInt(strings.TrimPrefix(field, `"asOf":`), 10, 64)
			if err != nil {
				panic(err)
			}
			return fmt.Sprintf(`"asOf":%d`, change(asOf))
		})
	})
}

func asOfInSeconds(r *http.Response) { assessment(r, func(asOf int64) int64 { return asOf / 1000 }) }

func shiftAsOf(r *http.Response, by time.Duration) {
	assessment(r, func(asOf int64) int64 { return asOf + by.Milliseconds() })
}

func shiftDate(r *http.Response, by time.Duration) {
	date, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Date", date.Add(by).UTC().Format(http.TimeFormat))
}

// trickle gives its first byte after a while.
type trickle struct {
	io.ReadCloser
	after time.Duration
}

func (t *trickle) Read(p []byte) (int, error) {
	time.Sleep(t.after)
	t.after = 0
	return t.ReadCloser.Read(p)
}
