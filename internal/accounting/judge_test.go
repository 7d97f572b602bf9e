package accounting

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
)

func num(s string) decimal.Decimal { return decimal.RequireFromString(s) }

func opt(s string) decimal.NullDecimal { return shown(num(s), true) }

// TestARunThatEndedBeforeTheBaseline shows in the history alone, and may not have shown
// there yet when the baseline was read.
func TestARunThatEndedBeforeTheBaseline(t *testing.T) {
	for _, row := range []struct {
		name           string
		runs, finished []string
		lags           bool
		want           Reason
		without        ledger.Outcome
	}{
		{"it ended", nil, []string{"run_1"}, true, ListIncomplete, ledger.Applied},
		{"it ended, and the lists had it by then", nil, []string{"run_1"}, false, OneNewID, ledger.Applied},
		{"it runs", []string{"run_1"}, nil, true, OneNewID, ledger.Applied},
		{"there is none", nil, nil, true, NoTrace, ledger.NotApplied},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := seen{At: at(lookTime), Facts: Facts{
				Asked: Act{Kind: Pro, Side: Long, Size: num("1"), Sent: 1}, Symbol: "X", From: served(fromTime),
				Held: true, Exclusive: true,
				Look: State{Runs: row.runs, Finished: Newest{IDs: row.finished}, Status: "ACTIVE"}, EqualLooks: 2,
			}, Base: &seenBase{IDs: IDs{FinishedLags: row.lags}}}
			if v := judged(f); v.Reason != row.want {
				t.Errorf("%d: %s, want %s", v.Outcome, v.Reason, row.want)
			}
		})
	}
}

// TestSidesAreAlike judges each pair again with every side turned round.
func TestSidesAreAlike(t *testing.T) {
	b := bounds{events: 1, formats: formats[:1], flats: no, flips: no, starts: []string{"short", "long, a limit to sell"}, without: alike}
	b.search(func(sc *schedule) bool {
		was, is := judged(sc.facts), judged(turned(sc.facts))
		if was.Outcome != is.Outcome || was.Reason != is.Reason {
			t.Errorf("%s: %s, turned round %s", sc, was.Reason, is.Reason)
		}
		return !t.Failed()
	})
}

func turned(f seen) seen {
	turn := func(rows []Row) []Row {
		rows = slices.Clone(rows)
		for i := range rows {
			rows[i].Side = -rows[i].Side
		}
		return rows
	}
	f.Asked.Side = -f.Asked.Side
	f.Look.Position.Size, f.Look.Rows = f.Look.Position.Size.Neg(), turn(f.Look.Rows)
	if f.Base != nil {
		base := *f.Base
		base.Position, base.Rows = base.Position.Neg(), turn(base.Rows)
		f.Base = &base
	}
	f.Own = slices.Clone(f.Own)
	for i := range f.Own {
		f.Own[i].Side = -f.Own[i].Side
		f.Own[i].After.Decimal = f.Own[i].After.Decimal.Neg()
	}
	return f
}

func TestIncompleteWrite(t *testing.T) {
	of := func(a Act) Facts { return Facts{Asked: a, Symbol: "X", Held: true, EqualLooks: 2} }
	whole := Act{Kind: Entry, Side: Long, Size: num("1")}
	for _, a := range []Act{whole, {Kind: Close}, {Kind: Pro}} {
		if v := Judge(of(a)); v.Outcome != ledger.NotApplied {
			t.Errorf("a whole write of kind %d: %s", a.Kind, v.Reason)
		}
	}
	for _, kind := range []ActKind{ReduceOnly, Limit} {
		if v := Judge(of(Act{Kind: kind})); v.Reason != WriteIncomplete {
			t.Errorf("one of kind %d needs a size: %s", kind, v.Reason)
		}
	}
	for name, change := range map[string]func(*Facts){
		"kind":   func(f *Facts) { f.Asked.Kind = 0 },
		"symbol": func(f *Facts) { f.Symbol = "" },
		"side":   func(f *Facts) { f.Asked.Side = NoSide },
		"size":   func(f *Facts) { f.Asked.Size = decimal.Zero },
	} {
		f := of(whole)
		change(&f)
		if v := Judge(f); v.Reason != WriteIncomplete {
			t.Errorf("a write without its %s: %s", name, v.Reason)
		}
	}
}

