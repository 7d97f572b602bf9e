package books

import (
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// SawStatus notes the status of an account, by a request of that moment.
func (b *Books) SawStatus(id AccountKey, asked time.Time, status string) {
	b.seeing(id, func(a *account) {
		a.status, a.statusAt = status, asked
		a.confirm(asked)
	})
}

// SawPaper notes the id that the service gives the paper account, and its balance. Another
// id than before is of another account: it was replaced, or the API key is another
// holder's now.
func (b *Books) SawPaper(id AccountKey, asked time.Time, given string, balance decimal.Decimal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(id)
	if given != "" && given != a.given {
		if a.given != "" {
			a.beginAnew()
		}
		a.given = given
	}
	if a.balance.Valid && balance.GreaterThan(a.balance.Decimal) {
		a.roseAt = asked
	}
	a.balance = decimal.NewNullDecimal(balance)
}

// wasReset reports whether somebody else has reset the paper account, by a list of its
// closed trades: it has lost all of them, or the balance has risen although nothing is held
// and nothing was ever closed.
func (a *account) wasReset(begun time.Time, list []accounting.Row) bool {
	if len(list) > 0 {
		a.roseAt = time.Time{} // by one of these, as far as is known
		return false
	}
	held := slices.ContainsFunc(slices.Collect(maps.Values(a.positions)), func(p position) bool { return !p.Size.IsZero() })
	rose := !a.roseAt.IsZero() && begun.Sub(a.roseAt) >= a.lag && a.posAt.Sub(a.roseAt) >= a.lag
	return len(a.rows) > 0 || rose && !held
}

// Status returns the status last seen; empty if none was.
func (b *Books) Status(id AccountKey) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.of[id]; a != nil {
		return a.status
	}
	return ""
}

// SendBegan notes that an own write is about to leave, SendEnded that it has its answer,
// or none: reads near it may show it or not.
func (b *Books) SendBegan(id AccountKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.account(id).inFlight++
}

// SendEnded notes when the answer came.
func (b *Books) SendEnded(id AccountKey, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(id)
	a.inFlight--
	if at.After(a.lastWrite) { // of two that end at once, the later
		a.lastWrite = at
	}
}

// Read is when a read was sent, and when it was answered. What it shows is of a moment
// between the two, or up to a lag before. The zero Read says nothing of any moment.
type Read struct{ Begun, Ended time.Time }

// saw takes a read over, if it was begun where every own write shows: none is under way,
// and the last is a lag ago.
func (b *Books) saw(id AccountKey, at Read, take func(*account)) {
	b.seeing(id, func(a *account) {
		if at != (Read{}) && b.passive(id, a, at.Begun) {
			take(a)
		}
	})
}

func (b *Books) passive(id AccountKey, a *account, begun time.Time) bool {
	return a.inFlight == 0 && begun.Sub(a.lastWrite) >= a.lag && b.shows(id, begun, a.lag)
}

// Held is what is held in a market.
type Held struct {
	Symbol string
	accounting.Holding
}

// SawPositions notes the open positions.
func (b *Books) SawPositions(id AccountKey, at Read, held []Held) {
	b.saw(id, at, func(a *account) {
		if a.posAt.IsZero() {
			a.posFrom = at.Ended
		}
		if a.positions == nil {
			a.positions = make(map[string]position, len(held))
		}
		for symbol := range a.positions {
			if !slices.ContainsFunc(held, func(h Held) bool { return h.Symbol == symbol }) {
				a.positions[symbol] = a.seenAgain(symbol, accounting.Holding{}, at)
			}
		}
		for _, h := range held {
			a.positions[h.Symbol] = a.seenAgain(h.Symbol, h.Holding, at)
		}
		a.posAt, a.posEnded = at.Begun, at.Ended
	})
}

// seenAgain is a position as a read shows it, beside what was known of it before. One that own writes have
// changed meanwhile may be the same again.
func (a *account) seenAgain(symbol string, now accounting.Holding, at Read) position {
	p := position{Holding: now, at: at.Begun, since: at.Ended}
	before, ok := a.positions[symbol]
	if of := a.trails.of[symbol]; ok && before.equal(now) && (of == nil || of.last.Before(before.at)) {
		p.since = before.since
	}
	return p
}

// KeptRows is how many closed trades are kept of a list, the newest: enough to find
// where a later list goes on. Trails take so many.
const (
	KeptRows  = 16
	takenRows = 100
)

// SawTrades notes the list of closed trades, newest first. rows returns so many of them
// at the most, each with its digest, symbol and time; it is asked if they are of use.
func (b *Books) SawTrades(id AccountKey, at Read, rows func(most int) []accounting.Row) {
	if at != (Read{}) {
		taken := rows(takenRows)
		b.mu.Lock()
		b.account(id).sawList(taken, at.Begun)
		b.mu.Unlock()
	}
	b.saw(id, at, func(a *account) {
		list := rows(KeptRows)
		if !id.live() && a.wasReset(at.Begun, list) {
			a.beginAnew()
		}
		a.seekTrades(list, at.Ended)
		fresh := a.dateRows(list, at.Ended)
		a.trails.place = a.trails.trades.End()
		b.learn(a, fresh)
		a.rows, a.rowsAt, a.rowsEnded, a.rowsStatus = list, at.Begun, at.Ended, a.status
		// An order that this list may show before it was known may have filled since.
		a.waitedKnown = !a.ordersAt.IsZero() && at.Begun.Sub(a.runsFrom) >= a.lag
	})
}

