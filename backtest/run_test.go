package backtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// prices are candles of a minute, from 2026-01-01 on, that go from each price to the next.
func prices(t *testing.T, list ...string) *Data {
	t.Helper()
	text := ""
	for i, p := range list {
		text += fmt.Sprintf("%d,%s,%s,%s,%s\n", 1767225600+60*i, p, p, p, p)
	}
	return minuteCandles(t, text)
}

// trader is a bot that does one thing after the other, a minute apart, on an account.
func trader(id string, steps ...func(context.Context, trading.Trader) error) Bot {
	return func(ctx context.Context, client *trading.Client) error {
		var account trading.Trader = client.Sandbox
		if id != "" {
			account = client.Live.Account(trading.AccountID(id))
		}
		for _, step := range steps {
			if err := step(ctx, account); err != nil {
				return err
			}
			time.Sleep(time.Minute)
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

func order(side trading.Side, size string) func(context.Context, trading.Trader) error {
	return func(ctx context.Context, a trading.Trader) error {
		_, err := a.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: side, Size: trading.Dec(size), Leverage: trading.Dec("5")})
		return err
	}
}

func closing(pct string) func(context.Context, trading.Trader) error {
	return func(ctx context.Context, a trading.Trader) error {
		_, err := a.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec(pct)))
		return err
	}
}

func wait(context.Context, trading.Trader) error { return nil }

// Each path has a journal of its own: one that the config gives would answer the second
// path's orders with those of the first.
func TestAJournalForEachPath(t *testing.T) {
	named := func(ctx context.Context, a trading.Trader) error {
		_, err := a.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("5")},
			trading.WithClientOrderID("in"))
		return err
	}
	minutes := make([]string, 10)
	for i := range minutes {
		minutes[i] = "60000"
	}
	var asked []trading.Outcome
	refused := func(ctx context.Context, a trading.Trader) error {
		_, err := a.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("9999"), Leverage: trading.Dec("5")},
			trading.WithClientOrderID("too much"))
		asked = append(asked, trading.OutcomeOf(err))
		return nil
	}
	for name, opts := range map[string][]trading.Option{"none": nil, "one": {trading.WithJournal(journal.NewMemory())}} {
		asked = nil
		r := Run(t, trader("acc_1", wait, named, closing("100"), refused), Config{Data: prices(t, minutes...), Account: Account{ID: "acc_1"}, Client: opts})
		require.NotEmpty(t, r.Paths, name)
		for _, p := range r.Paths {
			require.Empty(t, p.Stopped, name)
			require.Len(t, p.Trips, 1, name)
		}
		for _, outcome := range asked {
			require.Equal(t, trading.NotApplied, outcome, name)
		}
		require.NotEmpty(t, asked)
	}
}

// TestToTheCent is a run by hand: in at 60000, a part out at 61000, turned around at 62000,
// out at 61500.
func TestToTheCent(t *testing.T) {
	data := prices(t, "60000", "61000", "62000", "61500", "61500")
	for _, id := range []string{"", "acc_9"} {
		t.Run(accountName(id), func(t *testing.T) {
			bot := trader(id, order(trading.Long, "1"), closing("40"), order(trading.Short, "1"), closing("100"))
			r := Run(t, bot, Config{Data: data, Account: Account{ID: id}})
			p := r.Worse()
			require.Empty(t, p.Stopped)
			// 0.4×1000 + 0.6×2000 = 1600 of the long; 0.4×500 = 200 of the short.
			require.Equal(t, "1800", p.Gross.String())
			// 0.00045 × (60000 + 0.4×61000 + 1×62000 + 0.4×61500).
			require.Equal(t, "76.95", p.Fees.String())
			require.Equal(t, "101723.05", p.Equity.Decimal.String())
			require.Len(t, p.Trips, 2)
			require.Equal(t, "long", p.Trips[0].Side)
			require.Equal(t, "1600", p.Trips[0].Gross.String())
			require.Equal(t, 1, p.Trips[0].PartialExits)
			// 0.00045 × (60000 + 0.4×61000 + 0.6×62000).
			require.Equal(t, "54.72", p.Trips[0].Fees.String())
			require.Equal(t, "short", p.Trips[1].Side)
			require.Equal(t, "200", p.Trips[1].Gross.String())
			require.Equal(t, "22.23", p.Trips[1].Fees.String())
			require.Equal(t, "0.60", p.Exposure.String()) // three minutes of five
			require.Equal(t, Open, p.Continuous)
			require.Len(t, r.Paths, 2)
			require.Equal(t, "0.00", r.Spread().String())
			require.Equal(t, 2026, p.Trips[0].Opened.Year(), "the bot's dates are the recording's")
		})
	}
}

