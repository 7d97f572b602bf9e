package postgres

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	takeoverCount   = flag.Int("takeovers", 0, "how many accidents befall real processes, beside each kind once; 0 for a few")
	takeoverLease   = flag.Duration("takeovers.lease", time.Second, "how long their lease lasts")
	takeoverSeed    = flag.Uint64("takeovers.seed", 1, "which accidents")
	takeoverEntries = flag.Bool("takeovers.entries", false, "the bots close only what they have opened since they took over, so that the next order is an entry")
	takeoverOnly    = flag.String("takeovers.only", "", "the one accident")
)

// accident befalls a world whose holder trades beside candidates. It returns when it happened, and
// undoes what has to be undone once another one trades.
type accident struct {
	name  string
	stays bool // the holder goes on, and nobody takes over
	does  func(w *takeovers, r *rand.Rand, holder *machine, others []*machine) (at time.Time, undo func())
}

func nothing() {}

// leases is a part of the lease, drawn between two.
func (w *takeovers) leases(r *rand.Rand, from, to float64) time.Duration {
	return time.Duration((from + r.Float64()*(to-from)) * float64(w.lease))
}

// step sets the clock of the database an hour on or back.
func (w *takeovers) step(r *rand.Rand) {
	require.NoError(w.t, os.WriteFile(w.clock, []byte([]string{"+3600", "-3600", "+0"}[r.IntN(3)]), 0o644))
}

