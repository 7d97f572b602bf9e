package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/odds"
	"github.com/tradingapi/trading-go/backtest/report"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// forecaster is the command and its flags.
type forecaster struct {
	service *cli.Service
	out     *cli.Output

	account, page    string
	results, reruns  []string
	variants         []string
	csv, end         string
	from, to         string
	opening, balance trading.Opt[decimal.Decimal]
	daily, global    trading.Opt[decimal.Decimal]
	target           trading.Opt[decimal.Decimal]
	payoff, fee      trading.Opt[decimal.Decimal]
	rule, protection string
	horizon          string
	sizes            bool
	seed             uint64
	minDays          int
	bestDay          trading.Opt[decimal.Decimal]
	jump, jumpsAYear trading.Opt[decimal.Decimal]
	state            *trading.AccountState
	positions        trading.Positions
	info             trading.AccountInfo
	listed           []trading.Trade
	read             []*backtest.Result
}

func newOdds(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "odds", Short: "Say how likely an account passes and how likely it is lost, and how sure that is", Args: cli.Args(),
		Long: `Say how likely an account passes and how likely it is lost, by its own floors, from the
days of its bot: --result of a backtest, --csv of trades, or the account's own. The rules are
those of --account as it stands, or else those of the backtest or of the flags.

The interval is the answer: it holds the truth with 95 percent confidence. It takes 4 days of
history, and is wide: of fewer than 250 days more accounts may be lost than it says. Trades need
times of opening and closing, MAE and MFE, and the balances before and after, which show whether
the list was cut.

Several --result are joined: accounts of the same bot that failed belong in. A size is named with
--size-curve, at least three --rerun of the unmodified bot at other sizes, and --horizon or
--payoff and --fee.

A refusal is a result: the exit code is 0. It is 1 where the history or the account cannot be
read.`,
		Example: "  trading backtest ./bot --prices btc.csv --result result.json\n" +
			"  trading odds --result result.json --account acc_1 --horizon 30d\n" +
			"  trading odds --csv trades.csv --opening 100000 --balance 101250.40 --target 110000 --global-floor 90000",
	}
	f := &forecaster{service: app.Connection(cmd, readTimeout), out: app.Output(cmd)}
	f.flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := f.options()
		if err != nil {
			return err
		}
		made, err := f.forecast(cmd.Context(), o)
		if err != nil {
			return err
		}
		if f.page != "" {
			if err := report.WriteFile(f.page, f.read[0], made); err != nil {
				return err
			}
		}
		return f.out.Print(viewForecast(made), func(w io.Writer) { fmt.Fprint(w, cli.PrintableLines(made.String())) })
	}
	return cmd
}

func (f *forecaster) flags(flags *pflag.FlagSet) {
	flags.StringVar(&f.account, "account", "", "the live account whose floors and target count, as it stands")
	flags.StringArrayVar(&f.results, "result", nil, "days of this backtest, a file of trading backtest --result; may be repeated")
	flags.StringVar(&f.csv, "csv", "", "days of the trades in this file, with --opening and --balance")
	flags.StringVar(&f.end, "end", "", "what became of the account of --csv, such as active or failed")
	flags.StringVar(&f.from, "from", "", "when the account of --csv began, RFC 3339 (default the first trade)")
	flags.StringVar(&f.to, "to", "", "when --csv was made, RFC 3339 (default the last trade)")
	cli.Decimal(flags, &f.opening, "opening", "balance in dollars that the account of --csv began with")
	cli.Decimal(flags, &f.balance, "balance", "its balance in dollars after the last trade")
	cli.Decimal(flags, &f.daily, "daily-floor", "daily loss floor in dollars of equity (default that of --account or --result)")
	cli.Decimal(flags, &f.global, "global-floor", "global loss floor, likewise")
	cli.Decimal(flags, &f.target, "target", "profit target, likewise")
	cli.Choice(flags, &f.rule, "daily-floor-rule", "", "both", "what the daily floor does at midnight; both judges by each, and the worse counts", "both", "fixed", "moving")
	flags.IntVar(&f.minDays, "min-days", 0, "days with trades that a pass takes")
	cli.Decimal(flags, &f.bestDay, "best-day", "largest share of the profit that one day may have, such as 0.3")
	flags.StringVar(&f.horizon, "horizon", "", "days after which the forecast ends, such as 30d (default until the account is decided)")
	cli.Decimal(flags, &f.jump, "jump", "size of a jump against the largest position, as a fraction of the price; 0 for none (default what trading protect assumes)")
	cli.Decimal(flags, &f.jumpsAYear, "jumps-a-year", "how often (default 1)")
	cli.Choice(flags, &f.protection, "protection", "", "none", "go on under trading protect, which is resumed after a flatten the next day or never", "none", "next-day", "never")
	flags.BoolVar(&f.sizes, "size-curve", false, "ask which size is best, as a multiple of the one that was traded")
	flags.StringArrayVar(&f.reruns, "rerun", nil, "the bot at another size, such as 0.5=half.json; repeat for three sizes")
	cli.Decimal(flags, &f.payoff, "payoff", "dollars that a pass pays, for --size-curve without --horizon")
	cli.Decimal(flags, &f.fee, "fee", "dollars that an entry costs")
	flags.StringArrayVar(&f.variants, "variant", nil, "another variant that was tried, a file of trading backtest --result; name all of them, since --result is the best")
	flags.Uint64Var(&f.seed, "seed", 0, "the number that the paths follow from")
	flags.StringVar(&f.page, "report", "", "write an HTML report with the forecast to this file; takes one --result")
}

