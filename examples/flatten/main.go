// Flatten gets accounts out of the market: it cancels what waits, closes what is
// open, and looks until nothing is left. Its exit code is 0 only if that is proven.
//
//	go run ./examples/flatten -look              # what is there; changes nothing
//	go run ./examples/flatten -account acc_1
//	go run ./examples/flatten -account acc_1 -symbols BTC,ETH
//	go run ./examples/flatten -all -within 10m
//	go run ./examples/flatten -sandbox
//
// With nothing configured it does so on the simulator, with an account that has a
// bit of everything. With TRADING_BASE_URL and TRADING_LIVE_KEY (TRADING_SANDBOX_KEY
// for -sandbox) set it does so for real.
//
// It stops nothing else that trades the accounts: stop the bots first.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/tradingsim"
)

// The exit codes.
const (
	proven    = 0 // flat, or looked at with -look
	notProven = 1
	misused   = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command is what the operator asked for.
type command struct {
	account       trading.AccountID
	all, paper    bool
	look          bool
	within        time.Duration
	options       flatten.Options
	out, problems io.Writer
}

func run(ctx context.Context, args []string, out, problems io.Writer) (exit int) {
	c, err := parse(args, out, problems)
	if errors.Is(err, flag.ErrHelp) {
		return proven
	}
	if err != nil {
		fmt.Fprintln(problems, err)
		return misused
	}
	client, end, err := connect(ctx, c)
	if err != nil {
		fmt.Fprintln(problems, err)
		return notProven
	}
	defer end()

	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	c.options.Halt = client
	c.options.Progress = func(s flatten.Step) { fmt.Fprintf(out, "%s: %s\n", nameOf(s.Account), s) }
	c.options.Looked = func(l flatten.Look) { fmt.Fprintf(out, "%s: seen: %s\n", nameOf(l.Account), l) }
	if c.look {
		err = look(ctx, client, c)
	} else {
		err = leave(ctx, client, c)
	}
	if err != nil {
		fmt.Fprintln(problems, err)
		return notProven
	}
	return proven
}

func parse(args []string, out, problems io.Writer) (*command, error) {
	c := &command{out: out, problems: problems}
	flags := flag.NewFlagSet("flatten", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error, once
	account := flags.String("account", os.Getenv("TRADING_ACCOUNT"), "the live account")
	symbols := flags.String("symbols", "", "only these markets, separated by commas")
	flags.BoolVar(&c.all, "all", false, "every live account of the key")
	flags.BoolVar(&c.paper, "sandbox", false, "the paper account")
	flags.BoolVar(&c.look, "look", false, "look, and change nothing")
	flags.DurationVar(&c.within, "within", 5*time.Minute, "how long to try")
	flags.DurationVar(&c.options.ProofInterval, "interval", flatten.DefaultProofInterval, "the time between the two looks of the proof")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(out)
			flags.PrintDefaults()
		}
		return nil, err
	}
	c.account = trading.AccountID(*account)
	if isSet(flags, "symbols") {
		c.options.Symbols = strings.Split(*symbols, ",")
	}
	asked := 0
	for _, one := range []bool{isSet(flags, "account"), c.all, c.paper} {
		if one {
			asked++
		}
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case isSet(flags, "symbols") && *symbols == "":
		// An unset variable of the shell, most likely; it must not mean all of them.
		return nil, errors.New("-symbols is empty: name markets, or leave it out for all of them")
	case isSet(flags, "account") && *account == "":
		return nil, errors.New("-account is empty: name the account")
	case asked > 1:
		return nil, errors.New("one of -account, -all and -sandbox")
	case c.paper && c.look:
		return nil, errors.New("reading the paper account fires its triggers, so -look is for live accounts")
	case asked == 0 && c.account == "" && os.Getenv("TRADING_BASE_URL") != "":
		return nil, errors.New("which account? -account, -all, or -sandbox")
	case c.account == "":
		c.account = "acc_1" // the simulator's
	}
	return c, nil
}

func isSet(flags *flag.FlagSet, name string) (set bool) {
	flags.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// look shows what is there.
func look(ctx context.Context, client *trading.Client, c *command) error {
	ids := []trading.AccountID{c.account}
	if c.all {
		accounts, err := client.Live.Accounts(ctx)
		if err != nil {
			return err
		}
		ids = nil
		for _, a := range accounts {
			ids = append(ids, a.ID)
		}
	}
	var errs []error
	for _, id := range ids {
		seen, err := flatten.Inspect(ctx, client.Live.Account(id), c.options)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(c.out, "%s: seen: %s\n", id, seen)
	}
	return errors.Join(errs...)
}

// leave gets out, and returns nil only if that is proven.
func leave(ctx context.Context, client *trading.Client, c *command) error {
	var reports []*flatten.Report
	var err error
	switch {
	case c.all:
		reports, err = flatten.All(ctx, client.Live, c.options)
	case c.paper:
		reports = make([]*flatten.Report, 1)
		reports[0], err = flatten.Sandbox(ctx, client.Sandbox, c.options)
	default:
		reports = make([]*flatten.Report, 1)
		reports[0], err = flatten.Account(ctx, client.Live.Account(c.account), c.options)
	}
	for _, report := range reports {
		fmt.Fprintln(c.out, report)
	}
	return err
}

func nameOf(id trading.AccountID) string {
	if id == "" {
		return "paper"
	}
	return string(id)
}

// connect makes a client of the service, or of a simulation with something to do.
func connect(ctx context.Context, c *command) (client *trading.Client, end func(), err error) {
	if os.Getenv("TRADING_BASE_URL") != "" {
		client, err = trading.FromEnv(trading.WithApplication("flatten", "1.0"))
		if err != nil {
			return nil, nil, err
		}
		return client, func() { _ = client.Close() }, nil
	}
	fmt.Fprintln(c.out, "nothing is configured: this is a simulation")
	sim := tradingsim.New(tradingsim.WithLag(time.Second))
	client, err = trading.New(sim.URL(),
		trading.WithSandboxKey(sim.SandboxKey()),
		trading.WithLiveKey(sim.LiveKey()),
		trading.WithTransport(sim.Transport()))
	if err != nil {
		return nil, nil, err
	}
	end = func() {
		_ = client.Close()
		_ = sim.Close()
	}
	if err := trade(ctx, client); err != nil {
		end()
		return nil, nil, err
	}
	time.Sleep(1100 * time.Millisecond) // until it shows
	sim.Fault(string(trading.OpClose), tradingsim.DropResponse())
	return client, end, nil
}

// trade gives the simulation's accounts something to get rid of.
func trade(ctx context.Context, client *trading.Client) error {
	account := client.Live.Account("acc_1")
	o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2")}
	_, paper := client.Sandbox.PlaceOrder(ctx, o)
	_, bought := account.PlaceOrder(ctx, o)
	o.LimitPrice = trading.At(trading.Dec("60000"))
	_, rested := account.PlaceLimit(ctx, o)
	o = trading.Order{Symbol: "ETH", Side: trading.Short, Size: trading.Dec("10"), Leverage: trading.Dec("2")}
	_, sliced := account.PlaceTWAP(ctx, o, trading.TWAP{Duration: time.Hour})
	o.Size = trading.Dec("1")
	_, sold := account.PlaceOrder(ctx, o)
	return errors.Join(paper, bought, rested, sliced, sold)
}