var accidents = []accident{
	{"the holder is killed", false, func(_ *takeovers, _ *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		at := time.Now()
		holder.kill()
		return at, holder.start
	}},
	{"the holder is stopped, and goes on", false, func(w *takeovers, _ *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		name, at := w.nameOf(holder), time.Now()
		holder.signal(syscall.SIGSTOP)
		return at, func() {
			w.mu.Lock()
			w.stopped[name] = time.Now()
			w.mu.Unlock()
			holder.signal(syscall.SIGCONT)
		}
	}},
	{"the holder releases", false, func(_ *takeovers, _ *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		holder.signal(syscall.SIGTERM)
		<-holder.ended
		return time.Now(), holder.start
	}},
	{"the holder's machine is parted from all", false, func(w *takeovers, _ *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		at := time.Now()
		holder.toDatabase.part(true)
		holder.toIt.part(true)
		return at, func() {
			holder.toDatabase.part(false)
			holder.toIt.part(false)
		}
	}},
	{"the holder is parted from the database", false, func(_ *takeovers, _ *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		at := time.Now()
		holder.toDatabase.part(true)
		return at, func() { holder.toDatabase.part(false) }
	}},
	{"the holder is parted from all for 4/3 of the lease", false, func(w *takeovers, _ *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		at, healed := time.Now(), make(chan struct{})
		part := func(parted bool) {
			holder.toDatabase.part(parted)
			holder.toIt.part(parted)
		}
		part(true)
		time.AfterFunc(w.lease*4/3, func() { // 20 s of the usual 15
			part(false)
			close(healed)
		})
		return at, func() { <-healed }
	}},
	{"the holder is killed; two candidates", false, func(w *takeovers, _ *rand.Rand, holder *machine, others []*machine) (time.Time, func()) {
		third := w.machine()
		w.wait(func() bool { return third.waits })
		at := time.Now()
		holder.kill()
		return at, func() {
			third.kill()
			w.mu.Lock()
			w.machines = slices.DeleteFunc(w.machines, func(m *machine) bool { return m == third })
			w.mu.Unlock()
			holder.start()
		}
	}},
	{"the database is killed, the holder with it", false, func(w *takeovers, r *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		w.database.kill()
		holder.kill()
		time.Sleep(w.leases(r, 0, 1))
		w.database.start()
		return time.Now(), holder.start
	}},
	{"the database is frozen, the holder killed meanwhile", false, func(w *takeovers, r *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		w.database.signal(syscall.SIGSTOP)
		time.Sleep(w.leases(r, 0, 1))
		holder.kill()
		time.Sleep(w.leases(r, 0, 1))
		w.database.signal(syscall.SIGCONT)
		return time.Now(), holder.start
	}},
	{"the database's clock jumps, the holder is killed", false, func(w *takeovers, r *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		w.step(r)
		at := time.Now()
		holder.kill()
		return at, holder.start
	}},
	{"the candidate's clock jumps, the holder is killed", false, func(_ *takeovers, _ *rand.Rand, holder *machine, others []*machine) (time.Time, func()) {
		at := time.Now()
		holder.kill()
		others[0].signal(jumpNow)
		return at, holder.start
	}},
	{"the database fails over to an asynchronous standby, which lacks records", false, func(w *takeovers, _ *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		p := pairOf(w.t, w.database, false)
		p.standby.kill()
		w.mu.Lock()
		w.lost[holder.holder] = time.Now()
		was := len(w.executed)
		w.mu.Unlock()
		require.True(w.t, w.wait(func() bool { return len(w.executed) > was+2 }))
		p.primary.kill()
		p.standby.start()
		w.failOver(p)
		return time.Now(), nothing
	}},
	{"the database fails over to a synchronous standby", true, func(w *takeovers, r *rand.Rand, _ *machine, _ []*machine) (time.Time, func()) {
		p := pairOf(w.t, w.database, true)
		time.Sleep(w.leases(r, 0, 1))
		p.primary.kill()
		w.failOver(p)
		return time.Now(), nothing
	}},
	{"the holder's connections are cut", true, func(_ *takeovers, _ *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		at := time.Now()
		holder.toDatabase.cut()
		return at, nothing
	}},
	{"the database is killed", true, func(w *takeovers, r *rand.Rand, _ *machine, _ []*machine) (time.Time, func()) {
		w.database.kill()
		time.Sleep(w.leases(r, 0, 2))
		w.database.start()
		return time.Now(), nothing
	}},
	{"the database is frozen", true, func(w *takeovers, r *rand.Rand, _ *machine, _ []*machine) (time.Time, func()) {
		w.database.signal(syscall.SIGSTOP)
		time.Sleep(w.leases(r, 0, 2.5))
		w.database.signal(syscall.SIGCONT)
		return time.Now(), nothing
	}},
	{"the database's clock jumps", true, func(w *takeovers, r *rand.Rand, _ *machine, _ []*machine) (time.Time, func()) {
		at := time.Now()
		w.step(r)
		return at, nothing
	}},
	{"the holder's clock jumps", true, func(_ *takeovers, _ *rand.Rand, holder *machine, _ []*machine) (time.Time, func()) {
		at := time.Now()
		holder.signal(jumpNow)
		return at, nothing
	}},
}

// lastHolder is who has taken the lease last.
func (w *takeovers) lastHolder() word {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.holders[len(w.holders)-1]
}

// nameOf is what a machine's bot holds the lease as.
func (w *takeovers) nameOf(m *machine) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return m.holder
}

// measured are the times from accidents of a kind to the next order, and to the taking; that is 0
// where the holder goes on.
type measured map[string][][2]time.Duration

// befall lets one happen, and measures until somebody trades. It returns false where nobody does: what
// is unknown can have closed each market to entries.
func (w *takeovers) befall(a accident, r *rand.Rand, into measured) bool {
	holder, others, is := w.ready()
	if !is {
		return false
	}
	name := w.nameOf(holder)
	time.Sleep(w.leases(r, 0, 0.5))
	at, undo := a.does(w, r, holder, others)
	old := name
	if a.stays {
		old = "nobody"
	}
	after, is := w.firstOrder(at, old)
	undo()
	if !is {
		return false
	}
	kind, last, taken := a.name, w.lastHolder(), time.Duration(0)
	took := last.Holder != name
	if took {
		taken = max(last.At.Sub(at), 0)
	}
	switch {
	case took && a.stays:
		kind += ", and another took it"
	case !took && !a.stays:
		w.t.Errorf("%s, and nobody took it", a.name)
	}
	if w.opens {
		kind += ", to an entry"
	}
	into[kind] = append(into[kind], [2]time.Duration{after, taken})
	return true
}

