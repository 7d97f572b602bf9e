package books

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

// Declare has the books know the accounts that a client declares, until done is called. What any
// client of the journal does there is on their trails.
func (b *Books) Declare(is func(account pending.AccountID) bool) (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.declares == nil {
		b.declares = make(map[*func(pending.AccountID) bool]struct{})
	}
	b.declares[&is] = struct{}{}
	for id, a := range b.of {
		a.declared = a.declared || b.isDeclared(id)
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.declares, &is)
	}
}

func (b *Books) isDeclared(id AccountKey) bool {
	for d := range b.declares {
		if (*d)(id.ID) {
			return true
		}
	}
	return false
}

// FirstLook is how long the first entry on a declared account has to wait until a look shows
// every own write, and those of an earlier run; 0 if it need not wait: the account was read, another
// entry went out before, or an earlier run has handed over what a look would show. Where an earlier run
// may have left an order, which could trade as the look reads, orders means that what waits is to be read
// now, a lag before that look.
func (b *Books) FirstLook(id AccountKey, symbol string, now time.Time) (wait time.Duration, orders bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(id)
	t := &a.trails
	switch {
	case a.looked():
		return 0, false
	case t.of[symbol] != nil && t.of[symbol].handed && t.of[symbol].sure():
		return 0, false
	case a.inFlight > 0:
		return a.lag, false
	}
	shows := a.lastWrite
	if !b.mayShow(id, now, a.lag) && b.began.After(shows) {
		shows = b.began
	}
	switch wait = shows.Add(a.lag).Sub(now); {
	case wait > 0:
		return wait, false
	case t.lists.IsZero():
		return 0, true
	default:
		return max(0, t.lists.Add(a.lag).Sub(now)), false
	}
}

// Looked reports whether no entry waits for a look at an account: nobody declares it, it was
// read, or an entry went out before.
func (b *Books) Looked(id AccountKey) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.account(id).looked()
}

func (a *account) looked() bool {
	read := !a.posAt.IsZero() && !a.rowsAt.IsZero() && !a.ordersAt.IsZero()
	return !a.declared || a.entered || read && !a.trails.lists.After(a.shown())
}

