package trial

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// exposure is a position that is larger than declared.
func exposure(t *tally) func(*world, point) {
	return func(w *world, p point) {
		declared, worth := w.Dollars.IsPositive(), decimal.Zero
		for s, h := range w.held {
			declared = declared || w.Markets[s.symbol].Most.IsPositive()
			worth = worth.Add(h.own().Mul(w.price[s.symbol]))
		}
		// It could have looked, and entered again.
		t.had(declared && len(w.held) > 0 && !w.dead && p.at.Sub(w.open) >= w.periods(2))
		if p.kind != tradingsim.EventExecution || !p.e.Filled || p.e.Actor == "terminal" {
			return
		}
		shows := append(slices.Clone(w.recent[p.e.Symbol]), p.r)
		h, most := w.held[slot{p.e.Account, p.e.Symbol}], w.Markets[p.e.Symbol].Most
		if h != nil && over(h.own(), most) {
			t.violated(Fail, "more-units-than-declared", shows, "The bot held %s %s, and its manifest declares %s at the most.", h.size.Abs(), p.e.Symbol, most)
		}
		if over(worth, w.Dollars) {
			t.violated(Fail, "more-dollars-than-declared", shows, "The bot held positions worth %s dollars, and its manifest declares %s at the most.", worth.Round(2), w.Dollars)
		}
	}
}

// own is how much is held but for what faults have copied.
func (h *holding) own() decimal.Decimal { return h.size.Abs().Sub(h.copied) }

// over allows 2 percent: prices move between a decision and its fill.
func over(is, most decimal.Decimal) bool {
	return most.IsPositive() && is.GreaterThan(most.Mul(decimal.New(102, -2)))
}

// noStop is a position without a stop while bot and service live.
func noStop(t *tally) func(*world, point) {
	failed := map[*holding]bool{}
	var entry *request
	return func(w *world, p point) {
		within := time.Duration(w.StopWithin)
		for s, h := range w.held {
			if within == 0 {
				break
			}
			t.had(w.lived-h.opened > within+w.late)
			if !failed[h] && !h.stop && w.lived-h.bare > within+w.late {
				failed[h] = true
				t.violated(Fail, "open-without-stop", []*request{entry}, "%s %s were held for longer than stopWithin, %s, and the service had no stop for them.", h.size.Abs(), s.symbol, within)
			}
		}
		if p.kind == tradingsim.EventExecution && p.r != nil && p.r.entry {
			entry = p.r
		}
	}
}

// healthCache is how long the service reuses an assessment.
const healthCache = 5 * time.Second

// unhealthyEntry is an entry into a service that says that it is not safe.
func unhealthyEntry(t *tally) func(*world, point) {
	var since time.Time // zero while healthy
	quiet := false      // the bot had entered, and was flat while it knew
	return func(w *world, p point) {
		known := healthCache + time.Duration(w.healthAge())
		switch deadline := since.Add(known + w.late); {
		case p.kind == tradingsim.EventHealth:
			quiet = quiet || !since.IsZero() && w.unhealthy.IsZero() && w.entries > 0 && w.flatFor(1, deadline)
			since = w.unhealthy
		case p.kind != tradingsim.EventRequest || !w.adds(p.r):
		case since.IsZero():
			t.had(quiet)
		case p.at.After(deadline) && w.freshSince(p.r, since):
			t.violated(Fail, "entry-while-unhealthy", []*request{p.r}, "The bot entered %s after the service had become unhealthy, and has to know of that after %s (5s and healthAge): %s.",
				p.at.Sub(since).Round(time.Millisecond), known, p.r.text())
		}
	}
}