// finish has the last holder find out what became of everything, and hand over.
func (w *takeovers) finish() {
	for _, m := range w.machines {
		m.signal(restNow)
	}
	patience := 40 * time.Second // what is unknown by then stays so for half an hour, or until a person looks
	if *takeoverCount == 0 {
		patience = 10 * time.Second
	}
	deadline := time.Now().Add(patience)
	for scalar[int](w.t, w.database.url("postgres"), "SELECT count(*)::int FROM trading.pending") > 0 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	for _, m := range w.machines {
		m.signal(syscall.SIGTERM)
		<-m.ended
	}
}

// pendingMarkets counts the markets in which something is pending.
const pendingMarkets = `SELECT count(DISTINCT convert_from(r.data, 'UTF8')::jsonb->'begin'->'intent'->>'Symbol')::int
	FROM trading.record r JOIN trading.pending p ON encode(r.intent, 'escape') = p.intent`

// TestTakeovers kills, stops, parts and releases real bots, and their database, and holds what they
// did and said against the service's ledger.
func TestTakeovers(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes, in real time")
	}
	t.Parallel()
	few := []string{"the holder is killed", "the holder is stopped, and goes on", "the holder releases"}
	var plan []accident
	for _, a := range accidents {
		if *takeoverOnly == "" && (*takeoverCount > 0 || slices.Contains(few, a.name)) || *takeoverOnly == a.name {
			plan = append(plan, a)
		}
	}
	require.NotEmpty(t, plan)
	r := rand.New(rand.NewPCG(*takeoverSeed, 0x6c65617365))
	for kinds := len(plan); len(plan) < *takeoverCount; {
		plan = append(plan, plan[r.IntN(kinds)])
	}
	r.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
	times, excepted := measured{}, map[string]int{}
	var worlds, orders, holders int
	for part := range slices.Chunk(plan, 40) {
		w := newTakeovers(t, *takeoverLease, clockedServer(t))
		w.opens = *takeoverEntries
		worlds++
		w.machine()
		w.machine()
		for i, a := range part {
			if w.befall(a, r, times) {
				continue
			}
			closed := scalar[int](t, w.database.url("postgres"), pendingMarkets)
			require.Equal(t, len(symbols), closed, "nobody trades after: %s", a.name)
			t.Logf("after %d accidents each market is closed by what is unknown", i)
			break
		}
		w.finish()
		for name, n := range w.judge() {
			excepted[name] += n
		}
		if *takeoverCount > 0 {
			fmt.Printf("world %d: %d orders, %d holders; excepted so far: %v; failed: %t\n%s", worlds, len(w.executed), len(w.holders), excepted, t.Failed(), times.table(*takeoverLease))
		}
		orders += len(w.executed)
		holders += len(w.holders)
	}
	t.Logf("%d accidents in %d worlds, %d holders, %d orders executed; excepted: %v\n%s", len(plan), worlds, holders, orders, excepted, times.table(*takeoverLease))
}

// table shows the median and the worst of each.
func (m measured) table(lease time.Duration) string {
	var text strings.Builder
	fmt.Fprintf(&text, "from the accident, lease %s %36s  to the next order    to the taking\n%72s   median    worst   median    worst\n", lease, "", "n")
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&text, "%-66s %5d", name, len(m[name]))
		for i := range 2 {
			var list []time.Duration
			for _, pair := range m[name] {
				list = append(list, pair[i])
			}
			slices.Sort(list)
			fmt.Fprintf(&text, " %7.2fs %7.2fs", list[len(list)/2].Seconds(), list[len(list)-1].Seconds())
		}
		text.WriteByte('\n')
	}
	return text.String()
}
