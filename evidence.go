package trading

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Reading is what one look at an account showed of a symbol.
type Reading struct {
	// At is when it was begun.
	At time.Time
	// Size is the position in base units, negative for a short, and EntryPrice
	// its average entry.
	Size, EntryPrice decimal.Decimal
	// Orders and Runs are the ids of what rests and runs on the account, in order.
	Orders []OrderID
	Runs   []RunID
	// Finished are the ids of the runs that have ended, in order.
	Finished []RunID
	// Trades are the closed trades in the symbol.
	Trades []Trade
}

func newReading() Reading { return Reading{At: time.Now()} }

// note takes a symbol's part of positions and trades.
func (r *Reading) note(symbol string, positions Positions, trades []Trade) {
	if p, held := positions.In(symbol); held {
		r.Size, r.EntryPrice = p.Signed(), p.EntryPrice
	}
	for _, t := range trades {
		if t.Symbol == symbol || t.Symbol == "" {
			r.Trades = append(r.Trades, t)
		}
	}
}

// look reads everything in which a write can show.
func (a *Account) look(symbol string) func(context.Context) (Reading, error) {
	return func(ctx context.Context) (Reading, error) {
		r := newReading()
		positions, err := a.Positions(ctx)
		if err != nil {
			return r, err
		}
		open, err := a.OpenOrders(ctx)
		if err != nil {
			return r, err
		}
		finished, err := a.FinishedRuns(ctx)
		if err != nil {
			return r, err
		}
		trades, err := a.Trades(ctx)
		if err != nil {
			return r, err
		}
		r.Orders, r.Runs, r.Finished = orderIDs(open), sortedRunIDs(open.Runs), sortedRunIDs(finished)
		r.note(symbol, positions, trades)
		return r, nil
	}
}

// equal reports whether two looks saw the same.
func (r Reading) equal(other Reading) bool {
	return r.Size.Equal(other.Size) &&
		r.EntryPrice.Equal(other.EntryPrice) &&
		slices.Equal(r.Orders, other.Orders) &&
		slices.Equal(r.Runs, other.Runs) &&
		slices.Equal(r.Finished, other.Finished) &&
		slices.EqualFunc(r.Trades, other.Trades, Trade.Equal)
}

// quiet reports whether nothing was there that changes an account by itself, so
// that a change can have come from a write alone.
func (b Baseline) quiet() bool {
	return len(b.Orders) == 0 && len(b.Runs) == 0 && !b.Armed
}

// traceSince reports whether anything is there that was not there before, or gone
// that was: the position, its entry, a trade, an order, a run. What a trigger or
// a resting order of before did in between counts too: it cannot be told from the
// write. Trades that are gone do not count, since a list may be cut; finished runs
// count for a Pro order, whose baseline has them.
func (r Reading) traceSince(b Baseline, pro bool) bool {
	return !r.Size.Equal(b.Size) ||
		!r.EntryPrice.Equal(b.EntryPrice) ||
		!slices.Equal(r.Orders, b.Orders) ||
		!slices.Equal(r.Runs, b.Runs) ||
		pro && !slices.Equal(r.Finished, b.Finished) ||
		len(newTrades(r.Trades, b.Trades)) > 0
}

// newTrades returns the trades that were not there before, each as often as it is
// new.
func newTrades(now []Trade, before []uint64) []Trade {
	counts := make(map[uint64]int, len(before))
	for _, name := range before {
		counts[name]++
	}
	var added []Trade
	for i := range now {
		name := digestOfTrade(&now[i])
		if counts[name]--; counts[name] < 0 {
			added = append(added, now[i])
		}
	}
	return added
}

// explains reports whether the account has changed exactly as the intent would
// have changed it, and by nothing else that the readings can tell: a trigger that
// fired meanwhile changes an account too.
func (in Intent) explains(b Baseline, r Reading) bool {
	var sent struct {
		Side         Side        `json:"side"`
		Size         json.Number `json:"size"`
		ClosePercent json.Number `json:"closePercent"`
		Pct          json.Number `json:"pct"` // the sandbox's name for it
	}
	if json.Unmarshal(in.Body, &sent) != nil {
		return false
	}
	for _, trade := range newTrades(r.Trades, b.Trades) {
		if trade.Cause != CauseMarket {
			return false // a trigger's work
		}
	}
	moved := r.Size.Sub(b.Size)
	switch {
	case in.Operation == OpClose, in.Operation == OpSandboxClose:
		pct, err := decimal.NewFromString(cmp.Or(sent.ClosePercent, sent.Pct).String())
		whole := decimal.NewFromInt(100)
		// The service rounds sizes as it likes, so a part is a direction only.
		return err == nil && !b.Size.IsZero() && moved.Sign() == -b.Size.Sign() &&
			moved.Abs().LessThanOrEqual(b.Size.Abs()) && (pct.LessThan(whole) || r.Size.IsZero())
	case endpointOf(in.Operation).pro:
		return len(newRuns(r, b)) == 1
	}
	size, err := decimal.NewFromString(sent.Size.String())
	if err != nil || len(b.Runs) > 0 {
		return false // what ran before may have filled
	}
	if sent.Side == Short {
		size = size.Neg()
	}
	switch resting := len(r.Orders) - len(b.Orders); {
	case in.Operation == OpLimit && resting == 1:
		return moved.IsZero()
	default:
		return resting == 0 && moved.Equal(size)
	}
}

// newRuns returns the runs that were not there before, running or finished.
func newRuns(r Reading, b Baseline) []RunID {
	var added []RunID
	for _, id := range append(slices.Clone(r.Runs), r.Finished...) {
		if !slices.Contains(b.Runs, id) && !slices.Contains(b.Finished, id) && !slices.Contains(added, id) {
			added = append(added, id)
		}
	}
	return added
}

// maxLooks bounds how long an account that keeps changing is looked at.
const maxLooks = 8

// twoLooks reads an account until two readings, a settle window apart, agree.
// Reads lag by seconds, so the first is a window away from whatever came before.
func (r *resolver) twoLooks(ctx context.Context, look func(context.Context) (Reading, error)) ([]Reading, error) {
	var looks []Reading
	for len(looks) < maxLooks {
		if err := r.pause(ctx, readLag); err != nil {
			return looks, err
		}
		reading, err := look(ctx)
		if err != nil {
			return looks, err
		}
		looks = append(looks, reading)
		if n := len(looks); n > 1 && looks[n-2].equal(reading) {
			return looks, nil
		}
	}
	return looks, errRestless
}
