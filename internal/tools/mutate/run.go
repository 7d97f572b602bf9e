package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

type verdict int

const (
	survived verdict = iota
	killed
	timedOut
)

// runner runs the tests of one program.
type runner struct {
	dir, program, skip string
	timeout            time.Duration
}

// memory bounds what a mutant may take, in KiB: one that never stops may also
// never stop growing.
const memory = 6 << 20

// run says what the tests make of a mutant; number 0 is the code as it is.
func (r *runner) run(ctx context.Context, number int) (verdict, []byte) {
	// The time-out of the tests themselves names the test; this one is for what
	// does not even get there.
	ctx, cancel := context.WithTimeout(ctx, r.timeout+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory), r.program,
		"-test.short", "-test.failfast", "-test.timeout="+r.timeout.String(), "-test.skip="+r.skip)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), switchVariable+"="+strconv.Itoa(number))
	output, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return survived, output
	case ctx.Err() != nil || bytes.Contains(output, []byte("panic: test timed out")):
		return timedOut, output
	}
	return killed, output
}

// report runs the mutants and prints the survivors as they are found, and the
// score of each file at the end.
func report(ctx context.Context, out io.Writer, r *runner, chosen []mutant, all int, s settings) error {
	verdicts := make([]verdict, len(chosen))
	work := make(chan int)
	var workers sync.WaitGroup
	var printing sync.Mutex
	for range max(s.parallel, 1) {
		workers.Go(func() {
			for i := range work {
				verdicts[i], _ = r.run(ctx, chosen[i].number)
				if verdicts[i] == survived && ctx.Err() == nil {
					printing.Lock()
					fmt.Fprintf(out, "survived: %s\n", chosen[i])
					printing.Unlock()
				}
			}
		})
	}
	for i := range chosen {
		if ctx.Err() == nil {
			work <- i
		}
	}
	close(work)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}

	fmt.Fprintf(out, "\n%d mutants of %d, seed %d\n", len(chosen), all, s.seed)
	count := map[string]*[3]int{}
	var files []string
	total := &[3]int{}
	for i, m := range chosen {
		if count[m.file] == nil {
			count[m.file] = &[3]int{}
			files = append(files, m.file)
		}
		count[m.file][verdicts[i]]++
		total[verdicts[i]]++
	}
	line := func(name string, n *[3]int) {
		sum := n[survived] + n[killed] + n[timedOut]
		noticed := sum - n[survived]
		fmt.Fprintf(out, "%-24s %4d of %4d noticed (%d by the time-out), %5.1f %%\n", name, noticed, sum, n[timedOut], 100*float64(noticed)/float64(max(sum, 1)))
	}
	for _, file := range files {
		line(file, count[file])
	}
	line(strings.Repeat("-", 8), total)
	return nil
}
