package backtest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/protect"
)

// falling are marks of a second that fall by a tenth within six hours.
func falling(t *testing.T) *Data {
	t.Helper()
	path := make([]float64, 6*3600)
	for i := range path {
		path[i] = 64_000 * (1 - 0.1*float64(i)/float64(len(path))) * (1 + 2e-5*math.Sin(float64(i)))
	}
	return marksOf(t, "BTC", path, 1)
}

// stubborn keeps two units long, whatever it is answered.
var stubborn = looking(10*time.Second, func(ctx context.Context, client *trading.Client) {
	account := client.Live.Account("acc_1")
	if positions, err := account.Positions(ctx); err == nil && len(positions) == 0 {
		_ = order(trading.Long, "2")(ctx, account)
	}
})

// TestProtect: an account that is lost without the protection lives with it, both stand in the
// result, and the same run gives the same.
func TestProtect(t *testing.T) {
	skipUnderRace(t)
	config := Config{Data: falling(t), Account: Account{ID: "acc_1"}, Protect: &protect.Options{}}
	r := Run(t, stubborn, config)
	p := r.Worse()
	amounts(t, p)
	require.Equal(t, Failed, r.Unprotected.Continuous)
	require.Equal(t, Open, p.Continuous, "%s", r)
	require.Equal(t, protect.Held, p.Protection.Ended)
	require.NotZero(t, p.Protection.Flattened)
	require.NotZero(t, p.Protection.Refused)
	require.Nil(t, r.Unprotected.Protection)
	require.Contains(t, r.String(), "with it open, equity $")
	require.Contains(t, r.String(), "without it failed, equity $")
	require.Equal(t, r.String(), Run(t, stubborn, config).String())
}

func TestProtectRefusesWhatItSetsItself(t *testing.T) {
	for want, c := range map[string]Config{
		"a paper account cannot be protected": {Protect: &protect.Options{}},
		"the run sets them":                   {Protect: &protect.Options{Dir: "x"}, Account: Account{ID: "acc_1"}},
	} {
		c.Data = rising(t)
		_, err := c.plan()
		require.ErrorContains(t, err, want)
	}
	_, err := run(t, stubborn, Config{Data: rising(t), Account: Account{ID: "acc_1"}, Protect: &protect.Options{BlindAfter: -1}})
	require.ErrorContains(t, err, "backtest: Config.Protect: ")
}

// TestSeveralAccounts: one bot on three accounts, each with figures of its own.
func TestSeveralAccounts(t *testing.T) {
	bot := func(ctx context.Context, client *trading.Client) error {
		for i, a := range []trading.Trader{client.Sandbox, client.Live.Account("acc_1"), client.Live.Account("acc_2")} {
			if err := order(trading.Long, decimal.NewFromInt(int64(i+1)).String())(ctx, a); err != nil {
				return err
			}
		}
		time.Sleep(4*time.Minute + time.Second)
		return closing("100")(ctx, client.Live.Account("acc_2"))
	}
	r := Run(t, bot, Config{Data: rising(t), Account: Account{ID: "acc_1"}, Others: []Account{{}, {ID: "acc_2", Balance: "50000", ProfitTarget: "51000"}}})
	require.Len(t, r.Others, 2)
	for i, c := range []struct {
		of      *Result
		id      string
		verdict Verdict
		gross   string
	}{{r, "acc_1", Open, "1800.00"}, {r.Others[0], "", Open, "900.00"}, {r.Others[1], "acc_2", Passed, "1200.00"}} {
		p := c.of.Worse()
		amounts(t, p)
		require.Equal(t, c.id, c.of.Terms.ID, i)
		require.Equal(t, c.verdict, c.of.Verdict, i)
		require.Equal(t, c.gross, p.Gross.Add(p.Unrealized.Decimal).StringFixed(2), i)
		require.Empty(t, p.Others)
		require.Len(t, c.of.Paths, 2)
	}
	require.Contains(t, r.String(), "account acc_1 first, the headline; the paper account: open, equity $100873.00; account acc_2: passed")
}

func TestAccountsThatCannotBeMeant(t *testing.T) {
	for want, others := range map[string][]Account{
		"account acc_1 is twice":        {{ID: "acc_1"}},
		"one service has one rule":      {{ID: "acc_2", DailyFloor: MovingFloor}},
		"(in Config.Others[0])":         {{ID: "acc_2", Balance: "much"}},
		"the paper account is twice in": {{}, {}},
	} {
		_, err := Config{Data: rising(t), Account: Account{ID: "acc_1"}, Others: others}.plan()
		require.ErrorContains(t, err, want)
	}
}

// TestWarmUp: before the run the bot sees prices through its client, and cannot trade; the figures
// begin with the run.
func TestWarmUp(t *testing.T) {
	data := rising(t)
	first, _ := data.Span()
	var seen []string
	bot := func(ctx context.Context, client *trading.Client) error {
		seen = nil
		for range 5 {
			price, err := client.Sandbox.Price(ctx, "BTC")
			if err != nil {
				return err
			}
			p, _ := price.Price()
			seen = append(seen, p.String())
			if err := order(trading.Long, "1")(ctx, client.Sandbox); err == nil {
				return nil
			} else if !errors.Is(err, ErrWarmUp) || time.Since(first) >= 3*time.Minute {
				return err
			}
			time.Sleep(time.Minute)
		}
		return nil
	}
	r := Run(t, bot, Config{Data: data, WarmUp: 3 * time.Minute})
	p := r.Worse()
	require.Empty(t, p.Stopped)
	require.Equal(t, []string{"60000", "60100", "60200", "60300"}, seen)
	require.Equal(t, first.Add(3*time.Minute), r.From)
	require.Equal(t, "60300", p.Turnover.String())
	require.Equal(t, "60300", p.Markets[0].First.String())
	amounts(t, p)
	require.Contains(t, r.Assumptions()[len(r.Assumptions())-2].Text+r.Assumptions()[len(r.Assumptions())-3].Text, "the bot read prices for 3m0s before the run")
	_, err := Config{Data: data, From: first.Add(time.Minute), WarmUp: 2 * time.Minute}.plan()
	require.ErrorContains(t, err, "set From later, or WarmUp shorter")
	_, err = Config{Data: data, WarmUp: -1}.plan()
	require.ErrorContains(t, err, "must not be negative")
}

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
