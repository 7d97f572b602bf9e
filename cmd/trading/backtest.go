package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/cmd/trading/internal/program"
)

// backtester is the command and its flags.
type backtester struct {
	app      *cli.App
	output   *cli.Output
	function string
	from, to string
	run      program.Run
	sweeper
}

func newBacktest(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backtest PACKAGE", Short: "Run a Go bot on recorded or synthetic prices, in virtual time", Args: cli.Args("PACKAGE"),
		Long: `Run a Go bot on recorded or synthetic prices, in virtual time, against the simulated
service. PACKAGE is a package of the module in the present folder, such as ./bot, that has

  func Bot(ctx context.Context, client *trading.Client) error

The bot is built with the Go toolchain and needs no code for the backtest. It gets neither
the keys nor the base URL of the environment. Without --prices the prices are a random walk.

--prices takes the exports that --format lists, and any table with a heading. A file that can be
read in two ways is refused, with the flag that settles it.

Prices inside candles are drawn, with two seeds: the worse is shown. A pass takes both. The
figures end at the verdict. Unless flags say otherwise, orders fill at the mark and at once,
without spread, slippage or funding, as the contract has it: the result says what it assumes,
and what 1, 2 and 5 basis points a side would take from it. With --report a file beside it
counts the runs of each bot on the same prices: of many attempts one is lucky, and the finding
takes that into account.

The exit code is 1 if the bot does not build, or the run cannot be made. What the account
came to is in the result.

With --sweep the package has func Variants() []backtest.Variant instead. Each variant is tried on
the prices until --split, and the best is judged on those after it. A sweep can be made on many
machines, a --shard each; which variants are of a shard follows from the flags alone. trading
backtest merge makes the result of the parts.`,
		Example: "  trading backtest ./bot --days 30 --report report.html\n" +
			"  trading backtest ./bot --sweep --prices btc.csv --candles open --shard 3/50 --out part-3.json\n" +
			"  trading backtest ./bot --prices btc.csv --candles open --account acc_1 --protect --half-spread 1\n" +
			"  trading backtest ./bot --prices BTCUSDT-1m-2025-01.csv --format binance",
	}
	b := &backtester{app: app}
	f := cmd.Flags()
	f.StringVar(&b.function, "func", "Bot", "the function of PACKAGE that trades")
	f.StringVar(&b.run.Prices, "prices", "", "a CSV file of prices: marks or candles, also in gzip")
	b.prices(f)
	f.StringVar(&b.run.Symbol, "symbol", "BTC", "the market, unless --prices has a column for it")
	f.IntVar(&b.run.Days, "days", 30, "how many days of a random walk")
	f.Uint64Var(&b.run.Seed, "seed", 1, "the number that a random walk, or the prices inside candles, follow from")
	f.StringVar(&b.from, "from", "", "begin at this time, RFC 3339 (default the first price)")
	f.StringVar(&b.to, "to", "", "end at this time, RFC 3339 (default the last price)")
	f.StringArrayVar(&b.run.Accounts, "account", nil, "a simulated live account; of several, which the bot trades in one run, the first is the headline (default the paper account)")
	f.BoolVar(&b.run.Protect, "protect", false, "run the bot under package protect, and show it without beside that")
	f.DurationVar(&b.run.WarmUp, "warm-up", 0, "how long before --from the bot reads prices, and its orders are refused")
	f.StringVar(&b.run.Balance, "balance", "100000", "opening balance in dollars")
	f.StringVar(&b.run.DailyLossFloor, "daily-floor", "", "daily loss floor in dollars of equity (default 95 percent of --balance)")
	f.StringVar(&b.run.GlobalLossFloor, "global-floor", "", "global loss floor in dollars of equity (default 90 percent of --balance)")
	f.StringVar(&b.run.ProfitTarget, "target", "", "profit target in dollars of equity (default 110 percent of --balance)")
	cli.Choice(f, &b.run.DailyFloor, "daily-floor-rule", "", "both", "what the daily floor does at midnight; both judges by either, and the worse counts", "both", "fixed", "moving")
	cli.Choice(f, &b.run.CandlePaths, "candle-paths", "", "random", "how prices move inside candles: drawn at random, with one jump in candles that stand out, or straight lines", "random", "jumps", "fixed")
	f.StringVar(&b.run.HalfSpread, "half-spread", "", "basis points between the mark and a fill (default none, as the contract has it)")
	f.StringVar(&b.run.Slippage, "slippage", "", "basis points more that an order of $100,000 costs (default none)")
	cli.Choice(f, &b.run.SlippageLaw, "slippage-law", "", "linear", "how slippage grows with the size of an order", "linear", "square-root")
	f.StringVar(&b.run.Funding, "funding", "", "a CSV file of funding rates: time, rate, and symbol for several markets (default no funding)")
	f.DurationVar(&b.run.Latency, "latency", 0, "how long a request takes to the service, and its answer back")
	f.DurationVar(&b.run.Lag, "lag", 0, "how far reads are behind")
	f.DurationVar(&b.run.MaxAge, "max-age", 0, "how old a mark of --prices may be that orders fill at (default 10s, and less beside a market that is recorded more often)")
	f.StringVar(&b.run.Profile, "profile", "", "simulate the service as it was seen, by this profile of \"trading observe\" (default by the document alone)")
	f.StringVar(&b.run.Attempts, "attempts", "", "a file that counts the runs of each bot on the same prices (default beside --report)")
	f.StringVar(&b.run.Trades, "trades", "", "write the round trips to this file, as CSV, or as JSON if its name ends in .json")
	f.StringVar(&b.run.Result, "result", "", "write the whole result as JSON to this file, for trading odds")
	f.StringVar(&b.run.Report, "report", "", "write an HTML report to this file")
	b.sweeper.flags(f, b)
	b.output = app.Output(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := b.check(cmd); err != nil {
			return err
		}
		return b.test(cmd.Context(), args[0])
	}
	cmd.AddCommand(newMerge(app))
	return cmd
}

