package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// A stopped program is a real process that gets SIGSTOP, and SIGCONT when its write is older
// than it may be sent: both its clocks have gone on meanwhile. It connects by the client's own
// transport, over TLS.

// moment is where a program is stopped: of itself, or by the service that it talks to.
type moment string

const (
	inGuard      moment = "the guard is asked"
	beforeRecord moment = "before the journal has the write"
	afterRecord  moment = "after the journal has the write"
	connecting   moment = "in the handshake of the write's connection"
	arrived      moment = "the write is at the service, before the work"
	carriedOut   moment = "the write is carried out, before the answer leaves"
	wheneverItIs moment = "at any moment"
)

var moments = []moment{inGuard, beforeRecord, afterRecord, connecting, arrived, carriedOut, wheneverItIs}

// unsent reports whether nothing of the write has left by then.
func (m moment) unsent() bool { return slices.Index(moments, m) <= slices.Index(moments, connecting) }

// stopFor is longer than the write may be sent, and than an attempt.
const stopFor = 1500 * time.Millisecond

// word is what a child says of its write.
type word struct {
	Outcome trading.Outcome
	Intent  trading.IntentID
	Key     trading.Key
	Err     string
}

// What a child says beside it: that it begins, that it is about to stop, and to send.
const (
	saysLives = "lives"
	saysStop  = "stops"
	saysSend  = "sends"
	saysWords = "told "
)

// liveStopped is the life of a child that is stopped.
func liveStopped(t *testing.T, o orders) {
	store, err := journal.Open(o.Journal)
	require.NoError(t, err)
	p := &stopper{at: o.StopAt}
	client, err := trading.New(o.Address, trading.WithLiveKey(o.Live), trading.WithJournal(&stoppedLog{store, p}),
		trading.WithExclusiveAccounts(), trading.WithAttemptTimeout(time.Second),
		trading.WithGuard(func(context.Context, trading.Write) error {
			p.comes(inGuard)
			fmt.Println(saysSend)
			_, err := os.Stdin.Read(make([]byte, 1)) // once it is known
			return err
		}))
	require.NoError(t, err)
	fmt.Println(saysLives)
	if o.Recovers {
		_, _ = client.Recover(t.Context())
		return
	}
	s := newReal(o.Seed)
	var meta trading.Meta
	err = send(t.Context(), client.Live.Account(account), s.endpoint(), s.part(),
		trading.WithSendTTL(s.ttl), trading.WithResolveTimeout(0), trading.ResponseInto(&meta))
	told := word{Outcome: trading.OutcomeOf(err), Key: meta.Key, Err: fmt.Sprint(err)}
	if write := (*trading.WriteError)(nil); errors.As(err, &write) {
		told.Intent = write.Intent
	}
	text, err := json.Marshal(told)
	require.NoError(t, err)
	fmt.Println(saysWords + string(text))
}

// stopper stops its own process, once.
type stopper struct {
	at   moment
	once sync.Once
}

