package backtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// rising are ten candles of a minute that rise by 100 dollars each.
func rising(t *testing.T) *Data {
	t.Helper()
	var list []string
	for i := range 10 {
		list = append(list, fmt.Sprint(60_000+100*i))
	}
	return prices(t, list...)
}

func funding(t *testing.T, rate string) *Funding {
	t.Helper()
	f, err := ReadFunding(strings.NewReader(fmt.Sprintf("time,rate\n%d,%s\n", fooledStart+270, rate)), "funding.csv", "BTC")
	require.NoError(t, err)
	return f
}

// atTheEnd buys half a second before the end of the first minute.
func atTheEnd(ctx context.Context, client *trading.Client) error {
	time.Sleep(59*time.Second + 500*time.Millisecond)
	before := time.Now()
	err := order(trading.Long, "1")(ctx, client.Sandbox)
	if took := time.Since(before); took != 0 && took < 2*time.Second {
		return fmt.Errorf("the answer came after %s", took)
	}
	return err
}

// onSight buys when the bot sees a price of 60300 or more.
func onSight(ctx context.Context, client *trading.Client) error {
	for {
		price, err := client.Sandbox.Price(ctx, "BTC")
		if err != nil {
			return err
		}
		if p, ok := price.Price(); ok && p.GreaterThanOrEqual(decimal.NewFromInt(60_300)) {
			return order(trading.Long, "1")(ctx, client.Sandbox)
		}
		time.Sleep(time.Second)
	}
}

// amounts checks that the sums of a path add up to the cent.
func amounts(t *testing.T, p *Path) {
	t.Helper()
	made := p.Gross.Sub(p.Fees).Add(p.Funding).Add(p.Unrealized.Decimal)
	require.True(t, p.Equity.Valid)
	require.Equal(t, p.Equity.Decimal.Sub(p.Opening).StringFixed(2), made.StringFixed(2))
	require.InDelta(t, p.Gross.Add(p.Unrealized.Decimal).Add(p.Took).InexactFloat64(), p.Steps.Sum, 1e-5)
	require.InDelta(t, p.Fees.Add(p.Took).Sub(p.Funding).InexactFloat64(), p.Steps.Costs, 1e-9)
	gross, fees := decimal.Zero, decimal.Zero
	for _, trip := range p.Trips {
		gross, fees = gross.Add(trip.Gross), fees.Add(trip.Fees)
	}
	if len(p.StillOpen) == 0 {
		require.Equal(t, gross.StringFixed(2), p.Gross.StringFixed(2))
		require.Equal(t, fees.StringFixed(2), p.Fees.StringFixed(2))
	}
}

