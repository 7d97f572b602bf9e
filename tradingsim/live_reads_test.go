package tradingsim_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

func TestAccountsNewestFirst(t *testing.T) {
	opts := []tradingsim.Option{
		tradingsim.WithAccount(tradingsim.Account{ID: "old", Status: "PASSED", Archived: true, EvalType: "2-step", Phase: 2, Balance: "50000"}),
		tradingsim.WithAccount(tradingsim.Account{ID: "new", Status: "FUNDED", FundedFrom: "old"}),
		tradingsim.WithAccount(tradingsim.Account{ID: "cup", Tournament: true, TournamentName: "Spring", Trial: true}),
	}
	g := liveBot(t, tradingsim.New(opts...)).get("/accounts").ok()
	require.NotContains(t, g.Body, "ok")
	require.NotContains(t, g.Body, "success")
	for path, want := range map[string]string{
		"accounts.0.id": "cup", "accounts.0.isTournament": "true", "accounts.0.tournamentName": "Spring", "accounts.0.isTrial": "true",
		"accounts.1.id": "new", "accounts.1.status": "FUNDED", "accounts.1.fundedFromAccountId": "old", "accounts.1.evalType": "1-step",
		"accounts.2.id": "old", "accounts.2.archived": "true", "accounts.2.challengeSize": "50000", "accounts.2.startingBalance": "50000",
		"accounts.2.currentBalance": "50000", "accounts.2.evalType": "2-step", "accounts.2.phase": "2",
	} {
		require.Equal(t, want, g.text(path), path)
	}
	require.IsType(t, "", g.at("accounts.0.createdAt"))
	g = liveBot(t, tradingsim.New(append(opts, tradingsim.WithInterpretation(42))...)).get("/accounts").ok()
	require.IsNotType(t, "", g.at("accounts.0.createdAt"))
}

func TestReadsOfWhatIsNotThere(t *testing.T) {
	b := liveBot(t, tradingsim.New())
	for _, path := range []string{
		"/accounts/x", "/accounts/x/orders", "/accounts/x/runs", "/accounts/x/funding",
		"/positions?accountId=x", "/trades?accountId=x", "/accounts/acc_1%2Forders",
	} {
		b.get(path).refused(404, "account_not_found")
	}
	b.get("/positions").refused(400, "missing_fields")
	b.get("/accounts/").refused(404, "not_found")
	b.key = ""
	b.get("/accounts/x").refused(401, "missing_api_key")
}

func TestEnvelopes(t *testing.T) {
	sim := tradingsim.New()
	sim.PayFunding("acc_1", "BTC", "-1.5")
	sim.PayFunding("acc_1", "BTC", "0.25")
	b := liveBot(t, sim)
	require.Equal(t, 0, b.get("/positions?accountId=acc_1").ok().len("positions"))
	require.Equal(t, 0, b.get("/trades?accountId=acc_1").ok().len("trades"))
	require.Equal(t, "0.25", b.get("/accounts/acc_1/funding").ok().text("funding.0.amount"), "newest first")
	require.Equal(t, "99998.75", b.get("/accounts/acc_1").ok().text("account.balance"))

	b = liveBot(t, tradingsim.New(tradingsim.WithInterpretation(43)))
	b.otherInterpretation = true
	for _, path := range []string{"/positions?accountId=acc_1", "/trades?accountId=acc_1", "/accounts/acc_1/funding"} {
		require.Equal(t, "[]", b.get(path).ok().Text)
	}
	require.Equal(t, "acc_1", b.get("/accounts/acc_1").ok().text("id"))
}

func TestTerminalTradesTheSameAccount(t *testing.T) {
	sim, b := liveSim(t, tradingsim.WithUserLimits(2, 20))
	sim.Trade("acc_1", "long", "0.5", "BTC")
	require.Equal(t, "0.5", b.get("/positions?accountId=acc_1").ok().text("positions.0.size"))
	require.Equal(t, "terminal", sim.Ledger()[0].Actor)
	b.post("/orders", liveBTC).ok()
	b.post("/orders", liveBTC).refused(429, "rate_limited") // the limit is shared
	require.Panics(t, func() { sim.Trade("nope", "long", "1", "BTC") })
}

