package trial

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// exposure is a position that is larger than declared.
func exposure(t *tally) func(*world, point) {
	copied := map[slot]decimal.Decimal{} // by faults, until flat
	return func(w *world, p point) {
		declared := w.m.Dollars.IsPositive()
		for s := range w.held {
			declared = declared || w.m.Markets[s.symbol].Most.IsPositive()
		}
		if declared && w.flat.IsZero() && !w.dead && p.at.Sub(w.open) >= w.periods(2) {
			t.exercised = true // it could have looked, and entered again
		}
		if p.e == nil || !p.e.Filled {
			return
		}
		s := slot{p.e.Account, p.e.Symbol}
		held, most := w.held[s].Abs(), w.m.Markets[s.symbol].Most
		switch {
		case held.IsZero():
			delete(copied, s)
		case p.e.Copy:
			copied[s] = copied[s].Add(p.e.Size)
		}
		if p.e.Actor == "terminal" {
			return
		}
		if most.IsPositive() && over(held.Sub(copied[s]), most) {
			t.violated(Fail, "more-units-than-declared", w.latest(p.e.Symbol, p.e.Request), "The bot held %s %s, and its manifest declares %s at the most.", held, s.symbol, most)
		}
		worth := decimal.Zero
		for s, held := range w.held {
			worth = worth.Add(held.Abs().Sub(copied[s]).Mul(w.price[s.symbol]))
		}
		if w.m.Dollars.IsPositive() && over(worth, w.m.Dollars) {
			t.violated(Fail, "more-dollars-than-declared", w.latest(p.e.Symbol, p.e.Request), "The bot held positions worth %s dollars, and its manifest declares %s at the most.", worth.Round(2), w.m.Dollars)
		}
	}
}

// over allows 2 percent: prices move between a decision and its fill.
func over(is, most decimal.Decimal) bool {
	return is.GreaterThan(most.Mul(decimal.New(102, -2)))
}

// latest are the latest entries of a market that were executed.
func (w *world) latest(symbol string, until int64) (list []*request) {
	for _, r := range slices.Backward(w.recent) {
		if len(list) < 3 && r.Symbol == symbol && r.ID <= until && w.executed[r.ID] {
			list = append(list, r)
		}
	}
	slices.Reverse(list)
	return list
}

// noStop is a position without a stop while bot and service live.
func noStop(t *tally) func(*world, point) {
	type position struct {
		open, naked time.Duration
		stop        bool
	}
	var (
		positions = map[slot]*position{}
		entry     *request
		last      time.Time // the moment before, and whether bot and service lived
		live      bool
	)
	return func(w *world, p point) {
		passed, within := p.at.Sub(last), time.Duration(w.m.StopWithin)
		for s, x := range positions {
			if within == 0 || !live {
				break
			}
			if x.open += passed; x.open > within {
				t.exercised = true
			}
			before := x.naked
			if !x.stop {
				x.naked += passed
			}
			if x.naked > within && before <= within {
				t.violated(Fail, "open-without-stop", []*request{entry}, "%s %s were held for longer than stopWithin, %s, and the service had no stop for them.", w.held[s].Abs(), s.symbol, within)
			}
		}
		last, live = p.at, !w.dead && w.unhealthy.IsZero()
		if p.e == nil {
			return
		}
		for s := range positions {
			if _, held := w.held[s]; !held {
				delete(positions, s)
			}
		}
		for s := range w.held {
			if positions[s] == nil {
				positions[s] = &position{}
			}
		}
		s, r := slot{p.e.Account, p.e.Symbol}, w.byID[p.e.Request]
		if x := positions[s]; x != nil && r != nil {
			switch {
			case isLevels(r.Operation) && r.StopLossPrice.null:
				x.stop = false
			case r.StopLossPrice.set && r.StopLossPrice.IsPositive(),
				r.Operation == "POST /orders/conditional" && w.held[s].IsNegative() != (r.Side == "short"):
				x.stop, x.naked = true, 0
			}
		}
		if r != nil && r.entry {
			entry = r
		}
	}
}

// healthCache is how long the service reuses an assessment.
const healthCache = 5 * time.Second

// unhealthyEntry is an entry into a service that says that it is not safe.
func unhealthyEntry(t *tally) func(*world, point) {
	var (
		since    time.Time
		before   int  // entries before it
		flat     bool // the bot could have entered
		restored bool
	)
	return func(w *world, p point) {
		known := healthCache + time.Duration(w.m.HealthAge)
		deadline := since.Add(known)
		switch {
		case p.kind == tradingsim.EventHealth && !w.unhealthy.IsZero() && since.IsZero():
			since, before, restored = p.at, w.entries, false
		case p.kind == tradingsim.EventHealth && w.unhealthy.IsZero() && !since.IsZero():
			flat = before > 0 && p.at.After(deadline) && w.flatFor(deadline) >= w.periods(1)
			restored, since = true, time.Time{}
		case p.kind != tradingsim.EventRequest || !w.adds(p.r):
		case restored:
			t.exercised = t.exercised || flat
		case !since.IsZero() && p.at.After(deadline) && w.freshSince(p.r, since):
			t.violated(Fail, "entry-while-unhealthy", []*request{p.r}, "The bot entered %s after the service had become unhealthy, and has to know of that after %s (5s and healthAge): %s.",
				p.at.Sub(since).Round(time.Millisecond), known, p.r.text())
		}
	}
}

