// Command tradingsim serves a simulation of the trading service, for bots in
// any language. It prints its URL and its keys, and runs until interrupted.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/demobot"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingsim/control"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := start(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// start runs the command. It returns 0 after an interruption or a request for help, 1
// after a failure, and 2 if the command line cannot be understood.
func start(ctx context.Context, args []string, out, complaints io.Writer) int {
	err := run(ctx, args, out)
	var misuse usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &misuse):
		fmt.Fprintf(complaints, "tradingsim: %v; -h lists the flags\n", err)
		return 2
	}
	fmt.Fprintln(complaints, "tradingsim:", err)
	return 1
}

// usageError is a command line that cannot be understood.
type usageError struct{ error }

// settings are the flags.
type settings struct {
	addr            string
	public          bool
	control         control.Options
	controlled      bool
	demo            bool
	manual          bool
	log             string
	seed            uint64
	balance         string
	csv             [][2]string // symbol and file
	lag             time.Duration
	interpretations []int
	list            bool
}

func run(ctx context.Context, args []string, out io.Writer) error {
	set, err := parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return usageError{err}
	}
	if set.list {
		return listInterpretations(out)
	}
	opts, err := options(set)
	if err != nil {
		return err
	}
	if set.log == "" {
		return simulate(ctx, tradingsim.New(opts...), set, out)
	}
	file, err := os.OpenFile(set.log, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	sim := tradingsim.New(append(opts, tradingsim.WithLog(file))...)
	return errors.Join(simulate(ctx, sim, set, out), file.Close())
}

// simulate serves a simulation until it is interrupted.
func simulate(ctx context.Context, sim *tradingsim.Sim, set settings, out io.Writer) error {
	if err := sim.Listen(set.addr); err != nil {
		return err
	}
	fmt.Fprintf(out, "TRADING_BASE_URL=%s\nTRADING_SANDBOX_KEY=%s\nTRADING_LIVE_KEY=%s\n",
		sim.URL(), sim.SandboxKey(), sim.LiveKey())
	if !set.controlled {
		<-ctx.Done()
		return sim.Close()
	}
	return errors.Join(controlled(ctx, sim, set, out), sim.Close())
}

// controlled serves the control of a simulation too.
func controlled(ctx context.Context, sim *tradingsim.Sim, set settings, out io.Writer) error {
	o := set.control
	o.Public = set.public
	o.Ready = func(at control.Endpoint) {
		fmt.Fprintf(out, "TRADING_SIM_CONTROL=%s\nTRADING_SIM_TOKEN=%s\nTRADING_SIM_PAGE=%s\n", at.URL, at.Token, at.Page)
	}
	if set.demo {
		o.Bot = func(ctx context.Context, show func(control.Write)) error {
			return demobot.Run(ctx, demobot.Config{
				BaseURL: sim.URL(), SandboxKey: sim.SandboxKey(), LiveKey: sim.LiveKey(), Account: "acc_1",
			}, func(w demobot.Write) { show(control.Write(w)) })
		}
	}
	return control.Serve(ctx, sim, o)
}

