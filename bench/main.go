// Command bench measures the client beside others that do the same work: an order
// over loopback and with the network taken away, a journal in PostgreSQL, and what a
// user waits for. What it prints is Markdown.
//
//	go run .           all of it, in some minutes
//	go run . -rounds 3 -less 10
//	go run . -only a,b
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// settings are the flags.
type settings struct {
	rounds  int
	less    int
	only    string
	dir     string
	profile string

	postgres string

	contender string

	// Of the other processes that a run starts by itself.
	child   string
	service string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out, progress io.Writer) error {
	s := settings{}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(progress)
	f.IntVar(&s.rounds, "rounds", 21, "how often each contender is measured")
	f.IntVar(&s.less, "less", 1, "divides the calls in each round, for a look in a hurry")
	f.StringVar(&s.only, "only", "", "the `parts` to run, such as a,b: a, b, c, d")
	f.StringVar(&s.postgres, "postgres", "", "the `URL` of a database of its own, for part c, with room for 64 connections")
	f.StringVar(&s.dir, "dir", os.TempDir(), "the `directory` for journals")
	f.StringVar(&s.profile, "cpuprofile", "", "write a profile of the run to this `file`")
	f.StringVar(&s.child, "child", "", "the part of another process; a run starts these by itself")
	f.StringVar(&s.contender, "contender", "", "the contender to measure, by a part of its `name`, and what it is measured by")
	f.StringVar(&s.service, "service", "", "with -child")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if s.rounds < 1 || s.less < 1 {
		return errors.New("-rounds and -less are 1 at the least")
	}
	switch s.child {
	case "":
		return runAll(ctx, out, progress, s)
	case "service":
		return serve(ctx, in, out)
	case "path":
		return servePath(ctx, in, out, s)
	default:
		return fmt.Errorf("no such child: %q", s.child)
	}
}

// calls is how many calls a round has.
func (s settings) calls(full int) int {
	return max(full/s.less, 1)
}

// wants reports whether a contender takes part.
func (s settings) wants(c contender) bool {
	return s.contender == "" || strings.Contains(c.name, s.contender) || c.name == byHand || c.hidden
}

// part is one of the measurements.
type part struct {
	name string
	run  func() error
}

func runAll(ctx context.Context, out, progress io.Writer, s settings) (err error) {
	if s.profile != "" {
		file, err := os.Create(s.profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for name := range strings.SplitSeq(s.only, ",") {
		if s.only != "" && !slices.Contains([]string{"a", "b", "c", "d"}, name) {
			return fmt.Errorf("-only: no such part: %q", name)
		}
	}
	base, stop, err := startService(ctx)
	if err != nil {
		return err
	}
	defer stop()

	describe(out, s)
	parts := []part{
		{"a", func() error { return loopback(ctx, out, s, base, 1) }},
		{"a", func() error { return loopback(ctx, out, s, base, 64) }},
		{"a", func() error { return loopback(ctx, out, s, base, 1000) }},
		{"b", func() error { return unconnected(ctx, out, s) }},
		{"c", func() error { return leased(ctx, out, s) }},
		{"d", func() error { return waits(ctx, out, s) }},
		{"d", func() error { return seconds(ctx, out, s) }},
	}
	began := time.Now()
	for _, p := range parts {
		if s.only != "" && !strings.Contains(","+s.only+",", ","+p.name+",") {
			continue
		}
		if err := p.run(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(progress, "%s done after %s\n", p.name, time.Since(began).Round(time.Second))
	}
	return nil
}

// describe says what was measured, and on what.
func describe(w io.Writer, s settings) {
	fmt.Fprintf(w, "%s, %s/%s, %s, GOMAXPROCS %d, %d rounds, %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		processor(), runtime.GOMAXPROCS(0), s.rounds, time.Now().UTC().Format(time.DateOnly))
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	peers := map[string]bool{
		"github.com/hashicorp/go-retryablehttp":      true,
		"github.com/alpacahq/alpaca-trade-api-go/v3": true,
		"github.com/adshao/go-binance/v2":            true,
		"github.com/hetznercloud/hcloud-go/v2":       true,
		"github.com/stripe/stripe-go/v85":            true,
		"github.com/shopspring/decimal":              true,
	}
	var versions []string
	for _, dep := range info.Deps {
		if peers[dep.Path] {
			versions = append(versions, strings.TrimPrefix(dep.Path, "github.com/")+" "+dep.Version)
		}
	}
	fmt.Fprintf(w, "\nBeside: %s.\n", strings.Join(versions, ", "))
}

// processor names the processor, where the system names it.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
