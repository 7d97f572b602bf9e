//go:build unix

package journal_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tradingapi/trading-go/internal/proof/leak"
	"github.com/tradingapi/trading-go/journal"
)

const childFile, childRound = "JOURNAL_TEST_FILE", "JOURNAL_TEST_ROUND"

// TestMain is also the child that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		child(path, os.Getenv(childRound))
	}
	os.Exit(leak.Main(m))
}

// child writes until it is killed. After each Append it says so, in one write.
func child(path, round string) {
	l, err := journal.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var wg sync.WaitGroup
	for writer := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				r := journal.Record{Intent: fmt.Sprintf("%s-%d-%d", round, writer, i), Name: fmt.Sprint(writer), Data: make([]byte, 3000)}
				for _, final := range []bool{false, i%3 > 0} {
					r.Final = final
					if err := l.Append(context.Background(), i%2 == 0, r); err != nil {
						fmt.Fprintln(os.Stderr, err)
						os.Exit(1)
					}
					fmt.Fprintf(os.Stdout, "%s %t\n", r.Intent, final)
				}
			}
		})
	}
	wg.Wait()
}

// TestKill kills a process in the middle of its writes, again and again, on one
// file. All that it said it has appended is there, durable or not.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	random := rand.New(rand.NewPCG(5, 6))
	said := map[string]string{} // intents, and whether they are resolved
	for round := range 6 {
		runChild(t, path, fmt.Sprint(round), 1+random.IntN(600), said)
		l := open(t, path)
		there := map[string]string{}
		for writer := range 4 {
			histories, err := l.Named(t.Context(), fmt.Sprint(writer))
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range histories {
				there[h.Intent] = fmt.Sprint(h.Final)
			}
		}
		for intent, final := range said {
			if got := there[intent]; got != final && got != "true" {
				t.Fatalf("round %d: resolved of %s is %q, want %q", round, intent, got, final)
			}
		}
		if len(there) > len(said)+4*(round+1) {
			t.Fatalf("round %d: there are %d intents, and %d were written", round, len(there), len(said))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d intents", len(said))
}

// TestPipe has a pipe without another end in place of a journal and of its lock.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.journal")
	for _, pipe := range []string{path + ".lock", path} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Open(path); err == nil || !strings.Contains(err.Error(), pipe) || !strings.Contains(err.Error(), "must be a regular file") {
			t.Errorf("Open: %v, want that %s must be a regular file", err, pipe)
		}
	}
}

// runChild kills a child after so many lines.
func runChild(t *testing.T, path, round string, lines int, said map[string]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childFile+"="+path, childRound+"="+round)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	got := 0
	for s := bufio.NewScanner(out); s.Scan(); got++ {
		intent, final, _ := strings.Cut(s.Text(), " ")
		said[intent] = final
		if got == lines {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); got < lines {
		t.Fatalf("the child has ended after %d lines: %v", got, err)
	}
}
