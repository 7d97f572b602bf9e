package crash

import (
	"flag"
	"fmt"
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
		return 300
	}
}

// Every schedule holds what doc.go says.
func TestSchedules(t *testing.T) {
	playAll(t, runtime.GOMAXPROCS(0), run)
}

// playAll plays the schedules, so many at a time, or the one that is asked for.
func playAll(t *testing.T, together int, play func(*testing.T, schedule) *world) {
	t.Helper()
	if *oneSeed != 0 {
		w := play(t, newSchedule(*oneSeed))
		fmt.Fprintf(os.Stderr, "%s%s\n%s, %d open, %v\n", w.schedule, strings.Join(w.steps, "\n"), w.outcome(), w.open, w.unknown)
		for _, p := range w.problems {
			t.Error(p)
		}
		return
	}
	var (
		mu    sync.Mutex
		table = newTable()
		next  = *from
		end   = *from + uint64(schedules())
	)
	take := func() (uint64, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= end
	}
	var players sync.WaitGroup
	for range together {
		players.Go(func() {
			t.Run("", func(t *testing.T) {
				for seed, more := take(); more; seed, more = take() {
					w := play(t, newSchedule(seed))
					mu.Lock()
					table.add(w)
					mu.Unlock()
					if len(w.problems) > 0 {
						t.Errorf("rerun with -crash.seed %d\n%s%s\n%s", seed, w.schedule, strings.Join(w.steps, "\n"), strings.Join(w.problems, "\n"))
					}
				}
			})
		})
	}
	players.Wait()
	t.Log(table)
}
