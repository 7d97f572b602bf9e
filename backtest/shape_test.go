package backtest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// TestShape has numbers that were computed by hand.
func TestShape(t *testing.T) {
	start := time.Unix(fooledStart, 0)
	trip := func(net int64, opened, closed int) RoundTrip {
		return RoundTrip{Gross: decimal.NewFromInt(net), Opened: start.Add(time.Duration(opened) * time.Minute), Closed: start.Add(time.Duration(closed) * time.Minute)}
	}
	// In the order of their ends: won, won, lost, lost, lost, won. A net of 0 did not win.
	trips := []RoundTrip{trip(5, 0, 1), trip(-1, 1, 4), trip(7, 1, 3), trip(0, 4, 9), trip(-3, 9, 10), trip(2, 10, 40)}
	// The equity falls from 110 to 99 and is below for two days, then from 124.74 to half.
	opening, list := days(0.1, -0.1, 0.05, 0.2, -0.5)
	s := shapeOf(trips, list, opening.Decimal.InexactFloat64())
	require.Equal(t, []int{2, 3}, []int{s.WinStreak, s.LossStreak})
	require.Equal(t, []time.Duration{time.Minute, 3 * time.Minute, 30 * time.Minute}, []time.Duration{s.Shortest, s.Median, s.Longest})
	require.Equal(t, []string{"0.300000", "1.500000"}, []string{text(s.MeanFall), text(s.MeanFallDays)})
	require.Equal(t, 2, s.Falls)
	require.Equal(t, "too short to quote: 5 complete days of 30", text(s.Tail))

	opening, list = days(append(repeat(29, 0), -1)...)
	s = shapeOf(nil, list, opening.Decimal.InexactFloat64())
	require.Equal(t, []string{"-4.941675", "-0.500000", "1.000000"}, []string{text(s.Skew), text(s.Tail), text(s.MeanFall)})
	require.Zero(t, s.Longest)
	opening, list = days(repeat(30, 0.01)...)
	s = shapeOf(nil, list, opening.Decimal.InexactFloat64())
	require.Equal(t, []string{"no two days differ", "0.010000", "no day ended below a peak"}, []string{text(s.Skew), text(s.Tail), text(s.MeanFall)})
	list[4].Equity.Valid, list[4].Return = false, none("unknown")
	s = shapeOf(nil, list, opening.Decimal.InexactFloat64())
	require.Equal(t, []string{"the equity at the end of a day is not known", "the equity at the end of a day is not known"}, []string{text(s.Skew), text(s.MeanFall)})
}

// TestDeflatedSharpeOfAttempts holds a run by itself against the formula, computed elsewhere: the more
// attempts there were, the less it is worth.
func TestDeflatedSharpeOfAttempts(t *testing.T) {
	_, list := days(repeat(15, 0.02, -0.01)...)
	end := list[len(list)-1].Date.Add(day)
	r := &Result{To: end, Paths: []Path{{Days: list, Until: end}}}
	for attempts, want := range map[int]string{0: "0.961339", 1: "0.961339", 10: "0.575523"} {
		require.Equal(t, want, text(overfitOfOne(r, attempts).DeflatedSharpe))
	}
	require.Equal(t, "it takes a sweep over variants", text(overfitOfOne(r, 1).Overfitting))
	r.Paths[0].Days = list[:19]
	r.Paths[0].Until, r.To = end, end
	require.Equal(t, "too short: 19 complete days of 20", text(overfitOfOne(r, 1).DeflatedSharpe))
}

// TestLeverageAndTrades: what is held as a multiple of the equity, at its largest, and the list of
// trades in both forms.
func TestLeverageAndTrades(t *testing.T) {
	data := prices(t, "60000", "61000", "59000", "61000", "61000")
	r := Run(t, trader("", order(trading.Long, "1"), wait, wait, closing("100")), Config{Data: data})
	p := r.Worse()
	// 61000 ÷ (100000 - 27 of fees + 1000).
	require.Equal(t, "0.604122", text(p.Leverage.Most))
	require.Equal(t, "2026-01-01T00:01:00Z", p.Leverage.At.Format(time.RFC3339))
	require.Equal(t, "0.604122", text(p.Curve[len(p.Curve)/4].Leverage))
	require.Equal(t, "0.000000", text(p.Curve[len(p.Curve)-1].Leverage), "flat")
	require.Equal(t, []string{"-1000", "1000"}, []string{p.Trips[0].MAE().String(), p.Trips[0].MFE().String()})

	var b strings.Builder
	require.NoError(t, r.WriteTradesJSON(&b))
	var list []map[string]string
	require.NoError(t, json.Unmarshal([]byte(b.String()), &list))
	require.Len(t, list, 1)
	require.Equal(t, "-1000", list[0]["mae"])
	require.Equal(t, "945.55", list[0]["net"])
	var table strings.Builder
	require.NoError(t, r.WriteTrades(&table))
	require.Equal(t, len(list[0]), strings.Count(strings.Split(table.String(), "\n")[0], ",")+1)

	short := RoundTrip{Side: "short", Size: decimal.NewFromInt(2), Cost: decimal.NewFromInt(200), WorstPrice: decimal.NewFromInt(101), BestPrice: decimal.NewFromInt(90)}
	require.Equal(t, []string{"-2", "20"}, []string{short.MAE().String(), short.MFE().String()})
	short.BestPrice = decimal.NewFromInt(100)
	short.WorstPrice = decimal.NewFromInt(99) // it never lost
	require.Equal(t, []string{"0", "0"}, []string{short.MAE().String(), short.MFE().String()})
}