// options are what the flags say, without the account.
func (f *forecaster) options() (o odds.Options, err error) {
	switch {
	case f.account == "" && len(f.results) == 0 && f.csv == "":
		return o, cli.Misuse("whose chances? --result, --csv or --account")
	case f.csv != "" && len(f.results) > 0:
		return o, cli.Misuse("--csv and --result exclude each other")
	case len(f.variants) > 0 && len(f.results) != 1:
		return o, cli.Misuse("--variant takes one --result, which is the best of them")
	case len(f.reruns) > 0 && !f.sizes:
		return o, cli.Misuse("--rerun is for --size-curve")
	case f.page != "" && len(f.results) != 1:
		return o, cli.Misuse("--report takes one --result")
	}
	o = odds.Options{Seed: f.seed}
	if o.Horizon, err = days(f.horizon); err != nil {
		return o, err
	}
	size, sized := f.jump.Get()
	often, timed := f.jumpsAYear.Get()
	if sized {
		o.Jump = &odds.Jump{Size: size, PerYear: decimal.NewFromInt(1)}
	}
	if timed {
		if !sized {
			return o, cli.Misuse("--jumps-a-year is for --jump")
		}
		o.Jump.PerYear = often
	}
	switch f.protection {
	case "next-day":
		o.Protection = &odds.Protection{Resume: 1}
	case "never":
		o.Protection = &odds.Protection{}
	}
	if f.sizes {
		o.Size = &odds.Size{Payoff: f.payoff, Fee: f.fee}
	}
	return o, nil
}

// days reads a number of days such as 30d.
func days(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	if err != nil || !strings.HasSuffix(text, "d") || n < 1 {
		return 0, cli.Misuse("--horizon %q: want a number of days such as 30d", text)
	}
	return n, nil
}

// forecast reads what it takes and makes it.
func (f *forecaster) forecast(ctx context.Context, o odds.Options) (*odds.Forecast, error) {
	if f.account != "" {
		if err := f.look(ctx); err != nil {
			return nil, err
		}
	}
	history, err := f.history()
	if err != nil {
		return nil, err
	}
	if o.Rules, err = f.rules(history); err != nil {
		return nil, err
	}
	for _, text := range f.reruns {
		scale, file, ok := strings.Cut(text, "=")
		size, err := cli.ParseNumber(scale)
		if !ok || err != nil {
			return nil, cli.Misuse("--rerun %q: want a size and a file, such as 0.5=half.json", text)
		}
		_, days, err := readResult(file)
		if err != nil {
			return nil, err
		}
		o.Size.Reruns = append(o.Size.Reruns, odds.Rerun{Scale: size, History: days})
	}
	if len(f.variants) > 0 {
		o.Selected = &odds.Selected{Of: 1 + len(f.variants)}
	}
	for _, file := range f.variants {
		_, days, err := readResult(file)
		if err != nil {
			return nil, err
		}
		o.Selected.Others = append(o.Selected.Others, days)
	}
	return odds.Of(history, o)
}