// lockedEntry is an entry after the service has said that the account takes none.
func lockedEntry(t *tally) func(*world, point) {
	// lock is the first refusal while an account is locked, and how many entries came after it,
	// or after one in this life.
	type lock struct {
		since time.Time
		first *request
		count int
	}
	var (
		locks  = map[string]*lock{} // by account
		closed time.Time            // an account is locked, and no answer has said so
		quiet  bool                 // … and the bot had the opportunity, and sent nothing
	)
	look := func(w *world) { // whether the bot had time to enter again
		for _, l := range locks {
			t.exercised = t.exercised || w.flatFor(l.since) >= w.periods(4) || l.count > 0
		}
	}
	return func(w *world, p point) {
		switch {
		case p.kind == ended:
			look(w)
		case p.kind == tradingsim.EventStart:
			for _, l := range locks {
				l.count = -1 // it may have forgotten, and ask once more
			}
		case p.kind == tradingsim.EventStatus:
			look(w)
			open := slices.Contains([]string{"ACTIVE", "PURCHASED", "FUNDED", "active"}, p.c.Value)
			switch {
			case !open && w.entries > 0:
				closed = p.at
			case open && !closed.IsZero():
				quiet, closed = w.flatFor(closed) >= w.periods(4), time.Time{}
			}
			if open {
				delete(locks, p.c.Account)
			}
		case p.kind == tradingsim.EventRequest && w.adds(p.r) && w.fresh(p.r):
			look(w) // what it fills changes the opportunity
			t.exercised = t.exercised || quiet
			closed, quiet = time.Time{}, false
			l := locks[p.r.account]
			if l == nil {
				return
			}
			if l.count++; l.count >= 3 {
				t.violated(Fail, "entries-while-locked", []*request{l.first, p.r}, "%s is entry %d after the answer to %s had said that the account takes none.", p.r.text(), l.count, l.first.text())
			}
		case p.kind == tradingsim.EventAnswer && p.r.entry && p.r.known():
			switch l := locks[p.r.account]; {
			case p.r.Code == "" || p.r.Status == 200:
				look(w)
				delete(locks, p.r.account)
			case (p.r.Code == "account_locked" || p.r.Code == "ACCOUNT_LOCKED") && l == nil:
				locks[p.r.account] = &lock{p.at, p.r, 0}
			}
		}
	}
}

// restart is what a bot does first in a life that is not its first.
func restart(t *tally) func(*world, point) {
	var killed, read, held bool // held: when this life began; read: the positions, in it
	return func(w *world, p point) {
		long := w.periods(2)
		if w.m.Restart == Flatten {
			long = time.Duration(w.m.FlatWithin)
		}
		switch {
		case p.kind == tradingsim.EventKill:
			killed = true
		case !killed: // the first life
			return
		case p.kind == tradingsim.EventStart:
			read, held = false, len(w.held) > 0
		case w.dead:
		case p.kind == ended:
			t.exercised = t.exercised || held && w.now.Sub(w.started) >= long
		case p.kind == tradingsim.EventAnswer && p.r.shows(positions) && !p.r.At.Before(w.started):
			read = true
		case p.kind == tradingsim.EventRequest && w.adds(p.r) && !read && w.freshSince(p.r, w.started):
			t.violated(Fail, "entry-before-positions", append(w.latest(p.r.Symbol, p.r.ID), p.r), "The bot entered after a restart, %s, before it had read its positions: %s.", p.r.under(), p.r.text())
		}
		if deadline := w.started.Add(long); w.m.Restart == Flatten && held && !w.dead && w.now.After(deadline) && (w.flat.IsZero() || w.flat.After(deadline)) {
			held = false
			t.violated(Fail, "not-flat-after-restart", nil, "The account was not flat within flatWithin, %s, of the restart.", long)
		}
	}
}

// zero is a number that was computed from a mark that is missing.
func zero(t *tally) func(*world, point) {
	var missing *request
	flat := false
	return func(w *world, p point) {
		switch {
		case p.kind == tradingsim.EventAnswer && p.r.MarkMissing && p.r.Delivered:
			missing = p.r
			flat = flat || !w.flat.IsZero() && w.entries > 0
		case p.kind == tradingsim.EventRequest && missing != nil && p.r.write:
			t.exercised = t.exercised || w.adds(p.r) && flat
			for _, n := range p.r.prices() {
				if n.set && !n.IsPositive() {
					t.violated(Fail, "price-from-missing-mark", []*request{missing, p.r}, "%s has the %s %s: the mark that #%d asked for was missing, and a missing mark is no number.", p.r.text(), n.name, n.Decimal, missing.ID)
				}
			}
		}
	}
}
