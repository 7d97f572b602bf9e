package trading

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

// newBody returns room for a request's body; nearly all fit.
func newBody() []byte { return make([]byte, 0, 256) }

// sentBody is the one encoded body on its way through one attempt, and what tells
// whether any of the request may have left. A request that has no connection
// cannot have.
//
// net/http tells by a trace when it has one. Any other transport is told from its
// asking for the body, without which nothing can be executed. That would do for
// net/http too, but a body that is not plainly in memory it sends apart from its
// header: two packets an order.
//
// The request has no GetBody beside it, so that net/http cannot send it again by
// itself.
type sentBody struct {
	body   []byte
	traced bool
	bare   bool // a write without a body
	// began is set before the first byte can leave.
	began atomic.Bool
	rest  []byte // still to be read
}

func (c *call) newSentBody(traced bool) *sentBody {
	return &sentBody{body: c.body, rest: c.body, traced: traced, bare: c.endpoint.write && c.body == nil}
}

// trace returns the context of the attempt's request.
func (b *sentBody) trace(ctx context.Context) context.Context {
	if !b.traced {
		return ctx
	}
	var stop context.CancelCauseFunc
	if b.bare {
		ctx, stop = context.WithCancelCause(ctx)
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			// A request without a body net/http sends again by itself over HTTP/2, on
			// the word of whatever is in front that it did not arrive.
			if b.bare && b.began.Load() && speaksHTTP2(info.Conn) {
				stop(errSentAgain)
				return
			}
			if fitToWrite(info) {
				b.began.Store(true)
			}
		},
	})
}

// load gives the body to the attempt's request. Each attempt has a reader of its
// own: net/http may still hold the one before.
func (b *sentBody) load(req *http.Request) {
	switch {
	case b.body == nil:
		req.Body = http.NoBody
		return
	case b.traced:
		req.Body = io.NopCloser(bytes.NewReader(b.body))
	default:
		req.Body = b
	}
	req.ContentLength = int64(len(b.body))
}

// Read hands out the body.
func (b *sentBody) Read(p []byte) (int, error) {
	b.began.Store(true)
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close does nothing: nothing is held.
func (b *sentBody) Close() error { return nil }

// mayHaveLeft reports whether a send that failed can have reached the service.
// Without a trace and without a body it is taken to have, unless no connection came
// about.
func (b *sentBody) mayHaveLeft(err error) bool {
	if b.traced || b.body != nil {
		return b.began.Load()
	}
	var op *net.OpError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	return !(errors.As(err, &op) && op.Op == "dial") && !errors.As(err, &dns) && !errors.As(err, &certificate)
}