// look reads the account.
func (f *forecaster) look(ctx context.Context) error {
	if err := f.service.Read(); err != nil {
		return err
	}
	f.service.Env = trading.EnvLive
	session, err := f.service.Connect()
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	ctx, cancel := f.service.Context(ctx)
	defer cancel()
	account := session.Live.Account(trading.AccountID(f.account))
	if f.state, err = account.State(ctx); err != nil {
		return err
	}
	if f.positions, err = account.Positions(ctx); err != nil {
		return err
	}
	all, err := session.Live.Accounts(ctx)
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(all, func(a trading.AccountInfo) bool { return a.ID == account.ID() }); at >= 0 {
		f.info = all[at]
	}
	if len(f.results) == 0 && f.csv == "" {
		f.listed, err = account.Trades(ctx)
	}
	return err
}

// history is that of the results, of the file or of the account.
func (f *forecaster) history() (odds.History, error) {
	var all []odds.History
	for i, name := range f.results {
		result, days, err := readResult(name)
		if err != nil {
			return odds.History{}, err
		}
		if len(f.results) > 1 { // runs of one bot have one name
			days.Accounts[0].Name = fmt.Sprintf("%s %d", filepath.Base(name), i+1)
		}
		f.read, all = append(f.read, result), append(all, days)
	}
	if len(all) > 0 {
		return odds.Join(all...)
	}
	o := odds.TradesOptions{Account: filepath.Base(f.csv), End: f.end, Opening: f.opening, Balance: f.balance}
	if f.csv == "" {
		o = odds.TradesOptions{Account: f.account, End: string(f.state.Status), Balance: trading.Some(f.state.Balance), From: f.info.CreatedAt, To: time.Now()}
		if f.info.StartingBalance.IsPositive() {
			o.Opening = trading.Some(f.info.StartingBalance)
		}
		return odds.FromTrades(odds.TradesOf(f.listed), o)
	}
	for _, bound := range []struct {
		name, text string
		into       *time.Time
	}{{"from", f.from, &o.From}, {"to", f.to, &o.To}} {
		at, err := time.Parse(time.RFC3339, bound.text)
		if bound.text != "" && err != nil {
			return odds.History{}, cli.Misuse("--%s %q: want a time such as 2026-03-01T00:00:00Z", bound.name, bound.text)
		}
		*bound.into = at
	}
	file, err := os.Open(f.csv)
	if err != nil {
		return odds.History{}, err
	}
	defer func() { _ = file.Close() }()
	var h odds.History
	trades, err := odds.ReadTrades(file)
	if err == nil {
		h, err = odds.FromTrades(trades, o)
	}
	if err != nil {
		return h, fmt.Errorf("%w (what the service lists, as trading trades -o csv writes it, lacks some of this: take what trading backtest --trades wrote, or a --result)", err)
	}
	return h, nil
}

// readResult reads what trading backtest --result has written.
func readResult(name string) (*backtest.Result, odds.History, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, odds.History{}, err
	}
	var result backtest.Result
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, odds.History{}, fmt.Errorf("%s is no result of a backtest: %w", name, err)
	}
	history, err := odds.FromResult(&result)
	if err != nil {
		return nil, odds.History{}, fmt.Errorf("%s: %w", name, err)
	}
	return &result, history, nil
}

// rules are those of the account, or of the backtest, and what the flags say.
func (f *forecaster) rules(h odds.History) (r odds.Rules, err error) {
	switch {
	case f.state != nil:
		if r, err = odds.RulesOf(*f.state, f.positions); err != nil {
			return r, err
		}
		if f.info.StartingBalance.IsPositive() {
			r.Opening = f.info.StartingBalance
		}
	case len(f.read) > 0:
		r = odds.RulesOfTerms(f.read[0].Terms)
	default:
		r.Opening = h.Accounts[0].Opening
	}
	for _, one := range []struct{ flag, into *trading.Opt[decimal.Decimal] }{{&f.daily, &r.DailyFloor}, {&f.global, &r.GlobalFloor}, {&f.target, &r.Target}, {&f.bestDay, &r.BestDay}} {
		if _, ok := one.flag.Get(); ok {
			*one.into = *one.flag
		}
	}
	r.MinDays = f.minDays
	if f.rule != "both" {
		r.Daily = map[string]backtest.DailyFloor{"fixed": backtest.FixedFloor, "moving": backtest.MovingFloor}[f.rule]
	}
	_, daily := r.DailyFloor.Get()
	_, global := r.GlobalFloor.Get()
	_, target := r.Target.Get()
	if !daily && !global && !target {
		return r, errors.Join(cli.Misuse("by which floors? --account, or --daily-floor, --global-floor and --target"))
	}
	return r, nil
}
