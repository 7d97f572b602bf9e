package trading

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Only an account on which nothing waits can have been changed by a write alone.
func TestQuiet(t *testing.T) {
	assert.True(t, Baseline{Size: Dec("1"), Finished: []RunID{"run_1"}}.quiet())
	for name, baseline := range map[string]Baseline{
		"an order rests":   {Orders: []OrderID{"o_1"}},
		"a run runs":       {Runs: []RunID{"run_1"}},
		"a trigger is set": {Armed: true},
	} {
		assert.False(t, baseline.quiet(), name)
	}
}

// A trade that is listed twice where it was listed once is one that is new.
func TestNewTradesAreCounted(t *testing.T) {
	trade := func(size string) Trade { return Trade{Symbol: "BTC", Side: Long, Size: Some(Dec(size))} }
	digests := func(trades ...Trade) (all []uint64) {
		for i := range trades {
			all = append(all, digestOfTrade(&trades[i]))
		}
		return all
	}
	one, two := trade("1"), trade("2")
	for name, row := range map[string]struct {
		now    []Trade
		before []uint64
		want   []Trade
	}{
		"none":                  {nil, nil, nil},
		"the first":             {[]Trade{one}, nil, []Trade{one}},
		"known":                 {[]Trade{one, two}, digests(two, one), nil},
		"one more":              {[]Trade{two, one}, digests(one), []Trade{two}},
		"the same once more":    {[]Trade{one, one}, digests(one), []Trade{one}},
		"one is no longer told": {[]Trade{two}, digests(one, two), nil},
	} {
		assert.Equal(t, row.want, newTrades(row.now, row.before), name)
	}
}

// A change of the account speaks for a write only where it is the very change that
// the write would have made. In doubt it does not: whoever is told that an order
// was filled does not place it again.
func TestWhatExplainsAChange(t *testing.T) {
	order := func(op Operation, body string) Intent {
		return Intent{Operation: op, Symbol: "BTC", Body: []byte(body)}
	}
	buy := order(OpOrder, `{"side":"long","size":0.5}`)
	sell := order(OpOrder, `{"side":"short","size":0.5}`)
	limit := order(OpLimit, `{"side":"long","size":0.5,"limitPrice":60000}`)
	all, half := order(OpClose, `{"closePercent":100}`), order(OpClose, `{"closePercent":50}`)
	paper := order(OpSandboxClose, `{"pct":100}`)
	twap := order(OpTWAP, `{"side":"long","size":0.5}`)
	held := func(size string) Baseline { return Baseline{Size: Dec(size)} }
	size := func(size string) Reading { return Reading{Size: Dec(size)} }
	trade := func(cause CloseCause) []Trade { return []Trade{{Symbol: "BTC", Cause: cause}} }

	for _, row := range []struct {
		name string
		in   Intent
		b    Baseline
		r    Reading
		want bool
	}{
		{"a buy", buy, held("0"), size("0.5"), true},
		{"a buy onto a position", buy, held("1"), size("1.5"), true},
		{"a buy that flips", buy, held("-0.2"), Reading{Size: Dec("0.3"), Trades: trade(CauseMarket)}, true},
		{"a sale", sell, held("0"), size("-0.5"), true},
		{"a sale is no buy", sell, held("0"), size("0.5"), false},
		{"another size", buy, held("0"), size("0.4"), false},
		{"nothing moved", buy, held("1"), size("1"), false},
		{"a trigger fired too", buy, held("0"), Reading{Size: Dec("0.5"), Trades: trade(CauseStopLoss)}, false},
		{"an order rests since", buy, held("0"), Reading{Size: Dec("0.5"), Orders: []OrderID{"o_1"}}, false},
		{"an order rests since, and nothing moved", buy, held("0"), Reading{Orders: []OrderID{"o_1"}}, false},
		{"a run ran before", buy, Baseline{Runs: []RunID{"run_1"}}, size("0.5"), false},
		{"a body that cannot be read", order(OpOrder, `{`), held("0"), size("0"), false},
		{"a body without a size", order(OpOrder, `{"side":"long"}`), held("0"), size("0"), false},

		{"a limit that rests", limit, held("1"), Reading{Size: Dec("1"), Orders: []OrderID{"o_1"}}, true},
		{"a limit that filled at once", limit, held("0"), size("0.5"), true},
		{"a limit that rests, and a fill", limit, held("0"), Reading{Size: Dec("0.5"), Orders: []OrderID{"o_1"}}, false},
		{"two that rest", limit, held("0"), Reading{Orders: []OrderID{"o_1", "o_2"}}, false},

		{"a close", all, held("1"), size("0"), true},
		{"a close of a short", all, held("-1"), size("0"), true},
		{"a close on paper", paper, held("1"), size("0"), true},
		{"a close that left something", all, held("1"), size("0.5"), false},
		{"a close of half", half, held("1"), size("0.5"), true},
		{"half, as the service rounds", half, held("0.00003"), size("0.00002"), true},
		{"half, and nothing is left", half, held("0.00001"), size("0"), true},
		{"a close that grew", half, held("1"), size("1.5"), false},
		{"a close that flipped", half, held("1"), size("-0.5"), false},
		{"a close of nothing", half, held("0"), size("0"), false},
		{"a close where nothing moved", half, held("1"), size("1"), false},
		{"a close of no part", order(OpClose, `{}`), held("1"), size("0"), false},

		{"a run", twap, held("0"), Reading{Runs: []RunID{"run_1"}}, true},
		{"a run that has ended", twap, held("0"), Reading{Size: Dec("0.5"), Finished: []RunID{"run_1"}}, true},
		{"a run in both lists", twap, held("0"), Reading{Runs: []RunID{"run_1"}, Finished: []RunID{"run_1"}}, true},
		{"two runs", twap, held("0"), Reading{Runs: []RunID{"run_1", "run_2"}}, false},
		{"no run", twap, held("0"), size("0.5"), false},
		{"a run of before", twap, Baseline{Finished: []RunID{"run_1"}}, Reading{Finished: []RunID{"run_1"}}, false},
	} {
		assert.Equal(t, row.want, row.in.explains(row.b, row.r), row.name)
	}
}

