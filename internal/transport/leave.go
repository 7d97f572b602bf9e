package transport

import (
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// Leaser is a [Gate] that lets bytes leave until a moment which may move on. At that moment the
// connection of an attempt under way is closed, and what of the request is still here with it: a
// kernel would go on sending it, for minutes after a network comes back.
type Leaser interface {
	Gate
	// LeaveBy is the moment; the zero time for none.
	LeaveBy() time.Time
}

// watch closes a connection when the bytes of an attempt may leave no longer.
type watch struct {
	mu    sync.Mutex
	timer *time.Timer
	over  bool
}

// begin watches over an attempt's connection; stop ends the attempt.
func (w *watch) begin(gate Gate, conn net.Conn, stop func()) {
	leaser, ok := gate.(Leaser)
	if !ok || leaser.LeaveBy().IsZero() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop() // of another connection, to which nothing was written
	}
	if w.over {
		return
	}
	dropsUnsent(conn)
	w.timer = time.AfterFunc(time.Until(leaser.LeaveBy()), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.over {
			return
		}
		if left := time.Until(leaser.LeaveBy()); left > 0 {
			w.timer.Reset(left)
			return
		}
		abort(conn)
		stop()
	})
}

// end is called when the attempt has ended.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// abort closes a connection, with all that was written to it and has not left.
func abort(conn net.Conn) {
	dropsUnsent(conn)
	_ = conn.Close()
}

// dropsUnsent has a connection, whoever closes it, be closed with what was written to it and has not left:
// a caller that leaves closes it before the moment, and so does the end of the process.
func dropsUnsent(conn net.Conn) {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	inner := conn
	if pooled, ok := conn.(*pooledConn); ok {
		inner = pooled.Conn
	}
	if tcp, ok := inner.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}
