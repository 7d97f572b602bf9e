package accounting

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
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
	if o, why := r.Of(3, -1).Verdict(); o != ledger.Applied {
		t.Errorf("it ran: %d, %s", o, why)
	}
	r.Rows, r.To = r.Rows[:3], decimal.NewNullDecimal(num("-10"))
	if o, why := r.Of(3, -1).Verdict(); o != ledger.NotApplied {
		t.Errorf("it did not run: %d, %s", o, why)
	}
}

// TestTheUnitIsNoLargerThanOneThatWasShown has sizes of two places, after one of four was
// shown: half of a hundredth is no whole one.
func TestTheUnitIsNoLargerThanOneThatWasShown(t *testing.T) {
	for _, older := range []string{"0.01", "0.0050", "0.0025"} {
		row := func(digest uint64, size string) Row {
			r := market(Long, size)
			r.Digest, r.Symbol = digest, "X"
			return r
		}
		var k Trades
		k.Take([]Row{row(1, older)}, time.UnixMilli(0), 20)
		trail := Trail{Base: &Point{Position: num("0.01"), Place: 1, Status: "ACTIVE"}}
		trail.Add(Booked{ID: "lost", Act: Act{Kind: Entry, Side: Short, Size: num("0.01"), Sent: 1, Ended: 2}})
		trail.Add(Booked{ID: "refused later", Act: Act{Kind: Close, Percent: num("50"), Sent: 3}})
		k.Take([]Row{row(2, "0.01"), row(1, older)}, time.UnixMilli(1), 20)
		for range 2 { // the older row is forgotten the second time
			r, asked, ok := trail.Replay("X", &k, nil, "ACTIVE", "lost")
			if !ok {
				t.Fatal("no baseline")
			}
			want := ledger.Applied
			if older == "0.01" {
				want = ledger.Unknown
			}
			if o, why := r.Of(asked, -1).Verdict(); o != want {
				t.Errorf("%s: %d, %s", older, o, why)
			}
			k.Rows, k.First = k.Rows[1:], 1
		}
	}
}

// A share that the service did not round is no unit: its places would not fit a replay's numbers.
func TestTheUnitIsNotThatOfAShare(t *testing.T) {
	r := market(Long, "0.0033333333333333")
	r.Digest, r.Symbol = 1, "X"
	var k Trades
	k.Take([]Row{r}, time.UnixMilli(0), 20)
	trail := Trail{Base: &Point{Position: num("0.01"), Place: 1, Status: "ACTIVE"}}
	trail.Add(Booked{ID: "lost", Act: Act{Kind: Entry, Side: Short, Size: num("0.01"), Sent: 1, Ended: 2}})
	own := market(Long, "0.01")
	own.Digest, own.Symbol = 2, "X"
	k.Take([]Row{own, r}, time.UnixMilli(1), 20)
	replay, asked, ok := trail.Replay("X", &k, nil, "ACTIVE", "lost")
	if o, why := replay.Of(asked, -1).Verdict(); !ok || o != ledger.Applied {
		t.Errorf("%d, %s", o, why)
	}
	if trail.Exp != finest {
		t.Errorf("the unit is 1e%d", trail.Exp)
	}
}

// Acts that are alike are tried in one order: which of them ran first makes no difference.
func TestActsThatAreAlike(t *testing.T) {
	r := Replay{Resting: []Resting{{}}}
	for range 20 {
		r.Rows = append(r.Rows, market(Long, "1"))
		r.Acts = append(r.Acts, Act{Kind: Entry, Side: Long, Size: num("1"), Ran: true}, Act{Kind: Close, Percent: num("100"), Ran: true})
	}
	r.To = decimal.NewNullDecimal(num("0"))
	if f := r.Of(-1, -1); f.Failed != "" || !f.Without {
		t.Errorf("%+v", f)
	}
}
