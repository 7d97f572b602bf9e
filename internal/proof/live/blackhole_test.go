package live

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

// blackhole passes connections on to a service. Those that are there when it opens swallow
// whatever is sent over them from then on: nothing comes back, and no error.
type blackhole struct {
	net.Listener
	service string

	mu   sync.Mutex
	open []*passing
}

// passing is one connection.
type passing struct {
	near, far net.Conn
	mu        sync.Mutex
	dead      bool
}

func (b *blackhole) serve() {
	for {
		near, err := b.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", b.service)
		if err != nil {
			_ = near.Close()
			continue
		}
		p := &passing{near: near, far: far}
		b.mu.Lock()
		b.open = append(b.open, p)
		b.mu.Unlock()
		go p.pass(near, far)
		go p.pass(far, near)
	}
}

// pass copies one direction, until the connection is dead: then it only reads.
func (p *passing) pass(from io.Reader, to io.WriteCloser) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		dead := p.dead
		p.mu.Unlock()
		if err != nil {
			return
		}
		if dead {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// swallow opens the hole.
func (b *blackhole) swallow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.open {
		p.mu.Lock()
		p.dead = true
		p.mu.Unlock()
	}
}

func (b *blackhole) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.open {
		_ = p.near.Close()
		_ = p.far.Close()
	}
	return b.Listener.Close()
}

// D 12, end to end: a client with nothing but its defaults, in a process of its own, whose
// connection swallows what is sent. The exit on it is out over another one after the five seconds
// of its attempt, and the next at once.
func TestEdge12_AnExitOverAConnectionThatSwallows(t *testing.T) {
	if url := os.Getenv("TRADING_BLACKHOLE"); url != "" {
		exitsThrough(t, url)
		return
	}
	if testing.Short() {
		t.Skip("takes an attempt's five seconds")
	}
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			sim := tradingsim.New()
			sim.Trade(string(rig.Acc), "long", "1", "BTC")
			server := httptest.NewUnstartedServer(sim)
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.EnableHTTP2 = protocol == "HTTP/2"
			server.StartTLS()
			defer server.Close()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			hole := &blackhole{Listener: listener, service: server.Listener.Addr().String()}
			defer func() { _ = hole.Close() }()
			go hole.serve()

			bot := exec.Command(os.Args[0], "-test.run", "^TestEdge12_AnExitOverAConnectionThatSwallows$")
			bot.Env = append(os.Environ(), "TRADING_BLACKHOLE=https://"+listener.Addr().String()+"/v1",
				"TRADING_BLACKHOLE_KEY="+sim.LiveKey(), "SSL_CERT_FILE="+certificate(t, server.Certificate()))
			if protocol == "HTTP/1.1" {
				bot.Env = append(bot.Env, "GODEBUG=http2client=0")
			}
			bot.Stderr = os.Stderr
			says, err := bot.StdoutPipe()
			require.NoError(t, err)
			hears, err := bot.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, bot.Start())
			var took []string
			for lines := bufio.NewScanner(says); lines.Scan(); {
				switch word, rest, _ := strings.Cut(lines.Text(), " "); word {
				case "ready":
					hole.swallow()
					_, _ = fmt.Fprintln(hears, "go")
				case "exit":
					took = append(took, rest)
				}
			}
			require.NoError(t, bot.Wait())
			require.Len(t, took, 2)
			t.Log(took)
			// An attempt and a new connection, with room for a machine that is busy.
			for i, most := range []time.Duration{8 * time.Second, 2 * time.Second} {
				d, err := time.ParseDuration(took[i])
				require.NoError(t, err)
				assert.Less(t, d, most)
			}
			assert.Equal(t, 2, rig.Ran(sim, string(trading.OpClose)))
		})
	}
}

// certificate writes a file that a process can trust.
func certificate(t *testing.T, c *x509.Certificate) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trusted.pem")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}), 0o600))
	return path
}

// exitsThrough is the bot: it reads, and closes twice once it is told to.
func exitsThrough(t *testing.T, url string) {
	t.Helper()
	client, err := trading.New(url, trading.WithLiveKey(os.Getenv("TRADING_BLACKHOLE_KEY")))
	require.NoError(t, err)
	defer rig.CloseClient(t, client)
	account := client.Live.Account(rig.Acc)
	_, err = account.Positions(t.Context())
	require.NoError(t, err)
	fmt.Println("ready")
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	require.NoError(t, err)
	for range 2 {
		began := time.Now()
		_, err := account.ClosePosition(t.Context(), "BTC", trading.Percent(rig.Dec("50")))
		require.NoError(t, err)
		fmt.Println("exit", time.Since(began))
	}
}
