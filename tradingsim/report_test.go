package tradingsim_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// timed is a simulation on a manual clock that looks at the equity each minute.
func timed(opts ...tradingsim.Option) *tradingsim.Sim {
	return tradingsim.New(append([]tradingsim.Option{
		tradingsim.WithMark("BTC", "100"), tradingsim.WithManualClock(bubbleStart), tradingsim.WithBalance("1000"),
		tradingsim.WithSandbox(tradingsim.Sandbox{DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "1e9"}),
		tradingsim.WithAccount(tradingsim.Account{ID: "a", DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "1e9"}),
		tradingsim.WithAccount(tradingsim.Account{ID: "b", Balance: "5000"}),
	}, opts...)...)
}

func accountOf(t *testing.T, sim *tradingsim.Sim, id string) tradingsim.AccountReport {
	t.Helper()
	a, ok := sim.Report().Account(id)
	require.True(t, ok, id)
	return a
}

// curveText is a curve as minutes, equities, and a star where something happened.
func curveText(points []tradingsim.Point) string {
	var b strings.Builder
	for _, p := range points {
		equity := "?"
		if p.Equity.Valid {
			equity = p.Equity.Decimal.String()
		}
		fmt.Fprintf(&b, "%s %s", p.At.Sub(bubbleStart), equity)
		if p.Changed {
			b.WriteString("*")
		}
		b.WriteString("\n")
	}
	return b.String()
}

const oneBTC = `{"accountId":"a","symbol":"BTC","side":"long","size":10,"leverage":5}`

func TestReportOfALiveAccount(t *testing.T) {
	sim := timed()
	b := sandboxBot(t, sim)
	b.key = sim.LiveKey()
	sim.Advance(30 * time.Second)
	b.post("/orders", oneBTC).ok() // 10 at 100: costs 0.45
	sim.Advance(time.Minute)       // a sample at 1m0s
	sim.SetMark("BTC", "90")
	sim.Advance(time.Minute) // and at 2m0s
	sim.PayFunding("a", "BTC", "-1.5")
	sim.SetMark("BTC", "")
	sim.Advance(time.Minute) // no mark at 3m0s
	sim.SetMark("BTC", "95")
	b.post("/positions/close", `{"accountId":"a","symbol":"BTC","closePercent":50}`).ok() // 5 at 95: -25, costs 0.21375
	sim.SetMark("BTC", "120")
	sim.Advance(time.Minute)
	r := sim.Report()

	a := accountOf(t, sim, "a")
	require.Equal(t, "0s 1000*\n30s 999.55*\n1m0s 999.55\n2m0s 899.55\n2m30s 898.05*\n3m0s ?\n3m30s 947.83625*\n4m0s 1072.83625\n", curveText(a.Curve))
	require.Equal(t, "ACTIVE", a.Status)
	require.Equal(t, []string{"1000", "972.83625", "1072.83625", "72.83625", "0.66375", "-1.5"},
		[]string{a.Opening.String(), a.Balance.String(), a.Equity.Decimal.String(), a.Profit.Decimal.String(), a.Fees.String(), a.Funding.String()})
	require.Equal(t, 2, a.Fills)

	// 101.95 below a peak of 1000, and above it again at the last sample.
	require.Equal(t, "101.95", a.Drawdown.Amount.String())
	require.Equal(t, "10.195", a.Drawdown.Pct.String())
	require.Equal(t, bubbleStart, a.Drawdown.From)
	require.Equal(t, bubbleStart.Add(150*time.Second), a.Drawdown.To)
	require.Equal(t, 4*time.Minute, a.Drawdown.Longest)

	require.Len(t, a.Trades, 1)
	closed := a.Trades[0]
	require.Equal(t, "-25", closed.GrossPnL.String())
	require.Equal(t, "0.43875", closed.RoundTripFee.String())
	require.Equal(t, "-25.43875", closed.NetPnL().String())
	require.Equal(t, bubbleStart.Add(30*time.Second), closed.OpenedAt)

	other := accountOf(t, sim, "b")
	require.Equal(t, "5000", other.Equity.Decimal.String())
	require.Zero(t, other.Drawdown)
	require.Empty(t, other.Trades)
	_, ok := r.Account("")
	require.False(t, ok, "nobody has asked for the paper account")
	require.Equal(t, []string{"a", "b"}, []string{r.Accounts[0].ID, r.Accounts[1].ID})
	require.Equal(t, bubbleStart, r.From)
	require.Equal(t, bubbleStart.Add(270*time.Second), r.To)
}

