package tradingsim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// TestMoneyIsConserved plays random histories and compares, after every step
// and to the last digit, the balance with the closed trades, the fees of what
// is open, and the cash that the ledger says changed hands.
func TestMoneyIsConserved(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200.07"),
				tradingsim.WithSandbox(tradingsim.Sandbox{DailyLossFloor: "-1e9", GlobalLossFloor: "-1e9", ProfitTarget: "1e9"}))
			b := sandboxBot(t, sim)
			dice := rand.New(rand.NewPCG(seed, 1))
			for range 60 {
				randomStep(sim, b, dice)
				audit(t, sim, b)
			}
			for _, symbol := range []string{"BTC", "ETH"} {
				b.post("/sandbox/positions/close", `{"symbol":"`+symbol+`"}`)
			}
			audit(t, sim, b)
			require.Equal(t, 0, b.get("/sandbox/positions").ok().len("positions"))
		})
	}
}

func randomStep(sim *tradingsim.Sim, b bot, dice *rand.Rand) {
	symbol := []string{"BTC", "ETH"}[dice.IntN(2)]
	side := []string{"long", "short"}[dice.IntN(2)]
	price := map[string]int{"BTC": 64000, "ETH": 3200}[symbol]
	switch dice.IntN(6) {
	case 0:
		sim.SetMark(symbol, fmt.Sprintf("%d.%02d", price*(90+dice.IntN(20))/100, dice.IntN(100)))
	case 1:
		b.post("/sandbox/positions/close", fmt.Sprintf(`{"symbol":%q,"pct":%d.%d}`, symbol, 1+dice.IntN(99), dice.IntN(1000)))
	case 2:
		b.post("/sandbox/positions/tpsl", fmt.Sprintf(`{"symbol":%q,"stopLossPrice":%d,"closePct":%d}`,
			symbol, price*(80+dice.IntN(40))/100, 1+dice.IntN(100)))
	default:
		b.post("/sandbox/orders", fmt.Sprintf(`{"symbol":%q,"side":%q,"size":0.%03d,"leverage":%d}`,
			symbol, side, dice.IntN(1000), 1+dice.IntN(6)))
	}
}

var feeRate = decimal.RequireFromString("0.00045")

func audit(t *testing.T, sim *tradingsim.Sim, b bot) {
	t.Helper()
	account := b.get("/sandbox/account").ok() // fires triggers first
	positions := b.get("/sandbox/positions").ok()
	trades := b.get("/sandbox/trades").ok()

	// By the trades: opening + gross - round trips = balance + fees of what is open.
	byTrades := decimal.NewFromInt(100_000)
	closed := decimal.Zero
	for i := range trades.len("trades") {
		row := got{t: t, Text: trades.Text, Body: trades.Body["trades"].([]any)[i].(map[string]any)}
		byTrades = byTrades.Add(row.number("realizedPnL")).Sub(row.number("fee"))
		closed = closed.Add(row.number("fee"))
	}
	// By the ledger: every fill pays or brings cash, and its fee.
	byLedger, fees := decimal.NewFromInt(100_000), decimal.Zero
	for _, e := range sim.Ledger() {
		if !e.Filled || e.Account != "" {
			continue
		}
		cash := e.Size.Mul(e.Price)
		fees = fees.Add(cash.Mul(feeRate))
		if e.Side == "long" {
			cash = cash.Neg()
		}
		byLedger = byLedger.Add(cash)
	}
	byLedger = byLedger.Sub(fees)
	openFees := fees.Sub(closed)
	for i := range positions.len("positions") {
		row := got{t: t, Text: positions.Text, Body: positions.Body["positions"].([]any)[i].(map[string]any)}
		value := row.number("notionalValue")
		if row.text("side") == "short" {
			value = value.Neg()
		}
		byLedger = byLedger.Add(value)
	}
	require.Equal(t, account.text("account.equity"), byLedger.String(), "equity by the ledger")
	require.Equal(t, fees.String(), accountOf(t, sim, "").Fees.String(), "fees by the ledger")
	require.Equal(t, account.text("account.balance"), byTrades.Sub(openFees).String(), "balance by the trades")
}

var sandboxPaths = []string{"/sandbox/orders", "/sandbox/positions/close", "/sandbox/positions/tpsl", "/sandbox/reset"}

// FuzzWrites sends anything to any write, with a position open: the answer is
// always one of the contract, and the money adds up.
func FuzzWrites(f *testing.F) {
	paths := append(append([]string{}, sandboxPaths...), livePaths...)
	for i := range paths {
		f.Add(uint8(i), []byte(buyBTC))
		f.Add(uint8(i), []byte(with(liveBTC, `"durationMs":60000,"totalOrders":3,"startPrice":1,"endPrice":2,"triggerPrice":3,"limitPrice":4`)))
	}
	f.Add(uint8(0), []byte(`{"symbol":"BTC","side":"short","size":1e-30,"takeProfitPrice":1e30}`))
	f.Add(uint8(1), []byte(`{"symbol":"BTC","pct":1.000000000000000000001}`))
	f.Add(uint8(2), []byte(`{"symbol":"BTC","stopLossPrice":null,"closePct":null}`))
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		paper, live := sandboxBot(t, sim), liveBot(t, sim)
		paper.post("/sandbox/orders", buyBTC).ok()
		live.post("/orders", liveBTC).ok()
		b, path := live, paths[int(which)%len(paths)]
		if int(which)%len(paths) < len(sandboxPaths) {
			b = paper
		}
		g := b.post(path, string(body))
		require.Contains(t, []int{200, 400, 403, 404, 409, 503}, g.Status, g.Text)
		sim.SetMark("BTC", "64001")
		if path != "/sandbox/reset" { // which wipes the account, and not the ledger
			audit(t, sim, paper)
		}
		live.get("/accounts/acc_1/orders").ok()
	})
}
