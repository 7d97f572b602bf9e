// Package leak finds goroutines that tests leave behind. It is for tests alone.
package leak

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// patience is how long what is ending may take to end.
const patience = 10 * time.Second

// M is what [Main] needs of a testing.M.
type M interface{ Run() int }

// Main runs the tests of a package, and fails if goroutines are left after the last
// of them. It returns what TestMain gives to os.Exit.
func Main(m M) int { return run(m, os.Stderr, patience) }

func run(m M, to io.Writer, patience time.Duration) int {
	before := Snapshot()
	code := m.Run()
	if code != 0 {
		return code // a test that failed may not have tidied up
	}
	left := before.within(patience)
	if len(left) == 0 {
		return 0
	}
	_, _ = fmt.Fprintf(to, "the tests have left %d goroutines behind:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
	return 1
}

// Goroutines are those that run at one moment.
type Goroutines map[string]bool

// Snapshot notes which goroutines run now.
func Snapshot() Goroutines {
	ids := Goroutines{}
	for _, stack := range stacks() {
		ids[id(stack)] = true
	}
	return ids
}

// Left returns the stacks of goroutines that did not run then and run now. What is
// ending is given the time to end: it looks again until none is left, or its
// patience is over.
func (g Goroutines) Left() []string { return g.within(patience) }

func (g Goroutines) within(patience time.Duration) []string {
	for began := time.Now(); ; runtime.Gosched() {
		left := g.leftNow()
		if len(left) == 0 || time.Since(began) >= patience {
			return left
		}
	}
}

func (g Goroutines) leftNow() []string {
	return slices.DeleteFunc(stacks(), func(stack string) bool { return g[id(stack)] || expected(stack) })
}

// stacks returns the stack of every goroutine.
func stacks() []string {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return strings.Split(strings.TrimSpace(string(buf[:n])), "\n\n")
		}
	}
}

// id is what no other goroutine of the process has: the number in "goroutine 7 [...".
func id(stack string) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
	return number
}

// expected reports whether a goroutine belongs to the testing package or to the
// runtime, and lives as long as the process.
func expected(stack string) bool {
	for _, frame := range []string{"os/signal.signal_recv", "os/signal.loop", "testing.(*M).", "testing.runFuzzing", "runtime.ReadTrace"} {
		if strings.Contains(stack, frame) {
			return true
		}
	}
	return false
}
