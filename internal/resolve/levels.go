package resolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// Settings of the levels of one position replace each other, in the order in which the
// service carries them out. An older one in doubt can arrive behind a newer one: once it
// is known what became of it, the levels are read, and the last that the program wanted
// are set again.

// setting is one setting of levels that the program has sent, while that or one beside
// it is open.
type setting struct {
	of      *OpenWrite
	levels  Levels
	leaves  bool // its first byte was allowed to
	ended   bool
	outcome ledger.Outcome
}

// Levels are those of a position; null for one that is not set.
type Levels struct {
	TakeProfitPrice, StopLossPrice decimal.NullDecimal

	absent Unnamed // from the body that the levels are of
}

func levelsOf(in *pending.Intent) (l Levels, err error) {
	var has struct{ TakeProfitPrice, StopLossPrice json.RawMessage }
	if err = json.Unmarshal(in.Body, &has); err == nil {
		err = json.Unmarshal(in.Body, &l)
	}
	l.absent = Unnamed{has.TakeProfitPrice == nil, has.StopLossPrice == nil}
	return l, err
}

// beside returns the levels with what their body leaves out as the position has it: what the
// service makes of that, the contract does not say.
func (l Levels) beside(has Levels) Levels {
	if l.absent.TakeProfit {
		l.TakeProfitPrice = has.TakeProfitPrice
	}
	if l.absent.StopLoss {
		l.StopLossPrice = has.StopLossPrice
	}
	return l
}

func (l Levels) equal(o Levels) bool {
	same := func(a, b decimal.NullDecimal) bool { return a.Valid == b.Valid && a.Decimal.Equal(b.Decimal) }
	return same(l.TakeProfitPrice, o.TakeProfitPrice) && same(l.StopLossPrice, o.StopLossPrice)
}

// Unnamed are those that the caller of a setting did not name: the client read them, or its
// body leaves them out.
type Unnamed struct{ TakeProfit, StopLoss bool }

// Setting is what a write that sets levels has beside its intent. Its JSON is in journals.
type Setting struct {
	Unnamed Unnamed `json:"unnamed,omitzero"`
	// Restores is the setting whose levels it sets again.
	Restores pending.IntentID `json:"restores,omitempty"`
}

// newer is what a setting has to do with those that are newer.
type newer struct {
	left        []newerSetting // that an earlier run began
	superseded  bool           // it ended beside one; then their levels are set again, if it overwrote them
	overwritten bool
	at          time.Time // of the next look; zero before the first
	until       time.Time // how long an open one is waited for
	tries       int
	err         error // of the last try
}

func (w *OpenWrite) besideNewer() *newer {
	if w.newer == nil {
		w.newer = new(newer)
	}
	return w.newer
}

// newerSetting is a setting of levels as the history of an older one has it.
type newerSetting struct {
	Intent pending.Intent `json:"intent"`
	Setting

	ended bool
}

// newerEnd is what a newer one came to, of which the journal may not know yet.
type newerEnd struct {
	newerSetting
	Outcome ledger.Outcome `json:"outcome"`
}

// maxRestores is how often the levels are set again for one older setting.
const maxRestores = 3

// settings are those of each position, in the order in which they stand.
type settings struct {
	notes sync.Mutex // of what the journal has of them; before mu
	mu    sync.Mutex
	of    map[pending.Place][]*setting
}

// began notes that a setting is about to be sent. One that restores another is as
// old as that, so that one begun meanwhile is newer.
func (v *settings) began(w *OpenWrite) {
	sent, err := levelsOf(&w.Intent)
	if err != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.add(w.Places[0], &setting{of: w, levels: sent})
}

// add puts a setting where it stands among those of its place. The lock is held.
func (v *settings) add(place pending.Place, s *setting) {
	if v.of == nil {
		v.of = make(map[pending.Place][]*setting)
	}
	there := v.of[place]
	at := len(there)
	if i := indexOfSetting(there, s.of.Setting.Restores); i >= 0 {
		at = i + 1
	}
	v.of[place] = slices.Insert(there, at, s)
}

// indexOfSetting returns where the setting with an id stands; -1 if it is not there.
func indexOfSetting(settings []*setting, id pending.IntentID) int {
	return slices.IndexFunc(settings, func(s *setting) bool { return s.of.Intent.ID == id })
}

