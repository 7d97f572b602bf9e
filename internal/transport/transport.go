package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Transport is the connections of one client.
type Transport struct {
	given  http.RoundTripper // by the program; nil for the client's own connections
	traced bool              // it says when a request has a connection

	workers workers // that carry out its attempts

	mu      sync.Mutex
	pool    *http.Transport   // of the next attempt; nil where the program's is not net/http's
	retired []*http.Transport // that let an attempt time out, the last of them; none is the program's
	shared  *multiplexed      // of the pool's connections those of HTTP/2; nil for the program's
	stale   bool              // an attempt timed out over the program's, which cannot be retired
}

// New returns a transport over rt, or over connections of its own if rt is nil.
func New(rt http.RoundTripper) *Transport {
	t := &Transport{given: rt}
	if rt == nil {
		t.own(NewPool())
	} else {
		t.pool, _ = rt.(*http.Transport)
	}
	t.traced = t.pool != nil
	return t
}

// own makes a pool the next attempt's, with HTTP/2 connections of its own.
func (t *Transport) own(pool *http.Transport) {
	t.pool, t.shared = pool, &multiplexed{}
	t.pool.DialContext = dialer(t.shared)
}

// Close ends the client's own idle connections and its workers; a busy one ends once it is idle.
func (t *Transport) Close() {
	t.workers.close()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pool != nil && t.pool != t.given {
		t.pool.CloseIdleConnections()
	}
	for _, old := range t.retired {
		old.CloseIdleConnections()
	}
}

// Listens reports whether an attempt can go on when nobody waits for it: over connections of which
// there are as many as it takes.
func (t *Transport) Listens() bool {
	given, own := t.given.(*http.Transport)
	return t.given == nil || own && given.MaxConnsPerHost == 0
}

// current is what the next attempt goes through.
func (t *Transport) current() http.RoundTripper {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shared != nil && t.shared.dead() {
		t.renew()
	}
	through := t.given
	if t.pool != nil {
		through = t.pool
	}
	if idle, ok := through.(interface{ CloseIdleConnections() }); ok && t.stale {
		idle.CloseIdleConnections() // among them the one that the attempt has left by now
	}
	t.stale = false
	return through
}

// leavesWithin is longer than a goroutine of net/http takes to leave a stream, unless the machine is overloaded.
const leavesWithin = 20 * time.Millisecond

// mostRetired bounds the pools that are kept to be closed. What is still busy in an older one
// ends by itself.
const mostRetired = 16

// retire has later attempts go over connections of their own, since one of these let an attempt
// time out: what swallows one connection swallows its neighbours. What is under way there goes
// on. A transport of the program's goes on where it is not net/http's, or where it bounds its
// connections, which a second one would exceed: there the next attempt closes those that are idle.
func (t *Transport) retire(through http.RoundTripper) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch old := t.pool; {
	case old == nil, old == t.given && old.MaxConnsPerHost > 0:
		t.stale = true
	case through != old: // done already
	default:
		t.renew()
	}
}

// renew has later attempts go over a pool of their own. What is under way goes on.
func (t *Transport) renew() {
	old := t.pool
	if old != t.given {
		t.retired = append(t.retired[max(len(t.retired)+1-mostRetired, 0):], old)
		old.CloseIdleConnections()
	}
	if t.pool = old.Clone(); t.shared != nil {
		t.own(t.pool)
	}
}

// leaveIdle closes the idle connections of a pool that is used no more.
func (t *Transport) leaveIdle(through http.RoundTripper) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, ok := through.(*http.Transport); ok && old != t.pool && through != t.given {
		old.CloseIdleConnections()
	}
}

// longEnough is how long an attempt has to last until its end by a deadline of its caller's
// speaks against the connection.
const longEnough = time.Second

// NewPool returns net/http's transport with room for a burst: its own two idle
// connections a host make every third call of a busy bot dial.
func NewPool() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer(&multiplexed{}),
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    128,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    5 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		// An order and its answer fit either, with their headers, and a connection has
		// one of each; a long list goes past them. net/http's own are twice as large.
		// A connection that swallows what is sent is found out while nothing waits for it.
		HTTP2:           &http.HTTP2Config{SendPingTimeout: deadAfter, PingTimeout: closedAfter - deadAfter, WriteByteTimeout: writeWithin},
		WriteBufferSize: 2 << 10,
		ReadBufferSize:  2 << 10,
	}
}

// writeWithin is how long nothing can be written to an HTTP/2 connection until it is closed.
const writeWithin = 5 * time.Second

// Outgoing is what one attempt sends. Nothing of it is changed.
type Outgoing struct {
	Method string
	URL    *url.URL
	Header http.Header
	// Body is the body; nil without one.
	Body []byte
	// Write means that it must not be sent twice.
	Write bool
	// Alone means that nothing else uses its connection, where that can be: see [Transport.Listens].
	Alone bool
	// MaxBody is the largest answer that can be right, MaxError the largest refusal.
	MaxBody, MaxError int
	// Timeout bounds the attempt, from connecting to the last byte of the answer; 0 leaves
	// that to the context.
	Timeout time.Duration
	// Gate judges a write; nil for none.
	Gate Gate
}