// parse reads the command line. The flags themselves print nothing: an error would
// come twice.
func parse(args []string, help io.Writer) (settings, error) {
	set := settings{}
	f := flag.NewFlagSet("tradingsim", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&set.addr, "addr", "127.0.0.1:0", "the `address` to serve on")
	f.BoolVar(&set.public, "public", false, "allow addresses that are not loopback")
	f.StringVar(&set.control.Addr, "control", "", "serve the control API and its page on an `address`, such as 127.0.0.1:0")
	f.Func("control-host", "a further `host:port` that the control is reached by; may be repeated", func(v string) error {
		set.control.Hosts = append(set.control.Hosts, v)
		return nil
	})
	f.BoolVar(&set.control.Open, "open", false, "open the page in a browser; implies -control")
	f.BoolVar(&set.demo, "demo", false, "let a bot trade, for the page; implies -control")
	f.BoolVar(&set.manual, "manual-clock", false, "move the clock by the control API alone")
	f.StringVar(&set.log, "log", "", "write every request and execution to a new `file`, as lines of JSON")
	f.Uint64Var(&set.seed, "seed", 1, "the seed of the walks")
	set.balance = "100000"
	f.Func("balance", "opening balance in `dollars` (default 100000)", func(v string) error {
		set.balance = v
		return checkBalance(v)
	})
	f.Func("csv", "marks of a market from a recording that starts now, `SYMBOL=FILE`; may be repeated", func(v string) error {
		symbol, file, ok := strings.Cut(v, "=")
		if !ok || symbol == "" {
			return fmt.Errorf("want SYMBOL=FILE")
		}
		set.csv = append(set.csv, [2]string{symbol, file})
		return nil
	})
	f.Func("lag", "how long reads lag behind writes, a `duration` such as 3s (default 0s)", func(v string) (err error) {
		if set.lag, err = time.ParseDuration(v); err == nil && set.lag < 0 {
			err = errors.New("must not be negative")
		}
		return err
	})
	f.BoolVar(&set.list, "interpretations", false, "list the other interpretations of open rules and exit")
	f.Func("interpretation", "take the other interpretation of an open rule, by `number`; may be repeated", func(v string) error {
		n, err := strconv.Atoi(v)
		if _, known := tradingsim.Interpretations()[n]; err != nil || !known {
			return fmt.Errorf("there is no such interpretation")
		}
		set.interpretations = append(set.interpretations, n)
		return nil
	})
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(help)
		fmt.Fprintln(help, "usage: tradingsim [flags]")
		f.PrintDefaults()
		return set, err
	case err != nil:
		return set, err
	case f.NArg() > 0:
		return set, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	set.controlled = set.control.Addr != "" || set.control.Open || set.demo
	token, given := os.LookupEnv("TRADING_SIM_TOKEN")
	if given && token == "" {
		return set, errors.New("TRADING_SIM_TOKEN is set, and empty")
	}
	set.control.Token = token
	if set.manual && !set.controlled {
		return set, errors.New("-manual-clock needs -control: nothing else moves the clock")
	}
	return set, errors.Join(checkAddress(set.addr, set.public), checkControl(set))
}

// checkBalance takes a plain number of dollars.
func checkBalance(v string) error {
	d, err := decimal.NewFromString(v)
	if err != nil || len(v) > 30 || strings.ContainsAny(v, "eE") {
		return errors.New("want a plain number of dollars, such as 100000")
	}
	if d.IsNegative() {
		return errors.New("must not be negative")
	}
	return nil
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

// checkControl judges the address of the control, where one is given.
func checkControl(set settings) error {
	if set.control.Addr == "" {
		return nil
	}
	return checkAddress(set.control.Addr, set.public)
}

// checkAddress keeps the simulation, whose keys are no secret, off the network.
func checkAddress(addr string, public bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); public || host == "localhost" || ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is not a loopback address; -public serves there all the same", addr)
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

func options(set settings) ([]tradingsim.Option, error) {
	opts := []tradingsim.Option{tradingsim.WithBalance(set.balance), tradingsim.WithLag(set.lag)}
	for i, w := range walks {
		opts = append(opts, tradingsim.WithMarket(w.market),
			tradingsim.WithFeed(w.market.Symbol, tradingsim.RandomWalk(set.seed+uint64(i), w.price, w.step)))
	}
	opts = append(opts, tradingsim.WithMark("NEWCOIN", "")) // a market without a price
	for _, c := range set.csv {
		feed, err := recording(c[1])
		if err != nil {
			return nil, err
		}
		opts = append(opts, tradingsim.WithFeed(c[0], tradingsim.FromStart(feed)))
	}
	if set.manual {
		opts = append(opts, tradingsim.WithManualClock(time.Now()))
	}
	for _, n := range set.interpretations {
		opts = append(opts, tradingsim.WithInterpretation(n))
	}
	return opts, nil
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
