package odds

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
)

// flips buys and sells in turns, four times a day, and is flat at midnight unless it holds on.
func flips(hold time.Duration) backtest.Bot {
	return func(ctx context.Context, client *trading.Client) error {
		account := client.Sandbox
		for side := trading.Long; ctx.Err() == nil; {
			_, err := account.PlaceOrder(ctx, trading.Order{Symbol: "BTC", Side: side, Size: trading.Dec("0.2")})
			if err == nil {
				time.Sleep(hold)
				_, err = account.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("100")))
			}
			if err != nil {
				return err
			}
			time.Sleep(6*time.Hour - hold)
		}
		return ctx.Err()
	}
}

func resultOf(t *testing.T, bot backtest.Bot, days int, account backtest.Account) *backtest.Result {
	t.Helper()
	data, err := backtest.Walk(backtest.WalkOptions{Symbol: "BTC", Seed: 3, Length: time.Duration(days) * aDay})
	require.NoError(t, err)
	return backtest.Run(t, bot, backtest.Config{Name: "flips", Data: data, Account: account})
}

// wide are floors and a target that no run reaches.
var wide = backtest.Account{DailyLossFloor: "1", GlobalLossFloor: "1", ProfitTarget: "100000000", DailyFloor: backtest.FixedFloor}

func TestAHistoryOfAResult(t *testing.T) {
	r := resultOf(t, flips(time.Hour), 4, wide)
	h, err := FromResult(r)
	require.NoError(t, err)
	require.NoError(t, h.check())
	require.Len(t, h.Days, len(r.Worse().Days))
	require.Equal(t, "flips", h.Accounts[0].Name)
	require.Contains(t, h.Notes, "the prices are synthetic: the forecast says nothing of a market")
	for i, d := range h.Days {
		require.True(t, d.Traded && d.Begin.Flat && d.End.Flat)
		require.True(t, d.End.Equity.Equal(d.End.Balance))
		require.NotEmpty(t, d.Extremes)
		require.Equal(t, r.Worse().Days[i].Profit.Decimal.String(), d.End.Equity.Sub(d.Begin.Equity).String())
	}
	lost := resultOf(t, flips(5*time.Hour), 4, backtest.Account{DailyLossFloor: "99990"})
	require.Equal(t, backtest.Failed, lost.Verdict)
	if h, err = FromResult(lost); err == nil {
		require.Contains(t, strings.Join(h.Notes, " "), "the days end with the verdict, failed on")
	} else {
		require.ErrorContains(t, err, "no complete UTC day")
	}
	_, err = FromResult(&backtest.Result{})
	require.ErrorContains(t, err, "no path")
}

// The trades of a run, written as CSV and read again, give the same days; their lows are those of
// the run or, since a row has no order, worse.
func TestAHistoryOfTheTradesOfAResult(t *testing.T) {
	r := resultOf(t, flips(time.Hour), 4, wide)
	var file bytes.Buffer
	require.NoError(t, r.WriteTrades(&file))
	trades, err := ReadTrades(&file)
	require.NoError(t, err)
	p := r.Worse()
	got, err := FromTrades(trades, TradesOptions{
		Account: "acc_1", Opening: trading.Some(p.Opening), Balance: trading.Some(p.Balance), From: r.From, To: r.To,
	})
	require.NoError(t, err)
	want, err := FromResult(r)
	require.NoError(t, err)
	require.NotEmpty(t, got.Days)
	cent := trading.Dec("0.01")
	for i, d := range got.Days {
		w := want.Days[i]
		require.Equal(t, w.Date, d.Date)
		require.True(t, w.End.Equity.Sub(d.End.Equity).Abs().LessThan(cent), "%s and %s", w.End.Equity, d.End.Equity)
		require.True(t, lowest(d).LessThanOrEqual(lowest(w).Add(trading.Dec("10"))), "%s and %s: but for the fees of opening", lowest(d), lowest(w))
		require.True(t, d.Largest.IsPositive())
	}
}

func lowest(d Day) decimal.Decimal {
	low := d.Begin.Equity
	for _, e := range d.Extremes {
		low = decimal.Min(low, e)
	}
	return low
}

var morning = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// trade lasts some hours and earns its net.
func trade(from, to float64, net, worst, best string) Trade {
	at := func(hours float64) time.Time { return morning.Add(time.Duration(hours * float64(time.Hour))) }
	return Trade{Symbol: "BTC", Opened: at(from), Closed: at(to), Net: trading.Dec(net), Notional: dollars("1000"), Worst: dollars(worst), Best: dollars(best)}
}

