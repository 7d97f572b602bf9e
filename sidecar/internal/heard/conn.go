package heard

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Conn is a connection of a [Listener].
type Conn struct {
	net.Conn
	listener *Listener
	kind     kind

	mu      sync.Mutex
	answers []*Answer // that are not known to be heard
	idle    bool      // between an answer and the next request
	early   bool      // something had come when the last of an answer was written
	failed  bool      // a read or a write did, or the peer left something unread
	reading int       // reads under way: what the kernel said once, one of them may have
	ended   bool      // the peer has closed its half
	shut    bool      // this half is closed
	closed  bool
	arrived time.Time // when the request came to this machine
	fresh   bool      // nothing of the next request was read
	first   bool      // the request is the connection's first
	begun   bool
}

// kind is what the system can say of a connection.
type kind uint8

const (
	distant kind = iota // nothing
	nearUnix
	nearTCP
)

type contextKey struct{}

// Context is for [http.Server.ConnContext].
func Context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// From returns the connection of a request's context; nil for a connection of another listener.
func From(ctx context.Context) *Conn {
	c, _ := ctx.Value(contextKey{}).(*Conn)
	return c
}

// State is for [http.Server.ConnState].
func State(conn net.Conn, state http.ConnState) {
	c, ok := conn.(*Conn)
	if !ok || state != http.StateIdle {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end()
	c.idle, c.fresh = true, true
}

// Presence is whether the one who asked still waits.
type Presence uint8

// The presences.
const (
	// Here: the peer's end of the connection is open.
	Here Presence = iota
	// Unsure: the peer sends nothing more. It has closed this half alone and waits, or it has left.
	Unsure
	// Gone: nobody can hear the answer.
	Gone
)

// Present reports whether the peer is still there.
func (c *Conn) Present() Presence {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed || c.closed {
		return Gone
	}
	return c.present()
}

// Ended reports whether the peer was seen to close its half of the connection.
func (c *Conn) Ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Age is how long ago the request that is being served came to this machine: at the most, where the
// system does not say it. It is longer than the program knew of it when the program did not run.
func (c *Conn) Age() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listener.now().Sub(c.arrived)
}

// First reports whether the request that is being served is the connection's first.
func (c *Conn) First() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first
}

// Read implements [net.Conn].
func (c *Conn) Read(b []byte) (int, error) {
	c.mu.Lock()
	c.reading++
	c.mu.Unlock()
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	c.reading--
	var tell []func()
	if n > 0 {
		if c.idle && !c.early {
			tell = c.hear() // a further request
		}
		c.idle = false
		if c.fresh {
			c.fresh, c.first, c.begun = false, !c.begun, true
			now := c.listener.now()
			c.arrived = now.Add(-c.age(now))
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		c.ended = true
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, net.ErrClosed):
		c.failed = true
	}
	c.mu.Unlock()
	call(tell)
	return n, err
}

// Write implements [net.Conn].
func (c *Conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.early = c.pending()
	c.mu.Unlock()
	n, err := c.Conn.Write(b)
	if err != nil {
		c.mu.Lock()
		c.failed = true
		c.mu.Unlock()
	}
	return n, err
}

// lingers is how long a connection that the server closes waits for its peer to have read.
const lingers = 2 * time.Second

// Close implements [net.Conn]. If it is not known yet whether the last answer was heard, the
// connection stays open a moment longer, until that is known.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return net.ErrClosed
	}
	c.closed = true
	c.end()
	var tell []func()
	wait := false
	if len(c.answers) > 0 && c.kind != distant {
		switch s := c.look(); {
		case s == lost, s == unknown:
		case s == delivered && c.ended:
			tell = c.hear() // the peer has left, and nothing is unread
		default:
			wait = true
		}
	}
	c.mu.Unlock()
	call(tell)
	if wait && c.listener.linger(c) {
		return nil
	}
	c.settle(nil)
	return c.Conn.Close()
}

// linger closes this half of the connection, and waits for the peer to close its own, or to leave
// something unread. A read deadline that was set before is its end.
func (c *Conn) linger(stop <-chan struct{}) {
	defer func() { _ = c.Conn.Close() }()
	end := time.Now().Add(lingers)
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		c.mu.Lock()
		c.shut = true
		c.mu.Unlock()
	}
	b := make([]byte, 512)
	for !c.over() {
		if _, err := c.Read(b); err != nil {
			break
		}
	}
	for c.settle(nil) == underway && time.Now().Before(end) {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// over reports whether there is nothing left to find out.
func (c *Conn) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended || c.failed || len(c.answers) == 0
}

// seen is what a look at a connection shows of all that was written to it.
type seen uint8

const (
	unknown   seen = iota // the system does not say
	underway              // something is on its way to the peer
	delivered             // the peer has all of it, and is there or has left with nothing unread
	lost                  // the peer has left before
)
