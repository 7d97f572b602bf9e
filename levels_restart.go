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
}

// noteNewer has the older settings that are open keep this one. It comes before the
// setting's own first record, which makes it durable.
func (v *settings) noteNewer(w *write) {
	v.noteWithOlder(w, record{Newer: &newerSetting{w.intent, w.unnamed, w.restores}})
}

// journaled notes that the journal has a setting, which keeps those from now on that were
// begun while it was not there.
func (v *settings) journaled(w *write) {
	v.notes.Lock()
	defer v.notes.Unlock()
	w.journaled = true
	for _, n := range v.begunAfter(w) {
		w.core.store.later(w, record{Newer: &newerSetting{n.intent, n.unnamed, n.restores}})
	}
}

// noteRefused has the older settings forget one that was not carried out.
func (v *settings) noteRefused(w *write) {
	v.noteWithOlder(w, record{Refused: w.intent.ID})
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
func (v *settings) begunAfter(w *write) (newer []*write) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.newer(w) {
		newer = append(newer, s.of)
	}
	return newer
}

// keepNewer takes a setting in that was begun after w, or out if it was not carried out.
func (w *write) keepNewer(r *record) {
	if r.Newer != nil {
		w.newer = append(w.newer, *r.Newer)
		return
	}
	w.newer = slices.DeleteFunc(w.newer, func(n newerSetting) bool { return n.Intent.ID == r.Refused })
}

// adopt takes over what others left. All their settings of levels are known before work
// on the first begins.
func (c *core) adopt(left []*write) {
	for _, w := range left {
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
