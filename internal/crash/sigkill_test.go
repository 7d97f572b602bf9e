package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptrace"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	durable "github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// traced calls sent once a request is on the wire, before its answer is read.
func traced(ctx context.Context, sent func()) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { sent() },
	})
}

// realRun is one schedule of real processes: the service's clock is the test's, the
// bot's is the machine's.
type realRun struct {
	order
	name  string
	fault fault
	away  time.Duration
	kill2 int
}

// realFaults are of the write; what the simulation holds back waits for its own
// clock, which the parent moves once the bot is dead.
var realFaults = []fault{
	faultless,
	{name: "request lost", fault: tradingsim.LoseRequest()},
	{name: "reply lost", fault: tradingsim.LoseReply()},
	{name: "works for 10m", fault: tradingsim.Delay(10 * time.Minute)},
	{name: "500 before", fault: tradingsim.Fail(500, "internal_error")},
	{name: "500 after", fault: tradingsim.FailAfter(500, "internal_error"), worked: true},
	{name: "died after", fault: tradingsim.CrashAfter()},
	{name: "arrives 1m late", fault: tradingsim.ArriveLate(time.Minute)},
	{name: "a page after", fault: tradingsim.EdgePageAfter(502)},
}

// newReal makes the schedule of a seed. Recovery takes ten seconds of real time at
// least, so most are killed at the write's own steps, which come first.
func newReal(seed uint64) realRun {
	r := rand.New(rand.NewPCG(seed, 0x6b696c6c))
	s := realRun{
		fault: pickFault(r, realFaults),
		away:  pick(r, awayTimes...),
	}
	s.Operation = pick(r, market, market, closing, resting, timed)
	s.Decided, s.Sole = r.IntN(2) == 0, r.IntN(2) == 0
	s.Lifetime = pick(r, 0, 3*time.Second)
	s.StopAt = 13 + r.IntN(10) // after the reads of the baseline
	if r.IntN(3) == 0 {
		s.kill2 = 1 + r.IntN(34)
	}
	if r.IntN(4) == 0 {
		s.ClockBack = time.Hour
	}
	s.name = fmt.Sprintf("%d %s, %s, stop %d and %d, away %s, sole %t, lifetime %s, clock back %s",
		seed, s.Operation, s.fault.name, s.StopAt, s.kill2, s.away, s.Sole, s.Lifetime, s.ClockBack)
	return s
}

// Real processes are killed with SIGKILL at their steps, and what the next ones
// find out is what the simulated service did.
func TestSIGKILL(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGKILL")
	}
	count := uint64(24)
	if *full {
		count = 96
	}
	if *oneSeed != 0 {
		t.Skip("a schedule in process was asked for")
	}
	t.Parallel()
	var waits sync.WaitGroup
	var mu sync.Mutex
	kills, verdicts := 0, map[string]int{}
	together := make(chan struct{}, 12) // they sleep most of the time
	for seed := range count {
		s := newReal(seed + 1)
		waits.Go(func() {
			together <- struct{}{}
			defer func() { <-together }()
			problem, told := s.play(t)
			if problem != "" {
				t.Errorf("%s: %s\n%s", s.name, problem, strings.Join(told, "\n"))
			}
			mu.Lock()
			defer mu.Unlock()
			for _, text := range told {
				var l line
				if json.Unmarshal([]byte(text), &l) != nil {
					continue
				}
				if l.Stopped {
					kills++
				}
				if l.Outcome != "" && l.Basis != "" {
					verdicts[l.Outcome+", "+l.Basis]++
				}
			}
		})
	}
	waits.Wait()
	t.Logf("%d schedules, %d kills, verdicts of recoveries: %v", count, kills, verdicts)
}

// play is the life of a real schedule. It returns what does not hold, and what the
// processes told.
func (s realRun) play(t *testing.T) (problem string, told []string) {
	sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithManualClock(time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)))
	if err := sim.Listen("127.0.0.1:0"); err != nil {
		return err.Error(), nil
	}
	defer sim.Close()
	if s.Operation == closing {
		sim.Trade(account, "long", "0.2", "BTC")
	}
	sim.Advance(time.Minute)
	if s.fault.fault != nil {
		sim.Fault(string(s.Operation.endpoint()), s.fault.fault)
	}
	s.BaseURL, s.Key, s.Journal = sim.URL(), sim.LiveKey(), filepath.Join(t.TempDir(), "intents.db")
	back := s.ClockBack
	s.ClockBack = 0
	check := func(when string) {
		if problem == "" {
			if p := s.check(sim, when); p != "" {
				problem = p
			}
		}
	}
	told = append(told, s.process()...)
	check("after the first death")
	sim.Advance(s.away)
	s.Recover, s.ClockBack, s.StopAt = true, back, s.kill2
	told = append(told, "-- second")
	told = append(told, s.process()...)
	check("after the second death")
	sim.Advance(time.Minute)
	s.StopAt = 0
	told = append(told, "-- third")
	told = append(told, s.process()...)
	check("after the last recovery")
	sim.Advance(25 * time.Hour)
	check("a day later")
	return problem, told
}

// process runs a child until it stops at its step, which it is killed in, or ends.
func (s realRun) process() (told []string) {
	text, err := json.Marshal(s.order)
	if err != nil {
		return []string{err.Error()}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	in, err := cmd.StdinPipe() // held open: the child waits on it
	if err != nil {
		return []string{err.Error()}
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return []string{err.Error()}
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return []string{err.Error()}
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		told = append(told, lines.Text())
		var l line
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Stopped {
			_ = cmd.Process.Kill()
			break
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	return told
}

// check holds the journal on the disk against the ledger.
func (s realRun) check(sim *tradingsim.Sim, when string) string {
	j, err := durable.Open(s.Journal, durable.Options{})
	if err != nil {
		return fmt.Sprintf("%s: the journal cannot be opened: %v", when, err)
	}
	defer j.Close()
	executed := map[string]int{}
	for _, e := range sim.Ledger() {
		if e.Actor == "api" && e.Key != "" {
			executed[e.Key]++
		}
	}
	known := map[string]bool{}
	for entry, err := range j.All(context.Background()) {
		if err != nil {
			return fmt.Sprintf("%s: %v", when, err)
		}
		key := string(entry.Intent.Key)
		known[key] = true
		settled, ok := entry.Settlement.Get()
		n := executed[key]
		switch {
		case ok && settled.Outcome == trading.Applied && n == 0:
			return when + ": settled as applied, and was not executed"
		case ok && settled.Outcome == trading.NotApplied && n > 0:
			return when + ": settled as not applied, and was executed"
		case n > 1 && !(s.fault.worked && s.Lifetime > 0):
			return fmt.Sprintf("%s: executed %d times", when, n)
		}
	}
	for key := range executed {
		if !known[key] {
			return when + ": executed under a key that is not in the journal"
		}
	}
	return ""
}