func TestReportOfThePaperAccount(t *testing.T) {
	sim := timed()
	b := sandboxBot(t, sim)
	order := `{"symbol":"BTC","side":"long","size":10,"leverage":5,"stopLossPrice":95}`
	b.post("/sandbox/orders", order).ok()
	sim.SetMark("BTC", "90")
	sim.Advance(time.Minute)
	b.get("/sandbox/account").ok() // fires the stop: 1000 - 100 - 0.45 - 0.405
	a := accountOf(t, sim, "")
	require.Equal(t, "0s 999.55*\n1m0s 899.145*\n", curveText(a.Curve))
	require.Equal(t, "stop_loss", a.Trades[0].Cause)

	// A reset begins anew: what was before stays in the report, and is no
	// drawdown of what comes after.
	sim.SetMark("BTC", "100")
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"short","size":10,"leverage":5}`).ok()
	sim.SetMark("BTC", "102") // 20 lost, and never closed
	sim.Advance(30 * time.Second)
	b.post("/sandbox/reset", "").ok()
	sim.Advance(time.Minute)
	a = accountOf(t, sim, "")
	require.Equal(t, 1, a.Resets)
	require.Equal(t, 3, a.Fills)
	require.Len(t, a.Trades, 1)
	require.Equal(t, "1000", a.Equity.Decimal.String())
	require.Equal(t, "-121.305", a.Profit.Decimal.String())
	require.Equal(t, "1.305", a.Fees.String())
	require.Equal(t, "12.1305", a.Drawdown.Pct.String())
	require.Equal(t, "1m0s 898.695*\n1m30s 1000*\n2m0s 1000\n", curveText(a.Curve[1:]))
	require.Equal(t, bubbleStart, a.Drawdown.From)

	// So does an account that was idle for too long.
	sim.Advance(31 * 24 * time.Hour)
	b.get("/sandbox/account").ok()
	require.Equal(t, 2, accountOf(t, sim, "").Resets)
}

func TestReportUnderAnotherReadingHasAPaperAccountForEachKey(t *testing.T) {
	sim := timed(tradingsim.WithInterpretation(30))
	one, two := sandboxBot(t, sim), sandboxBot(t, sim)
	two.key = sim.NewSandboxKey()
	one.post("/sandbox/orders", `{"symbol":"BTC","side":"long","size":10}`).ok()
	two.get("/sandbox/account").ok()
	r := sim.Report()
	require.Len(t, r.Accounts, 4)
	require.Equal(t, []int{1, 0}, []int{r.Accounts[0].Fills, r.Accounts[1].Fills})
	require.NotEqual(t, r.Accounts[0].ID, r.Accounts[1].ID)
}

// TestSamplesDoNotDependOnPolling compares a run that nobody looks at with one
// that is polled every three seconds: the samples are the service's own.
func TestSamplesDoNotDependOnPolling(t *testing.T) {
	run := func(step time.Duration) tradingsim.AccountReport {
		sim := tradingsim.New(tradingsim.WithFeed("BTC", tradingsim.RandomWalk(5, "100", 20)), tradingsim.WithManualClock(bubbleStart),
			tradingsim.WithAccount(tradingsim.Account{ID: "a"}))
		b := sandboxBot(t, sim)
		b.key = sim.LiveKey()
		b.post("/orders", oneBTC).ok()
		for left := time.Hour; left > 0; left -= step {
			sim.Advance(step)
			if step < time.Hour {
				b.get("/positions?accountId=a").ok()
			}
		}
		return accountOf(t, sim, "a")
	}
	polled := run(3 * time.Second)
	require.Len(t, polled.Curve, 61)
	require.Positive(t, polled.Drawdown.Longest)
	require.Equal(t, run(time.Hour), polled)
}

func TestACurveIsBounded(t *testing.T) {
	sim := timed(tradingsim.WithSampling(time.Second))
	b := sandboxBot(t, sim)
	b.key = sim.LiveKey()
	b.post("/orders", oneBTC).ok()
	for day := range 2 { // 172,800 samples
		sim.SetMark("BTC", fmt.Sprint(90+day))
		sim.Advance(24 * time.Hour)
	}
	a := accountOf(t, sim, "a")
	require.Greater(t, len(a.Curve), 5_000)
	require.LessOrEqual(t, len(a.Curve), 10_001)
	step := a.Curve[2].At.Sub(a.Curve[1].At)
	require.Equal(t, 32*time.Second, step, "every second one went five times")
	for i, p := range a.Curve[1:] {
		require.Equal(t, bubbleStart.Add(time.Duration(i+1)*step), p.At, "evenly spread")
	}
	require.Equal(t, bubbleStart.Add(time.Second), a.Drawdown.To, "every look counts, kept or not")

	// A clock that jumps far does not stand still over it.
	sim.Advance(200 * 365 * 24 * time.Hour)
	require.LessOrEqual(t, len(accountOf(t, sim, "a").Curve), 10_001)
	require.Panics(t, func() { tradingsim.New(tradingsim.WithSampling(0)) })
}

func TestReportCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := timed()
		b := sandboxBot(t, sim)
		require.Empty(t, sim.Report().Requests)
		b.get("/sandbox/account").ok()
		b.get("/sandbox/account").ok()
		b.get("/sandbox/prices?symbol=XYZ").refused(400, "bad_symbol")
		b.get("/nothing")
		sim.Fault("GET /sandbox/trades", tradingsim.DropResponse(), tradingsim.DropRequest(), tradingsim.TruncateResponse(), tradingsim.DelayResponse(time.Hour), tradingsim.Delay(time.Hour), tradingsim.GatewayError(502))
		for range 2 {
			_, err := b.try("GET", "/sandbox/trades", "")
			require.Error(t, err)
		}
		cut, err := b.try("GET", "/sandbox/trades", "")
		require.NoError(t, err)
		_, err = io.ReadAll(cut.Body)
		require.Error(t, err)
		for range 2 { // a caller who does not wait for the answer
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			r, err := http.NewRequestWithContext(ctx, "GET", sim.URL()+"/sandbox/trades", nil)
			require.NoError(t, err)
			r.Header.Set("X-API-Key", b.key)
			_, err = sim.Transport().RoundTrip(r)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		b.get("/sandbox/trades")
		b.key = sim.LiveKey()
		for range 2 { // a refusal, and its replay
			b.post("/orders", `{"accountId":"b","symbol":"BTC","side":"long","size":0.001,"leverage":1}`, "Idempotency-Key", "k").refused(400, "MIN_NOTIONAL")
		}
		r := sim.Report()
		require.Equal(t, map[string]int{
			"GET /sandbox/account": 2, "GET /sandbox/prices": 1, "GET /sandbox/trades": 6, "POST /orders": 2, "other": 1,
		}, r.Requests)
		require.Equal(t, 12, r.Sent())
		require.Equal(t, map[string]int{"bad_symbol": 1, "not_found": 1, "MIN_NOTIONAL": 2}, r.Refusals)
		require.Equal(t, 5, r.Unanswered)
	})
}

func TestReportAsCSV(t *testing.T) {
	sim := timed()
	b := sandboxBot(t, sim)
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"short","size":10}`).ok()
	sim.Advance(61500 * time.Millisecond)
	sim.SetMark("BTC", "99.9")
	b.post("/sandbox/positions/close", `{"symbol":"BTC"}`).ok()
	b.post("/sandbox/orders", `{"symbol":"BTC","side":"short","size":1}`).ok()
	sim.SetMark("BTC", "")
	sim.Advance(time.Minute)
	a := accountOf(t, sim, "")
	require.False(t, a.Equity.Valid)
	require.False(t, a.Profit.Valid)

	var out bytes.Buffer
	require.NoError(t, a.WriteCurve(&out))
	require.Equal(t, `time,balance,equity,changed
2000-01-01T00:00:00Z,999.55,999.55,true
2000-01-01T00:01:00Z,999.55,999.55,false
2000-01-01T00:01:01.5Z,1000.055495,1000.055495,true
2000-01-01T00:02:00Z,1000.055495,,false
`, out.String())
	out.Reset()
	require.NoError(t, a.WriteTrades(&out))
	require.Equal(t, `opened,closed,symbol,side,size,entry,exit,gross,fee,net,cause
2000-01-01T00:00:00Z,2000-01-01T00:01:01.5Z,BTC,short,10,100,99.9,1,0.89955,0.10045,market
`, out.String())
	require.Error(t, a.WriteTrades(full{}))
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("no room") }

