package journal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const simPath = "bot.journal"

// small has the file rewritten often.
var small = sizes{growth: 8 << 10, chunk: 1 << 10}

// op is one call that changes a journal.
type op struct {
	durable bool
	records []Record
	forget  string
}

func (o op) do(ctx context.Context, s Store) error {
	if o.forget != "" {
		return s.Forget(ctx, o.forget)
	}
	return s.Append(ctx, o.durable, o.records...)
}

// workload is a mix of all that a client does, and more.
func workload(r *rand.Rand, count int) []op {
	var ops []op
	var pending []Record
	resolved := map[string]bool{}
	for i := range count {
		o := op{durable: r.IntN(3) > 0}
		switch what := r.IntN(10); {
		case what < 4 || len(pending) == 0:
			rec := Record{Intent: fmt.Sprintf("intent %d", i)}
			if r.IntN(2) == 0 {
				rec.Name = fmt.Sprintf("name %d", i)
			}
			pending = append(pending, rec)
			o.records = append(o.records, rec)
		case what < 9:
			at := r.IntN(len(pending))
			rec := pending[at]
			o.records = append(o.records, rec, rec)
			if what > 5 {
				o.records[1].Final = true
				pending = append(pending[:at], pending[at+1:]...)
				resolved[rec.Name] = rec.Name != ""
			}
		default:
			for name, ok := range resolved {
				if ok {
					o.forget, o.durable = name, true
					delete(resolved, name)
					break
				}
			}
		}
		for k := range o.records {
			o.records[k].Data = []byte(strings.Repeat(fmt.Sprintf("%d/%d,", i, k), r.IntN(70)))
		}
		ops = append(ops, o)
	}
	return ops
}

// dump says all that a journal holds.
func dump(s *state) string {
	var b strings.Builder
	for _, e := range s.all() {
		fmt.Fprintf(&b, "%q %q %t %q\n", e.Intent, e.Name, e.Final, e.Records)
	}
	for _, e := range s.pending {
		fmt.Fprintf(&b, "pending %q\n", e.Intent)
	}
	for _, e := range s.all() {
		if e.Name != "" {
			fmt.Fprintf(&b, "named %d\n", len(s.names[e.Name]))
		}
	}
	return b.String()
}

// dumps are what a journal holds after each number of ops.
func dumps(t testing.TB, ops []op) []string {
	m := &memory{state: newState()}
	all := []string{dump(m.state)}
	for _, o := range ops {
		require.NoError(t, o.do(t.Context(), m))
		all = append(all, dump(m.state))
	}
	return all
}

// crasher runs ops and crashes at every step.
type crasher struct {
	t        testing.TB
	random   *rand.Rand
	want     []string
	begun    atomic.Int64 // ops
	returned atomic.Int64
	durable  atomic.Int64
	crashes  map[string]int
}

// check opens what a crash has left: it must hold the first ops, and at least so
// many of them. Once it has said what it holds, that survives a power cut.
func (c *crasher) check(when string, left *simDisk, atLeast int64) {
	c.t.Helper()
	c.crashes[when]++
	l, err := openLog(left, simPath, small)
	require.NoError(c.t, err, "a crash %s", when)
	got := dump(l.state)
	found := int64(-1)
	for n := atLeast; n <= c.begun.Load(); n++ {
		if got == c.want[n] {
			found = n
		}
	}
	if found < 0 {
		c.t.Fatalf("a crash %s: the journal holds no state between op %d and %d:\n%s", when, atLeast, c.begun.Load(), got)
	}
	for _, more := range [][]Record{nil, {{Intent: "one more"}}} {
		require.NoError(c.t, l.Append(c.t.Context(), true, more...))
		l.work.Wait()
		again, err := openLog(left.powerCut(c.random, 0, 0), simPath, small)
		require.NoError(c.t, err, "a crash %s, and a power cut after Open", when)
		require.Equal(c.t, dump(l.state), dump(again.state), "a crash %s, and a power cut: what was durable since", when)
	}
}

func (c *crasher) crash(d *simDisk, when string) {
	durable, returned := c.durable.Load(), c.returned.Load()
	d.mu.Lock()
	defer d.mu.Unlock()
	c.check("killed "+when, d.killed(), returned)
	for changes := range len(d.change) + 1 {
		for _, keep := range []float64{0, 0.5, 1} {
			c.check("power cut "+when, d.powerCut(c.random, keep, changes), durable)
		}
	}
}

// run does the ops, and crashes at each step of them.
func (c *crasher) run(d *simDisk, ops []op) {
	d.before = func(step string) error { c.crash(d, "before "+step); return nil }
	d.after = func(step string) { c.crash(d, "after "+step) }
	l := openSim(c.t, d, small)
	for i := c.begun.Load(); i < int64(len(ops)); i++ {
		o := ops[i]
		c.begun.Store(i + 1)
		require.NoError(c.t, o.do(c.t.Context(), l))
		c.returned.Store(i + 1)
		if o.durable {
			c.durable.Store(i + 1)
		}
		l.work.Wait()
	}
	require.NoError(c.t, l.Close())
	c.durable.Store(int64(len(ops)))
	c.crash(d, "after Close")
}

// TestCrash kills the process, and cuts the power, before and after every step of
// creating, writing, rewriting and closing a journal.
func TestCrash(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ops := workload(r, 70)
	c := &crasher{t: t, random: r, want: dumps(t, ops), crashes: map[string]int{}}
	d := newSimDisk()
	c.run(d, ops[:45])
	c.run(d, ops) // goes on in a file that was closed
	for _, step := range []string{"create", "write", "sync", "rename", "sync folder"} {
		for _, when := range []string{"killed before ", "killed after ", "power cut before ", "power cut after "} {
			assert.NotZero(t, c.crashes[when+step], "there was no crash %s%s", when, step)
		}
	}
	t.Log(c.crashes)
}

// TestTornTail loses the first of two frames that were not synced, and not the
// second: nobody was told that they are durable.
func TestTornTail(t *testing.T) {
	d := newSimDisk()
	l := openSim(t, d, small)
	for i := range 4 {
		require.NoError(t, l.Append(t.Context(), i < 2, Record{Intent: fmt.Sprint(i)}))
	}
	l.work.Wait()
	f := d.names[simPath]
	last := f.writes[len(f.writes)-1]
	f.writes = f.writes[len(f.writes)-1:]
	l = openSim(t, d.powerCut(rand.New(rand.NewPCG(1, 1)), 1, 0), small)
	assert.Len(t, l.state.pending, 2)
	assert.Greater(t, l.Repaired(), int64(len(last.b)), "both are left out")
}