// TestTheWorseOfTwoPaths has a candle that goes both ways: a stop is hit on one path, and
// the target on the other.
func TestTheWorseOfTwoPaths(t *testing.T) {
	data := minuteCandles(t, "1767225600,60000,60000,60000,60000\n1767225660,60000,62000,58000,60000\n1767225720,60000,60000,60000,60000\n")
	bot := trader("acc_9", func(ctx context.Context, a trading.Trader) error {
		_, err := a.PlaceOrder(ctx, trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("5"),
			StopLoss: trading.At(trading.Dec("59000")), TakeProfit: trading.At(trading.Dec("61000")),
		})
		return err
	})
	r := Run(t, bot, Config{Data: data, Account: Account{ID: "acc_9"}, CandlePaths: FixedPaths})
	require.Equal(t, lowFirst, r.Worse().Order)
	require.Equal(t, "stop_loss", r.Worse().Trips[0].Cause)
	require.Equal(t, "take_profit", r.Paths[1].Trips[0].Cause)
	require.Greater(t, r.Spread().Decimal.InexactFloat64(), 1900.0)
	require.Contains(t, r.String(), "O-L-H-C, the worse of two; spread")
}

// TestWorse: of two paths the one that failed is the headline, else the one that did not
// pass, else the one that ended lower; an equity that is not known is lower than any.
func TestWorse(t *testing.T) {
	path := func(v Verdict, equity int64) Path {
		return Path{Continuous: v, Equity: decimal.NewNullDecimal(decimal.NewFromInt(equity))}
	}
	unknown := Path{Continuous: Open}
	for i, c := range []struct{ worse, better Path }{
		{path(Failed, 2), path(Open, 1)},
		{path(Failed, 2), path(Passed, 1)},
		{path(Open, 2), path(Passed, 1)},
		{path(Open, 1), path(Open, 2)},
		{unknown, path(Open, 1)},
		{path(Failed, 1), unknown},
	} {
		for _, both := range [][]Path{{c.worse, c.better}, {c.better, c.worse}} {
			var r Result
			r.add(both[0])
			r.add(both[1])
			require.Equal(t, c.worse, *r.Worse(), i)
		}
	}
}

// TestContinuousJudgement: the equity touches the floor between two looks, and comes back.
func TestContinuousJudgement(t *testing.T) {
	data := minuteCandles(t, "1767225600,60000,60000,60000,60000\n1767225660,60000,60000,57000,60000\n1767225720,60000,60000,60000,60000\n")
	r := Run(t, trader("", order(trading.Long, "2")), Config{Data: data})
	p := r.Worse()
	require.Equal(t, Open, p.Service, "nobody asked")
	require.Equal(t, Failed, p.Continuous)
	require.False(t, p.Decided.IsZero())
	require.True(t, p.LowestRoom.IsNegative())
	require.Equal(t, []string{"BTC"}, p.StillOpen)
	require.Contains(t, r.String(), "where the figures end; by the service open; lowest room $-")
	require.True(t, p.Equity.Decimal.LessThanOrEqual(decimal.NewFromInt(95000)), "the figures end at the verdict")
	require.Equal(t, p.Decided, p.Until)
	require.Equal(t, p.Drawdown.Amount.String(), p.Opening.Sub(p.Equity.Decimal).String())
}

func TestAPassIsAfterTheFeesOfClosing(t *testing.T) {
	for last, want := range map[string]Verdict{"65027": Open, "65057": Passed} {
		// 2 × 5027 - 54 is 10000; closing costs 58.5 more.
		r := Run(t, trader("", order(trading.Long, "2")), Config{Data: prices(t, "60000", last, last)})
		require.Equal(t, want, r.Worse().Continuous, last)
	}
}

