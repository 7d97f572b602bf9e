package watch

import (
	"slices"
	"time"
)

// logLook is a look whose events cannot be derived from two looks: a beginning of the log of
// all of them.
type logLook struct {
	at    time.Time
	log   rolling[Event]
	watch string
}

func (is *logLook) since(before look) []Event {
	was, behind := rolling[Event]{}, time.Time{}
	if before, ok := before.(*logLook); ok {
		was, behind = before.log, before.at
	}
	events, missing := is.log.since(was)
	if missing && !behind.IsZero() {
		events = append([]Event{Gap{From: behind, To: is.at, Watch: is.watch, Reason: "more events than are kept for a loop that is behind"}}, events...)
	}
	return events
}

// rolling is rows in the order in which they were found, numbered: looks hold beginnings of one
// log, so that loops of every speed get each row. It is never changed, only continued.
type rolling[T any] struct {
	rows  []T
	first int // number of rows[0]
}

// logSize is how many rows a loop can be behind: memory is bounded by it.
const logSize = 4096

func (l rolling[T]) end() int { return l.first + len(l.rows) }

func (l rolling[T]) add(more ...T) rolling[T] {
	if len(more) == 0 {
		return l
	}
	l.rows = append(l.rows, more...)
	if len(l.rows) > 2*logSize {
		drop := len(l.rows) - logSize
		l.first += drop
		l.rows = slices.Clone(l.rows[drop:])
	}
	return l
}

// since returns the rows after those of an earlier log, and whether some are missing, since it is
// too long ago.
func (l rolling[T]) since(was rolling[T]) (rows []T, missing bool) {
	from := was.end()
	if from < l.first {
		from, missing = l.first, true
	}
	return l.rows[from-l.first : len(l.rows) : len(l.rows)], missing
}