// Gate says whether a write may still leave. It is asked when there is a connection, right
// before the first byte: whatever took its time has happened by then. It may be asked more
// than once, and by another goroutine. What it refuses has not left, and fails with its
// error.
//
// For a transport that is not net/http's it is asked before that begins, and where it first
// reads the body.
type Gate interface{ MayLeave() error }

// Exchanged is how one attempt ended.
type Exchanged struct {
	// Sent is when it began, Received when it ended.
	Sent, Received time.Time
	// Status is the HTTP status; 0 without an answer.
	Status int
	Header http.Header
	// Body is the whole body; what it holds belongs to the caller.
	Body []byte
	// Err is why there is no answer.
	Err error
	// TooLarge means that the body is larger than any right one, and is not here.
	TooLarge bool
	// Written means that any of the request may have left.
	Written bool
}

// ErrTimeout is the cause of an attempt that took too long.
var ErrTimeout = fmt.Errorf("the attempt timed out: %w", context.DeadlineExceeded)

// Send sends the request once. It returns after the whole answer, a broken
// connection, or the end of ctx. A kept connection to which nothing could be
// written is replaced by another.
func (t *Transport) Send(ctx context.Context, r *Outgoing) Exchanged {
	a := Exchanged{Sent: time.Now()}
	var stop context.CancelFunc
	if r.Timeout > 0 {
		ctx, stop = context.WithTimeoutCause(ctx, r.Timeout, ErrTimeout)
	} else {
		ctx, stop = context.WithCancel(ctx)
	}
	defer stop()
	if r.Alone && t.Listens() {
		pool := t.alone()
		defer pool.CloseIdleConnections()
		t = New(pool)
	}
	for t.exchange(ctx, stop, r, &a, nil) { // as often as there are kept connections
	}
	return a
}

// alone is the pool of one attempt whose connection nothing else uses.
func (t *Transport) alone() *http.Transport {
	pool := t.current().(*http.Transport).Clone()
	pool.DisableKeepAlives = true
	return pool
}

// exchange sends the request over one connection and reads the whole answer. It asks
// for another connection if nothing could be written to this one.
func (t *Transport) exchange(ctx context.Context, stop context.CancelFunc, r *Outgoing, a *Exchanged, of *RoundTrip) (another bool) {
	body := &sentBody{body: r.Body, bare: r.Write && r.Body == nil, gate: r.Gate, stop: stop, of: of, traced: t.traced}
	if r.Gate != nil {
		defer body.watch.end()
	}
	sent := body.load(ctx, r)
	through := t.current()
	if of != nil {
		of.goes(through)
	}
	var resp *http.Response
	var err error
	if t.traced || body.mayLeave() { // a transport of the program's reads no body where there is none
		resp, err = through.RoundTrip(sent) //nolint:bodyclose // readAll closes it
	} else {
		err = *body.refused.Load()
	}
	if of != nil {
		of.takes(nil)
	}
	if err == nil {
		limit := r.MaxBody
		if resp.StatusCode >= 300 && r.MaxError > 0 {
			limit = min(limit, r.MaxError)
		}
		a.Status, a.Header = resp.StatusCode, resp.Header
		a.Body, a.TooLarge, err = readAll(resp, limit)
	}
	a.Received, a.Err = time.Now(), nil
	if err != nil {
		a.Status, a.Header, a.Body = 0, nil, nil
		a.Err = body.causeOf(ctx, err)
		a.Written = body.mayHaveLeft(err)
		if a.Written && overdue(a.Err, a.Sent) {
			t.retire(through)
			if _, closes := t.given.(interface{ CloseIdleConnections() }); closes {
				time.Sleep(leavesWithin) // until then an HTTP/2 connection is not idle, and the next attempt closes none
			}
		}
		// One that was kept and is closed now is the connection's fault alone. net/http takes another by itself
		// only for what has no body.
		return body.unfit && !body.began.Load() && ctx.Err() == nil
	}
	a.Written = true
	return false
}

// readAll reads the whole body, or reports that it is too large to be right. The
// buffer is the caller's to keep.
func readAll(resp *http.Response, limit int) (body []byte, tooLarge bool, err error) {
	defer resp.Body.Close()
	if resp.ContentLength > int64(limit) {
		return nil, true, nil
	}
	if resp.ContentLength >= 0 {
		body = make([]byte, resp.ContentLength)
		n, err := io.ReadFull(resp.Body, body)
		return body[:n], false, err
	}
	body, err = io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if len(body) > limit {
		return body[:limit], true, nil
	}
	return body, false, err
}

// causeOf names why an attempt ended instead of net/http's idea of it.
func (b *sentBody) causeOf(ctx context.Context, err error) error {
	switch refused := b.refused.Load(); {
	case refused != nil:
		return *refused
	case b.sentAgain:
		return errSentAgain
	case ctx.Err() == nil:
		return err
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return cause
	}
	return err
}
