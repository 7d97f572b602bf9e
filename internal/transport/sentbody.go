package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

var errSentAgain = errors.New("the connection wants the write again, which may have arrived")

// sentBody is the one encoded body on its way through one attempt. It records
// whether any of the request may have left. A request that has no connection
// cannot have.
//
// net/http reports the connection to a trace. Any other transport shows it by
// asking for the body, without which nothing can be executed. That would do for
// net/http too, but a body that is not plainly in memory it sends apart from its
// header: two packets an order.
//
// The request has no GetBody beside it, so that net/http cannot send it again by
// itself.
type sentBody struct {
	body []byte
	gate Gate
	stop context.CancelFunc // ends the attempt
	// began is set before the first byte can leave, refused once none can.
	began   atomic.Bool
	bare    bool // a write without a body
	unfit   bool // it was given a kept connection that it may not be written to
	http2   bool // its connection carries other requests too
	refused atomic.Pointer[error]
	// sentAgain: net/http wanted to send once more what may have arrived.
	sentAgain bool
	read      int // of it
	conn      net.Conn
	of        *RoundTrip // nil for what is sent on its caller's goroutine
	watch     watch
	traced    bool // net/http says when it has a connection

	request http.Request // that it goes with
}

// gotConn is the last moment before the first byte. To end the attempt keeps HTTP/2 from
// writing, and not HTTP/1.1: there the connection, which nobody shares, is closed.
func (b *sentBody) gotConn(info httptrace.GotConnInfo) {
	b.http2, b.conn = speaksHTTP2(info.Conn), info.Conn
	switch {
	case b.bare && b.http2 && b.began.Load():
		// A request without a body net/http sends again by itself over HTTP/2, on the
		// word of whatever is in front that it did not arrive.
		b.sentAgain = true
		b.stop()
	case !fitToWrite(info):
		b.unfit = true
	case b.mayLeave():
		b.began.Store(true)
		if b.of != nil && !b.http2 {
			b.of.takes(info.Conn)
		}
		b.watch.begin(b.gate, info.Conn, b.stop)
	case !b.http2:
		_ = info.Conn.Close()
	}
}

// wroteHeaders asks the gate once more. Over HTTP/2 the header has waited for its turn on the
// connection, and the body follows it: without that the service runs nothing. Over HTTP/1.1 the
// end of the header and the whole body have still to leave.
func (b *sentBody) wroteHeaders() {
	switch {
	case b.http2 && b.bare:
	case !b.mayLeave() && !b.http2:
		_ = b.conn.Close()
	}
}

// mayLeave asks the gate. What it refuses ends the attempt before that is said, so that
// nothing of the body leaves afterwards.
func (b *sentBody) mayLeave() bool {
	if b.gate == nil {
		return true
	}
	err := b.gate.MayLeave()
	if err != nil {
		refused := err // err itself would be on the heap for each write that leaves
		b.stop()
		b.refused.Store(&refused)
	}
	return err == nil
}

// load returns the attempt's request, with the body in it. Each attempt has its
// own of both: net/http may still hold those before.
func (b *sentBody) load(ctx context.Context, r *Outgoing) *http.Request {
	if b.traced {
		hooks := &httptrace.ClientTrace{GotConn: b.gotConn}
		if b.gate != nil {
			hooks.WroteHeaders = b.wroteHeaders
		}
		ctx = httptrace.WithClientTrace(ctx, hooks)
	}
	b.request = *(&http.Request{Method: r.Method}).WithContext(ctx)
	b.request.URL, b.request.Host, b.request.Header = r.URL, r.URL.Host, r.Header
	switch {
	case b.body == nil:
		b.request.Body = http.NoBody
		return &b.request
	case b.traced:
		b.request.Body = io.NopCloser(bytes.NewReader(b.body)) // which net/http sends in one packet with the header
	default:
		b.request.Body = b
	}
	b.request.ContentLength = int64(len(b.body))
	return &b.request
}

// Read hands out the body, if it may leave: its first byte, and its last.
func (b *sentBody) Read(p []byte) (int, error) {
	left := len(b.body) - b.read
	if !b.began.Load() || left > 0 && len(p) >= left {
		if !b.mayLeave() {
			return 0, *b.refused.Load()
		}
		b.began.Store(true)
	}
	if left == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.body[b.read:])
	b.read += n
	return n, nil
}

// Close does nothing: nothing is held.
func (b *sentBody) Close() error { return nil }

// mayHaveLeft reports whether a send that failed can have reached the service.
// Without a trace and without a body it is taken to have, unless no connection came
// about.
func (b *sentBody) mayHaveLeft(err error) bool {
	if b.refused.Load() != nil {
		return false
	}
	if b.traced || b.body != nil {
		return b.began.Load()
	}
	var op *net.OpError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	return !(errors.As(err, &op) && op.Op == "dial") && !errors.As(err, &dns) && !errors.As(err, &certificate)
}
