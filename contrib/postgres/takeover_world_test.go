package postgres

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

// takeovers is a world in which bots on machines of their own take the lease from each other: one
// service, one database, and a network from each machine to both.
type takeovers struct {
	t        *testing.T
	lease    time.Duration
	opens    bool // bots close only what they have opened
	calm     bool // bots decide less often
	sim      *tradingsim.Sim
	service  string // its address
	database *server
	clock    string // the file with how far the database's clock is off

	mu       sync.Mutex
	changed  *sync.Cond
	machines []*machine
	senders  map[int64]string // holders by the ids of their writes
	arrived  map[string]time.Time
	executed []tradingsim.Execution
	keys     []trading.Key // of writes that arrived
	words    []word
	holders  []word               // in order
	stopped  map[string]time.Time // holders that were stopped, and when they went on
	lost     map[string]time.Time // holders whose records from a time on a failover may have lost
}

// machine is one, with the process of a bot.
type machine struct {
	world            *takeovers
	toDatabase, toIt *wire
	cmd              *exec.Cmd
	ended            chan struct{}
	holder           string // while it holds the lease
	waits            bool   // as a candidate
}

func newTakeovers(t *testing.T, lease time.Duration, database *server) *takeovers {
	t.Helper()
	w := &takeovers{t: t, lease: lease, database: database, senders: map[int64]string{}, arrived: map[string]time.Time{}, stopped: map[string]time.Time{}, lost: map[string]time.Time{}}
	w.changed = sync.NewCond(&w.mu)
	account := tradingsim.Account{ID: "acc_1", Balance: "1000000000"}
	w.sim = tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3000"), tradingsim.WithMark("SOL", "150"),
		tradingsim.WithAccount(account), tradingsim.WithKeyLimit(1e6), tradingsim.WithUserLimits(1e6, 1e6), tradingsim.WithRequestLog(0))
	t.Cleanup(func() { _ = w.sim.Close() })
	t.Cleanup(w.sim.Watch(w.see))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w.service = listener.Addr().String()
	serving := &http.Server{Handler: w.sim, ReadHeaderTimeout: time.Minute}
	go func() { _ = serving.Serve(listener) }()
	t.Cleanup(func() { _ = serving.Close() })
	w.clock = filepath.Join(w.database.dir, "clock")
	return w
}

// clockedServer is a server whose clock the file clock beside its data sets.
func clockedServer(t *testing.T) *server {
	s := newServer(t)
	t.Cleanup(s.remove)
	s.kill()
	library, err := exec.Command(program(t, "faketime"), "-f", "+0d", "printenv", "LD_PRELOAD").Output()
	require.NoError(t, err)
	clock := filepath.Join(s.dir, "clock")
	require.NoError(t, os.WriteFile(clock, []byte("+0"), 0o644))
	s.env = []string{"LD_PRELOAD=" + strings.TrimSpace(string(library)), "FAKETIME_TIMESTAMP_FILE=" + clock, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}
	s.start()
	require.NoError(t, Migrate(t.Context(), s.url("postgres")))
	return s
}

// failOver promotes the standby of a primary that is gone, and leads everybody to it.
func (w *takeovers) failOver(p pair) {
	p.promote(w.t)
	w.database = p.standby
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.machines {
		m.toDatabase.leads(fmt.Sprint("127.0.0.1:", w.database.port))
	}
}

// see notes what happens at the service.
func (w *takeovers) see(e tradingsim.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.Kind == tradingsim.EventRequest && e.Request.Operation[:4] == "POST":
		holder := e.Request.Header.Get("User-Agent")
		holder = holder[strings.LastIndex(holder, "/")+1:]
		w.senders[e.Request.ID] = holder
		w.arrived[holder] = e.Request.At
		if e.Request.Operation != string(trading.OpCancelOrder) { // a fence has the key of what it asks about
			w.keys = append(w.keys, trading.Key(e.Request.Header.Get("Idempotency-Key")))
		}
	case e.Kind == tradingsim.EventExecution && e.Execution.Actor == "api":
		w.executed = append(w.executed, *e.Execution)
		w.changed.Broadcast()
	}
}

