package tradingsim_test

import (
	"testing"

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

func TestAccountDetail(t *testing.T) {
	sim, b := liveSim(t)
	b.post("/orders", liveBTC).ok()
	sim.SetMark("BTC", "64100")
	g := b.get("/accounts/acc_1").ok()
	for path, want := range map[string]string{
		"balance": "99971.2", "equity": "100071.2", "profitTarget": "110000", "dailyLossFloor": "95000",
		"globalLossFloor": "90000", "phase": "1", "status": "ACTIVE", "id": "acc_1",
	} {
		require.Equal(t, want, g.text("account."+path), path)
	}
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
