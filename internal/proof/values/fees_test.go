package values

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/wire"
)

func TestFees(t *testing.T) {
	for _, c := range []struct{ notional, taker, maker string }{
		{"10000", "4.5", "1.5"},
		{"-10000", "4.5", "1.5"},
		{"0", "0", "0"},
		{"0.01", "0.0000045", "0.0000015"},
		{"123456789.123456789", "55555.55510555555505", "18518.51836851851835"},
	} {
		assert.True(t, trading.TakerFee(trading.Dec(c.notional)).Equal(trading.Dec(c.taker)), "taker fee of %s", c.notional)
		assert.True(t, trading.MakerFee(trading.Dec(c.notional)).Equal(trading.Dec(c.maker)), "maker fee of %s", c.notional)
	}
	assert.True(t, trading.RoundTripFee(trading.Dec("10000"), trading.Dec("10000")).Equal(trading.Dec("9")), "9 bps")
	assert.True(t, trading.RoundTripFee(trading.Dec("-10000"), trading.Dec("20000")).Equal(trading.Dec("13.5")))
}

// netAt is what one unit earns after the fees, worked out from the fee schedule
// and not from the formula of BreakEven.
func netAt(side trading.Side, entry, exit decimal.Decimal) decimal.Decimal {
	gross := exit.Sub(entry)
	if side == trading.Short {
		gross = gross.Neg()
	}
	return trading.Trade{GrossPnL: gross, RoundTripFee: trading.RoundTripFee(entry, exit)}.NetPnL()
}

// checkBreakEven proves for one entry that the break-even never loses, and that
// the next price before it does.
func checkBreakEven(t *testing.T, side trading.Side, entry decimal.Decimal) {
	t.Helper()
	exit, ok := trading.BreakEven(side, entry)
	if !ok {
		t.Fatalf("%s at %v has no break-even", side, entry)
	}
	if net := netAt(side, entry, exit); net.IsNegative() {
		t.Fatalf("%s at %v loses %v at its break-even %v", side, entry, net, exit)
	}
	step := decimal.New(1, -8+min(0, entry.Exponent()))
	if side == trading.Long {
		step = step.Neg()
	}
	if nearer := exit.Add(step); !netAt(side, entry, nearer).IsNegative() {
		t.Fatalf("%s at %v gains at %v, before its break-even %v", side, entry, nearer, exit)
	}
	distance, ok := trading.NarrowestBracket(side, entry)
	if !ok || !distance.Equal(exit.Sub(entry).Abs()) {
		t.Fatalf("%s at %v: break-even %v, bracket %v", side, entry, exit, distance)
	}
}

func TestTrap_T70_BracketNarrowerThanTheFees(t *testing.T) {
	entries := []string{"60000", "60000.00", "6e4", "99955", "100045", "1", "0.1", "0.00001234", "1e-7", "0.123456789012345678", "123456789.987654321"}
	for _, side := range []trading.Side{trading.Long, trading.Short} {
		for _, entry := range entries {
			checkBreakEven(t, side, trading.Dec(entry))
		}
	}
	// Nine basis points are not quite enough for a long: the fee of the close
	// is on the higher price.
	assert.True(t, netAt(trading.Long, trading.Dec("10000"), trading.Dec("10009")).IsNegative())
	assert.True(t, netAt(trading.Short, trading.Dec("10000"), trading.Dec("9991")).IsPositive())
}

func TestBreakEvenWithoutAnEntry(t *testing.T) {
	for _, c := range []struct {
		side  trading.Side
		entry decimal.Decimal
	}{
		{trading.Long, decimal.Zero},
		{trading.Short, trading.Dec("-1")},
		{"", trading.Dec("60000")},
		{"buy", trading.Dec("60000")},
		{trading.Long, unwritable[0]},
		{trading.Short, unwritable[1]},
	} {
		_, ok := trading.BreakEven(c.side, c.entry)
		assert.False(t, ok, "%s", c.side)
		_, ok = trading.NarrowestBracket(c.side, c.entry)
		assert.False(t, ok, "%s", c.side)
	}
}

func FuzzBreakEven(f *testing.F) {
	f.Add(int64(60000), int8(0))
	f.Add(int64(1), int8(-40))
	f.Add(int64(99955), int8(3))
	f.Add(int64(1<<62), int8(-18))
	f.Fuzz(func(t *testing.T, coefficient int64, exponent int8) {
		entry := decimal.New(coefficient, int32(exponent))
		if !(entry.IsPositive() && wire.Writable(entry)) {
			t.Skip("no price")
		}
		checkBreakEven(t, trading.Long, entry)
		checkBreakEven(t, trading.Short, entry)
	})
}
