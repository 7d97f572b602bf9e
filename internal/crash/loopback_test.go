package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// A sample of the real processes has a real network and real time beside its real
// disk and real death, as the control of the others. The service's clock stands
// still while a bot lives, since its world waits for a socket then.

// controlFaults are those that need no time of the service's to come about.
var controlFaults = []fault{
	faultless,
	{name: "request lost", fault: tradingsim.DropRequest()},
	{name: "reply lost", fault: tradingsim.DropResponse()},
	{name: "reply cut short", fault: tradingsim.TruncateResponse()},
	{name: "works for 10m", fault: tradingsim.Delay(10 * time.Minute)},
	{name: "500 before", fault: tradingsim.Fail(500, "internal_error")},
	{name: "500 after", fault: tradingsim.FailAfter(500, "internal_error"), worked: true},
	{name: "died after", fault: tradingsim.CrashAfter()},
	{name: "arrives 1m late", fault: tradingsim.ArriveLate(time.Minute)},
	{name: "a page after", fault: tradingsim.GatewayErrorAfter(502)},
}

// newControl makes the schedule of a seed for a bot in real time: without what would
// take it minutes, or would have to happen while it lives.
func newControl(seed uint64) schedule {
	r := rand.New(rand.NewPCG(seed, 0x6b696c6c))
	s := newSchedule(seed)
	s.family = control
	s.tries, s.fences, s.reads = []fault{pickFault(r, controlFaults)}, nil, nil
	s.lifetime = pick(r, 0, 3*time.Second)
	s.kill2 = pick(r, 0, 0, 1+r.IntN(34))
	s.baseline = readBefore
	s.lag, s.latency, s.denied, s.clockBack = 0, 0, 0, 0
	s.owner, s.ownerAt, s.second, s.resolve, s.beside = none, none, none, none, none
	return s
}

// Over a real network it comes to the same as over the simulated one.
func TestSIGKILLOverLoopback(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGKILL")
	}
	if *oneSeed != 0 {
		t.Skip("a schedule in virtual time was asked for")
	}
	seeds := uint64(24)
	if *full {
		seeds = 96
	}
	t.Parallel()
	var (
		mu       sync.Mutex
		table    = newTable()
		players  sync.WaitGroup
		together = make(chan struct{}, 24) // they sleep most of the time
	)
	for seed := range seeds {
		s := newControl(seed + 1)
		players.Go(func() {
			together <- struct{}{}
			defer func() { <-together }()
			t.Run("", func(t *testing.T) {
				dir, killAt := t.TempDir(), s.killAt(t)
				w := bubble(t, s, killAt, func(w *world) { w.inChildren(dir) })
				w.otherwise = bubble(t, s, killAt, func(*world) {}).end != w.end
				for _, p := range w.problems {
					t.Errorf("seed %d: %s\n%s%s", seed+1, p, s, strings.Join(w.steps, "\n"))
				}
				mu.Lock()
				defer mu.Unlock()
				table.add(w)
			})
		})
	}
	players.Wait()
	t.Log(table)
	if n := len(table.otherwise); n > int(seeds/4) { // a machine may be too slow for an attempt's time
		t.Errorf("%d of %d came to something else than without a network", n, seeds)
	}
}

// loopback is the world of a bot in real time, with a network between.
type loopback struct {
	*remote
	network http.RoundTripper
}

// newLoopback reaches an address whatever the host that is asked for, in the clear.
func newLoopback(r *remote, address string) loopback {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	return loopback{r, &http.Transport{DialContext: dial, DialTLSContext: dial}}
}

func (l loopback) carry(what string, req *http.Request) (*http.Response, error) {
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { l.step("sending " + what) },
	})
	resp, err := l.network.RoundTrip(req.WithContext(ctx))
	l.step("after " + what)
	return resp, err
}

// serve lets the service listen for as long as a child lives.
func (c *parent) serve() (address string, stop func(), err error) {
	if c.world.family != control {
		return "", func() {}, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
	c.running.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, err)
		}
	})
	return listener.Addr().String(), func() { _ = server.Close() }, nil
}

// ServeHTTP lets the service answer, and hears what it is asked.
func (c *parent) ServeHTTP(to http.ResponseWriter, req *http.Request) {
	c.running.Add(1)
	defer c.running.Done()
	out := &sent{path: req.URL.Path, key: req.Header.Get("Idempotency-Key"), at: time.Now()}
	defer c.world.sentOut(out)
	req.Body = &overheard{ReadCloser: req.Body, sent: out, sending: func() {}}
	c.world.sim.ServeHTTP(to, req)
}

// catchUp moves the world's time to that of a child, and lets everything happen
// that is to happen until then.
func (c *parent) catchUp(at time.Time) {
	if c.world.family != control {
		time.Sleep(time.Until(at.Add(c.behind)))
		synctest.Wait()
	}
}