// prices are the flags that say how a file of prices is read.
func (b *backtester) prices(f *pflag.FlagSet) {
	cli.Choice(f, &b.run.Format, "format", "", "", "what --prices was exported from, unless its heading shows it: `name` is binance, bybit, okx, kraken, cryptodatadownload, yahoo, metatrader, tradingview or freqtrade",
		"binance", "bybit", "okx", "kraken", "cryptodatadownload", "yahoo", "metatrader", "tradingview", "freqtrade")
	cli.Choice(f, &b.run.Candles, "candles", "", "", "what the time of a candle is, unless its column is called open_time or close_time", "open", "close")
	f.DurationVar(&b.run.Interval, "interval", 0, "the length of a candle (default the shortest distance between two)")
	f.StringToStringVar(&b.run.Columns, "columns", nil, "`names` of columns in --prices, such as time=Date,close=Last")
	f.StringSliceVar(&b.run.Heading, "heading", nil, "the `names` of the columns of --prices where it has no heading, such as time,open,high,low,close")
	f.BoolVar(&b.run.NewestFirst, "newest-first", false, "--prices goes back in time")
	f.StringVar(&b.run.Zone, "zone", "", "the zone of times in --prices that name none, such as UTC or Europe/Athens")
}

// check takes the flags over.
func (b *backtester) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if err := b.checkSweep(changed); err != nil {
		return err
	}
	switch {
	case !token.IsIdentifier(b.function) || !token.IsExported(b.function):
		return cli.Misuse("--func %q: want the name of an exported function", b.function)
	case b.run.Prices != "" && changed("days"):
		return cli.Misuse("--days is for a random walk, not for --prices")
	case b.run.Days <= 0 || b.run.Days > 3660:
		return cli.Misuse("--days must be between 1 and 3660, not %d", b.run.Days)
	}
	if err := errors.Join(b.checkAccounts(), b.checkFrictions(changed)); err != nil {
		return err
	}
	for _, name := range []string{"candles", "format", "interval", "columns", "heading", "newest-first", "zone"} {
		if b.run.Prices == "" && changed(name) {
			return cli.Misuse("--%s is for --prices", name)
		}
	}
	if _, err := time.LoadLocation(b.run.Zone); err != nil {
		return cli.Misuse("--zone %q: want a zone such as UTC or Europe/Athens", b.run.Zone)
	}
	for name, text := range map[string]string{"daily-floor": b.run.DailyLossFloor, "global-floor": b.run.GlobalLossFloor, "target": b.run.ProfitTarget} {
		if dollars, err := cli.ParseNumber(text); text != "" && (err != nil || !dollars.IsPositive()) {
			return cli.Misuse("--%s %q: want dollars of equity, such as 95000", name, text)
		}
	}
	if err := errors.Join(checkBalance("--balance", b.run.Balance), cli.CheckSymbol(b.run.Symbol)); err != nil {
		return err
	}
	for _, bound := range []struct {
		name, text string
		into       *time.Time
	}{{"from", b.from, &b.run.From}, {"to", b.to, &b.run.To}, {"split", b.split, &b.run.Split}} {
		if bound.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, bound.text)
		if err != nil {
			return cli.Misuse("--%s %q: want a time such as 2026-03-01T00:00:00Z", bound.name, bound.text)
		}
		*bound.into = at
	}
	if _, err := loaded(b.run.Profile); err != nil {
		return err
	}
	if b.run.Attempts == "" && b.run.Report != "" {
		b.run.Attempts = b.run.Report + ".attempts"
	}
	b.run.JSON = b.output.JSON()
	return nil
}

