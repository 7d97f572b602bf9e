// Package books keeps what a program's own calls show of its accounts: what was read
// last, and what its own writes did since. They say what an account was before a write,
// and what else of the program's changed it. They ask the service for nothing.
package books

import (
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/servicetime"
	"github.com/tradingapi/trading-go/internal/spec"
)

// Books are the books of the accounts of one service. They are safe for concurrent use.
type Books struct {
	began   time.Time // reads sooner than a lag after it may show an earlier run's writes late
	earlier Earlier   // unless this says more of a live account
	lag     time.Duration

	// Closed takes the time of a trade that an own close left, and when that was sent and
	// answered; nil if nobody wants it.
	Closed func(shown servicetime.Time, sent, answered time.Time)
	// report takes the first sign that somebody else trades an account; nil if nobody wants it.
	report func(id AccountKey, sign string)
	// watched: such signs count.
	watched bool
	// declares are what clients say of a live account: whether nobody else trades it.
	declares map[*func(pending.AccountID) bool]struct{}

	mu    sync.Mutex
	of    map[AccountKey]*account
	notes bool          // a journal takes notes
	free  chan struct{} // closed when it has them; nil where nobody waits
}

// New returns books that begin now. report is called with the first sign that somebody else
// trades a live account; it may be nil.
func New(began time.Time, earlier Earlier, report func(id AccountKey, sign string)) *Books {
	return &Books{began: began, earlier: earlier, report: report, of: make(map[AccountKey]*account), lag: ledger.Lag}
}

// Earlier is what a journal shows of what earlier runs of the program wrote to live accounts.
// It has no writes to the paper account.
type Earlier struct {
	None bool // nothing
	// Since is how long before a moment of this process the last of it had ended, at least, by
	// the service's clock; not known before that is. Wall is when, by the wall clock: a
	// hint that proves nothing. Since is nil if that is not known.
	Since func(at time.Time) (d time.Duration, known bool)
	Wall  time.Time
	// Still are the live accounts in which they left nothing that rests or runs.
	Still []pending.AccountID
	// Handed is what the last of them has handed over of its accounts, after which nothing was
	// written to these.
	Handed map[pending.AccountID]*Handed
}

// shows reports whether a read begun then shows all that earlier runs wrote to an account.
func (b *Books) shows(id AccountKey, begun time.Time, lag time.Duration) bool {
	if begun.Sub(b.began) >= lag || b.earlier.None && id.live() {
		return true
	}
	if b.earlier.Since == nil || !id.live() {
		return false
	}
	since, known := b.earlier.Since(begun)
	return known && since >= lag
}

// mayShow is shows, where a first read may be what says the service's time.
func (b *Books) mayShow(id AccountKey, begun time.Time, lag time.Duration) bool {
	if b.earlier.Since == nil || !id.live() {
		return b.shows(id, begun, lag)
	}
	_, known := b.earlier.Since(begun)
	return b.shows(id, begun, lag) || !known && begun.Sub(b.earlier.Wall) >= lag+4*servicetime.Tolerance
}

// LagBehind says that reads may be so far behind: the longest that was ever said holds.
func (b *Books) LagBehind(lag time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lag = max(b.lag, lag)
}

// AccountKey names an account. The paper account has no id.
type AccountKey struct {
	Environment spec.Environment
	ID          pending.AccountID
}

func (a AccountKey) live() bool { return a.ID != "" }

// account is one account: the last read of each kind that no own write came close to, and the trails of its
// symbols.
type account struct {
	lag         time.Duration       // of the books
	began       time.Time           // likewise
	status      string              // as last seen; empty if never
	statusAt    time.Time           // when it was asked for
	balance     decimal.NullDecimal // of the paper account, as last seen
	roseAt      time.Time           // when a read began that showed more; zero if closed trades say why
	given       string              // the id that the service gives the paper account; empty if none was seen
	rowsStatus  string              // the status that was known when the closed trades were read
	others      string              // the first sign that somebody else trades it
	suspect     string              // what may be such a sign, if a later status is suspectIn still
	suspectAt   time.Time
	suspectIn   string
	ran         bool      // a run was seen, or is the program's own
	waitedKnown bool      // all that waited since the last list of trades is known
	inFlight    int       // own writes under way
	inherits    bool      // trails of an earlier run may have writes on their way that nobody ends
	lastWrite   time.Time // when one last ended

	positions map[string]position // of a symbol that is not here, every read showed none
	posAt     time.Time           // when the last read of them began; zero if they are not known
	posEnded  time.Time           // when it ended
	posFrom   time.Time           // when the first of those reads ended
	rows      []accounting.Row
	rowsAt    time.Time
	rowsEnded time.Time
	rowsSince map[string]time.Time // by symbol: the end of the read that first showed its newest row
	rowsFrom  time.Time            // the same of symbols that are not there
	orders    []string
	runs      []string
	ordersAt  time.Time
	runsFrom  time.Time         // the end of the first of those reads: every run since then is known
	finished  accounting.Newest // of the runs that have ended, as read
	ended     []string          // others that are known to have ended, the newest first
	finAt     time.Time

	unnamed bool // a write may have left something since what waits was read, of which no id is known

	open   map[*Booked]struct{}
	places map[pending.Place]*openIn
	// unended have ended, and another one's journal did not take that: so their own have no end, and
	// have to know that more may have followed.
	unended []*Booked

	declared bool // by somebody, or it was
	entered  bool // an entry went out
	trails   trails
}

// position is one as reads showed it.
type position struct {
	accounting.Holding
	at    time.Time // when its read began
	since time.Time // reads have shown it unchanged since the end of this one
}

func (p position) equal(o accounting.Holding) bool {
	return p.Size.Equal(o.Size) && p.EntryPrice.Equal(o.EntryPrice)
}

// ever is before all that a program has seen.
var ever = time.Unix(0, 0)

// account returns the books of an account. The lock is held.
func (b *Books) account(id AccountKey) *account {
	a := b.of[id]
	if a == nil {
		a = &account{began: b.began, open: make(map[*Booked]struct{}), places: make(map[pending.Place]*openIn)}
		if a.declared = b.isDeclared(id); a.declared && (b.earlier.None || slices.Contains(b.earlier.Still, id.ID)) {
			a.trails.lists = ever
		}
		if !id.live() { // where nothing waits, and no entry waits for a look
			a.trails.lists, a.entered = ever, true
		}
		if h := b.earlier.Handed[id.ID]; h != nil && a.declared {
			a.takeOver(h, b.began)
		}
		b.of[id] = a
	}
	if a.lag = b.lag; a.lag > ledger.Lag {
		a.trails.trades.Lag = a.lag
	}
	return a
}

// forget drops the reads: what they show is no baseline any more.
func (a *account) forget() {
	a.posAt, a.rowsAt, a.ordersAt, a.finAt = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	a.positions, a.rows = nil, nil
}

// held is the position in a symbol.
func (a *account) held(symbol string) position {
	if p, seen := a.positions[symbol]; seen {
		return p
	}
	return position{at: a.posAt, since: a.posFrom}
}
