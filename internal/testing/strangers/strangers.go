// Package strangers connects to a listener as any program on the machine can: many times, without a
// key or with a wrong one, with half a request, slowly. It shows that each of these is bounded, and
// that who has a key is served beside all of them.
package strangers

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Listener is what is connected to.
type Listener struct {
	Address string
	Path    string // which needs a key
	Wrong   string // a header with a wrong key
	Most    int    // how many strangers it has at once
	// Asks is the request of somebody who has a key, and Want its status.
	Asks func() (*http.Request, error)
	Want int
}

// many is how many connections a stranger opens: more than a process may have files, by default.
const many = 1024

// Run runs the table.
func Run(t *testing.T, l Listener) {
	head := func(method, more string) string {
		return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%s", method, l.Path, l.Address, more)
	}
	t.Run("who has shown a key stays", func(t *testing.T) {
		client := l.client(t)
		l.serves(t, client)
		connect(t, l.Address, "")
		assert.True(t, l.serves(t, client), "over the same connection")
	})
	for _, row := range []struct{ name, sends, then string }{
		{"nothing", "", ""},
		{"half a request", head("POST", "")[:20], ""},
		{"slow bytes", head("POST", "X: "), "x"},
		{"no key, and stays", head("GET", "\r\n"), ""},
		{"a wrong key, and stays", head("GET", l.Wrong+"\r\n\r\n"), ""},
		{"a body that does not come", head("POST", "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"), ""},
		{"a slow body under a wrong key", head("POST", l.Wrong+"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"), "{"},
		{"an answer that is not read", head("GET", "\r\n") + head("GET", "\r\n") + head("GET", "\r\n"), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			open := connect(t, l.Address, row.sends)
			if row.then != "" {
				for range 3 {
					for _, c := range open {
						_, _ = io.WriteString(c, row.then) // it may be closed
					}
				}
			}
			l.serves(t, l.client(t))
			assert.Eventually(t, func() bool { return alive(open) <= l.Most }, 20*time.Second, time.Millisecond, "they are bounded")
		})
	}
}

// client has connections of its own.
func (l Listener) client(t *testing.T) *http.Client {
	client := &http.Client{Transport: new(http.Transport), Timeout: 20 * time.Second}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// serves wants somebody with a key to be served, and reports whether over a connection that was open before.
func (l Listener) serves(t *testing.T, client *http.Client) (again bool) {
	request, err := l.Asks()
	require.NoError(t, err)
	trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { again = got.Reused }}
	answer, err := client.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), trace)))
	if !assert.NoError(t, err, "who has a key") {
		return false
	}
	_, err = io.Copy(io.Discard, answer.Body)
	assert.NoError(t, errors.Join(err, answer.Body.Close()))
	assert.Equal(t, l.Want, answer.StatusCode)
	return again
}

func connect(t *testing.T, address, sends string) (open []net.Conn) {
	for range many {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_, _ = io.WriteString(c, sends) // it may be closed
		open = append(open, c)
	}
	return open
}

// alive counts the connections whose other end is open.
func alive(all []net.Conn) (n int) {
	for _, c := range all {
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond)) // what has been closed says so at once
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			n++
		}
	}
	return n
}