// checkAccounts judges what the bot trades, and from when on.
func (b *backtester) checkAccounts() error {
	switch {
	case b.run.Protect && len(b.run.Accounts) == 0:
		return cli.Misuse("--protect needs --account: a paper account cannot be protected")
	case b.run.WarmUp < 0:
		return cli.Misuse("--warm-up must not be negative, and is %s", b.run.WarmUp)
	}
	for i, id := range b.run.Accounts {
		if id == "" || slices.Contains(b.run.Accounts[:i], id) {
			return cli.Misuse("--account %q: want a name for each account", id)
		}
	}
	return nil
}

// checkFrictions judges what the market costs.
func (b *backtester) checkFrictions(changed func(string) bool) error {
	for name, text := range map[string]string{"half-spread": b.run.HalfSpread, "slippage": b.run.Slippage} {
		if bps, err := cli.ParseNumber(text); text != "" && (err != nil || bps.IsNegative() || bps.GreaterThan(decimal.NewFromInt(1000))) {
			return cli.Misuse("--%s %q: want 0 to 1000 basis points, such as 1.5", name, text)
		}
	}
	switch {
	case changed("slippage-law") && b.run.Slippage == "":
		return cli.Misuse("--slippage-law is for --slippage")
	case b.run.Latency < 0 || b.run.Latency > time.Minute:
		return cli.Misuse("--latency must be from 0 to a minute, not %s", b.run.Latency)
	case b.run.Lag < 0 || b.run.Lag > time.Hour:
		return cli.Misuse("--lag must be from 0 to an hour, not %s", b.run.Lag)
	case b.run.MaxAge < 0:
		return cli.Misuse("--max-age must not be negative, and is %s", b.run.MaxAge)
	case changed("max-age") && b.run.Prices == "":
		return cli.Misuse("--max-age is for --prices: each mark of a random walk is of its second")
	}
	return nil
}

// test builds the bot and runs it.
func (b *backtester) test(ctx context.Context, name string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return cli.Misuse("there is no Go toolchain on the PATH, and it has to build the bot: see https://go.dev/dl")
	}
	found, err := b.find(ctx, name)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "trading-backtest")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	built, err := b.build(ctx, scratch, found)
	if err != nil {
		return err
	}
	if b.sweep {
		return b.makePart(ctx, built, scratch)
	}
	return b.program(ctx, built)
}

