// Package admit bounds the connections of a listener that any program on the machine can reach.
// Those that have shown a key have a share of their own, which strangers do not fill. The oldest
// make room for further ones, and those that are idle do so first.
//
//	few := admit.New(listener, strangers, known, idle)
//	server := &http.Server{Handler: h, ConnContext: few.Context, ConnState: few.State, ReadHeaderTimeout: …}
//	err := server.Serve(few)
//
// The handler calls [Known] once it has found a request's key.
package admit

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Listener is a listener with a bounded number of connections. It never has a connection wait.
type Listener struct {
	net.Listener
	strangers, known int
	patience         time.Duration

	mu   sync.Mutex
	open map[net.Conn]*guest
	all  [2]list.List // of *guest, strangers and known, the longest idle first
}

// guest is a connection.
type guest struct {
	at    *Listener
	conn  net.Conn
	known bool
	busy  bool // a request of it is being served
	place *list.Element
	idle  *time.Timer // ends a stranger
}

// New bounds a listener to so many strangers, and so many that have shown a key. patience is how
// long a stranger may be idle between two requests, and how long the body of one may take. A
// server's ReadHeaderTimeout bounds the rest.
func New(l net.Listener, strangers, known int, patience time.Duration) *Listener {
	return &Listener{Listener: l, strangers: strangers, known: known, patience: patience, open: map[net.Conn]*guest{}}
}

func (g *guest) list() *list.List {
	if g.known {
		return &g.at.all[1]
	}
	return &g.at.all[0]
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	var leaves net.Conn
	if strangers := &l.all[0]; strangers.Len() >= l.strangers {
		leaves = l.drop(longest(strangers, true))
	}
	g := &guest{at: l, conn: c}
	g.place = g.list().PushBack(g)
	l.open[c] = g
	l.mu.Unlock()
	end(leaves)
	return c, nil
}

// longest returns who is idle for the longest, and if nobody is and it may be busy, who is there for
// the longest.
func longest(all *list.List, mayBeBusy bool) *guest {
	for e := all.Front(); e != nil; e = e.Next() {
		if g := e.Value.(*guest); !g.busy {
			return g
		}
	}
	if mayBeBusy && all.Len() > 0 {
		return all.Front().Value.(*guest)
	}
	return nil
}

// drop forgets a connection, and returns it to be closed without the lock, which is held.
func (l *Listener) drop(g *guest) net.Conn {
	if g == nil {
		return nil
	}
	if g.idle != nil {
		g.idle.Stop()
	}
	g.list().Remove(g.place)
	delete(l.open, g.conn)
	return g.conn
}

func end(c net.Conn) {
	if c != nil {
		_ = c.Close() // nobody is to hear of it
	}
}

// contextKey finds the guest of a request.
type contextKey struct{}

// Context is for [http.Server.ConnContext].
func (l *Listener) Context(ctx context.Context, c net.Conn) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return context.WithValue(ctx, contextKey{}, l.open[c])
}

// Known notes that a request's connection has shown a key. While all of the known ones are busy it
// stays a stranger.
func Known(ctx context.Context) {
	g, _ := ctx.Value(contextKey{}).(*guest)
	if g == nil {
		return // of another listener
	}
	l := g.at
	l.mu.Lock()
	_ = g.conn.SetReadDeadline(time.Time{}) // one that fails is closed
	var leaves net.Conn
	full := l.all[1].Len() >= l.known
	if l.open[g.conn] == g && !g.known {
		if full {
			if other := longest(&l.all[1], false); other != nil {
				leaves, full = l.drop(other), false
			}
		}
		if !full {
			g.list().Remove(g.place)
			g.known = true
			g.place = g.list().PushBack(g)
		}
	}
	l.mu.Unlock()
	end(leaves)
}

// State is for [http.Server.ConnState].
func (l *Listener) State(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.open[c]
	if g == nil {
		return
	}
	switch state {
	case http.StateActive:
		g.busy = true
		if !g.known {
			_ = c.SetReadDeadline(time.Now().Add(l.patience)) // the body of a stranger is read by nobody
		}
	case http.StateIdle:
		g.busy = false
		g.list().MoveToBack(g.place)
		if !g.known {
			l.expire(g)
		}
	case http.StateClosed, http.StateHijacked:
		l.drop(g)
	case http.StateNew:
	}
}

// expire ends a stranger that stays idle. The lock is held.
func (l *Listener) expire(g *guest) {
	if g.idle != nil {
		g.idle.Reset(l.patience)
		return
	}
	g.idle = time.AfterFunc(l.patience, func() {
		l.mu.Lock()
		var leaves net.Conn
		if l.open[g.conn] == g && !g.known && !g.busy {
			leaves = l.drop(g)
		}
		l.mu.Unlock()
		end(leaves)
	})
}
