// Flatten gets a live account out of the market: it cancels what waits, closes what is
// open, and reads until nothing is left. Its exit code is 0 only if that is proven.
//
//	go run ./examples/flatten -account acc_1
//	go run ./examples/flatten -account acc_1 -symbols BTC,ETH -within 10m
//
// With nothing configured it does so on the simulator, with an account that has a bit of
// everything. With TRADING_BASE_URL and TRADING_LIVE_KEY set it does so for real.
//
// It stops nothing else that trades the account: stop the bots first.
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
	proven    = 0
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
	account string
	symbols []string // all if nil
	within  time.Duration
}

func run(ctx context.Context, args []string, out, problems io.Writer) (exit int) {
	c, err := parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return proven
	}
	if err != nil {
		fmt.Fprintln(problems, err)
		return misused
	}
	client, end, err := connect(ctx, out)
	if err != nil {
		fmt.Fprintln(problems, err)
		return notProven
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	report, err := flatten.Account(ctx, client.Live.Account(trading.AccountID(c.account)), flatten.Options{
		Halt:     client, // no entries from this program
		Symbols:  c.symbols,
		Progress: func(s flatten.Step) { fmt.Fprintln(out, s) },
		Looked:   func(l flatten.Look) { fmt.Fprintln(out, "seen:", l) },
	})
	fmt.Fprintln(out, report)
	if err != nil {
		fmt.Fprintln(problems, err)
		return notProven
	}
	return proven
}

// parse reads the arguments. What is empty is an error: an unset variable of the shell
// must not mean every market.
func parse(args []string, out io.Writer) (*command, error) {
	c, symbols := &command{}, ""
	flags := flag.NewFlagSet("flatten", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error, once
	flags.StringVar(&c.account, "account", "acc_1", "the live account; acc_1 is the simulator's")
	flags.StringVar(&symbols, "symbols", "", "only these markets, separated by commas")
	flags.DurationVar(&c.within, "within", 5*time.Minute, "how long to try")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(out)
			flags.PrintDefaults()
		}
		return nil, err
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case c.account == "":
		return nil, errors.New("-account is empty: name the account")
	case !given["account"] && os.Getenv("TRADING_BASE_URL") != "":
		return nil, errors.New("-account is missing: name the account")
	case given["symbols"] && symbols == "":
		return nil, errors.New("-symbols is empty: name markets, or leave it out for all of them")
	case given["symbols"]:
		c.symbols = strings.Split(symbols, ",")
	}
	return c, nil
}

// connect makes a client of the service, or of a simulation with something to do.
func connect(ctx context.Context, out io.Writer) (client *trading.Client, end func(), err error) {
	if os.Getenv("TRADING_BASE_URL") != "" {
		client, err = trading.FromEnv(trading.WithApplication("flatten", "1.0"))
		return client, func() { _ = client.Close() }, err
	}
	fmt.Fprintln(out, "nothing is configured: this is a simulation")
	sim := tradingsim.New()
	client, err = trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	if err != nil {
		return nil, nil, err
	}
	end = func() { _ = client.Close(); _ = sim.Close() }
	if err := trade(ctx, client.Live.Account("acc_1")); err != nil {
		end()
		return nil, nil, err
	}
	sim.Fault(string(trading.OpClose), tradingsim.DropResponse())
	return client, end, nil
}

// trade gives the simulation's account something to get rid of.
func trade(ctx context.Context, account *trading.Account) error {
	o := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.1"), Leverage: trading.Dec("2")}
	_, bought := account.PlaceOrder(ctx, o)
	o.LimitPrice = trading.At(trading.Dec("60000"))
	_, rested := account.PlaceLimit(ctx, o)
	o = trading.Order{Symbol: "ETH", Side: trading.Short, Size: trading.Dec("10"), Leverage: trading.Dec("2")}
	_, sliced := account.PlaceTWAP(ctx, o, trading.TWAP{Duration: time.Hour})
	o.Size = trading.Dec("1")
	_, sold := account.PlaceOrder(ctx, o)
	return errors.Join(bought, rested, sliced, sold)
}
