package watch

import (
	"slices"
	"time"
)

// logLook is a look whose events cannot be derived from two looks: a beginning of the log of
// all of them.
type logLook struct {
	at    time.Time
	log   eventLog
	watch string
}

func (is *logLook) since(before look) []Event {
	was, behind := eventLog{}, time.Time{}
	if before, ok := before.(*logLook); ok {
		was, behind = before.log, before.at
	}
	events, missing := is.log.since(was)
	if missing && !behind.IsZero() {
		events = append([]Event{Gap{From: behind, To: is.at, Watch: is.watch, Reason: "more events than are kept for a loop that is behind"}}, events...)
	}
	return events
}

// eventLog is events that were found, numbered, as tradeLog is of trades: looks hold
// beginnings of one log, and it is never changed, only continued.
type eventLog struct {
	rows  []Event
	first int // number of rows[0]
}

func (l eventLog) add(events ...Event) eventLog {
	if len(events) == 0 {
		return l
	}
	l.rows = append(l.rows, events...)
	if surplus := len(l.rows) - 2*logSize; surplus > 0 {
		drop := len(l.rows) - logSize
		l.first += drop
		l.rows = slices.Clone(l.rows[drop:])
	}
	return l
}

// since returns the events after those of an earlier log, and whether some are missing.
func (l eventLog) since(was eventLog) (events []Event, missing bool) {
	from := was.first + len(was.rows)
	if from < l.first {
		from, missing = l.first, true
	}
	return l.rows[from-l.first : len(l.rows) : len(l.rows)], missing
}