// machine starts one.
func (w *takeovers) machine() *machine {
	m := &machine{world: w, toIt: newWire(w.t, w.service), toDatabase: newWire(w.t, fmt.Sprint("127.0.0.1:", w.database.port))}
	w.mu.Lock()
	w.machines = append(w.machines, m)
	w.mu.Unlock()
	w.t.Cleanup(m.kill)
	m.start()
	return m
}

// start starts the bot, and returns at once.
func (m *machine) start() {
	w := m.world
	text, err := json.Marshal(botConfig{
		BaseURL: "http://service.test/v1", LiveKey: w.sim.LiveKey(), Name: "bot", Lease: w.lease, OpensFirst: w.opens, Calm: w.calm,
		Database: "postgres://postgres@" + m.toDatabase.address() + "/postgres?sslmode=disable&connect_timeout=2",
	})
	require.NoError(w.t, err)
	m.cmd = exec.Command(os.Args[0])
	m.cmd.Env = append(os.Environ(), botEnv+"="+string(text), "HTTP_PROXY=http://"+m.toIt.address(), "GORACE=atexit_sleep_ms=0")
	m.cmd.Stderr = os.Stderr
	out, err := m.cmd.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, m.cmd.Start())
	ended, cmd := make(chan struct{}), m.cmd
	m.ended = ended
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var said word
			if err := json.Unmarshal(lines.Bytes(), &said); err == nil {
				m.heard(said)
			}
		}
		_ = cmd.Wait()
		w.mu.Lock()
		defer w.mu.Unlock()
		m.holder, m.waits = "", false
		w.changed.Broadcast()
	}()
}

func (m *machine) heard(said word) {
	w := m.world
	w.mu.Lock()
	defer w.mu.Unlock()
	switch said.Kind {
	case "holds":
		m.holder, m.waits = said.Holder, false
		w.holders = append(w.holders, said)
	case "over":
		m.holder = ""
	case "log":
		m.waits = m.waits || strings.Contains(said.Err, "waiting for the lease") && strings.Contains(said.Err, "held by")
		return
	}
	w.words = append(w.words, said)
	w.changed.Broadcast()
}

func (m *machine) signal(s syscall.Signal) { _ = m.cmd.Process.Signal(s) }

func (m *machine) kill() {
	m.signal(syscall.SIGKILL)
	<-m.ended
}

// wait waits until something is so, for a minute.
func (w *takeovers) wait(so func() bool) bool {
	late := time.AfterFunc(time.Minute, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.changed.Broadcast()
	})
	defer late.Stop()
	began := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !so() {
		if time.Since(began) >= time.Minute {
			return false
		}
		w.changed.Wait()
	}
	return true
}

// ready waits for a machine whose bot trades, and for the others to be candidates.
func (w *takeovers) ready() (holder *machine, others []*machine, is bool) {
	is = w.wait(func() bool {
		holder, others = nil, nil
		for _, m := range w.machines {
			switch {
			case m.holder != "":
				holder = m
			case m.waits:
				others = append(others, m)
			}
		}
		return holder != nil && w.traded(holder.holder) && len(others) == len(w.machines)-1
	})
	return holder, others, is
}

// traded reports whether something of a holder was executed.
func (w *takeovers) traded(holder string) bool {
	for i := len(w.executed) - 1; i >= 0; i-- {
		if w.senders[w.executed[i].Request] == holder {
			return true
		}
	}
	return false
}

// firstOrder waits for the first order since a time: of another holder, or of any.
func (w *takeovers) firstOrder(since time.Time, not string) (after time.Duration, is bool) {
	is = w.wait(func() bool {
		for i := len(w.executed) - 1; i >= 0 && w.executed[i].At.After(since); i-- {
			if w.senders[w.executed[i].Request] != not {
				after = w.executed[i].At.Sub(since)
			}
		}
		return after > 0
	})
	return after, is
}
