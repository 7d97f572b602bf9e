package trading

import (
	"slices"

	"github.com/tradingapi/trading-go/internal/pending"
)

// The journal keeps with a setting of levels those that were begun after it: an older
// one that is in doubt when the process ends must not replace them in the next.

// newerSetting is a setting of levels as the history of an older one has it.
type newerSetting struct {
	Intent   Intent        `json:"intent"`
	Unnamed  unnamedLevels `json:"unnamed,omitzero"`
	Restores IntentID      `json:"restores,omitempty"`

	ended bool
}

// newerEnd is what a newer one came to.
type newerEnd struct {
	ID      IntentID `json:"id"`
	Outcome Outcome  `json:"outcome"`
}

func newerOf(w *write) *newerSetting {
	return &newerSetting{Intent: w.intent, Unnamed: w.unnamed, Restores: w.restores}
}

// noteNewer has the older settings that are open keep this one. It comes before the
// setting's own first record, which makes it durable.
func (v *settings) noteNewer(w *write) {
	v.noteWithOlder(w, record{Newer: newerOf(w)})
}

// journaled notes that the journal has a setting, which keeps those from now on that were
// begun while it was not there.
func (v *settings) journaled(w *write) {
	v.notes.Lock()
	defer v.notes.Unlock()
	w.journaled = true
	for _, s := range v.begunAfter(w) {
		w.core.store.later(w, record{Newer: newerOf(s.of)})
		if s.ended {
			w.core.store.later(w, record{NewerEnd: &newerEnd{s.of.intent.ID, s.outcome}})
		}
	}
}

// noteEnd tells the older settings what one came to, before its own end is written.
func (v *settings) noteEnd(w *write, outcome Outcome) {
	v.noteWithOlder(w, record{NewerEnd: &newerEnd{w.intent.ID, outcome}})
}

func (v *settings) noteWithOlder(w *write, r record) {
	v.notes.Lock()
	defer v.notes.Unlock()
	for _, older := range v.openBefore(w) {
		w.core.store.later(older, r)
	}
}

// openBefore are the settings older than w whose outcome is not known.
func (v *settings) openBefore(w *write) (older []*write) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.of[w.Places[0]] {
		if s.of == w {
			break
		}
		if !s.ended {
			older = append(older, s.of)
		}
	}
	return older
}

// begunAfter are the settings newer than w that may stand.
func (v *settings) begunAfter(w *write) (newer []setting) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.newer(w) {
		newer = append(newer, *s)
	}
	return newer
}

// keepNewer takes in what the history of a setting says of those begun after it. One that
// was not carried out is none.
func (w *write) keepNewer(r *record) {
	if r.Newer != nil {
		w.newer = append(w.newer, *r.Newer)
		return
	}
	at := slices.IndexFunc(w.newer, func(n newerSetting) bool { return n.Intent.ID == r.NewerEnd.ID })
	switch {
	case at < 0:
	case r.NewerEnd.Outcome == NotApplied:
		w.newer = slices.Delete(w.newer, at, at+1)
	default:
		w.newer[at].ended = true
	}
}

// adopt takes over what others left. All their settings of levels are known before work
// on the first begins.
func (c *core) adopt(left []*write) {
	for _, w := range left {
		// One that neither ended nor is pending never left: its beginning is in no journal.
		w.newer = slices.DeleteFunc(w.newer, func(n newerSetting) bool {
			return !n.ended && c.pending.Find(string(n.Intent.ID)) == nil
		})
		c.levels.left(w)
	}
	for _, w := range left {
		c.driver.adopt(w)
	}
}

// left notes a setting of levels that was left, and those begun after it.
func (v *settings) left(w *write) {
	if w.intent.Operation != OpTPSL {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	place := w.Places[0]
	v.keep(place, &setting{of: w})
	for i := range w.newer {
		n := &w.newer[i]
		// One that is open too was left like this one, and takes the place of this.
		v.keep(place, &setting{of: &write{intent: n.Intent, unnamed: n.Unnamed, restores: n.Restores}, ended: true})
	}
}

// keep adds a setting, or has an open one take the place of what an older one
// knew of it. The lock is held.
func (v *settings) keep(place pending.Place, s *setting) {
	sent, err := levelsOf(&s.of.intent)
	if err != nil {
		return
	}
	s.levels = sent
	at := indexOfSetting(v.of[place], s.of.intent.ID)
	switch {
	case at < 0:
		v.add(place, s)
	case !s.ended:
		v.of[place][at] = s
	}
}