// ended notes what became of a setting.
func (v *settings) ended(w *OpenWrite, outcome ledger.Outcome) {
	v.mu.Lock()
	defer v.mu.Unlock()
	place := w.Places[0]
	open := false
	for _, s := range v.of[place] {
		if s.of == w {
			s.ended, s.outcome = true, outcome
		}
		open = open || !s.ended
	}
	if !open {
		delete(v.of, place)
	}
}

// mayLeave notes that a setting leaves, unless a newer one has left that may stand.
func (v *settings) mayLeave(w *OpenWrite) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if slices.ContainsFunc(v.newer(w), func(s *setting) bool { return s.leaves }) {
		return false
	}
	for _, s := range v.of[w.Places[0]] {
		s.leaves = s.leaves || s.of.Intent.ID == w.Intent.ID
	}
	return true
}

// newer are the settings behind w that were not refused. The lock is held.
func (v *settings) newer(w *OpenWrite) (newer []*setting) {
	behind := false
	for _, s := range v.of[w.Places[0]] {
		if s.of == w {
			behind = true
			continue
		}
		if behind && (!s.ended || s.outcome != ledger.NotApplied) {
			newer = append(newer, s)
		}
	}
	return newer
}

// wanted are the levels last wanted, each by the newest setting that named it,
// where w has ended and the position has the levels has. open means that a newer setting has not.
func (v *settings) wanted(w *OpenWrite, has Levels) (wanted Levels, sent []Levels, newest *OpenWrite, open bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	newer := v.newer(w)
	if len(newer) == 0 {
		return Levels{}, nil, nil, false
	}
	last := newer[len(newer)-1]
	wanted, newest = last.levels.beside(has), last.of
	if own, err := levelsOf(&w.Intent); err == nil && w.Ledger.Outcome() == ledger.Applied {
		newer = slices.Insert(newer, 0, &setting{of: w, levels: own, ended: true})
	}
	namedTP, namedSL := false, false
	for _, s := range slices.Backward(newer) {
		sent, open = append(sent, s.levels.beside(has)), open || !s.ended
		if !namedTP && !s.of.Setting.Unnamed.TakeProfit {
			wanted.TakeProfitPrice, namedTP = s.levels.TakeProfitPrice, true
		}
		if !namedSL && !s.of.Setting.Unnamed.StopLoss {
			wanted.StopLossPrice, namedSL = s.levels.StopLossPrice, true
		}
	}
	return wanted, sent, newest, open
}

// decideLevels judges a setting that has come to rest by what the position has: the
// levels that it asked for, whoever set them, or others.
func decideLevels(w *OpenWrite, now *AccountLook, gone bool) accounting.Verdict {
	asked, err := levelsOf(&w.Intent)
	has, held := now.Levels[w.Intent.Symbol]
	switch {
	case err != nil:
		return accounting.Verdict{Reason: accounting.DoesNotFit}
	case !w.Ledger.Held() && !gone: // it could still be carried out, over a newer one
		return accounting.Verdict{Reason: accounting.NotHeld}
	case held && has.equal(asked.beside(has)):
		return accounting.Verdict{Outcome: ledger.Applied, Reason: accounting.LevelsSet}
	default:
		return accounting.Verdict{Outcome: ledger.NotApplied, Reason: accounting.LevelsNot}
	}
}

// restoreLevels looks, a lag after a setting has ended beside a newer one, whether the
// position has the levels last wanted, and sets them if it has those of a setting that
// is not the last. Levels that no setting sent are somebody else's, and stay. It returns
// when to look again, or false when there is nothing more to do.
func (d *Driver) restoreLevels(w *OpenWrite) (again time.Time, more bool) {
	if !w.Traits.Levels {
		return time.Time{}, false
	}
	_, _, newest, open := d.levels.wanted(w, Levels{})
	if newest == nil {
		return time.Time{}, false
	}
	r, now, lag := w.besideNewer(), time.Now(), w.Ledger.Without.ReadLag()
	switch {
	case r.at.IsZero():
		r.superseded, r.until = true, now.Add(ledger.Gone+time.Minute)
		r.at = now.Add(lag)
		return r.at, true
	case now.Before(r.at):
		return r.at, true
	case open && now.Before(r.until):
		r.at = now.Add(lag)
		return r.at, true
	case open:
		r.err = errors.New("a newer setting is still in doubt")
		return time.Time{}, false
	}
	look, err := d.cfg.Host.Read(d.cfg.Life.Closing, w.account(), ListPositions, false)
	if err != nil {
		d.noteService(d.cfg.Host.Judge(err).Class, err)
		r.at, r.err = now.Add(lag), err
		return r.at, now.Before(r.until)
	}
	d.noteService(ledger.Success, nil)
	has, held := look.Levels[w.Intent.Symbol]
	wanted, sent, _, _ := d.levels.wanted(w, has)
	if !held || has.equal(wanted) || !slices.ContainsFunc(sent, has.equal) {
		r.err = nil
		return time.Time{}, false
	}
	r.overwritten = true
	if r.tries == maxRestores {
		if r.err == nil {
			r.err = fmt.Errorf("the position still has other levels after %d tries", maxRestores)
		}
		return time.Time{}, false
	}
	r.tries++
	r.err = d.cfg.Host.SetLevels(d.cfg.Life.Closing, &newest.Intent, wanted)
	r.at = time.Now().Add(lag)
	return r.at, true
}