// What the fence and the readings come to.
func TestWeighing(t *testing.T) {
	const account = "acc_1"
	began := time.Now()
	for _, row := range []struct {
		name    string
		op      Operation
		finding fenceFinding
		size    string // of the last reading; 0.5 was to be bought
		alone   bool
		late    time.Duration // the first reading, after the last moment that it could be sent
		want    Outcome
		basis   Basis
		why     string
	}{
		{"fenced, no trace", OpOrder, fenceHolds, "0", false, 0, NotApplied, BasisFence, ""},
		{"received, no trace yet", OpOrder, fenceReceived, "0", true, goneAfter - 1, Unknown, BasisNone, "does not show it yet"},
		{"received, no trace, and long gone", OpOrder, fenceReceived, "0", true, goneAfter, NotApplied, BasisReads, ""},
		{"the same, but others trade", OpOrder, fenceReceived, "0", false, goneAfter, Unknown, BasisNone, "does not show it yet"},
		{"a limit that others may have cancelled", OpLimit, fenceHolds, "0", false, 0, Unknown, BasisNone, "may have cancelled it"},
		{"a limit, long gone, that others may have cancelled", OpLimit, fenceHolds, "0", false, goneAfter, Unknown, BasisNone, "may have cancelled it"},
		{"a limit, received and not seen", OpLimit, fenceReceived, "0", false, 0, Unknown, BasisNone, "does not show it yet"},
		{"a limit of a sole actor", OpLimit, fenceHolds, "0", true, 0, NotApplied, BasisFence, ""},
		{"a trace", OpOrder, fenceReceived, "0.5", true, 0, Applied, BasisReads, ""},
		{"a trace, but others trade", OpOrder, fenceHolds, "0.5", false, 0, Unknown, BasisNone, "somebody else may have done it"},
		{"another trace", OpOrder, fenceHolds, "0.4", true, 0, Unknown, BasisNone, "not as this write"},
	} {
		client := newTestClient(t, newScript(t))
		r := &resolver{core: client.core}
		if row.alone {
			r.soleActs = []AccountID{account}
		}
		v := Verdict{
			Intent: Intent{
				Operation: row.op, Account: account, Symbol: "BTC", Body: []byte(`{"side":"long","size":0.5}`),
				Baseline: Some(Baseline{}), Expires: began,
			},
			Readings: []Reading{{At: began.Add(row.late)}, {At: began.Add(row.late + time.Minute), Size: Dec(row.size)}},
		}
		r.weigh(&v, row.finding)
		assert.Equal(t, row.want, v.Outcome, row.name)
		assert.Equal(t, row.basis, v.Basis, row.name)
		if row.why != "" {
			assert.ErrorContains(t, v.Err, row.why, row.name)
		} else {
			assert.NoError(t, v.Err, row.name)
		}
	}
}