func TestMeasure(t *testing.T) {
	prices := Row{EntryPrice: opt("100"), ExitPrice: opt("110"), GrossPnL: opt("20"), Fee: opt("0.189")}
	with := func(change func(*Row)) Row { r := prices; change(&r); return r }
	tests := []struct {
		name string
		row  Row
		size string // "" if it cannot be read
		side Direction
	}{
		{"shown", Row{Size: opt("3"), Side: Short}, "3", Short},
		{"shown, zero", Row{Size: opt("0"), Side: Short}, "", NoSide},
		{"derived", prices, "2", Long},
		{"derived, a loss", with(func(r *Row) { r.GrossPnL = opt("-20") }), "2", Short},
		{"the fee within one percent", with(func(r *Row) { r.Fee = opt("0.1908") }), "2", Long},
		{"another fee", with(func(r *Row) { r.Fee = opt("0.193") }), "", NoSide},
		{"a maker's fee", with(func(r *Row) { r.Fee = opt("0.063") }), "", NoSide},
		{"no fee", with(func(r *Row) { r.Fee = decimal.NullDecimal{} }), "", NoSide},
		{"no entry price", with(func(r *Row) { r.EntryPrice = decimal.NullDecimal{} }), "", NoSide},
		{"exit at the entry", with(func(r *Row) { r.ExitPrice, r.GrossPnL = opt("100"), opt("0") }), "", NoSide},
		{"prices that cancel out", with(func(r *Row) { r.EntryPrice, r.GrossPnL, r.Fee = opt("-110"), opt("220"), opt("0") }), "", NoSide},
		{"the side contradicts", with(func(r *Row) { r.Side = Short }), "", NoSide},
		{"the size contradicts", with(func(r *Row) { r.Size = opt("3") }), "", NoSide},
		{"the size agrees", with(func(r *Row) { r.Size = opt("2") }), "2", Long},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := entry{Row: tt.row}
			ok := e.measure()
			if ok != (tt.size != "") {
				t.Fatalf("readable: %v", ok)
			}
			if ok && (!e.size.Equal(num(tt.size)) || e.Side != tt.side) {
				t.Errorf("%s on side %d", e.size, e.Side)
			}
		})
	}
}

func TestStateEqual(t *testing.T) {
	full := func() State {
		return State{
			Position: Holding{Size: num("1.0"), EntryPrice: num("100"), OpenedAt: served(1)},
			Rows:     []Row{{Digest: 1}}, Orders: []string{"a"}, Runs: []string{"b"}, Finished: Newest{IDs: []string{"c"}}, Status: "ACTIVE",
		}
	}
	same := full()
	same.Position.Size = num("1.00")
	same.Rows = append(same.Rows, Row{Digest: 3, Symbol: "ETH"})
	assert.True(t, full().Equal(same, "BTC"), "equal states differ")
	for name, change := range map[string]func(*State){
		"size":     func(s *State) { s.Position.Size = num("2") },
		"entry":    func(s *State) { s.Position.EntryPrice = num("2") },
		"opened":   func(s *State) { s.Position.OpenedAt = servicetime.Time{} },
		"rows":     func(s *State) { s.Rows[0].Digest = 2 },
		"a row":    func(s *State) { s.Rows = append(s.Rows, Row{Digest: 3, Symbol: "BTC"}) },
		"nobody's": func(s *State) { s.Rows = append(s.Rows, Row{Digest: 3}) },
		"orders":   func(s *State) { s.Orders = nil },
		"runs":     func(s *State) { s.Runs = nil },
		"finished": func(s *State) { s.Finished = Newest{} },
		"status":   func(s *State) { s.Status = "" },
	} {
		other := full()
		if change(&other); full().Equal(other, "BTC") {
			t.Errorf("another %s is equal", name)
		}
	}
}

// Of rows without times one may leave a list, and one that looks like it may come: that is another list.
func TestAListInWhichAnEqualTradeIsNewer(t *testing.T) {
	trades := func(symbols string) (list []Row) {
		for _, of := range symbols {
			list = append(list, Row{Digest: uint64(of), Symbol: map[bool]string{true: "BTC", false: "ETH"}[of == 'b']})
		}
		return list
	}
	for _, c := range []struct {
		one, later string
		want       bool
	}{
		{"xyzb", "bvwx", false},
		{"xyzb", "bxyz", false},
		{"xyzb", "wxyz", false},
		{"wxyz", "bwxy", false},
		{"bxyz", "vbxy", true},
		{"xyzbu", "vwxyzb", true},
		{"xyz", "uvw", true},
		{"b", "ab", true},
		{"", "ab", false},
		{"", "a", true},
	} {
		one, later := State{Rows: trades(c.one)}, State{Rows: trades(c.later)}
		assert.Equal(t, c.want, one.Equal(later, "BTC"), "%s, then %s", c.one, c.later)
	}
}