// The journal keeps with a setting of levels those that were begun after it: an older
// one that is in doubt when the process ends must not replace them in the next.

func newerOf(w *OpenWrite) *newerSetting {
	return &newerSetting{Intent: w.Intent, Setting: w.Setting}
}

// levelsJournaled notes that the journal has a setting, which keeps those from now on that were
// begun while it was not there.
func (d *Driver) levelsJournaled(w *OpenWrite) {
	d.levels.notes.Lock()
	defer d.levels.notes.Unlock()
	w.journaled = true
	for _, n := range d.levels.begunAfter(w) {
		_ = d.store.later(w, record{Newer: newerOf(n.of)})
		if n.ended {
			_ = d.store.later(w, record{NewerEnd: &newerEnd{*newerOf(n.of), n.outcome}})
		}
	}
}

// noteWithOlder has the older settings that are open keep this one, or what it came to. Each comes before
// the setting's own record: its first, which makes it durable, or its end.
func (d *Driver) noteWithOlder(w *OpenWrite, r record) (err error) {
	d.levels.notes.Lock()
	defer d.levels.notes.Unlock()
	for _, older := range d.levels.openBefore(w) {
		err = errors.Join(err, d.store.later(older, r))
	}
	return err
}

// openBefore are the settings older than w whose outcome is not known.
func (v *settings) openBefore(w *OpenWrite) (older []*OpenWrite) {
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
func (v *settings) begunAfter(w *OpenWrite) (newer []setting) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.newer(w) {
		newer = append(newer, *s)
	}
	return newer
}

// keepNewer takes in what the history of a setting says of those begun after it. One that
// was not carried out is none.
func (w *OpenWrite) keepNewer(r *record) {
	b := w.besideNewer()
	if r.Newer != nil {
		b.left = append(b.left, *r.Newer)
		return
	}
	end := r.NewerEnd
	at := slices.IndexFunc(b.left, func(n newerSetting) bool { return n.Intent.ID == end.Intent.ID })
	switch {
	case at >= 0 && end.Outcome == ledger.NotApplied:
		b.left = slices.Delete(b.left, at, at+1)
	case at >= 0:
		b.left[at].ended = true
	case end.Outcome != ledger.NotApplied: // that it began was not taken
		end.ended = true
		at := slices.IndexFunc(b.left, func(n newerSetting) bool { return n.Intent.Decided.After(end.Intent.Decided) })
		if at < 0 {
			at = len(b.left)
		}
		b.left = slices.Insert(b.left, at, end.newerSetting)
	}
}

// left notes a setting of levels that was left, and those begun after it.
func (v *settings) left(w *OpenWrite) {
	if !w.Traits.Levels {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	place := w.Places[0]
	v.keep(place, &setting{of: w})
	if w.newer == nil {
		return
	}
	for i := range w.newer.left {
		n := &w.newer.left[i]
		// One that is open too was left like this one, and takes the place of this.
		v.keep(place, &setting{of: &OpenWrite{Intent: n.Intent, Setting: n.Setting}, ended: true})
	}
}

// keep adds a setting, or has an open one take the place of what an older one
// knew of it. The lock is held.
func (v *settings) keep(place pending.Place, s *setting) {
	sent, err := levelsOf(&s.of.Intent)
	if err != nil {
		return
	}
	s.levels = sent
	at := indexOfSetting(v.of[place], s.of.Intent.ID)
	switch {
	case at < 0:
		v.add(place, s)
	case !s.ended:
		v.of[place][at] = s
	}
}
