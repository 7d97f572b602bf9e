package accounting

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

func d(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// Sizes are counted in units of the last place that any of them has, and none where that
// cannot be said.
func TestUnits(t *testing.T) {
	u := units{ok: true}
	u.widen(d("3"), d("0.50"), d("0.025"), d("1.0000"))
	assert.Equal(t, int32(-3), u.exp, "trailing zeros are no places")
	assert.Equal(t, int64(25), u.of(d("0.025")))
	assert.Equal(t, int64(3000), u.of(d("3")))
	assert.True(t, u.ok)

	assert.False(t, u.fine)
	for name, size := range map[string]string{"finer than a unit": "0.0001", "more than can be counted": "123456789012345678901"} {
		of := u
		assert.Zero(t, of.of(d(size)), name)
		assert.True(t, of.fine, name)
	}
	u.widen(d("0.123456789012345678"))
	assert.False(t, u.fine, "as many digits as can be counted")
	u.widen(d("0.1234567890123456789"))
	assert.True(t, u.fine, "more digits than can be counted")
}

// A size that is derived from a result has to be near a unit, by a move that cents cannot
// hide.
func TestUnitsOfADerivedSize(t *testing.T) {
	row := func(size, entered, left string) *entry {
		e := &entry{size: d(size)}
		e.EntryPrice, e.ExitPrice = decimal.NewNullDecimal(d(entered)), decimal.NewNullDecimal(d(left))
		return e
	}
	for _, c := range []struct {
		name string
		exp  int32
		row  *entry
		want int64
		ok   bool
	}{
		{"near", 0, row("2.1", "100", "110"), 2, true},
		{"between two", 0, row("2.4", "100", "110"), 0, false},
		{"a move that cents hide", 0, row("2", "100", "100.03"), 0, false},
		{"near a tenth", -1, row("0.21", "100", "110"), 2, true},
		{"between two tenths", -1, row("0.24", "100", "110"), 0, false},
		{"a move that cents hide of tenths", -1, row("0.2", "100", "100.4"), 0, false},
		{"a larger one", -1, row("0.2", "100", "100.5"), 2, true},
	} {
		u := units{exp: c.exp, ok: true}
		assert.Equal(t, c.want, u.size(c.row), c.name)
		assert.Equal(t, c.ok, u.ok, c.name)
	}
}

// Rows with a cause of their own in front of a place belong to no write of the program.
func TestNearby(t *testing.T) {
	rows := []Row{{Symbol: "BTC", Cause: Market}, {Symbol: "BTC", Cause: StopLoss}, {Symbol: "ETH", Cause: Market}, {Cause: TakeProfit}, {Symbol: "BTC", Cause: Market}}
	list := Trades{First: 10, Rows: rows}
	for _, c := range []struct {
		name   string
		of     Trades
		place  int
		first  int
		hidden bool
	}{
		{"behind a write's", list, 14, 11, false},
		{"a write's itself", list, 15, 15, false},
		{"the first that is known", Trades{First: 10, Rows: rows[1:2]}, 11, 10, true},
		{"none is known any more", Trades{First: 10}, 10, 10, true},
		{"there is no other", Trades{Rows: rows[1:2]}, 1, 0, false},
		{"there is none", Trades{}, 0, 0, false},
		{"a list that may be cut", Trades{Rows: lasting(ListCut, 9*time.Second)}, ListCut, ListCut, true},
		{"one that lasts for long", Trades{Rows: lasting(ListCut, 10*time.Second)}, ListCut, ListCut, false},
		{"one that cannot be", Trades{Rows: lasting(ListCut-1, 0)}, ListCut - 1, ListCut - 1, false},
		{"one without times", Trades{Rows: make([]Row, ListCut)}, ListCut, 0, true},
		{"the older of what is known", Trades{First: 10, Rows: lasting(2*ListCut, 10*time.Second)}, 10 + ListCut, 10 + ListCut, true},
	} {
		first, hidden := c.of.Nearby(c.place, "BTC", 10*time.Second)
		assert.Equal(t, c.first, first, c.name)
		assert.Equal(t, c.hidden, hidden, c.name)
	}
}

// Of how much a row can be a share: within 2 percent, or within one unit.
func TestWhatASizeIsAShareOf(t *testing.T) {
	third := act{percent: whole * 3 / 10}
	lo, hi := third.closedBy(2)
	assert.Equal(t, []int{4, 10}, []int{int(lo), int(hi)}, "within one unit")
	lo, hi = third.closedBy(3000)
	assert.Equal(t, []int{9804, 10204}, []int{int(lo), int(hi)}, "within 2 percent")
}

// lasting are rows of another market, the last of which is so long after the first.
func lasting(n int, long time.Duration) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{Symbol: "ETH", Cause: Market, ClosedAt: servicetime.Shown(time.Unix(1e9, 0).Add(long * time.Duration(i) / time.Duration(n-1)))}
	}
	return rows
}

// A share that the service does not round has a place more with each close of a half. What a replay
// counts in is bounded by all that a position can come to, and it says so where that is too much.
func TestSharesThatAreNotRounded(t *testing.T) {
	r := func(size string, halvings int) Replay {
		r := Replay{From: num(size)}
		left := num(size)
		for range halvings {
			left = left.Mul(num("0.5"))
			r.Rows = append(r.Rows, market(Long, left.String()))
			r.Acts = append(r.Acts, Act{Kind: Close, Percent: num("50"), Ran: true})
		}
		for i := range r.Acts {
			r.Acts[i].Sent, r.Acts[i].Ended = 2*i+1, 2*i+2
		}
		n := 2 * halvings
		r.Acts = append(r.Acts, Act{Kind: Entry, Side: Long, Size: num(size), Sent: n + 1, Ended: n + 2})
		r.To = decimal.NewNullDecimal(left)
		return r
	}
	for _, c := range []struct {
		size     string
		halvings int
		want     ledger.Outcome
		why      Reason
	}{
		{"0.01", 8, ledger.NotApplied, ReplayFits},
		{"0.01", 15, ledger.NotApplied, ReplayFits},
		{"0.25", 15, ledger.NotApplied, ReplayFits},
		{"0.5", 17, ledger.NotApplied, ReplayFits},
		{"0.7", 17, ledger.Unknown, SizesTooFine},
		{"3", 18, ledger.Unknown, SizesTooFine},
	} {
		replay := r(c.size, c.halvings)
		got, why := replay.Of(c.halvings, NoAct).Verdict()
		assert.Equal(t, c.want, got, "%s, %d times: %s", c.size, c.halvings, why)
		assert.Equal(t, c.why, why)
	}
}
