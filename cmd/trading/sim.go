package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/internal/demobot"
	"github.com/tradingapi/trading-go/internal/loopback"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingsim/control"
)

// simFlags are the flags of the simulator.
type simFlags struct {
	addr            string
	public          bool
	control         control.Options
	demo            bool
	manual          bool
	log             string
	seed            uint64
	balance         string
	csv             []string // SYMBOL=FILE
	markets         []string // SYMBOL=PRICE
	accounts        []string // ID=BALANCE
	trials          []string // the IDs of those that are trials
	keyPairs        int
	lag             time.Duration
	interpretations []string
	profile         string
	list            bool
}

func newSim(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sim", Short: "Serve a simulation of the service, for bots in any language", Args: cli.Args(),
		Long: `Serve a simulation of the service, for bots in any language. It prints its URL and its
keys, which are no secret, as variables of the environment, and runs until interrupted.`,
	}
	var set simFlags
	f := cmd.Flags()
	f.StringVar(&set.addr, "addr", "127.0.0.1:0", "the address to serve on")
	f.BoolVar(&set.public, "public", false, "allow addresses that are not loopback")
	f.StringVar(&set.control.Addr, "control", "", "serve the control API and its page on this address, such as 127.0.0.1:0")
	f.StringArrayVar(&set.control.Hosts, "control-host", nil, "a further HOST:PORT that the control is reached by; may be repeated")
	f.BoolVar(&set.control.Open, "open", false, "open the page in a browser; implies --control")
	f.BoolVar(&set.demo, "demo", false, "let a bot trade, for the page; implies --control")
	f.BoolVar(&set.manual, "manual-clock", false, "move the clock by the control API alone")
	f.StringVar(&set.log, "log", "", "write every request and execution to this new file, as lines of JSON")
	f.Uint64Var(&set.seed, "seed", 1, "the seed of the walks, and of how long answers take by --profile")
	f.StringVar(&set.balance, "balance", "100000", "opening balance in dollars")
	f.StringArrayVar(&set.accounts, "account", nil, "a live account with its opening balance, ID=BALANCE, in place of acc_1; may be repeated")
	f.StringArrayVar(&set.trials, "trial", nil, "the ID of an --account that is a trial; may be repeated")
	f.StringArrayVar(&set.markets, "market", nil, "a market whose price stands still, SYMBOL=PRICE; without a price, SYMBOL=, it has none; may be repeated")
	f.IntVar(&set.keyPairs, "key-pairs", 1, "how many pairs of keys to print; the second is TRADING_SANDBOX_KEY_2 and TRADING_LIVE_KEY_2")
	f.StringArrayVar(&set.csv, "csv", nil, "marks of a market from a recording that starts now, SYMBOL=FILE; may be repeated")
	f.DurationVar(&set.lag, "lag", 0, "how long reads lag behind writes, such as 3s")
	f.BoolVar(&set.list, "interpretations", false, "list the other interpretations of open rules and exit")
	f.StringArrayVar(&set.interpretations, "interpretation", nil, "take the other interpretation of an open rule, by number; may be repeated")
	f.StringVar(&set.profile, "profile", "", "behave as the service did by this profile of \"trading observe\"")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if set.list {
			return listInterpretations(app.Out)
		}
		set.control.Token = app.Getenv("TRADING_SIM_TOKEN")
		return set.serve(cmd.Context(), app)
	}
	return cmd
}

// controlled reports whether the control is served.
func (set *simFlags) controlled() bool { return set.control.Addr != "" || set.control.Open || set.demo }

