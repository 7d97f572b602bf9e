package postgres

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// trouble logs what keeps a process from its lease or from its journal: at once, within five seconds where
// nothing answers, and again each minute while it lasts.
type trouble struct {
	log   *slog.Logger
	lease string

	mu            sync.Mutex
	message, text string    // of the last line; empty once it is over
	at            time.Time // of that line
}

const (
	soonSilent = 4 * time.Second // an answer is late
	againAfter = time.Minute
	otherWords = 5 * time.Second // the port of a connection differs each time
)

// is says what is wrong now.
func (t *trouble) is(level slog.Level, message string, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, passed := why.Error(), time.Since(t.at)
	if message == t.message && passed < againAfter && (text == t.text || passed < otherWords) {
		return
	}
	t.message, t.text, t.at = message, text, time.Now()
	t.log.Log(context.Background(), level, message, slog.String("lease", t.lease), slog.String("err", text))
}

// over says that nothing is wrong any more.
func (t *trouble) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.message = ""
}

// asks is called before the database is asked, and returns what is called with its answer. One that does
// not come is logged, unless something else was a moment ago.
func (t *trouble) asks() (answered func() bool) {
	return time.AfterFunc(soonSilent, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.message != "" && time.Since(t.at) < againAfter {
			return
		}
		t.message, t.text, t.at = "no answer", "", time.Now()
		t.log.Warn("the database does not answer", slog.String("lease", t.lease), slog.Duration("since", soonSilent))
	}).Stop
}
