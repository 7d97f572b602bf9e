package sidecar

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// logged is a log that goroutines write to.
type logged struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

// hostile is a sidecar on a port, and what it says.
func hostile(t *testing.T, sim ...tradingsim.Option) (r *rig, address string, log *logged) {
	t.Helper()
	l, err := Listen("127.0.0.1:0", false)
	require.NoError(t, err)
	log = new(logged)
	address = l.Addr().String()
	r = newRig(t, sim, func(c *Config) {
		c.Hosts = []string{address}
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	served := make(chan error, 1)
	go func() { served <- r.server.Serve(l) }()
	t.Cleanup(func() { _ = r.server.Close(); assert.NoError(t, <-served) })
	return r, address, log
}

// says sends bytes, and returns the status line and all that follows; empty if the connection was
// closed without an answer.
func says(t *testing.T, address, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	_, _ = io.WriteString(c, text) // it may be refused before it is whole
	_ = c.(*net.TCPConn).CloseWrite()
	all, _ := io.ReadAll(c) // the end may be a reset
	return string(all)
}

// Requests that two readers could read in two ways, or that no bot sends, are refused, and none of
// them reaches the service.
func TestHostileRequests(t *testing.T) {
	r, address, log := hostile(t)
	order := func(first string, headers ...string) string {
		headers = append([]string{first, "X-API-Key: " + r.live}, headers...)
		return strings.Join(headers, "\r\n") + "\r\n\r\n" + buy
	}
	length := fmt.Sprintf("Content-Length: %d", len(buy))
	host := "Host: " + address
	post := "POST /v1/orders HTTP/1.1"
	for name, row := range map[string]struct {
		text   string
		status int // 0: none, or one of 400 to 505
	}{
		"another host":              {order(post, "Host: evil.example", length), 421},
		"another host, absolute":    {order("POST http://evil.example/v1/orders HTTP/1.1", host, length), 421},
		"no host":                   {order(post, length), 400},
		"two hosts":                 {order(post, host, "Host: evil.example", length), 400},
		"a page":                    {order(post, host, length, "Origin: https://evil.example", "Content-Type: text/plain"), 403},
		"a page, by its site":       {order(post, host, length, "Sec-Fetch-Site: cross-site"), 403},
		"two lengths":               {order(post, host, length, "Content-Length: 5"), 400},
		"a length that is none":     {order(post, host, "Content-Length: +"+fmt.Sprint(len(buy))), 400},
		"an encoding that is none":  {order(post, host, length, "Transfer-Encoding: xchunked"), 0},
		"two encodings":             {order(post, host, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"), 0},
		"a space before the colon":  {order(post, host, "Content-Length : "+fmt.Sprint(len(buy))), 400},
		"a zero byte in a header":   {order(post, host, length, "X: a\x00b"), 400},
		"a huge header":             {order(post, host, length, "X: "+strings.Repeat("x", 64<<10)), 431},
		"many headers":              {order(post, host, length, strings.Repeat("X: y\r\n", 20<<10)+"X: y"), 431},
		"a path of two":             {order("POST /v1/../v1/orders HTTP/1.1", host, length), 404},
		"an escaped path":           {order("POST /v1/%6frders HTTP/1.1", host, length), 404},
		"another method":            {order("CONNECT /v1/orders HTTP/1.1", host, length), 404},
		"HTTP/2":                    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0},
		"not HTTP":                  {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 0},
		"a body that is cut":        {order(post, host, "Content-Length: 2000"), 400},
		"a body that is compressed": {order(post, host, length, "Content-Encoding: gzip"), 400},
		"a body that is long":       {strings.Join([]string{post, host, "X-API-Key: " + r.live, "Content-Length: 10000000", "", strings.Repeat(" ", 10000000)}, "\r\n"), 400},
		"two idempotency keys":      {order(post, host, length, "Idempotency-Key: a", "Idempotency-Key: b"), 400},
		"a real key":                {strings.Replace(order(post, host, length), r.live, r.sim.LiveKey(), 1), 401},
		"a real key, as a bearer":   {strings.Replace(order(post, host, length), "X-API-Key: "+r.live, "Authorization: Bearer "+r.sim.LiveKey(), 1), 401},
		"two keys":                  {order(post, host, length, "X-API-Key: "+r.sim.LiveKey()), 200},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(r.sim.Ledger())
			got := says(t, address, row.text)
			status := 0
			if a, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), nil); err == nil {
				status = a.StatusCode
				_ = a.Body.Close()
			}
			switch {
			case row.status == 200: // the local one is taken, and the other thrown away
				assert.Equal(t, 200, status)
				return
			case row.status == 0:
				assert.True(t, status == 0 || status >= 400, got)
			default:
				assert.Equal(t, row.status, status, got)
			}
			assert.Len(t, r.sim.Ledger(), before)
			assert.NotContains(t, got, r.sim.LiveKey())
		})
	}
	for _, one := range r.sim.Requests() {
		assert.NotContains(t, fmt.Sprint(one.Header), r.live, "a local key opens nothing on the service")
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	for _, key := range []string{r.live, r.sim.LiveKey(), r.sim.SandboxKey()} {
		assert.NotContains(t, log.out.String(), key)
	}
}

// A bot that sends slowly, or nothing, holds up none but itself, and not for ever.
func TestSlowBots(t *testing.T) {
	r, address, _ := hostile(t)
	for _, begin := range []string{
		"", "POST /v1/orders HTTP/1.1\r\nHost: ",
		"POST /v1/orders HTTP/1.1\r\nHost: " + address + "\r\nX-API-Key: " + r.live + "\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(fmt.Sprint(len(begin)), func(t *testing.T) {
			t.Parallel()
			for range 100 {
				c, err := net.Dial("tcp", address)
				require.NoError(t, err)
				t.Cleanup(func() { _ = c.Close() })
				_, err = io.WriteString(c, begin)
				require.NoError(t, err)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/positions/close", strings.NewReader(closeBTC))
			require.NoError(t, err)
			request.Header.Set("X-API-Key", r.live)
			bot := http.Client{Transport: new(http.Transport), Timeout: 4 * time.Second}
			defer bot.CloseIdleConnections()
			a, err := bot.Do(request)
			require.NoError(t, err)
			_ = a.Body.Close()
			assert.NotEqual(t, http.StatusTooManyRequests, a.StatusCode)
			got := says(t, address, begin) // its half is closed, and it still gets its end
			assert.NotContains(t, got, "200 OK")
		})
	}
	t.Run("ends", func(t *testing.T) {
		t.Parallel()
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer c.Close()
		_, err = io.WriteString(c, "POST /v1/orders HTTP/1.1\r\nHost: "+address+"\r\nX-API-Key: "+r.live+"\r\nContent-Length: 100\r\n\r\n{")
		require.NoError(t, err)
		require.NoError(t, c.SetReadDeadline(time.Now().Add(2*bodyTime)))
		_, err = c.Read(make([]byte, 1))
		assert.NoError(t, err, "it is answered that its body cannot be read")
	})
	t.Cleanup(func() { assert.Empty(t, r.sim.Ledger()) })
}