func tradesOf(balance string) TradesOptions {
	return TradesOptions{Account: "acc_1", Opening: dollars("10000"), Balance: dollars(balance)}
}

func texts(list []decimal.Decimal) (all []string) {
	for _, d := range list {
		all = append(all, d.String())
	}
	return all
}

func TestAHistoryOfTrades(t *testing.T) {
	o := tradesOf("10130")
	o.To = morning.Add(3 * aDay)
	h, err := FromTrades([]Trade{trade(24, 25, "30", "-20", "50"), trade(0, 2, "100", "-300", "150")}, o)
	require.NoError(t, err)
	require.Len(t, h.Days, 3)
	require.Equal(t, []string{"9700", "10150", "10100", "10100"}, texts(h.Days[0].Extremes))
	require.Equal(t, "10130", h.Days[1].End.Balance.String())
	require.False(t, h.Days[2].Traded, "days without trades count")
	require.Contains(t, strings.Join(h.Notes, " "), "the worst moment is taken to come before the best")

	// Two at once: their worst may be one moment, and the best of one meets the worst of the other.
	h, err = FromTrades([]Trade{trade(0, 4, "100", "-300", "150"), trade(1, 2, "-50", "-200", "400")}, tradesOf("10050"))
	require.NoError(t, err)
	require.Equal(t, []string{"9700", "10150", "9500", "10100", "9650", "10100", "10050", "10050"}, texts(h.Days[0].Extremes))
	require.Equal(t, "2000", h.Days[0].Largest.String())
	require.Contains(t, strings.Join(h.Notes, " "), "1 trades were open beside others")
}

func TestTradesThatMakeNoHistory(t *testing.T) {
	good := trade(0, 2, "100", "-300", "150")
	change := func(f func(*Trade)) []Trade {
		bad := good
		f(&bad)
		return []Trade{bad}
	}
	none := trading.Opt[decimal.Decimal]{}
	for want, trades := range map[string][]Trade{
		"1 of 1 trades have no time of opening": change(func(t *Trade) { t.Opened = time.Time{} }),
		"1 of 1 trades have no time of closing": change(func(t *Trade) { t.Closed = time.Time{} }),
		"no MAE (the worst profit while open)":  change(func(t *Trade) { t.Worst = none }),
		"no MFE (the best profit while open)":   change(func(t *Trade) { t.Best = none }),
		"no notional value":                     change(func(t *Trade) { t.Notional = none }),
		"an MAE greater than 0":                 change(func(t *Trade) { t.Worst = dollars("3") }),
		"a close before the opening":            change(func(t *Trade) { t.Closed = t.Opened.Add(-1) }),
		"a midnight UTC between":                change(func(t *Trade) { t.Closed = t.Opened.Add(aDay) }),
		"the list was cut":                      {good, good},
		"there is no trade":                     {},
	} {
		_, err := FromTrades(trades, tradesOf("10100"))
		assert.ErrorContains(t, err, want)
	}
	_, err := FromTrades([]Trade{good}, TradesOptions{Account: "acc_1"})
	require.ErrorContains(t, err, "only both show whether the list was cut")
	_, err = FromTrades(TradesOf([]trading.Trade{{Symbol: "BTC", OpenedAt: morning, ClosedAt: morning.Add(time.Hour)}}), tradesOf("10000"))
	require.ErrorContains(t, err, "1 of 1 trades have no MAE (the worst profit while open); 1 of 1 trades have no MFE (the best profit while open); 1 of 1 trades have no notional value", "all at once")
	o := tradesOf("10100")
	o.From = morning
	_, err = FromTrades([]Trade{good}, o)
	require.ErrorContains(t, err, "no complete UTC day")
}

func TestJoin(t *testing.T) {
	one, other := steady(70), steady(40)
	other.Accounts[0].Name, other.Accounts[0].End = "acc_2", "active"
	h, err := Join(one, other)
	require.NoError(t, err)
	require.Equal(t, 70, h.dates(), "a date counts once")
	s := newSeries(h)
	require.Len(t, s.dates, 70)
	require.Len(t, s.dates[0], 2)
	require.Len(t, s.days, 110)
	f := forecast(t, h, quick(challenge()))
	require.Contains(t, f.String(), "survivors: acc_1 (failed, 70 days), acc_2 (active, 40 days)\n")
	require.Contains(t, f.String(), "40 days are on a date that another account has too")
	require.Contains(t, forecast(t, other, quick(challenge())).String(), "No account that failed is in the history")

	_, err = Join(one, one)
	require.ErrorContains(t, err, `account "acc_1" is there twice`)
	other.Accounts[0].Opening = trading.Dec("50000")
	_, err = Join(one, other)
	require.ErrorContains(t, err, "different sizes are not joined")
}

