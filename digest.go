package trading

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/wire"
)

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
