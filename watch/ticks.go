package watch

import (
	"context"
	"time"
)

// Ticks yields an event at every interval, so that a loop can do something regularly
// beside what it watches. It sends nothing. Ticks that a slow loop has missed are one.
func Ticks(every time.Duration) Watch {
	w := Watch{name: "the clock", exact: true, open: func() source { return clock{} }}
	return w.WithInterval(every)
}

type clock struct{}

type tickLook struct{ at time.Time }

func (clock) look(context.Context, look) (look, bool, error) {
	return &tickLook{time.Now()}, false, nil
}

func (is *tickLook) since(look) []Event { return []Event{Tick{is.at}} }
