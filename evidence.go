package trading

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/servicetime"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Conversions between the records of the program and what the books and the driver go by.

// heldPosition is a position as accounting sees it.
func heldPosition(p *Position) accounting.Holding {
	return accounting.Holding{Size: p.Signed(), EntryPrice: p.EntryPrice, OpenedAt: servicetime.Shown(p.OpenedAt)}
}

// heldPositions are those of a list that are open, as the books take them.
func heldPositions(positions []Position) []books.Held {
	held := make([]books.Held, 0, len(positions))
	for i := range positions {
		if p := &positions[i]; p.isOpen() {
			held = append(held, books.Held{Symbol: p.Symbol, Holding: heldPosition(p)})
		}
	}
	return held
}

// restingOf are resting orders as the books take them.
func restingOf(orders []RestingOrder) []accounting.Waiting {
	return convertAll(orders, func(o *RestingOrder) accounting.Waiting {
		return accounting.Waiting{ID: string(o.ID), Symbol: o.Symbol, Side: resolve.SideOf(string(o.Side)), Size: nullable(o.Size)}
	})
}

// runningOf are runs as the books take them. No record shows what is left of one.
func runningOf(runs []Run) []accounting.Waiting {
	return convertAll(runs, func(r *Run) accounting.Waiting {
		return accounting.Waiting{ID: string(r.ID), Symbol: r.Symbol, Side: resolve.SideOf(string(r.Side)), Run: true}
	})
}

func endedOf(runs []Run) accounting.Newest {
	return accounting.NewestOf(len(runs), func(i int) string { return string(runs[i].ID) })
}

// digestsOf are closed trades as the books keep them.
func digestsOf(trades []Trade) func(most int) []accounting.Row {
	return func(most int) []accounting.Row {
		return convertAll(trades[:min(most, len(trades))], rowOf)
	}
}

// maxTrades bounds the closed trades that a look keeps, the newest.
const maxTrades = 512

// rowOf is a closed trade as accounting sees it.
func rowOf(t *Trade) accounting.Row {
	return accounting.Row{
		Digest:     digestOfTrade(t),
		Symbol:     t.Symbol,
		Side:       resolve.SideOf(string(t.Side)),
		Cause:      resolve.CauseOf(string(t.Cause)),
		Size:       nullable(t.Size),
		EntryPrice: nullable(t.EntryPrice),
		ExitPrice:  decimal.NewNullDecimal(t.ExitPrice),
		GrossPnL:   decimal.NewNullDecimal(t.GrossPnL),
		Fee:        decimal.NewNullDecimal(t.RoundTripFee),
		ClosedAt:   servicetime.Shown(t.ClosedAt),
	}
}

func nullable(d Opt[decimal.Decimal]) decimal.NullDecimal {
	v, ok := d.Get()
	return decimal.NullDecimal{Decimal: v, Valid: ok}
}

func levelsOf(p *Position) resolve.Levels {
	return resolve.Levels{TakeProfitPrice: priceOf(p.TakeProfit), StopLossPrice: priceOf(p.StopLoss)}
}

func priceOf(l Level) decimal.NullDecimal {
	price, ok := l.Value()
	return decimal.NullDecimal{Decimal: price, Valid: ok}
}

// levelAtPrice sets a level to a price, or clears it.
func levelAtPrice(price decimal.NullDecimal) Level {
	if !price.Valid {
		return Level{}.orClear()
	}
	return At(price.Decimal)
}

var paperBook = books.AccountKey{Environment: EnvSandbox}

// resolutionOf is a resolution as the program sees it.
func resolutionOf(r *resolve.Found) Resolution {
	shown := Resolution{
		Intent: r.Intent, Outcome: r.Outcome, Evidence: r.Evidence,
		Contradicted: r.Contradicted,
		Late:         r.Late, MaybeLate: r.MaybeLate, Superseded: r.Superseded, Overwritten: r.Overwritten,
		Answer: r.Answer, Err: r.Err,
	}
	for _, l := range r.Looks {
		shown.Looks = append(shown.Looks, lookOf(l, r.Intent.Symbol))
	}
	return shown
}

// lookOf is a look as a resolution shows it.
func lookOf(l *resolve.AccountLook, symbol string) Look {
	p := l.Positions[symbol]
	look := Look{At: l.At, Size: p.Size, EntryPrice: p.EntryPrice, Trades: l.Shown.([]Trade)}
	look.Orders, look.Runs, look.Finished = named[OrderID](l.Orders), named[RunID](l.Runs), named[RunID](l.Finished.IDs)
	return look
}

func named[T ~string](ids []string) (list []T) {
	for _, id := range ids {
		list = append(list, T(id))
	}
	return list
}

// digestOfTrade names a trade by what it holds: two have the same digest if nothing
// differs, and else, but for one chance in 2^64, not. Trades have no ids in the contract,
// an account can have any number of them, and a baseline has to distinguish those that
// were there from a new one. A digest is the same in every process, since a journal
// outlives the one that wrote it.
func digestOfTrade(t *Trade) uint64 {
	var room [512]byte
	b := room[:0]
	text := func(s string) {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...) // so that no two lists run together
	}
	number := func(n decimal.Decimal) { // however it was written: 1, 1.00 and 1e0 are one
		start := len(b)
		b = append(b, 0, 0, 0, 0)
		b = wire.AppendDecimal(b, n)
		binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start))
	}
	for _, s := range [...]string{t.Symbol, string(t.Side), string(t.Cause)} {
		text(s)
	}
	for _, o := range [...]Opt[decimal.Decimal]{t.Size, t.EntryPrice, Some(t.ExitPrice), Some(t.GrossPnL), Some(t.RoundTripFee)} {
		if n, ok := o.Get(); ok {
			number(n)
		} else {
			text("")
		}
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(t.OpenedAt.UnixNano()))
	b = binary.LittleEndian.AppendUint64(b, uint64(t.ClosedAt.UnixNano()))
	if len(t.Extra) > 0 {
		for _, name := range slices.Sorted(maps.Keys(t.Extra)) {
			text(name)
			text(string(t.Extra[name]))
		}
	}
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:8])
}