// serve serves a simulation until it is interrupted.
func (set *simFlags) serve(ctx context.Context, app *cli.App) error {
	opts, err := set.options()
	if err != nil {
		return err
	}
	if set.log == "" {
		return set.simulate(ctx, tradingsim.New(opts...), app)
	}
	file, err := os.OpenFile(set.log, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	sim := tradingsim.New(append(opts, tradingsim.WithLog(file))...)
	return errors.Join(set.simulate(ctx, sim, app), file.Close())
}

func (set *simFlags) simulate(ctx context.Context, sim *tradingsim.Sim, app *cli.App) error {
	if err := sim.Listen(set.addr); err != nil {
		return err
	}
	out := app.Out
	fmt.Fprintf(out, "TRADING_BASE_URL=%s\nTRADING_SANDBOX_KEY=%s\nTRADING_LIVE_KEY=%s\n", sim.URL(), sim.SandboxKey(), sim.LiveKey())
	for n := 2; n <= set.keyPairs; n++ {
		fmt.Fprintf(out, "TRADING_SANDBOX_KEY_%d=%s\nTRADING_LIVE_KEY_%d=%s\n", n, sim.NewSandboxKey(), n, sim.NewLiveKey())
	}
	if !set.controlled() {
		<-ctx.Done()
		return sim.Close()
	}
	o := set.control
	o.Public = set.public
	o.Ready = func(at control.Endpoint) {
		fmt.Fprintf(out, "TRADING_SIM_CONTROL=%s\nTRADING_SIM_TOKEN=%s\nTRADING_SIM_PAGE=%s\n", at.URL, at.Token, at.Page)
		if at.BrowserErr != nil {
			app.Sayf("no browser could be started (%v): open TRADING_SIM_PAGE in one", at.BrowserErr)
		}
	}
	if set.demo {
		o.Bot = func(ctx context.Context, show func(control.Write)) error {
			return demobot.Run(ctx, demobot.Config{
				BaseURL: sim.URL(), SandboxKey: sim.SandboxKey(), LiveKey: sim.LiveKey(), Account: trading.AccountID(set.firstAccount()),
			}, func(w demobot.Write) { show(control.Write(w)) })
		}
	}
	return errors.Join(control.Serve(ctx, sim, o), sim.Close())
}

// checkControl judges the flags of the control.
func (set *simFlags) checkControl() error {
	if set.manual && !set.controlled() {
		return cli.Misuse("--manual-clock needs --control: nothing else moves the clock")
	}
	if set.control.Addr == "" {
		return nil
	}
	return checkAddress("--control", set.control.Addr, set.public)
}

// walks are the markets that move by themselves: price and basis points a second.
var walks = []struct {
	market tradingsim.Market
	price  string
	step   int
}{
	{tradingsim.Market{Symbol: "BTC", Label: "Bitcoin"}, "64000", 2},
	{tradingsim.Market{Symbol: "ETH", Label: "Ether"}, "3200", 2},
	{tradingsim.Market{Symbol: "SOL", Label: "Solana"}, "150", 3},
	{tradingsim.Market{Symbol: "TSLA", Label: "Tesla", Category: "stocks"}, "250", 1},
}

func (set *simFlags) options() ([]tradingsim.Option, error) {
	if err := errors.Join(checkAddress("--addr", set.addr, set.public), set.checkControl(), checkBalance("--balance", set.balance)); err != nil {
		return nil, err
	}
	switch {
	case set.lag < 0:
		return nil, cli.Misuse("--lag must not be negative")
	case set.keyPairs < 1 || set.keyPairs > maxKeyPairs:
		return nil, cli.Misuse("--key-pairs is %d: it must be between 1 and %d", set.keyPairs, maxKeyPairs)
	}
	opts := []tradingsim.Option{tradingsim.WithBalance(set.balance), tradingsim.WithLag(set.lag)}
	accounts, err := set.liveAccounts()
	if err != nil {
		return nil, err
	}
	markets, still, err := set.stillMarkets()
	if err != nil {
		return nil, err
	}
	opts = append(append(opts, accounts...), markets...)
	for i, w := range walks {
		if still[w.market.Symbol] {
			continue
		}
		opts = append(opts, tradingsim.WithMarket(w.market),
			tradingsim.WithFeed(w.market.Symbol, tradingsim.RandomWalk(set.seed+uint64(i), w.price, w.step)))
	}
	if !still["NEWCOIN"] {
		opts = append(opts, tradingsim.WithMark("NEWCOIN", "")) // a market without a price
	}
	for _, text := range set.csv {
		symbol, file, ok := strings.Cut(text, "=")
		if !ok || symbol == "" || file == "" {
			return nil, cli.Misuse("--csv %q: want SYMBOL=FILE", text)
		}
		feed, err := recording(file)
		if err != nil {
			return nil, err
		}
		opts = append(opts, tradingsim.WithFeed(symbol, tradingsim.FromStart(feed)))
	}
	if set.manual {
		opts = append(opts, tradingsim.WithManualClock(time.Now()))
	}
	p, err := loaded(set.profile)
	if err != nil {
		return nil, err
	}
	if p != nil {
		opts = append(opts, tradingsim.WithProfile(p), tradingsim.WithSeed(set.seed))
		if set.lag > 0 {
			opts = append(opts, tradingsim.WithLag(set.lag))
		}
	}
	for _, text := range set.interpretations {
		n, err := strconv.Atoi(text)
		if _, known := tradingsim.Interpretations()[n]; err != nil || !known {
			return nil, cli.Misuse("--interpretation %q: there is no such interpretation", text)
		}
		opts = append(opts, tradingsim.WithInterpretation(n))
	}
	return opts, nil
}

// checkAddress keeps the simulation, whose keys are no secret, off the network.
func checkAddress(name, addr string, public bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return cli.WithCode(cli.Usage, fmt.Errorf("%s: %w", name, err))
	}
	if public || loopback.Is(host) {
		return nil
	}
	return cli.Misuse("%s %s is not a loopback address; --public serves there all the same", name, addr)
}

func listInterpretations(out io.Writer) error {
	interpretations := tradingsim.Interpretations()
	for _, n := range slices.Sorted(maps.Keys(interpretations)) {
		if _, err := fmt.Fprintf(out, "%2d  %s\n", n, interpretations[n]); err != nil {
			return err
		}
	}
	return nil
}

func recording(name string) (tradingsim.Feed, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	feed, err := tradingsim.ReadCSV(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return feed, nil
}
