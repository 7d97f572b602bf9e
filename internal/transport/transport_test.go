package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/faultproxy"
)

const (
	largest     = 100 // body that can be right
	largestFail = 20
)

// service answers every request with ok, over a proxy that can fail.
func service(t *testing.T) *faultproxy.Proxy {
	t.Helper()
	return faultproxy.Start(t, http.HandlerFunc(ok))
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

func transport(t *testing.T) *Transport {
	t.Helper()
	tr := New(nil)
	t.Cleanup(tr.Close)
	return tr
}

// write is an order, or a write without a body if that is empty.
func write(to, body string) *Outgoing {
	at, err := url.Parse(to + "/orders")
	if err != nil {
		panic(err)
	}
	r := &Outgoing{Method: http.MethodPost, URL: at, Header: http.Header{"X-Key": {"k"}}, Write: true, MaxBody: largest, MaxError: largestFail}
	if body != "" {
		r.Body = []byte(body)
	}
	return r
}

// An answer is the whole body, or that it is larger than any right one, or an error.
func TestAnswers(t *testing.T) {
	head := func(status, rest string) string { return "HTTP/1.1 " + status + "\r\n" + rest + "\r\n\r\n" }
	sized := func(status string, n int) string {
		return head(status, fmt.Sprint("Content-Length: ", n)) + strings.Repeat("x", n)
	}
	chunked := func(status string, n int) string {
		return head(status, "Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n", n) + strings.Repeat("x", n) + "\r\n0\r\n\r\n"
	}
	for _, row := range []struct {
		name, says string
		status     int
		size       int
		tooLarge   bool
		fails      error
		unlimited  bool // a refusal may be as large as any answer
	}{
		{name: "a body", says: sized("200 OK", 2), status: 200, size: 2},
		{name: "none", says: head("204 No Content", ""), status: 204},
		{name: "the largest", says: sized("200 OK", largest), status: 200, size: largest},
		{name: "larger", says: sized("200 OK", largest+1), status: 200, tooLarge: true},
		{name: "in chunks", says: chunked("200 OK", 2), status: 200, size: 2},
		{name: "the largest in chunks", says: chunked("200 OK", largest), status: 200, size: largest},
		{name: "larger in chunks", says: chunked("200 OK", largest+1), status: 200, size: largest, tooLarge: true},
		{name: "a redirect is not followed", says: head("307 Temporary Redirect", "Location: /elsewhere\r\nContent-Length: 0"), status: 307},
		{name: "the largest refusal", says: sized("400 Bad Request", largestFail), status: 400, size: largestFail},
		{name: "a larger refusal", says: sized("300 Multiple Choices", largestFail+1), status: 300, tooLarge: true},
		{name: "the same without a limit of its own", says: sized("300 Multiple Choices", largestFail+1), status: 300, size: largestFail + 1, unlimited: true},
		{name: "a success as large", says: sized("299 OK", largestFail+1), status: 299, size: largestFail + 1},
		{name: "a part", says: head("200 OK", "Content-Length: 3") + "xx", fails: io.ErrUnexpectedEOF},
		{name: "a part in chunks", says: head("200 OK", "Transfer-Encoding: chunked") + "5\r\nxx", fails: io.ErrUnexpectedEOF},
		{name: "nothing", fails: io.EOF},
	} {
		t.Run(row.name, func(t *testing.T) {
			proxy := service(t)
			proxy.Next("POST /orders", func(x *faultproxy.Exchange) {
				x.Say(row.says)
				_ = x.Close()
			})
			r := write(proxy.URL(), "{}")
			if row.unlimited {
				r.MaxError = 0
			}
			began := time.Now()
			a := transport(t).Send(t.Context(), r)
			assert.Equal(t, row.status, a.Status)
			assert.Len(t, a.Body, row.size)
			assert.Equal(t, row.tooLarge, a.TooLarge)
			assert.True(t, a.Written)
			require.ErrorIs(t, a.Err, row.fails)
			assert.Equal(t, row.fails == nil, a.Header != nil)
			assert.Len(t, proxy.Requests(), 1)
			assert.Equal(t, "{}", proxy.Requests()[0].Body)
			assert.Equal(t, "k", proxy.Requests()[0].Header.Get("X-Key"))
			assert.False(t, a.Sent.Before(began))
			assert.False(t, a.Received.Before(a.Sent))
		})
	}
}

// A request that ended without an answer says why, and whether any of it may have left.
func TestRequestsWithoutAnAnswer(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	nowhere := "http://" + closed.Addr().String()
	for _, row := range []struct {
		name    string
		to      string // a service that ends the context, by why, when the request has arrived
		why     error
		before  bool // the context has ended before
		written bool
	}{
		{name: "nobody listens", to: nowhere},
		{name: "no such host", to: "http://[::1%25none]:1"},
		{name: "its time is over", why: ErrTimeout, written: true},
		{name: "its caller has left", why: context.Canceled, written: true},
		{name: "its caller has left before", why: context.Canceled, before: true},
		{name: "its time is over before", why: ErrTimeout, before: true},
	} {
		for _, body := range []string{"{}", ""} {
			t.Run(row.name+" "+body, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if row.before {
					cancel(row.why)
				}
				to := row.to
				if to == "" {
					proxy := service(t)
					proxy.Rest(func(x *faultproxy.Exchange) {
						cancel(row.why)
						x.Hold()
					})
					to = proxy.URL()
				}
				a := transport(t).Send(ctx, write(to, body))
				assert.Equal(t, row.written, a.Written)
				require.Error(t, a.Err)
				if row.why != nil {
					require.ErrorIs(t, a.Err, row.why)
				}
				assert.Zero(t, a.Status)
				assert.Nil(t, a.Body)
			})
		}
	}
}