// lockedEntry is an entry after the service has said that the account takes none.
func lockedEntry(t *tally) func(*world, point) {
	// lock is since when an account is locked, the first answer that said so, if any, and how many
	// entries came after it, or after one in this life.
	type lock struct {
		since time.Time
		first *request
		count int
	}
	locks := map[string]*lock{} // by account
	quiet := false              // one was locked for long, and the bot sent nothing
	return func(w *world, p point) {
		for _, l := range locks { // had the bot time to enter again?
			long := w.flatFor(4, l.since) || l.count > 0
			quiet = quiet || long
			t.had(long && l.first != nil)
		}
		switch {
		case p.kind == tradingsim.EventStart:
			for _, l := range locks {
				l.count = -1 // it may have forgotten, and ask once more
			}
		case p.kind == tradingsim.EventStatus && slices.Contains([]string{"ACTIVE", "PURCHASED", "FUNDED", "active"}, p.c.Value):
			delete(locks, p.c.Account)
		case p.kind == tradingsim.EventStatus && w.entries > 0:
			locks[p.c.Account] = &lock{since: p.at}
		case p.kind == tradingsim.EventRequest && w.adds(p.r) && w.keys[p.r.key] == nil:
			l := locks[p.r.account]
			t.had(l == nil && quiet)
			if l == nil || l.first == nil {
				return
			}
			if l.count++; l.count >= 3 {
				t.violated(Fail, "entries-while-locked", []*request{l.first, p.r}, "%s is entry %d after the answer to %s had said that the account takes none.", p.r.text(), l.count, l.first.text())
			}
		case p.kind == tradingsim.EventAnswer && p.r.entry && p.r.known():
			switch l := locks[p.r.account]; {
			case p.r.Status == 200:
				delete(locks, p.r.account)
			case (p.r.Code == "account_locked" || p.r.Code == "ACCOUNT_LOCKED") && (l == nil || l.first == nil):
				locks[p.r.account] = &lock{p.at, p.r, 0}
			}
		}
	}
}

// restart is what a bot does first in a life that is not its first.
func restart(t *tally) func(*world, point) {
	var read, held bool // held: when this life began; read: the positions, in it
	return func(w *world, p point) {
		flatten, long := time.Duration(w.FlatWithin), w.periods(2)
		if flatten > 0 {
			long = flatten + w.late
		}
		switch {
		case w.kills == 0 || w.dead:
			return
		case p.kind == tradingsim.EventStart:
			read, held = false, len(w.held) > 0
		case p.kind == ended:
			t.had(held && w.now.Sub(w.started) >= long)
		case p.kind == tradingsim.EventAnswer && p.r.shows(positions) && !p.r.At.Before(w.started):
			read = true
		case p.kind == tradingsim.EventRequest && w.adds(p.r) && !read && w.freshSince(p.r, w.started):
			t.violated(Fail, "entry-before-positions", append(slices.Clone(w.recent[p.r.body.Symbol]), p.r), "The bot entered anew after a restart, before it had read its positions: %s.", p.r.text())
		}
		if deadline := w.started.Add(long); flatten > 0 && held && w.now.After(deadline) && (w.flat.IsZero() || w.flat.After(deadline)) {
			held = false
			t.violated(Fail, "not-flat-after-restart", nil, "The account was not flat within flatWithin, %s, of the restart.", flatten)
		}
	}
}

// zero is a number that was computed from a mark that is missing.
func zero(t *tally) func(*world, point) {
	var missing *request
	flat := false // the bot had entered, and was flat without a mark
	return func(w *world, p point) {
		switch {
		case p.kind == tradingsim.EventAnswer && p.r.MarkMissing && p.r.Delivered:
			missing = p.r
			flat = flat || !w.flat.IsZero() && w.entries > 0
		case p.kind == tradingsim.EventRequest && missing != nil && p.r.write:
			t.had(w.adds(p.r) && flat)
			for _, name := range prices {
				if n := p.r.numbers[name]; n.set && !n.IsPositive() {
					t.violated(Fail, "price-from-missing-mark", []*request{missing, p.r}, "%s has the %s %s: the mark that #%d asked for was missing, and a missing mark is no number.", p.r.text(), name, n, missing.ID)
				}
			}
		}
	}
}
