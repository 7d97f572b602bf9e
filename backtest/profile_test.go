package backtest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/profile"
)

// serviceOf is the line of the assumptions that is about the service.
func serviceOf(r *Result) string {
	for _, a := range r.Assumptions() {
		if a.Name == "Service" {
			return a.Text
		}
	}
	return ""
}

// A run behaves by its profile, drawn from its seed, and says so; without one it says that too.
func TestProfile(t *testing.T) {
	second := profile.Duration(time.Second)
	p := &profile.Profile{
		Version: profile.Version, BaseURL: "https://api.example.com/v1", MeasuredAt: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
		Results: []profile.Result{
			{Experiment: "27", Environment: profile.Paper, Verdict: profile.Other, N: 1, CountOther: 1},
			{Experiment: "A1", Environment: profile.Live, Verdict: profile.First, N: 8, CountFirst: 8},
			{Experiment: "42", Environment: profile.Live, Verdict: profile.Unseen, Why: "nothing shows it"},
		},
		Measured: profile.Measured{AnswerTime: map[string]profile.Spread{"POST /sandbox/orders": {N: 9, Median: second, P99: 2 * second, Most: 3 * second}}},
	}
	var took []time.Duration
	var leverage string
	bot := func(ctx context.Context, client *trading.Client) error {
		took = nil
		for _, lev := range []string{"2", "1", "1", "1", "1"} {
			began := time.Now()
			_, err := client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec(lev)})
			if err != nil {
				return err
			}
			took = append(took, time.Since(began))
		}
		list, err := client.Sandbox.Positions(ctx)
		if err == nil {
			leverage = list[0].Leverage.String()
		}
		<-ctx.Done()
		return err
	}
	r := Run(t, bot, Config{Data: falling(t), Profile: p, Seed: 1})
	drawn := took
	for _, d := range drawn {
		assert.GreaterOrEqual(t, d, time.Second)
	}
	assert.Equal(t, "2", leverage, "the service was seen to keep the leverage of a position")
	Run(t, bot, Config{Data: falling(t), Profile: p, Seed: 1})
	assert.Equal(t, drawn, took)
	Run(t, bot, Config{Data: falling(t), Profile: p, Seed: 2})
	assert.NotEqual(t, drawn, took)

	const said = "by the profile of https://api.example.com/v1 of 2026-11-23: 1 experiment answered on live accounts, 1 on the paper account, other interpretations 27"
	assert.Contains(t, serviceOf(r), said)
	assert.Contains(t, r.String(), said)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"Profile":{"baseURL":"https://api.example.com/v1","measuredAt":"2026-11-23T12:00:00Z","live":1,"paper":1,"otherwise":[27]}`)

	r = Run(t, bot, Config{Data: falling(t)})
	assert.Contains(t, serviceOf(r), "by the document alone")
	assert.Contains(t, r.String(), "by the document alone")
	assert.Zero(t, took[0])
	assert.Equal(t, "1", leverage)
}

// A run pays the fees of its profile, and reckons with them.
func TestProfileFees(t *testing.T) {
	bot := func(ctx context.Context, client *trading.Client) error {
		_, err := client.Sandbox.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")})
		<-ctx.Done()
		return err
	}
	dear := &profile.Profile{Version: profile.Version, MeasuredAt: time.Now(), Measured: profile.Measured{TakerFee: "0.0045"}}
	without, with := Run(t, bot, Config{Data: falling(t)}).Paths[0], Run(t, bot, Config{Data: falling(t), Profile: dear}).Paths[0]
	ten := trading.Dec("10")
	assert.Positive(t, without.Fees.Sign())
	assert.True(t, with.Fees.Equal(without.Fees.Mul(ten)), "%s of %s", with.Fees, without.Fees)
	assert.True(t, with.ExitFees.Equal(without.ExitFees.Mul(ten)), "%s of %s", with.ExitFees, without.ExitFees)
}

// A profile that is none is refused, and so is one that contradicts the account.
func TestProfileThatCannotBe(t *testing.T) {
	moves := &profile.Profile{Version: profile.Version, MeasuredAt: time.Now(), Results: []profile.Result{{Experiment: "20", Environment: profile.Live, Verdict: profile.Other, N: 1, CountOther: 1}}}
	for want, c := range map[string]Config{
		"Config.Profile: profile: version is 9": {Profile: &profile.Profile{Version: 9}},
		"by Config.Profile it moves":            {Profile: moves, Account: Account{DailyFloor: FixedFloor}},
	} {
		c.Data = falling(t)
		_, err := c.plan()
		require.ErrorContains(t, err, want)
	}
	_, err := Config{Data: falling(t), Profile: moves}.plan()
	require.NoError(t, err)
}
