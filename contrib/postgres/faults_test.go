package postgres

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

var (
	faultsLast  = flag.Duration("faults", 0, "for how long faults befall two real bots and their database; 0 for each kind once, at short intervals")
	faultsEvery = flag.Duration("faults.every", 12*time.Second, "how long it is from one to the next")
	faultsLease = flag.Duration("faults.lease", 3*time.Second, "how long their lease lasts")
	faultsSeed  = flag.Uint64("faults.seed", 1, "which faults")
)

// healed is how soon after the last fault each market takes entries again.
const healed = 30 * time.Second

// fault befalls a world for as long as it lasts, whoever holds the lease.
type fault struct {
	name string
	does func(w *takeovers, holder *machine) (undo func())
}

var faults = []fault{
	{"killed", func(_ *takeovers, holder *machine) func() {
		holder.kill()
		return holder.start
	}},
	{"stopped", func(w *takeovers, holder *machine) func() {
		name := w.nameOf(holder)
		holder.signal(syscall.SIGSTOP)
		return func() {
			w.mu.Lock()
			w.stopped[name] = time.Now()
			w.mu.Unlock()
			holder.signal(syscall.SIGCONT)
		}
	}},
	{"connections half open", func(_ *takeovers, holder *machine) func() {
		holder.toDatabase.swallow()
		return nothing
	}},
	{"parted from the database", func(_ *takeovers, holder *machine) func() {
		holder.toDatabase.part(true)
		return func() { holder.toDatabase.part(false) }
	}},
	{"parted from all", func(_ *takeovers, holder *machine) func() {
		holder.toDatabase.part(true)
		holder.toIt.part(true)
		return func() {
			holder.toDatabase.part(false)
			holder.toIt.part(false)
		}
	}},
	{"the database hiccups", func(w *takeovers, _ *machine) func() {
		return w.statements("BEGIN; SELECT FROM trading.lease FOR UPDATE; SELECT pg_sleep(5); COMMIT")
	}},
	{"the database's disk is full", func(w *takeovers, _ *machine) func() {
		execute(w.t, w.database.url("postgres"), `
			CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
			CREATE TRIGGER full_disk BEFORE INSERT ON trading.record EXECUTE FUNCTION full_disk()`)
		return func() { execute(w.t, w.database.url("postgres"), "DROP TRIGGER full_disk ON trading.record") }
	}},
	{"the database is killed", func(w *takeovers, _ *machine) func() {
		w.database.kill()
		return w.database.start
	}},
	{"the database is frozen", func(w *takeovers, _ *machine) func() {
		w.database.signal(syscall.SIGSTOP)
		return func() { w.database.signal(syscall.SIGCONT) }
	}},
}

// statements runs some beside the test, whatever becomes of them, and returns what waits for their end.
func (w *takeovers) statements(text string) (wait func()) {
	conn, err := pgx.Connect(w.t.Context(), w.database.url("postgres"))
	require.NoError(w.t, err)
	var running sync.WaitGroup
	running.Go(func() {
		_, _ = conn.PgConn().Exec(w.t.Context(), text).ReadAll()
		_ = conn.Close(w.t.Context())
	})
	return running.Wait
}

// TestFound11_FaultsOfADatabase has one fault after the other befall two bots, whose calls often give
// up while the journal has not answered, and their database. Nothing is executed twice, nothing that is
// told is false, and soon after the last fault each market takes entries, with nothing left of before.
func TestFound11_FaultsOfADatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes, in real time")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(*faultsSeed, 0x6661756c7473))
	every, lasts := *faultsEvery, func() time.Duration { return time.Duration((0.3 + 0.4*r.Float64()) * float64(*faultsEvery)) }
	plan := slices.Clone(faults)
	if *faultsLast == 0 {
		every = 4 * time.Second
	}
	for kinds := len(plan); time.Duration(len(plan))*every < *faultsLast; {
		plan = append(plan, plan[r.IntN(kinds)])
	}
	r.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })

	w := newTakeovers(t, *faultsLease, newServer(t))
	t.Cleanup(func() { w.database.remove() })
	require.NoError(t, Migrate(t.Context(), w.database.url("postgres")))
	w.calm = true
	w.machine()
	w.machine()
	_, _, is := w.ready()
	require.True(t, is)
	first := (&botConfig{Lease: *faultsLease, Calm: true}).again()
	require.True(t, w.wait(func() bool { return w.told() >= first })) // it knows the service's time
	for i, f := range plan {
		next := time.Now().Add(every)
		undo := f.does(w, w.holding())
		if *faultsLast > 0 {
			fmt.Printf("%s: fault %d of %d: %s; told so far: %s\n", time.Now().Format(time.TimeOnly), i+1, len(plan), f.name, w.tally())
			time.Sleep(lasts())
		} else {
			time.Sleep(every / 2)
		}
		undo()
		time.Sleep(time.Until(next))
	}
	last := time.Now()
	time.Sleep(healed)
	w.mu.Lock()
	opened := map[string]bool{}
	for i := range w.executed {
		if e := &w.executed[i]; e.At.After(last) && e.Operation == string(trading.OpOrder) {
			opened[e.Symbol] = true
		}
	}
	w.mu.Unlock()
	shut := w.judgePending(last)
	for _, symbol := range symbols {
		if !opened[symbol] && !shut[symbol] {
			w.problem("no entry in %s after the last fault", symbol)
		}
	}
	w.finish()
	excepted := w.judge()
	if len(shut) > 0 {
		excepted[undated] = len(shut)
	}
	for _, said := range w.words {
		if said.Kind == "pending" {
			t.Logf("pending under %s: %s", said.Key, said.Err)
		}
	}
	t.Logf("%d faults, %d holders, %d orders executed; told: %v; excepted: %v", len(plan), len(w.holders), len(w.executed), w.tally(), excepted)
}

// holding is the machine that holds the lease, or held it last.
func (w *takeovers) holding() *machine {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.machines {
		if m.holder != "" {
			return m
		}
	}
	return w.machines[0]
}

// judgePending: nothing is pending any more that was begun before the last fault had passed, but an exit
// that went out before its process knew the service's time: nobody knows how old its key is, so it waits
// for half an hour. It returns the markets of these.
func (w *takeovers) judgePending(last time.Time) (shut map[string]bool) {
	shut = map[string]bool{}
	arrived := map[trading.Key]bool{}
	w.mu.Lock()
	for _, key := range w.keys {
		arrived[key] = true
	}
	w.mu.Unlock()
	for key, in := range w.journaled() {
		switch {
		case in.ended || !in.begun.Before(last):
		case !in.dated && !in.entry:
			shut[in.symbol] = true
		default:
			w.problem("pending %s after the last fault: %s %s under %s, whose request arrived: %t", healed, in.symbol, in.name, key, arrived[key])
		}
	}
	return shut
}

// told counts what the bots were told. The lock is held.
func (w *takeovers) told() (n int64) {
	for i := range w.words {
		if w.words[i].Kind == "told" {
			n++
		}
	}
	return n
}

// tally counts what the bots were told.
func (w *takeovers) tally() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := map[string]int{}
	for _, said := range w.words {
		if said.Kind != "told" {
			continue
		}
		kind := said.Outcome.String()
		if said.Outcome != trading.Applied && said.NotSent {
			kind += ", not sent"
		}
		count[kind]++
	}
	var text []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		text = append(text, fmt.Sprint(kind, " ", count[kind]))
	}
	return strings.Join(text, "; ")
}
