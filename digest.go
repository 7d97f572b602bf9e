package trading

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

// digester names trades by what they hold: two have the same digest if nothing
// differs, and else, but for one chance in 2^64, not. Trades have no ids in the
// contract, an account can have any number of them, and a baseline has to tell
// those that were there from a new one.
type digester struct{ buf []byte }

// trade returns a trade's digest, which is the same in every process.
func (d *digester) trade(t *Trade) uint64 {
	d.buf = d.buf[:0]
	d.text(t.Symbol)
	d.text(string(t.Side))
	d.text(string(t.Cause))
	d.optional(t.Size)
	d.optional(t.EntryPrice)
	d.number(t.ExitPrice)
	d.number(t.GrossPnL)
	d.number(t.RoundTripFee)
	d.buf = binary.BigEndian.AppendUint64(d.buf, uint64(t.OpenedAt.UnixNano()))
	d.buf = binary.BigEndian.AppendUint64(d.buf, uint64(t.ClosedAt.UnixNano()))
	if len(t.Extra) > 0 {
		for _, name := range slices.Sorted(maps.Keys(t.Extra)) {
			d.text(name)
			d.text(string(t.Extra[name]))
		}
	}
	return fnv64(d.buf)
}

// text appends a text behind its length, so that no two lists of parts run
// together.
func (d *digester) text(s string) {
	d.buf = binary.AppendUvarint(d.buf, uint64(len(s)))
	d.buf = append(d.buf, s...)
}

func (d *digester) number(n decimal.Decimal) {
	d.buf = append(wire.AppendDecimal(d.buf, n), 0)
}

func (d *digester) optional(n Opt[decimal.Decimal]) {
	if v, ok := n.Get(); ok {
		d.number(v)
		return
	}
	d.buf = append(d.buf, 0)
}

// fnv64 is FNV-1a, which package hash/fnv has behind an interface.
func fnv64(data []byte) uint64 {
	hash := uint64(14695981039346656037)
	for _, b := range data {
		hash = (hash ^ uint64(b)) * 1099511628211
	}
	return hash
}
