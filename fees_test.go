package trading

import (
	"fmt"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/wire"
)

func ExampleRoundTripFee() {
	// In at 10000 dollars, out at 10200.
	fmt.Println(RoundTripFee(Dec("10000"), Dec("10200")))
	// Output: 9.09
}

func ExampleBreakEven() {
	long, _ := BreakEven(Long, Dec("60000"))
	short, _ := BreakEven(Short, Dec("60000"))
	fmt.Println(long, short)
	// Output: 60054.02431094 59946.02428906
}

func ExampleNarrowestBracket() {
	entry := Dec("60000")
	target := Dec("60050")

	narrowest, _ := NarrowestBracket(Long, entry)
	fmt.Println(narrowest, target.Sub(entry).LessThan(narrowest))
	// Output: 54.02431094 true
}

func TestFees(t *testing.T) {
	for _, c := range []struct{ notional, taker, maker string }{
		{"10000", "4.5", "1.5"},
		{"-10000", "4.5", "1.5"},
		{"0", "0", "0"},
		{"0.01", "0.0000045", "0.0000015"},
		{"123456789.123456789", "55555.55510555555505", "18518.51836851851835"},
	} {
		assert.True(t, TakerFee(Dec(c.notional)).Equal(Dec(c.taker)), "taker fee of %s", c.notional)
		assert.True(t, MakerFee(Dec(c.notional)).Equal(Dec(c.maker)), "maker fee of %s", c.notional)
	}
	assert.True(t, RoundTripFee(Dec("10000"), Dec("10000")).Equal(Dec("9")), "9 bps")
	assert.True(t, RoundTripFee(Dec("-10000"), Dec("20000")).Equal(Dec("13.5")))
}

// netAt is what one unit earns after the fees, worked out from the fee schedule
// and not from the formula of BreakEven.
func netAt(side Side, entry, exit decimal.Decimal) decimal.Decimal {
	gross := exit.Sub(entry)
	if side == Short {
		gross = gross.Neg()
	}
	return Trade{GrossPnL: gross, RoundTripFee: RoundTripFee(entry, exit)}.NetPnL()
}

// checkBreakEven proves for one entry that the break-even never loses, and that
// the next price before it does.
func checkBreakEven(t *testing.T, side Side, entry decimal.Decimal) {
	t.Helper()
	exit, ok := BreakEven(side, entry)
	if !ok {
		t.Fatalf("%s at %v has no break-even", side, entry)
	}
	if net := netAt(side, entry, exit); net.IsNegative() {
		t.Fatalf("%s at %v loses %v at its break-even %v", side, entry, net, exit)
	}
	step := decimal.New(1, -8+min(0, entry.Exponent()))
	if side == Long {
		step = step.Neg()
	}
	if nearer := exit.Add(step); !netAt(side, entry, nearer).IsNegative() {
		t.Fatalf("%s at %v gains at %v, before its break-even %v", side, entry, nearer, exit)
	}
	distance, ok := NarrowestBracket(side, entry)
	if !ok || !distance.Equal(exit.Sub(entry).Abs()) {
		t.Fatalf("%s at %v: break-even %v, bracket %v", side, entry, exit, distance)
	}
}

func TestTrap_T70_BracketNarrowerThanTheFees(t *testing.T) {
	entries := []string{"60000", "60000.00", "6e4", "99955", "100045", "1", "0.1", "0.00001234", "1e-7", "0.123456789012345678", "123456789.987654321"}
	for _, side := range []Side{Long, Short} {
		for _, entry := range entries {
			checkBreakEven(t, side, Dec(entry))
		}
	}
	// Nine basis points are not quite enough for a long: the fee of the close
	// is on the higher price.
	assert.True(t, netAt(Long, Dec("10000"), Dec("10009")).IsNegative())
	assert.True(t, netAt(Short, Dec("10000"), Dec("9991")).IsPositive())
}

func TestBreakEvenWithoutAnEntry(t *testing.T) {
	for _, c := range []struct {
		side  Side
		entry decimal.Decimal
	}{
		{Long, decimal.Zero},
		{Short, Dec("-1")},
		{"", Dec("60000")},
		{"buy", Dec("60000")},
		{Long, unwritable[0]},
		{Short, unwritable[1]},
	} {
		_, ok := BreakEven(c.side, c.entry)
		assert.False(t, ok, "%s", c.side)
		_, ok = NarrowestBracket(c.side, c.entry)
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
		checkBreakEven(t, Long, entry)
		checkBreakEven(t, Short, entry)
	})
}