// TestEveryAssumption moves the figures as arithmetic says, is named on top of the report, and
// leaves sums that add up.
func TestEveryAssumption(t *testing.T) {
	// In at 60000, out of a half at 60200, around at 60300, out at 60500: it trades 60000, 30100,
	// 60300 and 30250 dollars.
	steps := trader("", order(trading.Long, "1"), wait, closing("50"), order(trading.Short, "1"), wait, closing("100"))
	all := []string{"60000", "30100", "60300", "30250"}
	cost := func(of func(value float64) float64) (sum float64) {
		for _, text := range all {
			sum += of(decimal.RequireFromString(text).InexactFloat64())
		}
		return sum
	}
	for name, c := range map[string]struct {
		bot   Bot // steps unless set
		with  func(*Config)
		moved float64 // the equity, in dollars
		says  string
	}{
		"nothing":     {with: func(*Config) {}, says: "at the mark: no spread; no slippage, whatever the size"},
		"half-spread": {with: func(c *Config) { c.Frictions.HalfSpread = "3" }, moved: -cost(func(v float64) float64 { return v * 3e-4 }), says: "3 bp from the mark"},
		"linear slippage": {with: func(c *Config) { c.Frictions.Slippage = "2" },
			moved: -cost(func(v float64) float64 { return v * 2e-4 * v / 1e5 }), says: "2 bp of an order of $100000, in proportion to its value"},
		"slippage by the root": {with: func(c *Config) { c.Frictions.Slippage, c.Frictions.SlippageLaw = "2", SquareRootSlippage },
			moved: -cost(func(v float64) float64 { return v * 2e-4 * root(v/1e5) }), says: "in proportion to the root of its value (Tóth et al. 2011)"},
		// A short of a half is held at half past the fourth minute, at 60400.
		"funding to pay": {with: func(c *Config) { c.Frictions.Funding = funding(t, "-0.001") }, moved: -0.5 * 60400 * 0.001, says: "of funding.csv: $-30.20"},
		"funding to get": {with: func(c *Config) { c.Frictions.Funding = funding(t, "0.001") }, moved: 0.5 * 60400 * 0.001, says: "of funding.csv: $30.20"},
		// The order arrives in the next minute, 100 dollars later.
		"latency": {bot: atTheEnd, with: func(c *Config) { c.Frictions.Latency = time.Second }, moved: -100 - 0.045, says: "a request takes 1s to the service"},
		"lag":     {bot: onSight, with: func(c *Config) { c.Frictions.Lag = time.Minute }, moved: -100 - 0.045, says: "reads show the state and the marks of 1m0s ago"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.bot == nil {
				c.bot = steps
			}
			plain := Config{Data: rising(t), Account: unbounded("100000")}
			changed := plain
			c.with(&changed)
			base, r := Run(t, c.bot, plain), Run(t, c.bot, changed)
			for i := range r.Paths {
				amounts(t, &r.Paths[i])
				require.NotZero(t, r.Paths[i].Fills)
			}
			p := r.Worse()
			moved := p.Equity.Decimal.Sub(base.Worse().Equity.Decimal).InexactFloat64()
			require.InDelta(t, c.moved, moved, 0.02, "and the fees of other prices")
			require.Empty(t, p.Stopped+base.Worse().Stopped)
			texts := ""
			for _, one := range r.Assumptions() {
				texts += one.Text + "; "
			}
			require.Contains(t, texts, c.says)
		})
	}
}

func root(v float64) float64 {
	x := v
	for range 60 {
		x = (x + v/x) / 2
	}
	return x
}

// What spread and slippage took is what the gross lost by them, and leaving costs them, too.
func TestWhatTheSpreadTook(t *testing.T) {
	data := prices(t, "60000", "60000", "60000", "60000")
	with := Config{Data: data, Frictions: Frictions{HalfSpread: "10"}, Account: Account{ID: "acc_1"}}
	r := Run(t, trader("acc_1", order(trading.Long, "1"), closing("50")), with)
	p := r.Worse()
	require.Equal(t, "90.00", p.Took.StringFixed(2), "60 in, 30 out")
	require.Equal(t, "30000.00", p.OpenValue.StringFixed(2))
	require.Equal(t, "43.49", p.ExitFees.StringFixed(2), "30 and the fee of 29970")
	require.Equal(t, "-60.00", p.Gross.Add(p.Unrealized.Decimal).Add(decimal.NewFromInt(30)).StringFixed(2))
	require.Contains(t, r.String(), "half-spread 10 bp, no slippage, no funding, no latency, no lag")
}

// The account itself is an assumption: floors, target and what the daily floor does at midnight.
func TestTheAccountIsAnAssumption(t *testing.T) {
	fall := prices(t, "60000", "59000", "58900", "58900")
	rise := prices(t, "60000", "61000", "61000", "61000")
	bot := trader("", order(trading.Long, "1"))
	for name, c := range map[string]struct {
		data *Data
		of   Account
		want Verdict
		says string
	}{
		"as it comes":            {fall, Account{}, Open, "daily $95000.00 (fixed and moving, the worse), global $90000.00, target $110000.00"},
		"a higher daily floor":   {fall, Account{DailyLossFloor: "99000"}, Failed, "daily $99000.00"},
		"a higher global floor":  {fall, Account{GlobalLossFloor: "99000"}, Failed, "global $99000.00"},
		"a target that is near":  {rise, Account{ProfitTarget: "100900"}, Passed, "target $100900.00"},
		"a target that is far":   {rise, Account{ProfitTarget: "101900"}, Open, "target $101900.00"},
		"a floor that is moving": {fall, Account{DailyFloor: MovingFloor}, Open, "(moving)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run(t, bot, Config{Data: c.data, Account: c.of})
			require.Equal(t, c.want, r.Verdict)
			amounts(t, r.Worse())
			require.Contains(t, r.String(), c.says)
		})
	}
}

