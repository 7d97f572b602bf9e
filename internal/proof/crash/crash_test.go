package crash

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/testing/depth"
)

var (
	many    = flag.Uint64("crash.n", 80, "how many schedules of each kind are played")
	from    = flag.Uint64("crash.from", 1, "the seed of the first of them")
	tale    = flag.Bool("crash.tell", false, "tell each schedule step by step")
	quietly = flag.Bool("crash.count", false, "count problems by their kind, and fail only at the end")

	beside = flag.Int("crash.accidents", -1, "how many accidents happen beside the faults of calls; -1 is 0, 1 or 2")
	only   = flag.String("crash.only", "", "the accident that happens, by its name")
)

// TestSchedules plays schedules of each kind, and counts what they come to.
func TestSchedules(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			table, many := newTable(), *many
			if depth.Race && many == 80 { // which are played without the detector too
				many = 20
			}
			for seed := *from; seed < *from+many; seed++ {
				w := playOne(t, newSchedule(k, seed))
				table.add(w)
				for _, p := range w.problems {
					if *quietly {
						table.wrong[kindOfProblem(p)]++
						if table.wrong[kindOfProblem(p)] <= 3 {
							t.Logf("seed %d: %s; %s", seed, p, strings.Join(w.beside, " | "))
						}
						continue
					}
					t.Errorf("seed %d: %s", seed, p)
				}
				if *tale {
					t.Log(w.String() + strings.Join(w.steps, "\n"))
				}
				if table.problems >= 20 && !*quietly {
					t.Fatalf("too many problems, at seed %d", seed)
				}
			}
			t.Log(table)
			if table.problems > 0 {
				t.Fail()
			}
		})
	}
}

var detail = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]+|[0-9.hms]+[smh]\b|\(.*\)|after the [a-z]+ life: |a day later: `)

// kindOfProblem is a problem without its names and times.
func kindOfProblem(p string) string {
	p, _, _ = strings.Cut(p, "\n")
	return detail.ReplaceAllString(p, "*")
}

// playOne plays a schedule: once to its first end, for how many steps it can be killed
// at, and once more with the kill.
func playOne(t *testing.T, s schedule) *world {
	t.Helper()
	return playKilled(t, s, func(t *testing.T, dir string) *world { return newWorld(t, s, dir) })
}

func playKilled[W interface {
	first(killAt int) (steps int)
	play(killAt int)
}](t *testing.T, s schedule, begin func(t *testing.T, dir string) W) (w W) {
	t.Helper()
	in := func(do func(W)) {
		synctest.Test(t, func(t *testing.T) {
			dir := folder(t)
			defer func() { _ = os.RemoveAll(dir) }()
			do(begin(t, dir))
		})
	}
	killAt := 0
	if s.kill1 < 1 {
		in(func(dry W) {
			killAt = 1 + int(s.kill1*float64(dry.first(0)))
			time.Sleep(2 * time.Hour) // what is on its way over connections ends, behind a machine that stops for one
		})
	}
	in(func(one W) {
		w = one
		w.play(killAt)
	})
	return w
}

// folder is one for journals: in memory where that can be had, for the many.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "crash")
	if err != nil {
		dir, err = os.MkdirTemp("", "crash")
	}
	require.NoError(t, err)
	return dir
}

// table counts what schedules come to.
type table struct {
	schedules, problems       int
	outcomes, named, unknowns map[string]int
	given                     map[string]int // orders that were given up, by what became of them
	wrong, besides, broke     map[string]int // problems by kind; schedules by accident, and those of them with a problem
}

func newTable() *table {
	return &table{outcomes: map[string]int{}, named: map[string]int{}, unknowns: map[string]int{},
		given: map[string]int{}, wrong: map[string]int{}, besides: map[string]int{}, broke: map[string]int{}}
}

func (t *table) add(w *world) {
	t.schedules++
	if len(w.problems) > 0 {
		t.problems++
	}
	for _, name := range w.beside {
		t.besides[name]++
		if len(w.problems) > 0 {
			t.broke[name]++
		}
	}
	for _, in := range w.order {
		switch {
		case in.end == nil:
			t.outcomes["pending in the end"]++
		default:
			t.outcomes[fmt.Sprintf("%s, by %s", *in.end, in.why)]++
		}
	}
	if w.kind == paper {
		for _, told := range w.told {
			t.outcomes[told.outcome.String()]++
		}
	}
	for why := range w.Excepted {
		t.named[why]++
	}
	for _, why := range w.reasons {
		t.unknowns[why]++
	}
	for _, end := range w.given {
		t.given[end]++
	}
}

// String is the table as text.
func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d schedules, %d with a problem\n", t.schedules, t.problems)
	counts(&b, "writes", t.outcomes)
	counts(&b, "named exceptions", t.named)
	counts(&b, "unknown in the end", t.unknowns)
	counts(&b, "given up before, and in the end", t.given)
	counts(&b, "problems", t.wrong)
	counts(&b, "accidents of schedules with a problem", t.broke)
	counts(&b, "accidents", t.besides)
	return b.String()
}

func counts(b *strings.Builder, title string, of map[string]int) {
	n := 0
	for _, count := range of {
		n += count
	}
	fmt.Fprintf(b, "%s: %d\n", title, n)
	for _, name := range slices.SortedFunc(maps.Keys(of), func(x, y string) int { return cmp.Or(of[y]-of[x], strings.Compare(x, y)) }) {
		fmt.Fprintf(b, "%8d  %s\n", of[name], name)
	}
}
