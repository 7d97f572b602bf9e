package resolve

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed is the error of calls after a client has closed.
var ErrClosed = errors.New("trading: the client is closed")

// Life is how long a client lives: until its Close begins, which waits for what is under way.
type Life struct {
	// Closing ends when Close begins.
	Closing context.Context
	end     context.CancelFunc
	mu      sync.Mutex // orders Enter and End
	under   sync.WaitGroup
}

// NewLife returns a life that begins now.
func NewLife() *Life {
	l := new(Life)
	l.Closing, l.end = context.WithCancel(context.Background())
	return l
}

// End is when Close begins, and Wait when what is under way has ended.
func (l *Life) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
}

// Wait waits for what has entered to leave.
func (l *Life) Wait() { l.under.Wait() }

// Enter counts what Close waits for, until Leave; false once Close has begun.
func (l *Life) Enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Closing.Err() != nil {
		return false
	}
	l.under.Add(1)
	return true
}

// Leave ends what has entered.
func (l *Life) Leave() { l.under.Done() }

// Go starts what Close waits for; false once it has begun.
func (l *Life) Go(run func()) bool {
	if !l.Enter() {
		return false
	}
	go func() {
		defer l.Leave()
		run()
	}()
	return true
}