func TestBadHistories(t *testing.T) {
	for want, change := range map[string]func(*History){
		"has no days":         func(h *History) { h.Days = nil },
		"have 60 days, and":   func(h *History) { h.Days = append(h.Days, h.Days[0]) },
		"began with 0":        func(h *History) { h.Accounts[0].Opening = decimal.Zero },
		"it must be midnight": func(h *History) { h.Days[3].Date = h.Days[3].Date.Add(1) },
		"does not come after": func(h *History) { h.Days[3].Date = h.Days[2].Date },
		"largest notional is": func(h *History) { h.Days[3].Largest = trading.Dec("-1") },
		"has 99 days":         func(h *History) { h.Accounts[0].Days = 99 },
	} {
		h := steady(60)
		change(&h)
		_, err := Of(h, quick(challenge()))
		assert.ErrorContains(t, err, want)
	}
}

func TestReadTrades(t *testing.T) {
	for name, text := range map[string]string{
		"excursions": "Opened,closed, net,mae,mfe,notional,symbol\n2026-03-02T08:00:00Z,2026-03-02T10:00:00+01:00,10,-5,20,1000,BTC\n",
		"prices":     "symbol,side,opened,closed,size,cost,gross,fees,worstPrice,bestPrice\nBTC,long,2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,2,1000,11,1,497.5,510\n",
		"a short":    "symbol,side,opened,closed,size,cost,gross,fees,worstPrice,bestPrice\nBTC,short,2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,2,1000,11,1,502.5,490\n",
	} {
		list, err := ReadTrades(strings.NewReader(text))
		require.NoError(t, err, name)
		want := trade(0, 1, "10", "-5", "20")
		require.Len(t, list, 1)
		require.True(t, list[0].Net.Equal(want.Net) && list[0].Worst.Equal(want.Worst) && list[0].Best.Equal(want.Best) && list[0].Notional.Equal(want.Notional), "%s: %+v", name, list[0])
		require.Equal(t, want.Opened, list[0].Opened)
		require.Equal(t, want.Closed, list[0].Closed)
	}
}

func TestFilesThatAreNoTrades(t *testing.T) {
	const heading = "opened,closed,net,mae,mfe,notional\n"
	for want, text := range map[string]string{
		"no heading": "",
		"these columns are missing: opened, closed, net (or gross and fees), mae and mfe (or side, size, cost, worstPrice and bestPrice), notional (or cost)": "time,price\n",
		`column "net" is there twice`:              "net,NET\n",
		"wrong number of fields":                   heading + "a,b\n",
		`line 2, column opened: "yesterday"`:       heading + "yesterday,,1,0,0,1\n",
		`column net: "1,000" is not a number`:      heading + ",,\"1,000\",0,0,1\n",
		"column mae: \"1e999999\" is not a number": heading + ",,1,1e999999,0,1\n",
		"is too long": heading + ",,1,0,0," + strings.Repeat("1", 50) + "\n",
		`column side: "up" is neither long nor short`: "opened,closed,net,side,size,cost,worstPrice,bestPrice\n,,1,up,1,1,1,1\n",
	} {
		_, err := ReadTrades(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
	list, err := ReadTrades(strings.NewReader(heading + ",2026-03-02T09:00:00Z,1,0,0,1\n"))
	require.NoError(t, err)
	require.True(t, list[0].Opened.IsZero(), "an empty time is not known")
}

// Whatever is read makes a history that holds together, or an error.
func FuzzReadTrades(f *testing.F) {
	f.Add("opened,closed,net,mae,mfe,notional\n2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,10,-5,20,1000\n")
	f.Add("symbol,side,opened,closed,size,cost,gross,fees,worstPrice,bestPrice\nBTC,short,2026-03-02T08:00:00Z,2026-03-02T09:00:00Z,2,1000,11,1,502.5,490\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		trades, err := ReadTrades(strings.NewReader(text))
		if err != nil {
			return
		}
		balance := dollars("10000")
		sum, _ := balance.Get()
		for _, one := range trades {
			sum = sum.Add(one.Net)
			if one.Closed.Sub(morning).Abs() > 100*aDay {
				return // as many days as lie between
			}
		}
		o := tradesOf(sum.String())
		h, err := FromTrades(trades, o)
		if err != nil {
			return
		}
		require.NoError(t, h.check())
		if end := h.Days[len(h.Days)-1].End.Balance; !end.Equal(sum) {
			t.Fatalf("the days end with %s, and the trades with %s", end, sum)
		}
	})
}