func TestMarksGoToCSVAndBack(t *testing.T) {
	walk := tradingsim.RandomWalk(9, "64000", 5)
	var text bytes.Buffer
	require.NoError(t, tradingsim.WriteCSV(&text, walk, bubbleStart, time.Minute, 500))
	require.True(t, strings.HasPrefix(text.String(), "time,price\n2000-01-01T00:00:00Z,64000\n"))
	back, err := tradingsim.ReadCSV(&text)
	require.NoError(t, err)
	for i := range 500 {
		at := bubbleStart.Add(time.Duration(i) * time.Minute)
		want, _ := walk.At(at)
		got, ok := back.At(at.Add(59 * time.Second))
		require.True(t, ok)
		require.True(t, want.Equal(got))
	}
	gap, err := tradingsim.ReadCSV(strings.NewReader("2000-01-01T00:00:01Z,5\n"))
	require.NoError(t, err)
	text.Reset()
	require.NoError(t, tradingsim.WriteCSV(&text, gap, bubbleStart, time.Second, 2))
	require.Equal(t, "time,price\n2000-01-01T00:00:00Z,\n2000-01-01T00:00:01Z,5\n", text.String())
	for _, err := range []error{
		tradingsim.WriteCSV(&text, walk, bubbleStart, 0, 1),
		tradingsim.WriteCSV(&text, walk, bubbleStart, 1, 0),
		tradingsim.WriteCSV(&text, nil, bubbleStart, 1, 1),
		tradingsim.WriteCSV(full{}, walk, bubbleStart, 1, 1),
	} {
		require.Error(t, err)
	}
}
