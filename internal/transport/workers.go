package transport

import (
	"sync"
	"time"
)

// workers carry out attempts, each one at a time. Who has carried one out waits a while for the next, since a
// new goroutine would first grow its stack, step by step, to what net/http takes.
type workers struct {
	mu     sync.Mutex
	idle   []chan *RoundTrip // one of each worker that waits, the newest last
	fewest int               // of them, since the last look
	looks  *time.Timer       // for who is not needed; nil while nobody waits
	closed bool
}

// neededFor is how long a worker waits, at least; it waits for twice as long at the most.
const neededFor = time.Second

// carryOut has a worker carry out an attempt.
func (w *workers) carryOut(a *RoundTrip) {
	w.mu.Lock()
	last := len(w.idle) - 1
	if last < 0 {
		w.mu.Unlock()
		go w.work(a)
		return
	}
	next := w.idle[last]
	w.idle, w.fewest = w.idle[:last], min(w.fewest, last)
	w.mu.Unlock()
	next <- a
}

func (w *workers) work(a *RoundTrip) {
	for next := make(chan *RoundTrip, 1); a != nil; a = <-next {
		a.run()
		waits := w.waits(next)
		close(a.over) // whose caller may need the worker at once
		if !waits {
			return
		}
	}
}

// waits notes a worker that is about to wait, unless nobody is to wait any more.
func (w *workers) waits(next chan *RoundTrip) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.idle = append(w.idle, next)
	if w.looks == nil {
		w.fewest, w.looks = 0, time.AfterFunc(neededFor, w.look)
	}
	return true
}

// look ends as many workers as have not been needed since the last look.
func (w *workers) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.end(w.fewest)
	if w.fewest = len(w.idle); w.fewest == 0 {
		w.looks = nil
		return
	}
	w.looks.Reset(neededFor)
}

// end ends so many workers, those that have waited for longest.
func (w *workers) end(n int) {
	for _, next := range w.idle[:n] {
		close(next)
	}
	w.idle = append(w.idle[:0:0], w.idle[n:]...)
}

// close ends the workers, each once it has carried out its attempt.
func (w *workers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.end(len(w.idle))
	if w.looks != nil {
		w.looks.Stop()
	}
}
