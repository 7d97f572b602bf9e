package protect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAssume(t *testing.T) {
	for _, c := range []struct {
		limits                          Limits
		gross, leverageCap              string
		shock, line, cost, entry, keeps string
	}{
		{Limits{}, "100000", "5", "500.00", "575.00", "75.00", "718.75", "500.00"},
		{Limits{}, "100000", "0", "2500.00", "2575.00", "75.00", "3218.75", "500.00"},
		{Limits{Shock: dec("0.05"), Keep: dec("0.01")}, "100000", "5", "1000.00", "1075.00", "75.00", "1343.75", "1000.00"},
		{Limits{}, "0", "5", "0.00", "0.00", "0.00", "0.00", "500.00"},
	} {
		a := c.limits.Assume(dec(c.gross), dec(c.leverageCap), dec("100000"))
		require.Equal(t, []string{c.shock, c.line, c.cost, c.entry, c.keeps},
			[]string{a.Shock.StringFixed(2), a.Line.StringFixed(2), a.Cost.StringFixed(2), a.Entry.StringFixed(2), a.Keep.StringFixed(2)})
	}
}

func TestMovedFloor(t *testing.T) {
	require.Equal(t, "9975", MovedFloor(dec("9500"), dec("10000"), dec("10500")).String())
	require.Equal(t, "9499.99", MovedFloor(dec("9500"), dec("10000"), dec("9999.99")).String())
	require.Equal(t, "3333.33", MovedFloor(dec("1"), dec("3"), dec("10000")).String())
}
