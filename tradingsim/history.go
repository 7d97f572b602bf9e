package tradingsim

import "time"

// history keeps what a state was, for reads that lag behind writes.
type history[T any] struct {
	entries []entry[T]
}

type entry[T any] struct {
	at    time.Time
	state T
}

// put adds a state and drops what no read can see any more.
func (h *history[T]) put(at, oldest time.Time, state T) {
	stale := 0
	for stale+1 < len(h.entries) && !h.entries[stale+1].at.After(oldest) {
		stale++
	}
	h.entries = append(h.entries[stale:], entry[T]{at, state})
}

// at is the last state put at or before t, or else the first.
func (h *history[T]) at(t time.Time) T {
	for i := len(h.entries) - 1; i > 0; i-- {
		if !h.entries[i].at.After(t) {
			return h.entries[i].state
		}
	}
	return h.entries[0].state
}
