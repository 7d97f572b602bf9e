package accounting

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/ledger"
)

func market(side Direction, size string) Row {
	return Row{Side: side, Cause: Market, Size: opt(size)}
}

func stopped(side Direction, size string) Row {
	r := market(side, size)
	r.Cause = StopLoss
	return r
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
		trail := Trail{Base: &Base{Position: num("0.01"), Place: 1, Status: "ACTIVE"}}
		trail.Add(Own{ID: "lost", Act: Act{Kind: Entry, Side: Short, Size: num("0.01"), Sent: 1, Ended: 2}})
		trail.Add(Own{ID: "refused later", Act: Act{Kind: Close, Percent: num("50"), Sent: 3}})
		k.Take([]Row{row(2, "0.01"), row(1, older)}, time.UnixMilli(1), 20)
		for range 2 { // the older row is forgotten the second time
			r, asked, ok := trail.Replay("X", &k, nil, "ACTIVE", "lost")
			require.True(t, ok, "no baseline")
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
	trail := Trail{Base: &Base{Position: num("0.01"), Place: 1, Status: "ACTIVE"}}
	trail.Add(Own{ID: "lost", Act: Act{Kind: Entry, Side: Short, Size: num("0.01"), Sent: 1, Ended: 2}})
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
	r := Replay{Waiting: []Waiting{{}}}
	for range 20 {
		r.Rows = append(r.Rows, market(Long, "1"))
		r.Acts = append(r.Acts, Act{Kind: Entry, Side: Long, Size: num("1"), Ran: true}, Act{Kind: Close, Percent: num("100"), Ran: true})
	}
	r.To = decimal.NewNullDecimal(num("0"))
	if f := r.Of(-1, -1); f.Failed != "" || !f.Without {
		t.Errorf("%+v", f)
	}
}

// What a replay says of a lost close of all.
func TestWhatAReplaySays(t *testing.T) {
	sold := Act{Kind: Entry, Side: Short, Size: num("2"), Sent: 5, Ended: 6, Ran: true, After: opt("0")}
	bought := Act{Kind: Entry, Side: Long, Size: num("1"), Sent: 1, Ended: 2, Ran: true}
	flip := Act{Kind: Entry, Side: Short, Size: num("2"), Sent: 5, Ended: 6, Ran: true}
	rests := func(side Direction) []Waiting { return []Waiting{{Side: side, Size: opt("1")}} }
	for name, c := range map[string]struct {
		r    Replay
		to   string
		want ledger.Outcome
		why  Reason
	}{
		"the position stays":                     {Replay{From: num("3")}, "3", ledger.NotApplied, ReplayFits},
		"a short stays":                          {Replay{From: num("-3")}, "-3", ledger.NotApplied, ReplayFits},
		"nothing stays nothing":                  {Replay{}, "0", ledger.NotApplied, ReplayFits},
		"it closed all":                          {Replay{From: num("3"), Rows: []Row{market(Long, "3")}}, "0", ledger.Applied, ReplayFits},
		"it closed all of a short":               {Replay{From: num("-3"), Rows: []Row{market(Short, "3")}}, "0", ledger.Applied, ReplayFits},
		"more than there was":                    {Replay{From: num("3")}, "5", ledger.Unknown, NothingFits},
		"less than there was":                    {Replay{From: num("3")}, "2", ledger.Unknown, NothingFits},
		"more of a short":                        {Replay{From: num("-3")}, "-5", ledger.Unknown, NothingFits},
		"less of a short":                        {Replay{From: num("-3")}, "-2", ledger.Unknown, NothingFits},
		"the other side":                         {Replay{From: num("3")}, "-3", ledger.Unknown, NothingFits},
		"a position of nothing":                  {Replay{}, "1", ledger.Unknown, NothingFits},
		"a stop that the position shows":         {Replay{From: num("1"), Rows: []Row{stopped(Long, "2")}, Near: true}, "1", ledger.NotApplied, ReplayFits},
		"a stop that it would not show":          {Replay{From: num("1"), Rows: []Row{stopped(Long, "2")}}, "1", ledger.Unknown, NothingFits},
		"a trade that a write left is not in it": {Replay{From: num("1"), Rows: []Row{market(Long, "2")}, Near: true}, "1", ledger.Unknown, NothingFits},
		"a resting order bought":                 {Replay{Waiting: rests(Long)}, "1", ledger.NotApplied, ReplayFits},
		"a resting order to buy sold nothing":    {Replay{Waiting: rests(Long)}, "-1", ledger.Unknown, NothingFits},
		"a resting order sold":                   {Replay{Waiting: rests(Short)}, "-1", ledger.NotApplied, ReplayFits},
		"a resting order to sell bought nothing": {Replay{Waiting: rests(Short)}, "1", ledger.Unknown, NothingFits},
		"a resting order of any side bought":     {Replay{Waiting: rests(NoSide)}, "1", ledger.NotApplied, ReplayFits},
		"a resting order of any side sold":       {Replay{Waiting: rests(NoSide)}, "-1", ledger.NotApplied, ReplayFits},
		"a buy before the account ended":         {Replay{Acts: []Act{bought}, Halted: true, Rows: []Row{market(Long, "1")}}, "0", ledger.Unknown, BothFit},
		"a buy after the account ended":          {Replay{From: num("2"), Acts: []Act{bought}, Halted: true, Rows: []Row{market(Long, "2")}}, "1", ledger.Unknown, NothingFits},
		"a flip that may be of the full size":    {Replay{From: num("1"), Acts: []Act{flip}, Rows: []Row{market(Long, "1")}}, "-2", ledger.Unknown, BothFit},
		"a stop after an order, in its answer":   {Replay{Acts: []Act{sold}, Rows: []Row{stopped(Short, "2")}}, "0", ledger.NotApplied, ReplayFits},
	} {
		asked := len(c.r.Acts)
		c.r.Acts = append(c.r.Acts, Act{Kind: Close, Percent: num("100"), Sent: 3, Ended: 4})
		c.r.To = opt(c.to)
		got, why := c.r.Of(asked, NoAct).Verdict()
		assert.Equal(t, c.want, got, name)
		assert.Equal(t, c.why, why, name)
	}
}

// A close of a share leaves a trade of it within 2 percent, or within one unit.
func TestHowExactAShareIs(t *testing.T) {
	for _, c := range []struct {
		percent, row string
		least, most  int64 // the positions that it may be the share of
	}{
		{"50", "1000", 1961, 2040}, // 2 percent
		{"50", "10", 18, 22},       // a unit
		{"100", "10", 10, 10},
		{"0.0001", "1", 0, 2_000_000},
	} {
		for from, fits := range map[int64]bool{c.least - 1: false, c.least: true, c.most: true, c.most + 1: false} {
			left := decimal.NewFromInt(from).Sub(num(c.row))
			if left.IsNegative() {
				continue
			}
			r := Replay{From: decimal.NewFromInt(from), Rows: []Row{market(Long, c.row)}, Acts: []Act{{Kind: Close, Percent: num(c.percent)}}, To: decimal.NewNullDecimal(left)}
			assert.Equal(t, fits, r.Of(0, NoAct).With, "%s %% of %d", c.percent, from)
		}
	}
	large := Replay{From: num("1e17"), Rows: []Row{market(Long, "2e13")}, Acts: []Act{{Kind: Close, Percent: num("0.0001")}}}
	assert.Equal(t, ReplayResult{Place: -1}, large.Of(0, NoAct), "it is the share of more than there can be")
}

// Acts of which nobody can say what they would trade have no replay.
func TestActsThatCannotBeRead(t *testing.T) {
	for name, a := range map[string]Act{
		"a share of less than none": {Kind: Close, Percent: num("-1")},
		"a share of more than all":  {Kind: Close, Percent: num("100.1")},
		"a share of too many parts": {Kind: Close, Percent: num("33.33333")},
		"no side":                   {Kind: Entry, Size: num("1")},
		"no size":                   {Kind: Entry, Side: Long},
		"none that trades":          {Kind: Pro, Side: Long, Size: num("1")},
	} {
		r := Replay{Acts: []Act{a}}
		assert.Equal(t, ReplayResult{Place: -1, Failed: RowUnreadable}, r.Of(0, NoAct), name)
	}
}

// An order that was answered before another was sent has run first, also where its own row need not show yet.
func TestAnAnswerThatIsLate(t *testing.T) {
	r := Replay{Rows: []Row{market(Long, "1")}, To: decimal.NewNullDecimal(decimal.Zero), Acts: []Act{
		{Kind: Entry, Side: Long, Size: num("1"), Sent: 1, Ended: 2, Ran: true},
		{Kind: Entry, Side: Short, Size: num("1"), Sent: 3, Ended: 4, Ran: true, Late: true},
		{Kind: Entry, Side: Short, Size: num("1"), Sent: 5, Ended: 6},
	}}
	assert.Equal(t, ReplayResult{Without: true, Place: -1}, r.Of(2, NoAct))
	r.Acts[1].Ended = 5
	assert.Equal(t, ReplayResult{With: true, Without: true, Place: -1}, r.Of(2, NoAct), "it may run behind what was asked about")
}
