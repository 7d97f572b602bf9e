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
	body []byte
	bare bool // a write without a body
	// began is set before the first byte can leave.
	began atomic.Bool
	unfit bool // it was given a kept connection that it may not be written to
	read  int  // of it
	told  *httptrace.ClientTrace

	request http.Request // that it goes with
}

// tracedBody has the room for both.
type tracedBody struct {
	sentBody
	told httptrace.ClientTrace
}

func (c *call) newSentBody(traced bool) *sentBody {
	bare := c.endpoint.write && c.body == nil
	if !traced {
		return &sentBody{body: c.body, bare: bare}
	}
	b := &tracedBody{sentBody: sentBody{body: c.body, bare: bare}}
	b.sentBody.told = &b.told
	return &b.sentBody
}

// trace returns the context of the attempt's request.
func (b *sentBody) trace(ctx context.Context) context.Context {
	if b.told == nil {
		return ctx
	}
	var stop context.CancelCauseFunc
	if b.bare {
		ctx, stop = context.WithCancelCause(ctx)
	}
	b.told.GotConn = func(info httptrace.GotConnInfo) {
		// A request without a body net/http sends again by itself over HTTP/2, on
		// the word of whatever is in front that it did not arrive.
		if b.bare && b.began.Load() && speaksHTTP2(info.Conn) {
			stop(errSentAgain)
			return
		}
		b.unfit = !fitToWrite(info)
		if !b.unfit {
			b.began.Store(true)
		}
	}
	return httptrace.WithClientTrace(ctx, b.told)
}

// load returns the attempt's request, with the body in it. Each attempt has its
// own of both: net/http may still hold those before.
func (b *sentBody) load(ctx context.Context, own *attemptContext, like *http.Request) *http.Request {
	b.request = *like.WithContext(own.with(b.trace(ctx)))
	switch {
	case b.body == nil:
		b.request.Body = http.NoBody
		return &b.request
	case b.told != nil:
		b.request.Body = io.NopCloser(bytes.NewReader(b.body))
	default:
		b.request.Body = b
	}
	b.request.ContentLength = int64(len(b.body))
	return &b.request
}

// Read hands out the body.
func (b *sentBody) Read(p []byte) (int, error) {
	b.began.Store(true)
	if b.read == len(b.body) {
		return 0, io.EOF
	}
	n := copy(p, b.body[b.read:])
	b.read += n
	return n, nil
}

// Close does nothing: nothing is held.
func (b *sentBody) Close() error { return nil }

// wantsAnother reports whether the send came to nothing for the connection alone:
// one that was kept, and is closed now. net/http takes another by itself only for
// what has no body.
func (b *sentBody) wantsAnother() bool { return b.unfit && !b.began.Load() }

// mayHaveLeft reports whether a send that failed can have reached the service.
// Without a trace and without a body it is taken to have, unless no connection came
// about.
func (b *sentBody) mayHaveLeft(err error) bool {
	if b.told != nil || b.body != nil {
		return b.began.Load()
	}
	var op *net.OpError
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	return !(errors.As(err, &op) && op.Op == "dial") && !errors.As(err, &dns) && !errors.As(err, &certificate)
}
