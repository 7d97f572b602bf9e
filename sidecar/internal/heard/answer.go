package heard

import (
	"slices"
	"sync"
	"time"
)

// Answer is the answer to one request of a connection.
type Answer struct {
	conn    *Conn
	over    chan struct{} // closed when the server has written all that it will write
	onHeard func()

	// Guarded by the connection's lock.
	whole, ended, heard bool
}

// Answer begins the answer to the request that is being served. A handler calls it once, at its
// start.
func (c *Conn) Answer() *Answer {
	a := &Answer{conn: c, over: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = append(c.answers, a)
	return a
}

// Writing notes that the handler writes the whole answer now, and returns. Before that it is not
// heard.
func (a *Answer) Writing() {
	a.conn.mu.Lock()
	defer a.conn.mu.Unlock()
	a.whole = true
}

// OnHeard sets what is called once, on any goroutine, when the answer is known to be heard: by a
// further request, by the end of the connection, or by [Answer.Heard]. It must not block.
func (a *Answer) OnHeard(f func()) {
	a.conn.mu.Lock()
	heard := a.heard
	a.onHeard = f
	a.conn.mu.Unlock()
	if heard {
		f()
	}
}

// How long Heard waits: for a server that is about to end an answer, and for a peer's kernel that
// holds an acknowledgement back, which it does for 40 ms as a rule.
const (
	endsWithin = 100 * time.Millisecond
	acksWithin = 80 * time.Millisecond
)

// Heard reports whether the one who asked has heard the answer, as far as it can be known now.
// Once true, it stays so.
func (a *Answer) Heard() bool {
	if !a.wait() {
		return false
	}
	for end := time.Now().Add(acksWithin); ; time.Sleep(2 * time.Millisecond) {
		s := a.conn.settle(a)
		if s != underway || !time.Now().Before(end) {
			return s == delivered
		}
	}
}

// wait waits for the end of an answer that is being written, and reports whether it is whole.
func (a *Answer) wait() bool {
	a.conn.mu.Lock()
	whole := a.whole
	a.conn.mu.Unlock()
	if !whole {
		return false
	}
	timer := time.NewTimer(endsWithin)
	defer timer.Stop()
	select {
	case <-a.over:
		return true
	case <-timer.C:
		return false
	}
}

// settle looks at the connection for an answer that has ended; nil for all of them.
func (c *Conn) settle(a *Answer) (s seen) {
	c.mu.Lock()
	if a != nil && a.heard {
		c.mu.Unlock()
		return delivered
	}
	var tell []func()
	if s = c.look(); s == delivered {
		tell = c.hear()
	}
	c.mu.Unlock()
	call(tell)
	return s
}

// end notes that the server writes nothing more of the answers that were begun.
func (c *Conn) end() {
	c.answers = slices.DeleteFunc(c.answers, func(a *Answer) bool {
		if !a.ended {
			a.ended = true
			close(a.over)
		}
		return !a.whole
	})
}

// hear notes that all answers that ended were heard, and returns whom to call without the lock.
func (c *Conn) hear() (tell []func()) {
	c.answers = slices.DeleteFunc(c.answers, func(a *Answer) bool {
		if !a.ended || !a.whole {
			return false
		}
		a.heard = true
		if a.onHeard != nil {
			tell = append(tell, a.onHeard)
		}
		return true
	})
	return tell
}

func call(all []func()) {
	for _, f := range all {
		f()
	}
}

// stalls notices when this process did not run: what came meanwhile may be as old as that.
type stalls struct {
	mu     sync.Mutex
	last   time.Time // tick
	ended  time.Time // the last stall
	length time.Duration
}

const (
	tick      = 100 * time.Millisecond
	isAStall  = 3 * tick
	backlogOf = time.Second // after a stall, for what had come meanwhile to be taken
)

// note is called at each tick.
func (s *stalls) note(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gap := now.Sub(s.last); gap > isAStall {
		s.ended, s.length = now, gap
	}
	s.last = now
}

// age is how old what comes now may be.
func (s *stalls) age(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gap := now.Sub(s.last); gap > isAStall {
		return gap
	}
	if since := now.Sub(s.ended); since < backlogOf {
		return s.length + since
	}
	return 0
}