func (s *stopper) comes(at moment) {
	if at == s.at {
		s.once.Do(func() {
			fmt.Println(saysStop)
			began := time.Now()
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			for time.Since(began) < stopFor/2 { // until the signal has come, on whichever thread
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// stoppedLog is a journal of a program that stops.
type stoppedLog struct {
	*journal.Log
	stopper *stopper
}

// Append implements [journal.Store].
func (l *stoppedLog) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	writes := slices.ContainsFunc(records, func(r journal.Record) bool { return kindOf(r.Data) == "a beginning" })
	if writes {
		l.stopper.comes(beforeRecord)
	}
	err := l.Log.Append(ctx, durable, records...)
	if writes {
		l.stopper.comes(afterRecord)
	}
	return err
}

// front is the service as it stops those who talk to it.
type front struct {
	world  *world
	server *httptest.Server
	roots  string // the file with the certificate that its clients trust

	mu      sync.Mutex
	child   int    // its process; 0: none
	at      moment // "" when that has been
	path    string // of the requests that it is about
	sending bool
	stopped int           // so often
	goesOn  chan struct{} // closed when the child goes on
}

// serve puts a service in front of a world's simulation, each of whose connections carries one
// request, or all of them by HTTP/2.
func serve(t *testing.T, w *world, http2 bool) *front {
	f := &front{world: w}
	f.server = httptest.NewUnstartedServer(f)
	f.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.server.EnableHTTP2 = http2
	f.server.Config.SetKeepAlivesEnabled(http2)
	f.server.Listener = frontListener{f.server.Listener, f}
	f.server.StartTLS()
	f.roots = filepath.Join(w.dir, "roots.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.server.Certificate().Raw})
	assert.NoError(t, os.WriteFile(f.roots, cert, 0o600))
	w.url = f.server.URL + "/v1"
	return f
}

// stop stops the child if this is the moment, and returns what is closed when it goes on.
func (f *front) stop(at moment) (goesOn <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.child == 0 || f.at != at || at == connecting && !f.sending {
		return nil
	}
	f.at = ""
	f.stopLocked()
	return f.goesOn
}

func (f *front) stopLocked() {
	_ = syscall.Kill(f.child, syscall.SIGSTOP)
	f.sleepsLocked()
}

// sleepsLocked lets the child go on after its time, which begins when it is stopped: on a busy machine
// that takes a while, and nothing that waits for it may go on before.
func (f *front) sleepsLocked() {
	child, goesOn := f.child, make(chan struct{})
	for runs(child) {
		time.Sleep(time.Millisecond)
	}
	f.stopped++
	f.goesOn = goesOn
	time.AfterFunc(stopFor, func() { f.wake(child, goesOn) })
}

var running = regexp.MustCompile(`\) [RSD] `)

// runs reports whether a process lives, and is not stopped.
func runs(process int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	return err == nil && running.Match(stat)
}

// wake lets a child go on that lives still.
func (f *front) wake(child int, goesOn chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.child == child {
		_ = syscall.Kill(child, syscall.SIGCONT)
	}
	close(goesOn)
}

// ServeHTTP implements [http.Handler].
func (f *front) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || shortPath(r.URL.Path) != f.path {
		f.world.sim.ServeHTTP(rw, r)
		return
	}
	if goesOn := f.stop(arrived); goesOn != nil {
		<-goesOn
	}
	f.world.sim.ServeHTTP(&lateWriter{ResponseWriter: rw, leaves: func() { f.stop(carriedOut) }}, r)
}

// lateWriter calls leaves before the first byte of an answer.
type lateWriter struct {
	http.ResponseWriter
	leaves func()
	once   sync.Once
}

// Unwrap is for what the simulation does to connections.
func (w *lateWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *lateWriter) WriteHeader(status int) {
	w.once.Do(w.leaves)
	w.ResponseWriter.WriteHeader(status)
}

func (w *lateWriter) Write(p []byte) (int, error) {
	w.once.Do(w.leaves)
	return w.ResponseWriter.Write(p)
}

type frontListener struct {
	net.Listener
	front *front
}

func (l frontListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &frontConn{Conn: conn, front: l.front}, err
}

type frontConn struct {
	net.Conn
	front *front
	once  sync.Once
}

// Read stops the client in its handshake: it has said hello, and knows no answer yet.
func (c *frontConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.once.Do(func() { c.front.stop(connecting) })
	return n, err
}

// live lets a child live, and stops it at its moment; it returns what the child was told of its
// write, nil if nothing. The child is killed where it lives for longer than most.
func (f *front) live(o orders, path string, whenever, most time.Duration) (told *word, err error) {
	cmd, err := childOf(o, "SSL_CERT_FILE="+f.roots)
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.child, f.at, f.path, f.sending = cmd.Process.Pid, o.StopAt, path, o.Recovers
	f.mu.Unlock()
	defer time.AfterFunc(most, func() { _ = cmd.Process.Kill() }).Stop()
	stops := time.AfterFunc(time.Hour, func() { f.stop(wheneverItIs) })
	defer stops.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		f.mu.Lock()
		switch line := lines.Text(); {
		case line == saysLives:
			stops.Reset(whenever)
		case line == saysStop:
			f.sleepsLocked()
		case line == saysSend:
			f.sending = true
			_, _ = in.Write([]byte("\n")) // where it has died, nobody waits
		case strings.HasPrefix(line, saysWords):
			told = &word{}
			err = json.Unmarshal([]byte(line[len(saysWords):]), told)
		}
		f.mu.Unlock()
	}
	failed := cmd.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.child = 0
	f.world.note("recovers %t, stops %s: %v %v", o.Recovers, o.StopAt, told, failed)
	return told, err
}

// TestSIGSTOP stops real programs for longer than their write may be sent, before and after its
// first byte, and while they recover.
func TestSIGSTOP(t *testing.T) {
	n := max(*many/8, 3*uint64(len(moments)))
	var group sync.WaitGroup
	together := make(chan struct{}, 16)
	var worlds []*world
	stopped := map[string]int{}
	var mu sync.Mutex
	stop := func(seed uint64, at moment, dir string) {
		w, times := stopTwice(t, newReal(seed), at, dir)
		mu.Lock()
		defer mu.Unlock()
		worlds = append(worlds, w)
		for name, k := range times {
			stopped[name] += k
		}
	}
	for i := range n {
		dir := t.TempDir()
		group.Go(func() {
			together <- struct{}{}
			defer func() { <-together }()
			stop(*from+i, moments[i%uint64(len(moments))], dir)
		})
	}
	group.Wait()
	// On a busy machine a write can be too old before it comes to a moment: then it is tried alone.
	for _, m := range moments {
		for range 10 {
			if stopped[string(m)] > 0 || m == wheneverItIs {
				break
			}
			stop(*from+n, m, t.TempDir())
			n++
		}
	}
	endings(t, worlds)
	for _, name := range slices.Sorted(maps.Keys(stopped)) {
		t.Logf("%8d  stopped: %s", stopped[name], name)
	}
	for _, m := range moments {
		if stopped[string(m)] == 0 && m != wheneverItIs {
			t.Errorf("nothing was stopped: %s", m)
		}
	}
}

// stopTwice lets a child write and a child recover, and stops each.
func stopTwice(t *testing.T, s schedule, at moment, dir string) (w *world, stopped map[string]int) {
	w = newServed(s, dir)
	r := rand.New(rand.NewPCG(s.seed, 2))
	f := serve(t, w, at != connecting && r.IntN(2) == 0)
	defer func() { f.server.CloseClientConnections(); f.server.Close() }()
	stopped = map[string]int{}
	o := orders{Seed: s.seed, Address: w.url, Journal: w.file("one"), Live: w.sim.LiveKey(), Stops: true, StopAt: at}
	write := strings.TrimPrefix(string(w.endpoint()), "POST ")
	told, err := f.live(o, write, time.Duration(r.IntN(60))*time.Millisecond, time.Minute)
	assert.NoError(t, err)
	w.look()
	if f.stopped > 0 {
		stopped[string(at)]++
	}
	w.read(t)
	if told != nil {
		w.heard(told)
	}
	if f.stopped > 0 && at.unsent() {
		w.holdUnsent(told, at)
	}
	// The one who recovers asks at once, and for its stored answer after five seconds.
	o.Recovers, o.StopAt = true, pick(r, connecting, arrived, carriedOut, wheneverItIs)
	path, most := "/orders/cancel", 3*time.Second // a fence
	if *many > 80 && r.IntN(2) == 0 {
		path, most = write, 12*time.Second
	}
	f.stopped = 0
	if _, err := f.live(o, path, time.Duration(r.IntN(1000))*time.Millisecond, most); err != nil {
		t.Error(err)
	}
	if f.stopped > 0 {
		stopped["while it recovers: "+string(o.StopAt)+", "+path]++
	}
	w.look()
	w.readAgain(t)
	return w, stopped
}

// readAgain takes what is in the journal by now, and keeps what it has forgotten since.
func (w *world) readAgain(t *testing.T) {
	before := w.order
	w.writes, w.order = map[trading.IntentID]*written{}, nil
	w.read(t)
	for _, in := range before {
		if w.writes[in.ID] == nil {
			w.writes[in.ID], w.order = in, append(w.order, in)
		}
	}
}

// heard takes in what a child was told.
func (w *world) heard(said *word) {
	w.tell(told{by: "the stopped", op: w.endpoint(), id: said.Intent, key: said.Key, outcome: said.Outcome, err: fmt.Errorf("%s", said.Err)})
}

// holdUnsent: of a write that was stopped before its first byte, until it was too old, nothing
// leaves.
func (w *world) holdUnsent(told *word, at moment) {
	for _, e := range w.sim.Ledger() {
		if e.Actor == "api" {
			w.problem("stopped %s for %s, and %s ran", at, stopFor, e.Operation)
		}
	}
	if told == nil || told.Outcome != trading.NotApplied {
		w.problem("stopped %s for %s, and it was told %v", at, stopFor, told)
	}
}