// TestUnderWater is a run by hand: with the fee of $27 the equity is 99,973, a minute later
// 98,973 for two minutes, then 100,973 for two, and 100,473 in the last.
func TestUnderWater(t *testing.T) {
	r := Run(t, trader("", order(trading.Long, "1")), Config{Data: prices(t, "60000", "59000", "59000", "61000", "61000", "60500")})
	p := r.Worse()
	require.Equal(t, "0.67", p.Drawdown.UnderWater.String()) // four minutes of six
	require.Equal(t, 3*time.Minute, p.Drawdown.Longest)
	require.Equal(t, "1027", p.Drawdown.Amount.String())
	require.Equal(t, "1.03%", percent(p.Drawdown.Share))
	require.Equal(t, "3973", p.LowestRoom.String())
	require.Equal(t, "2026-01-01T00:01:00Z", p.LowestRoomAt.Format(time.RFC3339))
	require.Equal(t, "0.45%", percent(p.Return)) // with $27.225 for leaving
	require.Len(t, p.Markets, 1)
	require.Equal(t, "0.83%", percent(p.Markets[0].BuyAndHold)) // 60,500 of 60,000
}

// TestAtTheFloor: an account is lost at its floor, and not only below it.
func TestAtTheFloor(t *testing.T) {
	for last, want := range map[string]Verdict{"55027": Failed, "55027.01": Open} { // $27 are the fee
		r := Run(t, trader("", order(trading.Long, "1")), Config{Data: prices(t, "60000", last, last)})
		require.Equal(t, want, r.Worse().Continuous, last)
	}
}

// TestAResultThatDoesNotAddUp is no result: an amount of the service is wrong by a cent.
func TestAResultThatDoesNotAddUp(t *testing.T) {
	c := Config{Data: prices(t, "60000", "61000", "62000", "62000")}
	p, err := c.plan()
	require.NoError(t, err)
	p.in = inside{order: highFirst}
	bot := trader("", order(trading.Long, "1"), closing("40"))
	for what, wrong := range map[string]func(*tradingsim.AccountReport){
		"none":                      func(*tradingsim.AccountReport) {},
		"the trades have earned":    func(a *tradingsim.AccountReport) { a.Trades[0].GrossPnL = a.Trades[0].GrossPnL.Add(cent) },
		"gross - fees + funding is": func(a *tradingsim.AccountReport) { a.Fees = a.Fees.Sub(cent) },
		"by the fills and the prices, and": func(a *tradingsim.AccountReport) {
			last := &a.Curve[len(a.Curve)-1]
			last.Equity.Decimal, last.Changed = last.Equity.Decimal.Add(cent), true
		},
		"fees + funding is": func(a *tradingsim.AccountReport) { a.Funding = a.Funding.Add(cent) },
		"by the service":    func(a *tradingsim.AccountReport) { a.Equity.Decimal = a.Equity.Decimal.Sub(cent) },
	} {
		got, err := p.inBubble(t, bot, nil)
		require.NoError(t, err)
		wrong(&got.report.Accounts[0])
		_, err = p.judge(got)
		if what == "none" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "does not add up", what)
		require.ErrorContains(t, err, what)
	}
}

func TestTheDailyFloorMoves(t *testing.T) {
	data := flat(t, 3600, inTurn(2, 60000, 24, 62000, 24, 60700))
	// In and out with 4000 on the first day; on the second a loss of about 5100 is nothing
	// to a floor of 95000, and a breach of 95 percent of 103890.
	bot := trader("acc_9", order(trading.Long, "2"), hours(3), closing("100"), hours(20), order(trading.Long, "4"))
	fixed := Run(t, bot, Config{Data: data, Account: Account{ID: "acc_9", DailyFloor: FixedFloor}})
	moves := Run(t, bot, Config{Data: data, Account: Account{ID: "acc_9", DailyFloor: MovingFloor}})
	require.Equal(t, Open, fixed.Worse().Continuous)
	require.Equal(t, Failed, moves.Worse().Continuous)
	require.Len(t, moves.Worse().Days, 1, "the second day was not lived to its end")
	for i, date := range []string{"2026-01-01"} {
		require.Equal(t, date, moves.Worse().Days[i].Date.Format(time.DateOnly))
	}
	require.True(t, moves.Worse().Days[0].Profit.Decimal.IsPositive())
}