// Each kind of read can lag apart from the others, and begin to at any moment.
func TestEachReadLagsApart(t *testing.T) {
	const lag = 5 * time.Second
	shown := map[string]func(bot) int{
		"GET /positions":                   func(b bot) int { return b.get("/positions?accountId=acc_1").ok().len("positions") },
		"GET /trades":                      func(b bot) int { return b.get("/trades?accountId=acc_1").ok().len("trades") },
		"GET /accounts/{accountId}/orders": func(b bot) int { return b.get("/accounts/acc_1/orders").ok().len("orders") },
		"GET /accounts/{accountId}/runs":   func(b bot) int { return b.get("/accounts/acc_1/runs").ok().len("history") },
		"GET /sandbox/positions":           func(b bot) int { return b.get("/sandbox/positions").ok().len("positions") },
		"GET /sandbox/trades":              func(b bot) int { return b.get("/sandbox/trades").ok().len("trades") },
	}
	for late := range shown {
		for _, before := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
				live, paper := liveBot(t, sim), sandboxBot(t, sim)
				if before {
					sim.SetLag(late, lag)
				}
				time.Sleep(time.Minute)
				live.post("/orders", liveBTC).ok()
				live.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC","closePercent":50}`).ok()
				live.post("/orders/limit", with(liveBTC, `"limitPrice":60000`)).ok()
				live.post("/orders/swarm", with(liveBTC, `"totalOrders":2`)).ok()
				live.post("/runs/cancel", `{"accountId":"acc_1","runId":"run_1"}`).ok()
				paper.post("/sandbox/orders", buyBTC).ok()
				paper.post("/sandbox/positions/close", `{"symbol":"BTC","pct":50}`).ok()
				sim.SetLag(late, lag)
				for _, wait := range []time.Duration{lag - time.Second, time.Second} {
					time.Sleep(wait)
					for operation, count := range shown {
						b := live
						if strings.Contains(operation, "sandbox") {
							b = paper
						}
						want := 1
						if operation == late && wait > time.Second {
							want = 0
						}
						require.Equal(t, want, count(b), "%s of %s, which lags", operation, late)
					}
				}
				sim.SetLag("*", 0)
			})
		}
	}
	sim := tradingsim.New()
	for _, operation := range []string{"POST /orders", "GET /health", "GET /nope"} {
		require.Panics(t, func() { sim.SetLag(operation, lag) })
	}
}

// What fills by itself is seen a lag later, as what a request did.
func TestWhatFillsByItselfLags(t *testing.T) {
	bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
		b.post("/orders/limit", with(liveBTC, `"limitPrice":60000`)).ok()
		time.Sleep(10 * time.Second)
		sim.SetMark("BTC", "60000")
		shown := func() int { return b.get("/positions?accountId=acc_1").ok().len("positions") }
		time.Sleep(2 * time.Second)
		require.Equal(t, "1", sim.Position("acc_1", "BTC").String())
		require.Equal(t, 0, shown())
		time.Sleep(4 * time.Second)
		require.Equal(t, 1, shown())
	}, tradingsim.WithLag(5*time.Second))
}

// A lag can end, and the reads show the present at once.
func TestALagThatEnds(t *testing.T) {
	bubble(t, liveSim, func(t *testing.T, sim *tradingsim.Sim, b bot) {
		b.post("/orders", liveBTC).ok()
		require.Equal(t, 0, b.get("/positions?accountId=acc_1").ok().len("positions"))
		sim.SetLag("*", 0)
		require.Equal(t, 1, b.get("/positions?accountId=acc_1").ok().len("positions"))
	}, tradingsim.WithLag(time.Hour))
}

// The contract shows few members of a closed trade; the others can be left out.
func TestTradesWithoutTheFieldsThatAreNotShown(t *testing.T) {
	every := []string{"symbol", "side", "size", "leverage", "openedAt", "closedAt"}
	for name, c := range map[string]struct {
		opt  tradingsim.Option
		gone []string
	}{
		"all shown":         {tradingsim.WithoutTradeFields(), nil},
		"no size":           {tradingsim.WithoutTradeFields("size"), []string{"size"}},
		"no times":          {tradingsim.WithoutTradeFields("openedAt", "closedAt"), []string{"openedAt", "closedAt"}},
		"interpretation 53": {tradingsim.WithInterpretation(53), every},
	} {
		t.Run(name, func(t *testing.T) {
			sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), c.opt)
			live, paper := liveBot(t, sim), sandboxBot(t, sim)
			live.otherInterpretation, paper.otherInterpretation = true, true
			live.post("/orders", liveBTC).ok()
			live.post("/positions/close", `{"accountId":"acc_1","symbol":"BTC"}`).ok()
			paper.post("/sandbox/orders", buyBTC).ok()
			paper.post("/sandbox/positions/close", `{"symbol":"BTC"}`).ok()
			for _, g := range []got{live.get("/trades?accountId=acc_1").ok(), paper.get("/sandbox/trades").ok()} {
				row, _ := g.at("trades.0").(map[string]any)
				for _, field := range every {
					if slices.Contains(c.gone, field) {
						require.NotContains(t, row, field)
					} else {
						require.Contains(t, row, field)
					}
				}
				require.Equal(t, "64000", g.text("trades.0.entryPrice"))
				require.Equal(t, "64000", g.text("trades.0.exitPrice"), "at the entry: nothing tells the side")
				require.Equal(t, "0", g.text("trades.0.realizedPnL"))
				require.Equal(t, "57.6", g.text("trades.0.fee"))
				require.Equal(t, "market", g.text("trades.0.orderType"))
			}
			require.Contains(t, live.post("/orders", liveBTC).ok().at("position"), "size", "only trades leave it out")
		})
	}
	require.Panics(t, func() { tradingsim.WithoutTradeFields("fee") })
}
