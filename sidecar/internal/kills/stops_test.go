package kills

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

var stops = flag.Int("kills.stops", 0, "runs in which processes are stopped (default 6, or none with -short)")

// harm kills a process, or stops it.
func (w *world) harm(p *os.Process) {
	if w.stop > 0 {
		_ = p.Signal(syscall.SIGSTOP) // one that has ended is stopped for good
		return
	}
	_ = p.Kill()
}

// resume lets a process go on that was stopped for long enough, until it has ended.
func (w *world) resume(p *os.Process, ended <-chan struct{}) {
	if w.stop == 0 {
		return
	}
	go func() {
		look := time.NewTicker(10 * time.Millisecond)
		defer look.Stop()
		for {
			select {
			case <-ended:
				return
			case <-look.C:
			}
			if !stopped(p.Pid) {
				continue
			}
			select {
			case <-ended:
				return
			case <-time.After(w.stop):
				_ = p.Signal(syscall.SIGCONT)
			}
		}
	}()
}

// stopped reports whether a process is, by the kernel.
func stopped(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := bytes.Cut(line, []byte(") "))
	return err == nil && bytes.HasPrefix(rest, []byte("T"))
}

func needsProc(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("NOT TESTED: this system does not show which processes are stopped")
	}
}

// Whoever is stopped, and whenever, for longer than a bot waits or a sidecar does: the order runs
// once, and the bot knows that it has.
func TestStops(t *testing.T) {
	needsProc(t)
	n := *stops
	if n == 0 && !testing.Short() {
		n = 6 // none of which lasts for longer than the sidecar waits
	}
	if n == 0 {
		t.Skip("a stop takes its time")
	}
	play(t, n, stop)
}

// What came while a sidecar was stopped, of bots that gave up meanwhile, is not carried out when it
// goes on; what comes then is.
func TestBacklog(t *testing.T) {
	needsProc(t)
	for _, way := range []string{"socket", "port"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
			dir := t.TempDir()
			w := &world{sim: sim, dir: dir, address: dir + "/socket/s"}
			var err error
			if way == "port" {
				w.address, err = freeAddress()
				require.NoError(t, err)
			}
			w.secret, err = sidecar.AddKey(dir, sidecar.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
			require.NoError(t, err)
			cmd, ended, err := w.sidecar(t.Context(), place{})
			require.NoError(t, err)
			defer func() { _ = cmd.Process.Kill(); <-ended }()
			order := func(n int) int {
				b := newBot("decides", w.address, w.secret)
				defer b.http.CloseIdleConnections()
				status, _ := b.ask(http.MethodPost, "/orders", fmt.Sprintf(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.0%d,"leverage":2}`, n), fmt.Sprint("entry-", n))
				return status
			}
			require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
			require.Eventually(t, func() bool { return stopped(cmd.Process.Pid) }, time.Minute, time.Millisecond)
			var bots sync.WaitGroup
			for n := 1; n <= 4; n++ {
				bots.Go(func() { assert.Zero(t, order(n), "nobody answers") })
			}
			bots.Wait()
			time.Sleep(2 * time.Second) // of the machine: nothing here is in virtual time
			require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
			require.Eventually(t, func() bool { return order(5) == http.StatusOK }, time.Minute, 100*time.Millisecond, "it may be asked once more: nobody knows how old it is")
			require.Len(t, sim.Ledger(), 1)
			assert.Equal(t, "0.05", sim.Ledger()[0].Size.String())
		})
	}
}