// program runs what was built.
func (b *backtester) program(ctx context.Context, built string) error {
	argument, err := json.Marshal(b.run)
	if err != nil {
		return err
	}
	cmd := b.command(ctx, built, string(argument))
	cmd.Stdout, cmd.Stderr = b.app.Out, b.app.Err
	if err := b.await(cmd.Run); err != nil {
		return b.ended(ctx, err)
	}
	return nil
}

// await runs what may take long, and says meanwhile that it goes on.
func (b *backtester) await(run func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	alive := time.NewTicker(signOfLife)
	defer alive.Stop()
	for began := time.Now(); ; {
		select {
		case err := <-ended:
			return err
		case <-alive.C:
			b.app.Sayf("running for %s", age(time.Since(began)))
		}
	}
}

// signOfLife is how often a run that takes long says that it goes on.
const signOfLife = 10 * time.Second

// botPackage is what the Go toolchain says of a package.
type botPackage struct {
	Dir, ImportPath, Name string

	Module *struct{ Main bool }
}

func (b *backtester) find(ctx context.Context, name string) (p botPackage, err error) {
	if strings.HasPrefix(name, "-") || strings.Contains(name, "...") {
		return p, cli.Misuse("%q: want one package, such as ./bot", name)
	}
	var said bytes.Buffer
	cmd := b.command(ctx, "go", "list", "-json=Dir,ImportPath,Name,Module", "--", name)
	cmd.Stderr = &said
	text, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return p, ctx.Err()
	case err != nil:
		return p, cli.Misuse("%q: %s", name, strings.TrimSpace(said.String()))
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("go list: %w", err)
	}
	switch {
	case p.Module == nil || !p.Module.Main:
		return p, cli.Misuse("%q is not a package of the module in the present folder", name)
	case p.Name == "main":
		return p, cli.Misuse("%q is a program, and no other program can call it: move the bot into a package of its own", name)
	}
	return p, nil
}

// build makes a program of the bot. Its source is laid over the bot's folder, so that it
// may use internal packages, and is not written there. Where that is leaves no trace in the program:
// of the same source every machine builds the same bytes.
func (b *backtester) build(ctx context.Context, scratch string, p botPackage) (built string, err error) {
	source, overlay := filepath.Join(scratch, "main.go"), filepath.Join(scratch, "overlay.json")
	const folder = "trading-backtest-program"
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(p.Dir, folder, "main.go"): source}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(
		os.WriteFile(source, []byte(program.Source(p.ImportPath, b.function, b.sweep)), 0o600),
		os.WriteFile(overlay, replaced, 0o600),
	); err != nil {
		return "", err
	}
	built = filepath.Join(scratch, "backtest.exe") // the suffix is for Windows
	cmd := b.command(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-overlay", overlay, "-o", built, p.ImportPath+"/"+folder)
	said, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		signature := "as a bot with func " + b.function + "(context.Context, *trading.Client) error"
		if b.sweep {
			signature = "with the variants of func " + b.function + "() []backtest.Variant"
		}
		return "", fmt.Errorf("%s does not build %s:\n%s", p.ImportPath, signature, bytes.ReplaceAll(bytes.TrimSpace(said), []byte("\t"), []byte("  ")))
	}
	return built, nil
}

// command is one that gets the environment without what leads to the service.
func (b *backtester) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{}
	for _, pair := range b.app.Environ {
		switch variable, _, _ := strings.Cut(pair, "="); variable {
		case "TRADING_BASE_URL", "TRADING_LIVE_KEY", "TRADING_SANDBOX_KEY":
		default:
			cmd.Env = append(cmd.Env, pair)
		}
	}
	return cmd
}

// ended says how the program ended that did not end with 0.
func (b *backtester) ended(ctx context.Context, err error) error {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return errors.New("no result") // it has said why
	default:
		return fmt.Errorf("the bot's program: %w", err)
	}
}
