// Command tradingcontract compares the description that a service serves with the
// one that this version of the client was built from, and fails if a change can
// break a bot. It sends one request, without a key.
//
//	tradingcontract https://HOST/v1     what changed, breaking first
//	tradingcontract -file served.json   the same of a description in a file
//
// It ends with 0 if nothing breaking changed, with 3 if something did, with 1 if the
// comparison failed, and with 2 if the command line cannot be understood. Run it before
// a bot is started, or every day.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/contract"
	"github.com/tradingapi/trading-go/internal/commandline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	breaking, err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err == nil && breaking {
		os.Exit(breakingChange)
	}
	os.Exit(commandline.Status("tradingcontract", err, os.Stderr))
}

// breakingChange is the exit status of its own: a failure says nothing of the contract.
const breakingChange = 3

func run(ctx context.Context, out io.Writer, args []string, opts ...trading.Option) (breaking bool, err error) {
	flags := flag.NewFlagSet("tradingcontract", flag.ContinueOnError)
	file := flags.String("file", "", "compare the description in this `file`")
	timeout := flags.Duration("timeout", 30*time.Second, "wait no longer for the service")
	if err := commandline.Parse(flags, args, out, "tradingcontract [flags] BASE_URL"); err != nil {
		return false, err
	}
	names := []string{"BASE_URL"}
	if *file != "" {
		names = nil
	}
	if err := commandline.Arguments(flags, names...); err != nil {
		return false, err
	}
	var served []byte
	if *file != "" {
		served, err = os.ReadFile(*file)
	} else {
		ctx, cancel := context.WithTimeout(ctx, *timeout)
		defer cancel()
		served, err = fetch(ctx, flags.Arg(0), opts)
	}
	if err != nil {
		return false, err
	}
	changes, err := contract.Compare(served)
	if err != nil {
		return false, err
	}
	return contract.Breaking(changes), show(out, changes)
}

func fetch(ctx context.Context, baseURL string, opts []trading.Option) (served []byte, err error) {
	client, err := trading.New(baseURL, opts...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return client.OpenAPI(ctx)
}

func show(out io.Writer, changes []contract.Change) error {
	breaking := 0
	for _, change := range changes {
		if change.Breaking {
			breaking++
		}
		if _, err := fmt.Fprintln(out, change); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d changes, %d of them breaking\n", len(changes), breaking)
	return err
}
