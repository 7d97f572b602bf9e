package trading

import (
	"context"
	"sync"
)

// turn is the one place for a writer of the paper account. Who waits for it gets it in the order in
// which they came, exits before entries.
type turn struct {
	mu      sync.Mutex
	taken   bool
	exits   []chan struct{} // each is closed when it is the turn of whoever waits for it
	entries []chan struct{}
}

func (t *turn) take(ctx context.Context, exit bool, closing <-chan struct{}) error {
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return nil
	}
	mine, queue := make(chan struct{}), &t.entries
	if exit {
		queue = &t.exits
	}
	*queue = append(*queue, mine)
	t.mu.Unlock()
	var err error
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-closing:
		err = ErrClosed
	}
	t.mu.Lock()
	left := t.leave(queue, mine)
	t.mu.Unlock()
	if !left { // its turn came meanwhile
		t.giveBack()
	}
	return err
}

// leave takes who waits out of a queue, and reports whether they were there. The lock is held.
func (t *turn) leave(queue *[]chan struct{}, mine chan struct{}) bool {
	for i, other := range *queue {
		if other == mine {
			*queue = append((*queue)[:i], (*queue)[i+1:]...)
			return true
		}
	}
	return false
}

func (t *turn) giveBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, queue := range []*[]chan struct{}{&t.exits, &t.entries} {
		if len(*queue) > 0 {
			close((*queue)[0])
			*queue = (*queue)[1:]
			return
		}
	}
	t.taken = false
}
