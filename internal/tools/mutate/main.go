// Command mutate tests the tests of a package: it changes the package's code in
// one small way at a time, a mutant, and runs the tests. A mutant that no test
// notices survives, and is either a gap in the tests or a change that means
// nothing. It is run by hand, since a run takes minutes and survivors want
// judgement:
//
//	GOWORK=off go -C internal/tools run ./mutate -dir ../.. -sample 200 -seed 1 retry.go classify.go
//
// Without names of files it takes those of the write path. -list shows the
// mutants and runs none; -only 17,42 runs these alone.
//
// All mutants are compiled into one test program, behind a number that the
// environment chooses, so that each costs a run and no build. The directory is
// not written to.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// writePath is the code of the root package between a call and its verdict. Files of
// another package, such as internal/resolve, are named beside -dir.
var writePath = []string{
	"answer.go", "asks.go", "call.go", "carry.go", "evidence.go", "exchange.go", "guard.go", "idempotency.go",
	"named.go", "ratelimit.go", "recover.go", "stages.go",
}

type settings struct {
	dir      string
	files    []string
	sample   int
	seed     uint64
	only     []int
	list     bool
	parallel int
	timeout  time.Duration
	skip     string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := parse(os.Args[1:])
	if err != nil {
		os.Exit(2)
	}
	if err := mutate(ctx, os.Stdout, s); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		stop()
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	var s settings
	var only string
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.StringVar(&s.dir, "dir", ".", "the package's `directory`")
	flags.IntVar(&s.sample, "sample", 0, "run `N` mutants drawn at random; 0 runs all")
	flags.Uint64Var(&s.seed, "seed", 1, "seed of the sample")
	flags.StringVar(&only, "only", "", "run the mutants with these `numbers`, separated by commas")
	flags.BoolVar(&s.list, "list", false, "list the mutants and run none")
	flags.IntVar(&s.parallel, "parallel", 1, "mutants that run at a time")
	flags.DurationVar(&s.timeout, "timeout", time.Minute, "after which a mutant counts as noticed")
	// They read the sources or the compiler's output, which no mutant changes.
	flags.StringVar(&s.skip, "skip", "^Test(NoFloat|FloatsAre|RefusedByTheCompiler|TrapsAreShown|Readme)", "tests not to run")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	for _, number := range strings.FieldsFunc(only, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(number)
		if err != nil {
			fmt.Fprintln(flags.Output(), "-only:", err)
			return s, err
		}
		s.only = append(s.only, n)
	}
	s.files = flags.Args()
	if len(s.files) == 0 {
		s.files = writePath
	}
	return s, nil
}

func mutate(ctx context.Context, out io.Writer, s settings) error {
	p, err := load(ctx, s.dir, s.files)
	if err != nil {
		return err
	}
	chosen := choose(p.mutants, s)
	if s.list {
		for _, m := range chosen {
			fmt.Fprintln(out, m)
		}
		return nil
	}
	scratch, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	program := filepath.Join(scratch, "mutants.test")
	if err := p.build(ctx, scratch, program); err != nil {
		return err
	}
	r := runner{dir: s.dir, program: program, skip: s.skip, timeout: s.timeout}
	if verdict, output := r.run(ctx, 0); verdict != survived {
		return fmt.Errorf("the tests fail without a mutant:\n%s", output)
	}
	return report(ctx, out, &r, chosen, len(p.mutants), s)
}

// choose draws the mutants to run, in the order of the code.
func choose(all []mutant, s settings) []mutant {
	chosen := slices.Clone(all)
	if len(s.only) > 0 {
		return slices.DeleteFunc(chosen, func(m mutant) bool { return !slices.Contains(s.only, m.number) })
	}
	if s.sample > 0 && s.sample < len(chosen) {
		source := rand.New(rand.NewPCG(s.seed, 0))
		source.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		chosen = chosen[:s.sample]
	}
	slices.SortFunc(chosen, func(a, b mutant) int { return a.number - b.number })
	return chosen
}