func TestAMarketWithoutAPrice(t *testing.T) {
	data := minuteCandles(t, "1767225600,60000,60000,60000,60000\n1767226200,60000,60000,60000,60000\n")
	r := Run(t, trader("", order(trading.Long, "1")), Config{Data: data})
	require.Equal(t, 8*time.Minute, r.Worse().Unpriced)
	require.Contains(t, r.String(), "had no price")
}

func TestStops(t *testing.T) {
	refused := trader("", order(trading.Long, "1000"))
	r := Run(t, refused, Config{Data: prices(t, "60000", "60000")})
	require.NotEmpty(t, r.Worse().Stopped)
	require.False(t, r.Worse().Ended.IsZero())
	require.Contains(t, r.String(), "The bot stopped with an error at 2026-01-01 00:00:00")

	idle := Run(t, func(context.Context, *trading.Client) error { return nil }, Config{Data: prices(t, "60000", "60000")})
	require.Contains(t, idle.String(), "The bot returned at 2026-01-01 00:00:00, before the end")
	require.Equal(t, "100000", idle.Worse().Equity.Decimal.String())
	require.Equal(t, "no round trip", idle.Worse().WinRate.None())
}

// TestWhatRestsGoesOn: a stop of a live account fires after the bot has returned.
func TestWhatRestsGoesOn(t *testing.T) {
	bot := func(ctx context.Context, client *trading.Client) error {
		_, err := client.Live.Account("acc_9").PlaceOrder(ctx, trading.Order{
			Symbol: "BTC", Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("5"), StopLoss: trading.At(trading.Dec("59500")),
		})
		return err
	}
	r := Run(t, bot, Config{Data: prices(t, "60000", "60000", "59000", "60000"), Account: Account{ID: "acc_9"}})
	require.Equal(t, "stop_loss", r.Worse().Trips[0].Cause)
}

func TestBadConfigs(t *testing.T) {
	data := prices(t, "60000", "60000", "60000")
	start := time.Unix(1767225600, 0)
	for name, c := range map[string]struct {
		config Config
		bot    Bot
		want   string
	}{
		"no data":       {Config{}, nil, "Config.Data is missing"},
		"before":        {Config{Data: data, From: start.Add(-time.Hour)}, nil, "there are prices from 2026-01-01T00:00:00Z to 2026-01-01T00:03:00Z only"},
		"short":         {Config{Data: data, To: start.Add(time.Second)}, nil, "it must take a minute at least"},
		"a fraction":    {Config{Data: data, From: start.Add(time.Millisecond)}, nil, "it must be a whole second"},
		"balance":       {Config{Data: data, Account: Account{Balance: "much"}}, nil, `Config.Account.Balance is "much"; it must be a number greater than 0`},
		"floor":         {Config{Data: data, Account: Account{DailyLossFloor: "-1"}}, nil, "Config.Account.DailyLossFloor"},
		"two accounts":  {Config{Data: data, Account: Account{ID: "acc_9"}}, trader("", order(trading.Long, "1")), "the bot traded the paper account, and the run is of account acc_9"},
		"two balances":  {Config{Data: data, Simulation: []tradingsim.Option{tradingsim.WithSandbox(tradingsim.Sandbox{Balance: "5"})}}, trader("", wait, func(ctx context.Context, a trading.Trader) error { _, err := a.State(ctx); return err }), "the account began with 5, and Config.Account says 100000"},
		"client option": {Config{Data: data, Client: []trading.Option{trading.WithSandboxKey("x")}}, nil, "Config.Client"},
		"reset": {Config{Data: data}, func(ctx context.Context, client *trading.Client) error {
			_, err := client.Sandbox.Reset(ctx)
			return err
		}, "the paper account began anew 1 times"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.bot == nil {
				c.bot = trader("")
			}
			_, err := run(t, c.bot, c.config)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestTheSameRunTwice(t *testing.T) {
	data, err := Walk(WalkOptions{Seed: 3, Length: 6 * time.Hour, StepBps: 5})
	require.NoError(t, err)
	bot := trader("", order(trading.Long, "1"), closing("100"), order(trading.Short, "1"))
	once, again := Run(t, bot, Config{Data: data}), Run(t, bot, Config{Data: data})
	require.Equal(t, once, again)
	require.Contains(t, once.String(), "SYNTHETIC")
	require.Contains(t, once.String(), "no market's")
}
