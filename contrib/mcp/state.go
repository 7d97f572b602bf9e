package mcp

import (
	"time"

	"github.com/tradingapi/trading-go"
)

// state is what one answer showed of an account. An entry names one, and is refused if the market has
// had anything since.
type state struct {
	account trading.AccountID
	began   Moment // of the reads
	tick    uint64 // of what the answer showed
	issued  Moment
}

// mostStates bounds them; the oldest goes.
const mostStates = 256

// repeatWithin is for how long an entry beside an own one has to name that.
const repeatWithin = 10 * time.Minute

// newState makes a state of a look, with the writes that go with it: those of the last ten minutes, and
// those that no state has shown. The caller has the lock.
func (e *Engine) newState(account trading.AccountID, l *look) (token string, shown []*write) {
	const most = 40
	now := e.now()
	s := &state{account: account, began: l.began, tick: e.tick, issued: now}
	for _, w := range e.writes {
		if w.Action.Account != account || w.Sent == nil || w.shown && w.known() && now.past(w.Consumed, repeatWithin) {
			continue
		}
		if len(shown) == most { // the answer ends here, and so does what its state covers
			s.tick = min(s.tick, w.tick-1)
			continue
		}
		w.shown = w.known()
		shown = append(shown, w)
	}
	if len(e.states) >= mostStates {
		oldest := ""
		for id, s := range e.states {
			if oldest == "" || s.issued.Up < e.states[oldest].issued.Up {
				oldest = id
			}
		}
		delete(e.states, oldest)
	}
	token = newID("s_")
	e.states[token] = s
	return token, shown
}

// covers judges whether an entry rests on a state that shows all that was sent in its market. The
// caller has the lock.
func (e *Engine) covers(a *action, token string) *refusal {
	const again = "Call account, read what its writes did, and decide anew: what you wanted may have happened."
	s := e.states[token]
	if s == nil || s.account != a.Account {
		return refuse("state_old", "The state is not known. "+again)
	}
	for _, w := range e.writes {
		switch {
		case w.Action.Account != a.Account || w.Sent == nil || w.Action.Symbol != a.Symbol && w.Action.Symbol != "":
		case w.inFlight():
			return refuse("market_closed", "A write of yours in this market is under way. Call get_ticket until its outcome is known. Do not place the order again.")
		case !w.known() && !s.began.past(*w.Ended, lag):
			return refuse("market_closed", "The outcome of a write of yours in this market is not known. Call get_ticket, and in ten seconds account. Do not place the order again.")
		case w.tick > s.tick:
			return refuse("state_old", "Something was sent in this market after the state. "+again)
		}
	}
	return nil
}

// repeats judges whether an entry beside an own one names it. The caller has the lock.
func (e *Engine) repeats(a *action, addsTo string) *refusal {
	now := e.now()
	for i := len(e.writes) - 1; i >= 0; i-- {
		w := e.writes[i]
		if !w.Action.entry() || w.Action.Account != a.Account || w.Action.Symbol != a.Symbol || w.Action.side() != a.side() || !w.mayRun() || now.past(*w.Sent, repeatWithin) {
			continue
		}
		if w.ID != addsTo {
			return refuse("adds_to_needed", "An entry of yours on this side of this market ran, or may have, in the last ten minutes. Read it in account: if it is what you want, you are done. Only to have both, name its ticket in adds_to.")
		}
		return nil
	}
	return nil
}