// Still are the live accounts in which nothing of the program's rests or runs, nor anything
// that earlier runs left, nor was there a lag ago: the first reads of the next run may show that.
func (b *Books) Still() (ids []pending.AccountID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.earlier.Still {
		if b.of[AccountKey{Environment: "live", ID: id}] == nil { // nothing was done to it since
			ids = append(ids, id)
		}
	}
	for id, a := range b.of {
		waits := func(o accounting.Waiting) bool { return o.Gone.IsZero() || time.Since(o.Gone) < a.lag }
		if !a.trails.lists.IsZero() && len(a.trails.left) == 0 && !slices.ContainsFunc(a.trails.waited, waits) {
			ids = append(ids, id.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// lacksBase reports whether the next write of a symbol has no baseline that counts for
// certain, and one look would be one.
func (a *account) lacksBase(symbol string) bool {
	of := a.trails.trail(symbol)
	return !of.sure() && !of.last.Add(a.lag).Before(earlier(a.posAt, a.rowsAt))
}

// sure reports whether a symbol has a baseline that counts for certain.
func (of *trail) sure() bool {
	return of.Base != nil && !of.Base.Others && !slices.ContainsFunc(of.Acts, func(b accounting.Own) bool { return b.Unsure })
}

// trails are what is known of an account's symbols from one baseline to the next. Each is
// carried forward by lists of closed trades, which are read while the program trades.
type trails struct {
	trades  accounting.Trades
	longest int // of the lists that were seen
	place   int // behind the list that was read last where nothing of the program's was under way
	of      map[string]*trail
	waited  []accounting.Waiting // what may trade by itself, own or not, until it was gone
	edited  bool                 // a run was, which may trade more since: of none is known how much
	lists   time.Time            // from then on all that waits is known, of earlier runs too; zero before it was read
	clock   int                  // counts sends and answers, on from those of earlier runs
	since   int                  // own answers since the last list that may have left a row
	left    []Left               // of an earlier run, not taken over yet
}

// trail is that of one symbol.
type trail struct {
	accounting.Trail
	last  time.Time // when an own write last ended
	ended int       // how many have since the last list that nothing of the program's was under way beside
	did   Did       // and what the last of them did
	lists time.Time // as of all symbols, where an earlier run knew it of this one; else zero

	handed bool // an earlier run has handed it over
}

// maxWaited bounds how many orders and runs are kept.
const maxWaited = 1024

func (t *trails) trail(symbol string) *trail {
	if t.of == nil {
		t.of = make(map[string]*trail)
	}
	if t.of[symbol] == nil {
		t.of[symbol] = &trail{}
	}
	return t.of[symbol]
}

func (t *trails) tick() int { t.clock++; return t.clock }

// forget drops what was read.
func (t *trails) forget() {
	t.trades, t.place = accounting.Trades{Lag: t.trades.Lag}, -1
	t.drop()
}

func (t *trails) drop() {
	for _, of := range t.of {
		of.Drop()
	}
}

// enterTrail notes that a write is about to be sent, which has its place then.
func (a *account) enterTrail(w *Booked) {
	t, symbol := &a.trails, w.Places[0].Symbol
	a.goOn()
	of := t.trail(symbol)
	a.entered = a.entered || w.Entry && !of.handed // those of other symbols wait still
	a.rebase(symbol, of)
	w.sent = t.tick()
	if !w.Asked.Kind.Acts() {
		t.waitsFor(w)
		return
	}
	b := accounting.Own{ID: w.ID, Act: *w.Asked, Place: -1, Began: time.Now()}
	if t.trades.Known {
		b.Place = t.trades.End()
	}
	b.Sent = w.sent
	of.Add(b)
}

// leaveTrail notes what a write came to.
func (a *account) leaveTrail(w *Booked, ended accounting.Own, did *Did) {
	t, now := &a.trails, time.Now()
	a.goOn()
	of := t.trail(w.Places[0].Symbol)
	if did != nil && !did.refused() {
		of.ended++
		of.did = *did
	}
	last := now
	if did != nil && did.unclear() {
		last = did.ShownFrom.Add(-a.lag) // reads since then show it
	}
	if last.After(of.last) {
		of.last = last
	}
	if symbol := w.Places[0].Symbol; a.positions != nil {
		a.positions[symbol] = a.held(symbol) // so that the next read begins anew with it
	}
	if !w.Asked.Kind.Acts() {
		t.waitedFor(w, did)
		return
	}
	own := of.Find(w.ID)
	defer func() { of.Ended(own == nil && w.given.IsZero()) }() // one that was given up may not be missing
	switch {
	case own == nil:
		return
	case did == nil, did.refused() && !a.declared: // a stranger may have done as much
		of.Remove(w.ID)
		return
	}
	t.since++
	ended.Place, ended.Began, ended.Heard = own.Place, own.Began, now
	if of.Leave(own, ended); own.Unsure {
		if of.Unsure(own); did.unclear() && !ended.Ran { // a person may know more than is written down
			of.Drop()
		}
	}
}

// rebase begins a trail anew with the reads that no own write came near to.
func (a *account) rebase(symbol string, of *trail) {
	t := &a.trails
	held := a.held(symbol)
	shown, stood := a.shown(), a.stood(symbol, held)
	at := accounting.Base{Position: held.Size, Place: t.place, Status: a.status, At: t.clock}
	switch {
	case a.posAt.IsZero(), a.rowsAt.IsZero(), !t.trades.Known, t.place < t.trades.First, of.last.After(shown):
		return
	case of.Base == nil:
	case a.limited(symbol), !of.From.Before(shown) && !(a.declared && of.Base.Others):
		return
	}
	switch {
	case !a.declared: // what a stranger did between the two he may have done since
		at.Others, at.Newer = true, !stood
	case a.ordersAt.IsZero() && !t.lists.Equal(ever):
		return
	case a.status != "" && !accounting.Open(a.status): // which may be newer than the reads
		return
	case len(t.waiting(symbol, shown)) > 0 && !stood:
		return // they may have traded between the two
	default:
		first, hidden := a.nearby(t.place, symbol, a.posAt, a.rowsEnded)
		at.Place, at.Near, at.Newer = first, true, hidden && !stood
	}
	if was := of.Base; at.Newer && was != nil && !was.Newer && (at.Others || !was.Others) && len(of.Acts) < accounting.MostSince/2 {
		return // the older one says more
	}
	of.Begin(at, shown)
}

// nearby is the place before those rows in front of a place that a position may be of before, whose read began at a
// moment, where the list was read by another. hidden means that the list may lack one.
func (a *account) nearby(place int, symbol string, begun, ended time.Time) (first int, hidden bool) {
	return a.trails.trades.Nearby(place, symbol, ended.Sub(begun)+a.lag+servicetime.Tolerance)
}

// limited reports whether a limit is under way in a symbol: it is judged by the baseline of before it.
func (a *account) limited(symbol string) bool {
	for w := range a.open {
		if w.Places[0].Symbol == symbol && w.Asked.Kind == accounting.Limit {
			return true
		}
	}
	return false
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// sawList takes a list of closed trades in, whatever was under way beside it.
func (a *account) sawList(list []accounting.Row, begun time.Time) {
	a.goOn()
	t := &a.trails
	longest := t.longest
	if !a.declared {
		longest = max(longest, accounting.ListCut)
	}
	reach := t.trades.Take(list, begun, longest)
	t.longest, t.since = max(t.longest, len(list)), 0
	if reach != accounting.All {
		t.place = -1
	}
	need := t.trades.End()
	for symbol, of := range t.of {
		of.Keep(reach)
		if a.declared && !a.limited(symbol) {
			of.Follow(symbol, &t.trades, func(from time.Time) []accounting.Waiting { return t.waiting(symbol, from) }, a.status)
		}
		need = min(need, of.Needs(t.trades.End()))
	}
	t.trades.Forget(min(need, t.place))
}

// course is what is to be replayed of a write's symbol.
type course struct {
	accounting.Replay
	asked int // the write among its acts
	acts  []accounting.Own
	rows  accounting.Trades
}

// course returns what has happened in a write's symbol since its baseline; false without
// one, and of a write that has ended or whose market is open again.
func (a *account) course(w *Booked, alone bool, status string) (c course, ok bool) {
	a.goOn()
	t, symbol := &a.trails, w.Places[0].Symbol
	of := t.trail(symbol)
	if own := of.Find(w.ID); own != nil && own.Ended == 0 {
		own.Ended = w.over
	}
	c.Replay, c.asked, ok = of.Replay(symbol, &t.trades, t.waiting(symbol, of.From), status, w.ID)
	if !ok || !w.in {
		return c, false
	}
	c.acts, c.rows = slices.Clone(of.Acts), t.trades
	if w.Asked.Kind == accounting.Limit && !of.Base.Shows(w.sent) {
		c.Waiting = slices.DeleteFunc(c.Waiting, func(o accounting.Waiting) bool { return o.ID == w.ID })
		limit := *w.Asked
		limit.Sent = w.sent
		c.asked = c.Rests(limit)
	}
	if c.Part = !alone || of.Base.Others; c.Part && !of.Base.Others {
		c.Stranger()
	}
	return c, c.asked >= 0
}

// open reports whether another write is under way, whose end may say more.
func (c *course) open() bool {
	for i := range c.acts {
		if i != c.asked && c.acts[i].Ended == 0 {
			return true
		}
	}
	return false
}

// Lost drops the baseline of a symbol: nothing explains what the account shows.
func (b *Books) Lost(w *Booked) {
	_ = b.noting(w, func(a *account) []note {
		a.trails.trail(w.Places[0].Symbol).Drop()
		return nil
	})
}

// still takes in that equal looks, the first begun at a moment, show a position and a
// list; false if a newer list is known, or an own write was answered so shortly before that
// it need not show.
func (c *course) still(begun time.Time, position decimal.Decimal, list []accounting.Row) bool {
	if !c.rows.Newest(list) {
		return false
	}
	for i := range c.acts {
		if c.acts[i].Heard.After(begun.Add(-max(ledger.Lag, c.rows.Lag))) {
			return false
		}
	}
	for i := range c.Acts {
		c.Acts[i].Late = false
	}
	c.To = decimal.NewNullDecimal(position)
	return true
}

// WantsList reports whether the list of closed trades has to be read before the program
// writes on: as many of its writes have come since the last that more might not fit. all
// means that what rests and runs was not read either.
func (b *Books) WantsList(id AccountKey) (list, all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := &b.account(id).trails
	return t.since >= listEvery, t.lists.IsZero()
}

// listEvery is after how many own writes that may have left a row the list is read.
const listEvery = 8