// A connection is kept for the next request, and Close ends it.
func TestConnectionsAreKept(t *testing.T) {
	proxy := service(t)
	conns := connectionsOf(proxy)
	tr := transport(t)
	for range 3 {
		require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "{}")).Err)
	}
	assert.Equal(t, 1, conns())
	alone := write(proxy.URL(), "{}")
	alone.Alone = true
	a := tr.Send(t.Context(), alone)
	require.NoError(t, a.Err)
	assert.Equal(t, "ok", string(a.Body))
	assert.Equal(t, 2, conns(), "a connection of its own")
	require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "{}")).Err)
	assert.Equal(t, 2, conns(), "which is not kept")
	tr.Close()
	require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "{}")).Err)
	assert.Equal(t, 3, conns())
}

// What goes alone has a connection of its own over a transport of the program's too, unless that bounds its
// connections.
func TestAloneOverATransportOfTheProgram(t *testing.T) {
	for bound, want := range map[int]int{0: 2, 1: 1} {
		t.Run(fmt.Sprint(bound), func(t *testing.T) {
			proxy := service(t)
			conns := connectionsOf(proxy)
			given := &http.Transport{MaxConnsPerHost: bound}
			defer given.CloseIdleConnections()
			tr := New(given)
			defer tr.Close()
			alone := write(proxy.URL(), "{}")
			alone.Alone = true
			for _, r := range []*Outgoing{write(proxy.URL(), "{}"), alone, write(proxy.URL(), "{}")} {
				require.NoError(t, tr.Send(t.Context(), r).Err)
			}
			assert.Equal(t, want, conns())
		})
	}
}

// A second pool would be beside a bound of the program's: what swallows there is closed once it is idle.
func TestNoSecondPoolBesideABound(t *testing.T) {
	for bound, renewed := range map[int]bool{0: true, 4: false} {
		given := &http.Transport{MaxConnsPerHost: bound}
		tr := New(given)
		tr.retire(given)
		assert.Equal(t, renewed, tr.pool != given, bound)
		assert.Equal(t, !renewed, tr.stale, bound)
		tr.Close()
	}
}

// connectionsOf counts the connections that a proxy has had.
func connectionsOf(proxy *faultproxy.Proxy) func() int {
	remotes := make(map[string]bool)
	proxy.Rest(func(x *faultproxy.Exchange) {
		remotes[x.RemoteAddr().String()] = true
		faultproxy.Pass(x)
	})
	return func() int { return len(remotes) }
}

