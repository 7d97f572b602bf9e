package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"syscall"
	"time"
)

// dialer returns how a pool connects, of whose HTTP/2 connections is known which are dead.
func dialer(of *multiplexed) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second, Control: boundPath}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return newPooledConn(conn, of), nil
	}
}

// pooledConn is a connection that knows whether all that came has been read.
//
// A proxy that answers a request twice leaves the second answer on a connection
// that net/http may already have handed to another request, which gets it for its
// own: an order is said to be placed by the answer to another. HTTP/1.1 does not
// number its answers. So a request is written only where nothing is left
// unread; what came unasked ends the connection. A second answer that comes later
// than that looks like the right one; HTTP/2 numbers its streams.
type pooledConn struct {
	net.Conn
	reader reader

	began      time.Time
	unanswered unanswered
	of         *multiplexed

	mu      sync.Mutex
	changed sync.Cond
	waiting bool // a Read is under way and has been given nothing
	closed  bool
}

// reader reads for a pooledConn. On Unix no byte is ever between the kernel and what the connection
// knows: it is taken and noted under one lock. Elsewhere what has come and not been read is not seen
// before net/http's reader has it, and conn is all that a reader has.
type reader struct {
	conn *pooledConn
	raw  syscall.RawConn
	take func(fd uintptr) bool
	peek func(fd uintptr)

	// Of the one Read and of the one look that are under way.
	p    []byte
	n    int
	err  error
	left bool
}

func newPooledConn(conn net.Conn, of *multiplexed) *pooledConn {
	c := &pooledConn{Conn: conn, began: time.Now(), of: of}
	c.changed.L = &c.mu
	c.reader.init(c)
	return c
}

// Read reads, and notes that its caller waits.
func (c *pooledConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	c.waiting = true
	c.changed.Broadcast()
	c.mu.Unlock()
	n, err := c.reader.read(p)
	if n > 0 {
		c.unanswered.read(time.Since(c.began))
	}
	return n, err
}

// Write writes, and notes that an answer is due.
func (c *pooledConn) Write(p []byte) (int, error) {
	c.unanswered.wrote(time.Since(c.began))
	return c.Conn.Write(p)
}

// Close closes the connection before it wakes those that wait: they find nothing
// that could be written to.
func (c *pooledConn) Close() error {
	err := c.Conn.Close()
	c.of.remove(c)
	c.mu.Lock()
	c.closed = true
	c.changed.Broadcast()
	c.mu.Unlock()
	return err
}

// quiet reports whether nothing is unread, and closes the connection otherwise. It
// waits until net/http's reader waits for more, which that does, or closes, as
// soon as it has given the connection away.
func (c *pooledConn) quiet() bool {
	c.mu.Lock()
	for !c.waiting && !c.closed {
		c.changed.Wait()
	}
	closed, unread := c.closed, !c.closed && c.reader.unread()
	c.mu.Unlock() // which the reader may need to let go
	if unread {
		_ = c.Close()
	}
	return !closed && !unread
}

// fitToWrite reports whether a request may be written to the connection that
// net/http has chosen for it. If not, that one is closed and nothing can leave.
func fitToWrite(info httptrace.GotConnInfo) bool {
	conn := info.Conn
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	pooled, ok := conn.(*pooledConn)
	switch {
	case !ok:
		return true
	case speaksHTTP2(info.Conn):
		pooled.of.add(pooled)
		return true
	default:
		return !info.Reused || pooled.quiet()
	}
}

func speaksHTTP2(conn net.Conn) bool {
	secured, ok := conn.(*tls.Conn)
	return ok && secured.ConnectionState().NegotiatedProtocol == "h2"
}
