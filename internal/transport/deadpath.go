package transport

import (
	"sync"
	"time"
)

// A path can die without a word: packets are dropped, or something in between acknowledges them for
// a service that is gone. The kernel notices the first, for what was written. HTTP/2 notices both,
// by pings.

const (
	// deadAfter is how long nothing is acknowledged until the kernel gives a connection up, how long
	// nothing comes over an HTTP/2 connection until it is pinged, and how long that may take until
	// no other request goes over it.
	deadAfter = 1500 * time.Millisecond
	// closedAfter is how long nothing comes over an HTTP/2 connection until it is closed, with what
	// is under way over it: a service that stalls for some seconds still answers that.
	closedAfter = 10 * time.Second
)

// multiplexed are the HTTP/2 connections of a pool.
type multiplexed struct {
	mu    sync.Mutex
	conns map[*pooledConn]bool
}

func (s *multiplexed) add(c *pooledConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		s.conns = map[*pooledConn]bool{}
	}
	s.conns[c] = true
}

func (s *multiplexed) remove(c *pooledConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// dead reports whether one of them has missed a ping.
func (s *multiplexed) dead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if c.unanswered.missedPing(time.Since(c.began)) {
			return true
		}
	}
	return false
}

// unanswered is for how long nothing has come over a connection, and for how long something that was
// written waits for an answer.
type unanswered struct {
	mu    sync.Mutex
	heard time.Duration // when something last came
	asked time.Duration // when something was first written after that
	asks  bool
}

func (u *unanswered) wrote(now time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.asks {
		u.asks, u.asked = true, now
	}
}

func (u *unanswered) read(now time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asks, u.heard = false, now
}

// missedPing reports whether a ping went unanswered: it is written when nothing has come for
// deadAfter, and has as long again.
func (u *unanswered) missedPing(now time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asks && now-u.asked >= deadAfter && now-u.heard >= 2*deadAfter
}
