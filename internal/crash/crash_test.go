package crash

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

var (
	full    = flag.Bool("crash.full", false, "play more than ten thousand schedules")
	count   = flag.Int("crash.n", 0, "play this many schedules")
	from    = flag.Uint64("crash.from", 1, "the first seed")
	oneSeed = flag.Uint64("crash.seed", 0, "play this schedule alone, and tell it")
)

func schedules() int {
	switch {
	case *count > 0:
		return *count
	case *full:
		return 12_000
	default:
		return 200
	}
}

// Every schedule holds what doc.go says, in process and with real processes, and
// comes to the same.
func TestSchedules(t *testing.T) {
	t.Parallel() // to the schedules in real time, which wait
	tmp := t.TempDir()
	if *oneSeed != 0 {
		for _, w := range play(t, newSchedule(*oneSeed), tmp) {
			fmt.Fprintf(os.Stderr, "%s%s\n%s, %d open, %v\n", w.schedule, strings.Join(w.steps, "\n"), w.outcome(), w.open, w.unknown)
			for _, p := range w.problems {
				t.Error(p)
			}
		}
		return
	}
	var (
		mu     sync.Mutex
		tables = map[string]*table{}
		next   = *from
		end    = *from + uint64(schedules())
	)
	take := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= end
	}
	var players sync.WaitGroup
	for range 3 * runtime.GOMAXPROCS(0) { // they wait for their disks more than for a processor
		players.Go(func() {
			t.Run("", func(t *testing.T) {
				for seed, more := take(); more; seed, more = take() {
					for kind, w := range play(t, newSchedule(seed), tmp) {
						mu.Lock()
						if tables[kind] == nil {
							tables[kind] = newTable()
						}
						tables[kind].add(w)
						mu.Unlock()
						if len(w.problems) > 0 {
							t.Errorf("%s: rerun with -crash.seed %d\n%s%s\n%s", kind, seed, w.schedule, strings.Join(w.steps, "\n"), strings.Join(w.problems, "\n"))
						}
					}
				}
			})
		})
	}
	players.Wait()
	for kind, table := range tables {
		t.Logf("%s:%s", kind, table)
		// What happens in one instant has no order.
		if n := len(table.otherwise); n > 5+table.total.schedules/20 {
			t.Errorf("%s, %d of %d came to something else than in process", kind, n, table.total.schedules)
		}
	}
}

// play plays a schedule in process and with real processes, by the names that
// reports have for them.
func play(t *testing.T, s schedule, tmp string) iter.Seq2[string, *world] {
	t.Helper()
	return func(yield func(string, *world) bool) {
		killAt := s.killAt(t)
		inProcess := bubble(t, s, killAt, func(*world) {})
		if !yield("in process", inProcess) || runtime.GOOS == "windows" { // there is no SIGKILL
			return
		}
		dir, err := os.MkdirTemp(tmp, "")
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = os.RemoveAll(dir) }()
		w := bubble(t, s, killAt, func(w *world) { w.inChildren(dir) })
		w.otherwise = w.end != inProcess.end
		yield("with SIGKILL", w)
	}
}
