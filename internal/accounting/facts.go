// Package accounting decides what became of a write from what the account shows.
//
// Everything bought in a symbol since a baseline stays visible: as position, or
// as a closed trade. So every course of trades is tried that leads from the baseline to what the
// account shows. A write that is in all of them ran, and one that is in none did not.
//
// [Judge] is a pure function: no clock, no connection, no client. What the account shows,
// and the write, have the service's time; looks and own writes that of this process.
// Unknown is the answer to everything rare.
package accounting

import (
	"cmp"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

// Direction is a side: Long buys, Short sells. Of a position it is its sign.
type Direction int8

// The directions.
const (
	Short  Direction = -1
	NoSide Direction = 0 // not known
	Long   Direction = 1
)

// ActKind is what was written.
type ActKind uint8

// The kinds.
const (
	Entry      ActKind = iota + 1 // a market order or a marketable limit
	ReduceOnly                    // an order that only reduces
	Close                         // a close by percent
	Limit                         // a resting limit
	Pro                           // a Pro order: it starts a run
	EditRun                       // an edit that enlarges a run: no read shows it
)

// Acts reports whether it is an order that fills at once, or a close.
func (k ActKind) Acts() bool { return k == Entry || k == ReduceOnly || k == Close }

// Cause is why a trade was closed.
type Cause uint8

// The causes.
const (
	OtherCause Cause = iota // not known: treated as Market
	Market
	StopLoss
	TakeProfit
)

// Holding is a position. Its size is negative for a short, zero for none.
type Holding struct {
	Size, EntryPrice decimal.Decimal
	OpenedAt         servicetime.Time // zero if not shown
}

// Row is a closed trade. What the service does not show is zero or not valid. Its JSON is in journals.
type Row struct {
	Digest uint64              `json:"d"` // equal for equal rows
	Symbol string              `json:"m,omitempty"`
	Side   Direction           `json:"s,omitempty"` // of the position that was closed
	Cause  Cause               `json:"c,omitempty"`
	Size   decimal.NullDecimal `json:"n,omitzero"`
	// GrossPnL is before fees; Fee is that of the round trip.
	EntryPrice decimal.NullDecimal `json:"i,omitzero"`
	ExitPrice  decimal.NullDecimal `json:"o,omitzero"`
	GrossPnL   decimal.NullDecimal `json:"g,omitzero"`
	Fee        decimal.NullDecimal `json:"f,omitzero"`
	ClosedAt   servicetime.Time    `json:"t,omitzero"`
}

// State is what reads of the account show.
type State struct {
	// Position is that in the write's symbol.
	Position Holding
	// Rows are the account's closed trades as returned, newest first.
	Rows []Row
	// Orders and Runs are the account's ids of resting orders and of running runs, Finished
	// those of the runs that have ended.
	Orders, Runs []string
	Finished     Newest
	// Status is the account's; "" if not known.
	Status string
}

// Newest are the newest ids of a list that grows without end, newest first, and how many
// more it has.
type Newest struct {
	IDs  []string `json:"ids,omitempty"`
	More int      `json:"more,omitempty"`
}

// maxNewest bounds the ids that are kept of one list.
const maxNewest = 256

// NewestOf are the newest of n ids.
func NewestOf(n int, id func(int) string) Newest {
	list := Newest{IDs: make([]string, min(n, maxNewest)), More: max(n-maxNewest, 0)}
	for i := range list.IDs {
		list.IDs[i] = id(i)
	}
	return list
}

// Head is the list with fewer ids kept.
func (l Newest) Head(n int) Newest {
	n = min(n, len(l.IDs))
	return Newest{slices.Clone(l.IDs[:n]), l.More + len(l.IDs) - n}
}

// since is a list without what is behind the last id that it had at the baseline: what is
// older may be known to nobody. It is complete if it has all that came since, newest first.
func (l Newest) since(base Newest) (ids []string, complete bool) {
	known := make(map[string]bool, len(base.IDs))
	for _, id := range base.IDs {
		known[id] = true
	}
	for i := len(l.IDs) - 1; i >= 0; i-- {
		if known[l.IDs[i]] {
			return l.IDs[:i+1], slices.Contains(l.IDs, base.IDs[0]) && len(l.IDs)-i-1+l.More <= base.More
		}
	}
	return l.IDs, len(base.IDs) == 0 && len(l.IDs)+l.More < ListCut
}

// Equal reports whether a later read shows the same of a symbol. Trades that are closed in
// another one meanwhile make no difference, as long as no row of this one leaves the
// list.
func (s State) Equal(o State, symbol string) bool {
	return s.Position.Size.Equal(o.Position.Size) && s.Position.EntryPrice.Equal(o.Position.EntryPrice) &&
		s.Position.OpenedAt == o.Position.OpenedAt && s.Status == o.Status &&
		sameTrades(s.Rows, o.Rows, symbol) &&
		slices.Equal(s.Orders, o.Orders) && slices.Equal(s.Runs, o.Runs) &&
		slices.Equal(s.Finished.IDs, o.Finished.IDs) && s.Finished.More == o.Finished.More
}

// sameTrades reports whether a later list shows the same of a symbol: what comes, and what leaves it, is of others.
// A row that comes may look like one that leaves.
func sameTrades(rows, later []Row, symbol string) bool {
	may := func(r Row) bool { return r.Symbol == symbol || r.Symbol == "" }
	for fresh := range len(later) + 1 {
		stayed := later[fresh:]
		n := min(len(stayed), len(rows))
		if slices.EqualFunc(stayed[:n], rows[:n], sameRow) && !slices.ContainsFunc(rows[n:], may) && !slices.ContainsFunc(stayed[n:], may) {
			return true
		}
		if fresh < len(later) && may(later[fresh]) {
			return false
		}
	}
	return false
}

// Base is a baseline: a position of a symbol, and the closed trades that belong to it. README.md says how
// it is to be read. Its JSON is in journals.
type Base struct {
	Position decimal.Decimal `json:"position"`
	Status   string          `json:"status,omitempty"`
	// At is a place in the order of what the program sent and heard: what was sent by then is in
	// it, or never will be, or is known to be beside it.
	At int `json:"at,omitempty"`
	// Place is that in the list of closed trades. Near: rows with a cause of their own that
	// follow the place may be in the position.
	Place int  `json:"place,omitempty"`
	Near  bool `json:"near,omitempty"`
	// Others: it holds only where a stranger may trade. Newer: the rows may be newer than the position, and
	// something may have closed a part of that meanwhile.
	Others bool `json:"others,omitempty"`
	Newer  bool `json:"newer,omitempty"`
}

// IDs are the ids that waited, or had run, before a limit or a Pro order, as those of a [State], and those of
// other writes since. Its JSON is in journals.
type IDs struct {
	Orders   []string `json:"orders,omitempty"`
	Runs     []string `json:"runs,omitempty"`
	Finished Newest   `json:"finished,omitzero"`
	// FinishedLags: a run that had ended before may be in none of the lists.
	FinishedLags bool `json:"lags,omitempty"`
}

// Shows reports whether a baseline is of after a write, or may be: it says nothing of what became of it.
func (b *Base) Shows(sent int) bool { return sent <= b.At }

// Own is a write of this program: what it asked for, and how it ended. It is what the books, the trails and
// the journals of other writes have of it.
type Own struct {
	ID string `json:"id,omitempty"`
	// Act: what waits may trade by itself at any moment, at most its size; zero is no bound. The zero Kind
	// may have done anything.
	Act
	// Unsure: it can run no more, and may have run: nobody has found out, or it was refused in
	// words that something in front of the service knows too, and may have said after the work.
	Unsure bool `json:"unsure,omitempty"`
	// WaitID is that of the order or run that it left, so that this is not taken for another write's; empty if
	// not known.
	WaitID string `json:"waits,omitempty"`
	// Symbol is the market of what waits, which those of other markets hear of too; empty for any.
	Symbol string `json:"symbol,omitempty"`
	// Place is how many closed trades were known when it was sent; -1 if no list was.
	Place int `json:"place,omitempty"`
	// Began and Heard are when it was about to be sent, and answered, or found out about, by the
	// clock of this process: of a write of an earlier one, when this one began to look.
	Began time.Time `json:"-"`
	Heard time.Time `json:"heard,omitzero"`
}

// incomplete reports a write about which nothing can be decided. An edit of a run need not
// name its market.
func (f *Facts) incomplete() bool {
	w := &f.Asked
	sized := w.Kind == Entry || w.Kind == ReduceOnly || w.Kind == Limit
	return w.Kind == 0 || f.Symbol == "" && w.Kind != EditRun || sized && (w.Side == NoSide || !w.Size.IsPositive())
}

// over reports whether it has ended, and can run no more.
func (o *Own) over() bool { return o.Ran || o.Unsure }

// Waits reports whether it may trade by itself.
func (o *Own) Waits() bool { return o.Kind == Limit || o.Kind == Pro || o.Kind == EditRun }

// Left is what it left to wait, under its own id where that of the order or run is not known.
func (o *Own) Left() Waiting {
	return Waiting{ID: cmp.Or(o.WaitID, o.ID), Symbol: o.Symbol, Side: o.Side, Size: decimal.NullDecimal{Decimal: o.Size, Valid: !o.Size.IsZero()}, Run: o.Kind != Limit}
}

// Facts are what a verdict rests on.
type Facts struct {
	// Asked is the write: Ended is when it could run no more.
	Asked  Act
	Symbol string
	// From is the first use of its key, at the earliest; no bound if it is not known.
	From servicetime.Time
	// Held: the key can run nothing any more. Gone: 30 minutes have passed since the
	// last byte could have left.
	Held, Gone bool
	// Course is what has happened since a baseline of before the write; nil without one. The write is the act At.
	// Open: another act is under way.
	Course *Replay
	At     int
	Open   bool
	// IDs are of a limit or a Pro order; nil if they are not known. Runs: an own run may have rested orders since.
	IDs  *IDs
	Runs bool
	// Look is the account now: what so many equal looks in a row showed, [ledger.Lag] apart. One decides nothing,
	// but for an order or a close on a course, where another look was before (Again). That a limit is absent
	// needs three: it may have filled as the first was read, and been closed as the second was.
	Look       State
	EqualLooks int
	// Still: the course ends at what equal looks show. Again: another look was before them, equal or not.
	Still, Again bool
	// Exclusive: nobody else trades the account.
	Exclusive bool
	// Resets: somebody else may have reset the account since, which takes away positions and closed trades: no trade
	// of before shows any more.
	Resets bool
	// PendingBeside: another own write is pending in the symbol; of a limit or a Pro order also where another one is
	// pending in any symbol of the account, so that a new id may be its.
	PendingBeside bool
	// Ended: the account was reset, or its holder has changed, since the baseline or
	// the first use.
	Ended bool
}