// What came unasked ends a kept connection, and nothing is written to it: the request goes
// over another, as often as there are kept ones, also through TLS.
func TestAKeptConnectionThatIsUnfit(t *testing.T) {
	log.SetOutput(io.Discard) // net/http tells of what came unasked
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	for _, secure := range []bool{false, true} {
		for name, ends := range map[string]func(*faultproxy.Exchange){
			"it was closed":   func(x *faultproxy.Exchange) { _ = x.Close() },
			"something came":  func(x *faultproxy.Exchange) { x.Say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong") },
			"the end is sent": func(x *faultproxy.Exchange) { _ = x.CloseWrite() },
		} {
			t.Run(name, func(t *testing.T) {
				tr := transport(t)
				proxy := service(t)
				if secure {
					proxy, tr.pool.TLSClientConfig = secureService(t)
				}
				done := make(chan struct{})
				proxy.Next("POST /orders", func(x *faultproxy.Exchange) {
					faultproxy.Pass(x)
					ends(x)
					close(done)
				})
				require.NoError(t, tr.Send(t.Context(), write(proxy.URL(), "first")).Err)
				<-done
				a := tr.Send(t.Context(), write(proxy.URL(), "second"))
				require.NoError(t, a.Err)
				assert.Equal(t, "ok", string(a.Body))
				assert.Len(t, proxy.Requests(), 2)
			})
		}
	}
}

// secureService is service over TLS, and what trusts it.
func secureService(t *testing.T) (*faultproxy.Proxy, *tls.Config) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	t.Cleanup(server.Close)
	trust := server.Client().Transport.(*http.Transport).TLSClientConfig
	return faultproxy.StartTLS(t, http.HandlerFunc(ok), &tls.Config{Certificates: server.TLS.Certificates}), &tls.Config{RootCAs: trust.RootCAs}
}

// Something in front that takes a write back over HTTP/2, and may have handed it on: one
// without a body net/http would send again by itself.
func TestAWriteIsNotSentAgain(t *testing.T) {
	for _, body := range []string{"", "{}"} {
		for name, answer := range map[string]func(faultproxy.Frame) faultproxy.Frame{
			"its stream was refused": func(f faultproxy.Frame) faultproxy.Frame {
				return faultproxy.Code(f.Stream, faultproxy.CodeRefusedStream)
			},
			"it came after the end": func(faultproxy.Frame) faultproxy.Frame { return faultproxy.GoAway(0, faultproxy.CodeNo) },
		} {
			t.Run(name+" "+body, func(t *testing.T) {
				arrived := 0
				service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					arrived++
					ok(w, r)
				})
				proxy, trust := faultproxy.StartHTTP2(t, service, faultproxy.OnceCarriedOut(func(_ *faultproxy.Frames, header faultproxy.Frame) []faultproxy.Frame {
					return []faultproxy.Frame{answer(header)}
				}))
				tr := transport(t)
				tr.pool.TLSClientConfig = trust
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				a := tr.Send(ctx, write(proxy.URL(), body))
				require.Error(t, a.Err)
				assert.True(t, a.Written)
				assert.Equal(t, 1, arrived)
				if body == "" {
					require.ErrorIs(t, a.Err, errSentAgain)
				}
			})
		}
	}
}

// trip is a transport that the program gave.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A transport that the program gave shows what may have left by reading the body. Without a
// body anything may have, unless no connection came about.
func TestATransportOfTheProgram(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		name, body string
		reads      bool
		err        error
		written    bool
	}{
		{name: "it asked for no body", body: "{}", err: broken},
		{name: "it read the body", body: "{}", reads: true, err: broken, written: true},
		{name: "no body", err: broken, written: true},
		{name: "no connection", err: &net.OpError{Op: "dial", Err: broken}},
		{name: "a connection that broke", err: &net.OpError{Op: "read", Err: broken}, written: true},
		{name: "no such host", err: &net.DNSError{}},
		{name: "nobody to trust", err: &tls.CertificateVerificationError{Err: broken}},
		{name: "an answer", body: "{}", reads: true, written: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			tr := New(trip(func(r *http.Request) (*http.Response, error) {
				if row.reads {
					sent, err := io.ReadAll(r.Body)
					require.NoError(t, err)
					assert.Equal(t, row.body, string(sent))
				}
				assert.Equal(t, int64(len(row.body)), r.ContentLength)
				require.NoError(t, r.Body.Close())
				if row.err != nil {
					return nil, row.err
				}
				return &http.Response{StatusCode: 200, ContentLength: 2, Body: io.NopCloser(strings.NewReader("ok"))}, nil
			}))
			defer tr.Close()
			for _, alone := range []bool{false, true} {
				r := write("http://here", row.body)
				r.Alone = alone
				a := tr.Send(t.Context(), r)
				assert.Equal(t, row.written, a.Written)
				require.ErrorIs(t, a.Err, row.err)
			}
		})
	}
}
