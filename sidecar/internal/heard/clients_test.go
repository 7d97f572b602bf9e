package heard

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var calls = flag.Int("heard.calls", 0, "calls of each client whose answer comes as it times out (default 12, or 4 with -short)")

// timeout is the clients'. Their answers come up to spread before or after it.
const (
	timeout = 60 * time.Millisecond
	spread  = 8 * time.Millisecond
)

// client sends a request, and says whether it heard the answer.
type client func(number int) bool

// program runs a client of another language.
func program(t *testing.T, name string, args ...string) client {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...) // which the end of its input ends
	cmd.Env = append(os.Environ(), "no_proxy=*")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		assert.NoError(t, in.Close())
		assert.NoError(t, cmd.Wait())
	})
	lines := bufio.NewReader(out)
	return func(number int) bool {
		_, err := fmt.Fprintln(in, number, timeout.Seconds())
		require.NoError(t, err)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		var got int
		var says string
		_, err = fmt.Sscan(line, &got, &says)
		require.NoError(t, err, line)
		require.Equal(t, number, got)
		return says == "heard"
	}
}

func curl(t *testing.T, l *Listener) client {
	args := []string{"-q", "--silent", "--fail", "--noproxy", "*", "--data", "{}", "--max-time", fmt.Sprint(timeout.Seconds())}
	base := "http://x"
	if l.kind == nearUnix {
		args = append(args, "--unix-socket", l.Addr().String())
	} else {
		base = "http://" + l.Addr().String()
	}
	return func(number int) bool {
		return exec.CommandContext(t.Context(), "curl", append(args, fmt.Sprint(base, "/", number))...).Run() == nil
	}
}

func goClient(t *testing.T, l *Listener) client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, l.Addr().Network(), l.Addr().String())
	}}
	t.Cleanup(transport.CloseIdleConnections)
	c := http.Client{Transport: transport, Timeout: timeout}
	return func(number int) bool {
		a, err := c.Post(fmt.Sprint("http://x/", number), "application/json", strings.NewReader("{}"))
		if err != nil {
			return false
		}
		defer func() { _ = a.Body.Close() }()
		text, err := io.ReadAll(a.Body)
		return err == nil && len(text) > 0
	}
}

// late answers each request about when its client times out.
func (r *rig) late(t *testing.T) (answerTo func(number int) *Answer) {
	var mu sync.Mutex
	answers := map[string]*Answer{}
	ended := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case q := <-r.asked:
				mu.Lock()
				answers[q.path] = q.answer
				mu.Unlock()
				time.AfterFunc(timeout-spread+rand.N(2*spread), func() { close(q.release) })
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended })
	return func(number int) *Answer {
		mu.Lock()
		defer mu.Unlock()
		return answers[fmt.Sprint("/", number)]
	}
}

// Clients of four languages time out as their answer comes. What they say that they heard is what
// is found out, at the moment when they could ask again.
func TestClientsThatTimeOut(t *testing.T) {
	each := *calls
	if each == 0 {
		each = map[bool]int{true: 4, false: 12}[testing.Short()]
	}
	makes := map[string]struct {
		needs []string
		tcp   bool // alone
		make  func(t *testing.T, l *Listener) client
	}{
		"go":                           {nil, false, goClient},
		"curl":                         {[]string{"curl", "--version"}, false, curl},
		"python":                       {[]string{"python3", "--version"}, false, script("python3", "testdata/client.py", "plain")},
		"python, requests, session":    {[]string{"python3", "-c", "import requests"}, true, script("python3", "testdata/client.py", "session")},
		"python, requests, no session": {[]string{"python3", "-c", "import requests"}, true, script("python3", "testdata/client.py", "once")},
		"node":                         {[]string{"node", "--version"}, false, script("node", "testdata/client.mjs", "plain")},
		"node, fetch":                  {[]string{"node", "--version"}, true, script("node", "testdata/client.mjs", "fetch")},
	}
	for name, c := range makes {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time a client waits
			if len(c.needs) > 0 && exec.CommandContext(t.Context(), c.needs[0], c.needs[1:]...).Run() != nil {
				t.Skipf("NOT TESTED: %q does not run on this machine", c.needs)
			}
			forEach(t, func(t *testing.T, r *rig) {
				if c.tcp && r.listener.kind == nearUnix {
					t.Skip("this client has no Unix sockets")
				}
				table(t, r, c.make(t, r.listener), each)
			})
		})
	}
}

func script(name string, args ...string) func(*testing.T, *Listener) client {
	return func(t *testing.T, l *Listener) client {
		return program(t, name, append(args[:len(args):len(args)], l.Addr().String())...)
	}
}

// table counts what a client says, and what is found out.
func table(t *testing.T, r *rig, ask client, n int) {
	r.body = `{"success":true,"fill":"` + strings.Repeat("x", rand.N(3000)) + `"}`
	answerTo := r.late(t)
	var counts [2][2]int
	for i := range n {
		says := ask(i)
		a := answerTo(i)
		if a == nil {
			assert.False(t, says)
			continue // it never came
		}
		found := a.Heard()
		counts[index(says)][index(found)]++
	}
	t.Logf("%s: it says heard: %d found heard, %d not; it says not: %d found heard, %d not", t.Name(),
		counts[1][1], counts[1][0], counts[0][1], counts[0][0])
	assert.Zero(t, counts[1][0], "it heard, and is not believed")
	// An answer that the program has taken, and that it gives up as its time ends, cannot be told
	// from one that it goes by: clients that read on a thread of their own have a moment for that.
	assert.LessOrEqual(t, counts[0][1], 1+n/50, "it did not hear, and is believed to have")
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}
