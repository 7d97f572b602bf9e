package accounting

import (
	"testing"

	"github.com/shopspring/decimal"
)

func market(side Side, size string) Row {
	return Row{Side: side, Cause: Market, Size: opt(size)}
}

// TestEdge44_RowsAreNotGivenToWritesOneByOne has writes of equal sizes at a price that
// stands still: which of them left which row cannot be told, and need not be.
func TestEdge44_RowsAreNotGivenToWritesOneByOne(t *testing.T) {
	r := Replay{
		From: num("-10"),
		Rows: []Row{market(Short, "10"), market(Long, "20"), market(Short, "10"), market(Short, "10")},
		Acts: []Act{
			{Kind: Entry, Side: Long, Size: num("30"), Sent: 1, Ended: 2, Ran: true, After: opt("20")},
			{Kind: Entry, Side: Short, Size: num("40"), Sent: 3, Ended: 4, Ran: true, After: opt("-20")},
			{Kind: Close, Percent: num("50"), Sent: 5, Ended: 6, Ran: true},
			{Kind: Entry, Side: Long, Size: num("10"), Sent: 7, Ended: 8},
		},
		To: decimal.NewNullDecimal(num("0")),
	}
	if o, why := r.Of(3, -1).Verdict(); o != Applied {
		t.Errorf("it ran: %d, %s", o, why)
	}
	r.Rows, r.To = r.Rows[:3], decimal.NewNullDecimal(num("-10"))
	if o, why := r.Of(3, -1).Verdict(); o != NotApplied {
		t.Errorf("it did not run: %d, %s", o, why)
	}
}
