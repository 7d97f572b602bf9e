package trading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

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
	of      *write
	levels  levels
	ended   bool
	outcome Outcome
}

type levels struct{ TakeProfitPrice, StopLossPrice Level }

func levelsOf(in *Intent) (l levels, err error) {
	err = json.Unmarshal(in.Body, &l)
	return l, err
}

func levelsAt(p *Position) levels { return levels{p.TakeProfit.orClear(), p.StopLoss.orClear()} }

func (l levels) equal(o levels) bool {
	return l.TakeProfitPrice.Equal(o.TakeProfitPrice) && l.StopLossPrice.Equal(o.StopLossPrice)
}

// unnamedLevels are those that the caller of a setting did not name: the client read them.
type unnamedLevels struct{ TakeProfit, StopLoss bool }

// maxRestores is how often the levels are set again for one older setting.
const maxRestores = 3

// restore is how far a setting has come that ended beside a newer one.
type restore struct {
	at    time.Time // of the next look; zero before the first
	until time.Time // how long an open setting is waited for
	tries int
	err   error // of the last try
}

// settings are those of each position, in the order in which they stand.
type settings struct {
	notes sync.Mutex // of what the journal has of them; before mu
	mu    sync.Mutex
	of    map[pending.Place][]*setting
}

// began notes that a setting is about to be sent. One that restores another is as
// old as that, so that one begun meanwhile is newer.
func (v *settings) began(w *write) {
	sent, err := levelsOf(&w.intent)
	if w.intent.Operation != OpTPSL || err != nil {
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
	if i := indexOfSetting(there, s.of.restores); i >= 0 {
		at = i + 1
	}
	v.of[place] = slices.Insert(there, at, s)
}

// indexOfSetting returns where the setting with an id stands; -1 if it is not there.
func indexOfSetting(settings []*setting, id IntentID) int {
	return slices.IndexFunc(settings, func(s *setting) bool { return s.of.intent.ID == id })
}

// ended notes what became of a setting.
func (v *settings) ended(w *write, outcome Outcome) {
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

// superseded reports whether a newer setting has been sent that may stand.
func (v *settings) superseded(w *write) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.newer(w)) > 0
}

// newer are the settings behind w that were not refused. The lock is held.
func (v *settings) newer(w *write) (newer []*setting) {
	behind := false
	for _, s := range v.of[w.Places[0]] {
		if s.of == w {
			behind = true
			continue
		}
		if behind && (!s.ended || s.outcome != NotApplied) {
			newer = append(newer, s)
		}
	}
	return newer
}

// wanted are the levels last wanted, each by the newest setting that named it,
// where w has ended. open means that a newer setting has not.
func (v *settings) wanted(w *write, outcome Outcome) (wanted levels, sent []levels, newest *write, open bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	newer := v.newer(w)
	if len(newer) == 0 {
		return levels{}, nil, nil, false
	}
	last := newer[len(newer)-1]
	wanted, newest = last.levels, last.of
	if own, err := levelsOf(&w.intent); err == nil && outcome == Applied {
		newer = slices.Insert(newer, 0, &setting{of: w, levels: own, ended: true})
	}
	namedTP, namedSL := false, false
	for _, s := range slices.Backward(newer) {
		sent, open = append(sent, s.levels), open || !s.ended
		if !namedTP && !s.of.unnamed.TakeProfit {
			wanted.TakeProfitPrice, namedTP = s.levels.TakeProfitPrice, true
		}
		if !namedSL && !s.of.unnamed.StopLoss {
			wanted.StopLossPrice, namedSL = s.levels.StopLossPrice, true
		}
	}
	return wanted, sent, newest, open
}

// restoreLevels looks, a lag after a setting has ended beside a newer one, whether the
// position has the levels last wanted, and sets them if it has those of a setting that
// is not the last. Levels that no setting sent are somebody else's, and stay. It returns
// when to look again, or false when there is nothing more to do.
func (d *driver) restoreLevels(w *write) (again time.Time, more bool) {
	if w.intent.Operation != OpTPSL {
		return time.Time{}, false
	}
	r, now := &w.restore, time.Now()
	wanted, sent, newest, open := d.core.levels.wanted(w, outcomeOf(w.ledger.Outcome()))
	switch {
	case newest == nil:
		return time.Time{}, false
	case r.at.IsZero():
		w.superseded, r.until = true, now.Add(ledger.Gone+time.Minute)
		r.at = now.Add(ledger.Lag)
		return r.at, true
	case now.Before(r.at):
		return r.at, true
	case open && now.Before(r.until):
		r.at = now.Add(ledger.Lag)
		return r.at, true
	case open:
		r.err = errors.New("a newer setting is still in doubt")
		return time.Time{}, false
	}
	account := &Account{id: w.intent.Account, caller: caller{d.core, d.core.recoveryOptions()}}
	positions, err := account.Positions(d.core.closing)
	if err != nil {
		d.noteService(classOf(err), err)
		r.at, r.err = now.Add(ledger.Lag), err
		return r.at, now.Before(r.until)
	}
	d.noteService(ledger.Success, nil)
	p, held := positions.In(w.intent.Symbol)
	has := levelsAt(&p)
	if !held || has.equal(wanted) || !slices.ContainsFunc(sent, has.equal) {
		r.err = nil
		return time.Time{}, false
	}
	w.overwritten = true
	if r.tries == maxRestores {
		if r.err == nil {
			r.err = fmt.Errorf("the position still has other levels after %d tries", maxRestores)
		}
		return time.Time{}, false
	}
	r.tries++
	r.err = d.setLevels(w, newest, wanted)
	r.at = time.Now().Add(ledger.Lag)
	return r.at, true
}

// setLevels sends the levels last wanted, once, as a write of its own, which is found
// out about like any other.
func (d *driver) setLevels(w, newest *write, wanted levels) error {
	opts := defaultCallOptions()
	opts.retry.Attempts, opts.resolveTimeout, opts.tag = 1, Some(time.Duration(0)), newest.intent.Tag
	opts.restores = newest.intent.ID
	ctx, cancel := context.WithTimeout(d.core.closing, defaultAttemptTimeout)
	defer cancel()
	account := &Account{id: w.intent.Account, caller: caller{d.core, opts}}
	_, err := account.SetTPSL(ctx, w.intent.Symbol, TPSL{TakeProfit: wanted.TakeProfitPrice, StopLoss: wanted.StopLossPrice})
	return err
}

// decideLevels judges a setting that has come to rest by what the position has: the
// levels that it asked for, whoever set them, or others.
func decideLevels(w *write, now *accountLook, gone bool) accounting.Verdict {
	asked, err := levelsOf(&w.intent)
	p, held := now.positions.In(w.intent.Symbol)
	switch {
	case err != nil:
		return accounting.Verdict{Reason: accounting.DoesNotFit}
	case !w.ledger.Held() && !gone: // it could still be carried out, over a newer one
		return accounting.Verdict{Reason: accounting.NotHeld}
	case held && levelsAt(&p).equal(asked):
		return accounting.Verdict{Outcome: accounting.Applied, Reason: accounting.VolumeFits}
	default:
		return accounting.Verdict{Outcome: accounting.NotApplied, Reason: accounting.NoTrace}
	}
}
