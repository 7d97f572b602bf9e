package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// A real program is this test binary once more, in real time and over loopback. It is
// killed with SIGKILL: by itself at a step, or by its parent at any moment. Who comes
// after it finds its journal as it was left, and lives in virtual time.

const childEnv = "TRADING_CRASH_CHILD"

// orders are what a child is told.
type orders struct {
	Seed     uint64
	Address  string
	Journal  string
	Live     string
	KillAt   int
	Recovers bool
	Stops    bool   // it is stopped, and not killed
	StopAt   moment // where
}

// TestChild is the program's process; its parent starts it.
func TestChild(t *testing.T) {
	text := os.Getenv(childEnv)
	if text == "" {
		t.Skip("for TestSIGKILL and TestSIGSTOP alone")
	}
	var o orders
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	if o.Stops {
		liveStopped(t, o)
		os.Exit(0)
	}
	log, err := journal.Open(o.Journal)
	require.NoError(t, err)
	p := &killer{at: o.KillAt}
	client, err := trading.New(o.Address, trading.WithLiveKey(o.Live), trading.WithJournal(&killedLog{log, p}),
		trading.WithTransport(p), trading.WithExclusiveAccounts(), trading.WithAttemptTimeout(time.Second))
	require.NoError(t, err)
	if o.Recovers {
		_, _ = client.Recover(t.Context())
	} else {
		s := newReal(o.Seed)
		err = send(t.Context(), client.Live.Account(account), s.endpoint(), s.part(), trading.WithSendTTL(s.ttl), trading.WithResolveTimeout(0))
		fmt.Println("told", trading.OutcomeOf(err))
	}
	os.Exit(0) // without a word to the client
}

// killer kills its own process at a step.
type killer struct {
	mu    sync.Mutex
	steps int
	at    int
}

func (k *killer) step() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.steps++; k.steps == k.at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// RoundTrip implements [http.RoundTripper].
func (k *killer) RoundTrip(req *http.Request) (*http.Response, error) {
	k.step()
	resp, err := http.DefaultTransport.RoundTrip(req)
	k.step()
	return resp, err
}

// newReal is the part of a schedule that needs no virtual time.
func newReal(seed uint64) schedule {
	r := rand.New(rand.NewPCG(seed, 0x6b696c6c))
	s := schedule{kind: solo, seed: seed, exclusive: true, kill1: r.Float64(), ttl: pick[time.Duration](r, 0, time.Second)}
	s.op = pick(r, market, market, resting, closing, timed, levels)
	s.fit()
	s.tries = []fault{pick(r, rig.Faults("none", "request lost", "reply lost", "500 before", "died after", "a page after")...)}
	s.away = pick(r, 0, time.Minute, 20*time.Minute, 25*time.Hour)
	return s
}

// TestSIGKILL kills real programs, while they write and while they recover.
func TestSIGKILL(t *testing.T) {
	n := min(*many/4, 400)
	var group sync.WaitGroup
	together := make(chan struct{}, 8)
	worlds := make([]*world, n)
	for i := range n {
		dir := t.TempDir()
		group.Go(func() {
			together <- struct{}{}
			defer func() { <-together }()
			worlds[i] = killTwice(t, newReal(*from+i), dir)
		})
	}
	group.Wait()
	endings(t, worlds)
}

// endings lets each world recover a last time, in virtual time, and holds it to its service.
func endings(t *testing.T, worlds []*world) {
	t.Helper()
	table := newTable()
	for _, w := range worlds {
		left := time.Now().Round(0)
		synctest.Test(t, func(*testing.T) {
			time.Sleep(time.Until(left.Add(w.away)))
			w.third()
			w.check("after the last recovery")
			time.Sleep(25 * time.Hour)
			w.check("a day later")
		})
		table.add(w)
		for _, p := range w.problems {
			t.Errorf("seed %d: %s\n%s%s", w.seed, p, w, strings.Join(w.steps, "\n"))
		}
	}
	t.Log(table)
}

// newServed is a world whose service real programs reach.
func newServed(s schedule, dir string) *world {
	w := newRecords(s, dir)
	w.sim = tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithClock(w.clock))
	if w.held != none {
		w.sim.Trade(account, "long", "0.2", "BTC")
	}
	w.sim.FaultEach(w.nextFault)
	return w
}

// killTwice lets a child write and a child recover, each until it is killed.
func killTwice(t *testing.T, s schedule, dir string) *world {
	w := newServed(s, dir)
	server := httptest.NewServer(w.sim)
	w.url = server.URL + "/v1"
	r := rand.New(rand.NewPCG(s.seed, 1))
	for _, recovers := range []bool{false, true} {
		o := orders{Seed: s.seed, Address: w.url, Journal: w.file("one"), Live: w.sim.LiveKey(), Recovers: recovers}
		after := time.Duration(0)
		if r.IntN(2) == 0 {
			o.KillAt = 1 + r.IntN(22)
		}
		if o.KillAt == 0 || recovers {
			after = time.Duration(r.IntN(600)) * time.Millisecond
		}
		said, err := w.child(o, after)
		w.look()
		w.note("recovers %t, kill at %d, after %s: %q %v", recovers, o.KillAt, after, said, err)
	}
	server.CloseClientConnections()
	server.Close()
	w.read(t)
	return w
}

// childOf is the command of a child.
func childOf(o orders, env ...string) (*exec.Cmd, error) {
	text, err := json.Marshal(o)
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(append(os.Environ(), childEnv+"="+string(text), "GORACE=atexit_sleep_ms=0"), env...)
	return cmd, err
}

// child runs a child until it ends, or is killed after so long.
func (w *world) child(o orders, after time.Duration) (said string, err error) {
	cmd, err := childOf(o)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if after > 0 {
		defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
	}
	err = cmd.Wait()
	return out.String(), err
}

// read takes what the children have left.
func (w *world) read(t *testing.T) {
	if _, err := os.Stat(w.file("one")); err != nil {
		return // killed before it was there
	}
	for h, err := range journal.Read(w.file("one")) {
		if err != nil {
			t.Errorf("seed %d: the journal: %v", w.seed, err)
			return
		}
		for _, data := range h.Records {
			w.observe([]journal.Record{{Intent: h.Intent, Name: h.Name, Data: data}})
		}
	}
}

// look notes whether the journal knows of what ran: of a write that has ended it keeps
// nothing for long.
func (w *world) look() {
	raw, err := os.ReadFile(w.file("one"))
	for _, e := range w.sim.Ledger() {
		w.settled = w.settled || err == nil && e.Key != "" && bytes.Contains(raw, []byte(e.Key))
	}
}