// learn finds the trade that an own close left: the only new one of its market, by its result.
func (b *Books) learn(a *account, fresh []accounting.Row) {
	for symbol, of := range a.trails.of {
		did, only := of.did, of.ended == 1
		if of.ended, of.did = 0, (Did{}); b.Closed == nil || !only || did.Own.Began.IsZero() || !did.Profit.Valid {
			continue
		}
		in := func(r accounting.Row) bool { return r.Symbol == symbol || r.Symbol == "" }
		at := slices.IndexFunc(fresh, in)
		if at < 0 || slices.ContainsFunc(fresh[at+1:], in) {
			continue
		}
		if r := &fresh[at]; r.GrossPnL.Valid && r.GrossPnL.Decimal.Sub(did.Profit.Decimal).Abs().LessThanOrEqual(cent) {
			b.Closed(r.ClosedAt, did.Own.Began, did.Own.Heard)
		}
	}
}

// cent is how far the result in an answer may be from that of its trade.
var cent = decimal.New(1, -2)

// dateRows notes in which symbols there are rows since the last list that counted, and returns these as a list
// shows them; none if they are not known.
func (a *account) dateRows(list []accounting.Row, ended time.Time) []accounting.Row {
	t := &a.trails
	var rows []accounting.Row
	known := !a.rowsAt.IsZero() && a.rowsSince != nil && t.place >= t.trades.First
	if known {
		rows = t.trades.From(t.place).Rows
	}
	if !known || slices.ContainsFunc(rows, func(r accounting.Row) bool { return r.Symbol == "" }) {
		a.rowsFrom, a.rowsSince = ended, make(map[string]time.Time)
		return nil
	}
	for i := range rows {
		a.rowsSince[rows[i].Symbol] = ended
	}
	if len(rows) > len(list) || !t.trades.Newest(list) {
		return nil
	}
	return list[:len(rows)]
}

// IDsOf are the ids of what waits.
func IDsOf(waiting []accounting.Waiting) []string {
	ids := make([]string, len(waiting))
	for i := range waiting {
		ids[i] = waiting[i].ID
	}
	return ids
}

// SawOrders notes what rests, and the runs that run.
func (b *Books) SawOrders(id AccountKey, at Read, resting, running []accounting.Waiting) {
	b.saw(id, at, func(a *account) {
		a.seekOrders(resting, running)
		orders, runs := IDsOf(resting), IDsOf(running)
		// A run that runs no longer may not be in the list of those that have ended yet.
		a.keepEnded(withoutIDs(a.runs, runs))
		if a.ordersAt.IsZero() {
			a.runsFrom = at.Ended
		}
		a.orders, a.runs, a.ordersAt = orders, runs, at.Begun
	})
	if at != (Read{}) {
		b.sawWaiting(id, at, slices.Concat(resting, running))
	}
}

func (b *Books) sawWaiting(id AccountKey, at Read, waiting []accounting.Waiting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(id)
	a.trails.sawWaiting(waiting, at.Ended, b.shows(id, at.Begun, a.lag), b.passive(id, a, at.Begun))
	by := at.Begun
	for _, read := range [...]time.Time{a.posAt, a.rowsAt} { // with which a trail may begin anew
		if !read.IsZero() {
			by = earlier(by, read)
		}
	}
	a.trails.forgetGone(by.Add(-a.lag))
}

// SawFinished notes the ids of the runs that have ended.
func (b *Books) SawFinished(id AccountKey, at Read, runs accounting.Newest) {
	b.saw(id, at, func(a *account) {
		before := a.finished.IDs
		a.finished, a.finAt = runs.Head(maxOlder), at.Begun
		a.keepEnded(before) // which this list may not have: it may lag
	})
}

// maxOlder bounds the ids that are kept of a list, and beside it.
const maxOlder = 64

// keepEnded keeps the ids of runs that have ended, beside the list of them.
func (a *account) keepEnded(ids []string) {
	ids = withoutIDs(ids, a.finished.IDs)
	older := withoutIDs(withoutIDs(a.ended, a.finished.IDs), ids)
	a.ended = slices.Concat(ids, older)
	a.ended = slices.Clip(a.ended[:min(len(a.ended), maxOlder)])
}

func withoutIDs(ids, others []string) []string {
	if len(ids) == 0 || len(others) == 0 {
		return ids
	}
	known := make(map[string]struct{}, len(others))
	for _, id := range others {
		known[id] = struct{}{}
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		_, is := known[id]
		return is
	})
}

// ReadSince reports whether any of the reads began after a moment.
func (b *Books) ReadSince(id AccountKey, at time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(id)
	return a.posAt.After(at) || a.rowsAt.After(at) || a.ordersAt.After(at) || a.finAt.After(at)
}

// Reset notes that an account begins anew: what was read of it is of before, and nothing
// can be said any more of the writes that are open.
func (b *Books) Reset(id AccountKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.account(id).beginAnew()
}

func (a *account) beginAnew() {
	a.forget()
	a.balance, a.roseAt = decimal.NullDecimal{}, time.Time{}
	a.trails.forget()
	for w := range a.open {
		w.anew = true
	}
}
