//go:build unix

package journal_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
)

// The test runs itself as a child, which writes until it is killed.
const (
	childFile  = "JOURNAL_TEST_FILE"
	childRound = "JOURNAL_TEST_ROUND"
	childLimit = "JOURNAL_TEST_LIMIT" // of the file's size: a disk that is full
)

// child tells on its standard output what the journal has taken: one line, in one
// write, after each Begin and each Settle has returned.
func child(path, round string, limited bool) int {
	if limited {
		signal.Ignore(syscall.SIGXFSZ) // so that a write fails instead
		const size = 5 << 20           // more than a new file has
		limit := syscall.Rlimit{Cur: size, Max: size}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	j, err := journal.Open(path, journal.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var wg sync.WaitGroup
	for writer := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				in := childIntent(fmt.Sprintf("%s-%d-%d", round, writer, i))
				if j.Begin(context.Background(), in) != nil {
					return
				}
				fmt.Fprintf(os.Stdout, "begun %s\n", in.ID)
				if i%3 == 0 {
					continue
				}
				if j.Settle(context.Background(), in.ID, settlement(in)) != nil {
					return
				}
				fmt.Fprintf(os.Stdout, "settled %s\n", in.ID)
			}
		})
	}
	wg.Wait()
	var failed *journal.FailedError
	if err := j.Begin(context.Background(), intent("last")); !errors.As(err, &failed) {
		fmt.Fprintln(os.Stderr, "it has ended without a failure:", err)
		return 1
	}
	return 0
}

func childIntent(id string) trading.Intent {
	in := intent(id)
	in.Decision, _, _ = strings.Cut(id, "-")
	in.Body = []byte(strings.Repeat(id+",", 2000))
	return in
}

// taken is what children have told.
type taken struct{ begun, settled map[string]bool }

// run has a child write to the journal, and kills it after so many lines; it ends
// by itself if there is a limit.
func (k *taken) run(t *testing.T, path, round string, lines int, limit string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childFile+"="+path, childRound+"="+round, childLimit+"="+limit)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() {
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
	if lines == 0 {
		kill() // while it starts
	}
	scanner := bufio.NewScanner(out)
	for n := 1; scanner.Scan(); n++ {
		if what, id, ok := strings.Cut(scanner.Text(), " "); ok && what == "begun" {
			k.begun[id] = true
		} else if ok && what == "settled" {
			k.settled[id] = true
		} else {
			t.Fatalf("the child says %q", scanner.Text())
		}
		if n == lines {
			kill()
		}
	}
	if err := cmd.Wait(); limit != "" && err != nil {
		t.Fatal(err)
	}
}

// check opens what a child has left: all that it told must be there, and no more
// than what it may have been about to tell.
func (k *taken) check(t *testing.T, path string, round int) {
	t.Helper()
	j := open(t, path, journal.Options{})
	defer j.Close()
	found := 0
	for entry, err := range j.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		id := string(entry.Intent.ID)
		want := childIntent(id)
		if !bytes.Equal(entry.Intent.Body, want.Body) || entry.Intent.Key != want.Key {
			t.Fatalf("the intent %s is not what was written: %+v", id, entry.Intent)
		}
		if s, ok := entry.Settlement.Get(); ok && !bytes.Equal(s.Answer, settlement(want).Answer) {
			t.Fatalf("the settlement of %s is not what was written: %+v", id, s)
		} else if !ok && k.settled[id] {
			t.Fatalf("%s was settled, and is pending", id)
		}
		if k.begun[id] {
			found++
		} else if !strings.HasPrefix(id, fmt.Sprint(round, "-")) {
			// Of this round it may have been under way. Earlier ones have been counted.
			t.Fatalf("%s has appeared", id)
		}
		k.begun[id] = true
	}
	if lost := len(k.begun) - countAll(t, j); lost != 0 {
		t.Fatalf("of %d intents %d are lost", len(k.begun), lost)
	}
	if found == 0 && len(k.begun) > 0 {
		t.Fatal("none of the intents has been found")
	}
}

func countAll(t *testing.T, j *journal.Journal) int {
	t.Helper()
	count := 0
	for _, err := range j.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	return count
}

// TestKill kills a process in the middle of its writes, again and again, on one
// file.
func TestKill(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	path := file(t)
	random := rand.New(rand.NewPCG(5, 6))
	all := &taken{begun: map[string]bool{}, settled: map[string]bool{}}
	for round := range rounds {
		all.run(t, path, fmt.Sprint(round), random.IntN(200), "")
		all.check(t, path, round)
	}
	t.Logf("%d begun, %d settled, in %d processes", len(all.begun), len(all.settled), rounds)
	if len(all.settled) == 0 {
		t.Error("no child has settled anything")
	}
}

// TestFullDisk has a child whose file cannot grow beyond some size: a write fails,
// nothing that was taken is lost, and the file opens when there is room again.
func TestFullDisk(t *testing.T) {
	path := file(t)
	all := &taken{begun: map[string]bool{}, settled: map[string]bool{}}
	all.run(t, path, "0", -1, "yes")
	if len(all.begun) < 50 {
		t.Errorf("the child has begun %d intents before its disk was full", len(all.begun))
	}
	all.check(t, path, 0)
	j := open(t, path, journal.Options{})
	if err := j.Begin(t.Context(), trading.Intent{ID: "room"}); err != nil {
		t.Error(err)
	}
}