func TestFrictionsThatCannotBeMeant(t *testing.T) {
	other, err := ReadFunding(strings.NewReader("time,symbol,rate\n1767225600,DOGE,0.0001\n"), "f.csv", "")
	require.NoError(t, err)
	for want, f := range map[string]Frictions{
		`HalfSpread is "-1"`: {HalfSpread: "-1"},
		`Slippage is "much"`: {Slippage: "much"},
		"Latency is 2m0s":    {Latency: 2 * time.Minute},
		"Lag is -1s":         {Lag: -time.Second},
		"funding of DOGE, of which there are no pr": {Funding: other},
	} {
		_, err := Config{Data: rising(t), Frictions: f}.plan()
		require.ErrorContains(t, err, want)
	}
}

func TestReadFunding(t *testing.T) {
	for name, c := range map[string]struct{ text, symbol, want string }{
		"empty":        {"", "BTC", "x.csv: it is empty"},
		"a heading":    {"time,rate\n", "BTC", "x.csv: there is a heading and no line below it"},
		"no rate":      {"time,price\n", "BTC", `x.csv:1: there is no column "rate"`},
		"two rates":    {"time,rate,fundingRate\n", "BTC", "two columns can be the rate"},
		"no symbol":    {"time,rate\n", "", `there is no column "symbol"`},
		"no zone":      {"time,rate\n2026-01-01 00:00:00,0.0001\n", "BTC", "x.csv:2:1"},
		"no number":    {"time,rate\n1767225600,0.01%\n", "BTC", `x.csv:2:12: column "rate": "0.01%" is no rate`},
		"too much":     {"time,rate\n1767225600,0.11\n", "BTC", "is no rate; want a share"},
		"percent":      {"time,rate\n1767225600,0.01\n1767254400,0.01\n", "BTC", "as in percent"},
		"each market":  {"time,symbol,rate\n1767225600,B,0.01\n1767225600,D,0.01\n1767225600,A,0.01\n1767225600,C,0.01\n", "", "half of the rates of A are"},
		"backwards":    {"time,rate\n1767254400,0.0001\n1767225600,0.0001\n", "BTC", "x.csv:3:1"},
		"two units":    {"time,rate\n1767225600,0.0001\n1767254400000,0.0001\n", "BTC", "want one unit"},
		"a short line": {"time,rate\n1767225600\n", "BTC", "x.csv:2"},
	} {
		_, err := ReadFunding(strings.NewReader(c.text), "x.csv", c.symbol)
		require.ErrorContains(t, err, c.want, name)
	}
	f, err := ReadFunding(strings.NewReader("\ufeffcalc_time,funding_interval_hours,last_funding_rate\n1767225600000,8,0.00010000\n1767254400000,8,-0.00002\n"), "x.csv", "BTC")
	require.NoError(t, err)
	require.Equal(t, "0.0001", f.rates["BTC"][0].Rate.String())
	require.Equal(t, int64(1767254400), f.rates["BTC"][1].At.Unix())
	require.Len(t, f.gaps([]string{"BTC", "ETH"}, time.Unix(fooledStart, 0), time.Unix(fooledStart+10*86400, 0)), 2)
	require.Empty(t, f.gaps([]string{"BTC"}, time.Unix(fooledStart, 0), time.Unix(fooledStart+10*3600, 0)))
}

func FuzzReadFunding(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, symbol string) {
		got, err := ReadFunding(strings.NewReader(text), "x.csv", symbol)
		if err != nil {
			var bad *FeedError
			if !errors.As(err, &bad) || bad.Want == "" || bad.Wrong == "" {
				t.Fatalf("refused without saying what would be right: %v", err)
			}
			return
		}
		for symbol, list := range got.rates {
			for i, one := range list {
				if symbol == "" || i > 0 && !one.At.After(list[i-1].At) || one.Rate.Abs().GreaterThan(decimal.New(1, -1)) {
					t.Fatalf("%s: %v", symbol, list)
				}
			}
		}
	})
}
