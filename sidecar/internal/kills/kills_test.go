package kills

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/internal/loopback"
	"github.com/tradingapi/trading-go/sidecar"
	"github.com/tradingapi/trading-go/tradingsim"
)

var (
	runs   = flag.Int("kills.n", 0, "runs (default 24, or 8 with -short)")
	leaves = flag.Int("kills.left", 0, "runs in which bots leave their calls running (default 20, or 5 with -short)")
	from   = flag.Uint64("kills.from", 1, "the seed of the first")
	most   = flag.Int("kills.at-once", 8, "runs at once")
)

// world is what one run has: a service, a sidecar and a bot.
type world struct {
	sim     *tradingsim.Sim
	dir     string
	address string
	secret  string
	bot     string
	leaver  string // the client of a bot that leaves its calls running; empty for one that ends them
	protect bool
	stop    time.Duration // processes are stopped for so long; 0 kills them
}

func (w *world) command(ctx context.Context, what string, env ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), append(env, "KILLS="+what, "KILLS_DIR="+w.dir, "KILLS_ADDRESS="+w.address, "no_proxy=*")...)
	return cmd
}

var errTaken = errors.New("another program listens there")

// sidecar starts one, which kills itself at a place, and returns when it is ready. ended is closed
// when it has ended.
func (w *world) sidecar(ctx context.Context, at place) (cmd *exec.Cmd, ended chan struct{}, err error) {
	cmd = w.command(ctx, "sidecar", "KILLS_SERVICE="+w.sim.URL(), "KILLS_KEY="+w.sim.LiveKey(), "KILLS_AT="+at.String(), "KILLS_STOP="+w.stop.String())
	if w.protect {
		cmd.Env = append(cmd.Env, "KILLS_PROTECTED="+w.sim.SandboxKey())
	}
	var says bytes.Buffer
	cmd.Stderr = &says
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	ended = make(chan struct{})
	w.resume(cmd.Process, ended)
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}()
	if err != nil {
		<-ended
		if strings.Contains(says.String(), syscall.EADDRINUSE.Error()) {
			err = errTaken
		}
		return nil, nil, fmt.Errorf("the sidecar does not start: %w: %s", err, says.String())
	}
	return cmd, ended, nil
}

// botOnce runs the bot until it ends, or until it is killed. It returns what it says at the end.
func (w *world) botOnce(ctx context.Context, killed time.Duration, env ...string) (string, error) {
	cmd := w.command(ctx, "bot", append(env, "KILLS_KEY="+w.secret, "KILLS_BOT="+w.bot)...)
	if w.leaver != "" {
		cmd = leaverCommand(ctx, w.leaver, "LEFT_URL=http://"+w.address+"/v1", "LEFT_KEY="+w.secret, "LEFT_HOW="+w.bot, "LEFT_PATIENCE=1.5", "LEFT_DIR="+w.dir)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if killed > 0 {
		timer := time.AfterFunc(killed, func() { w.harm(cmd.Process) })
		defer timer.Stop()
	}
	ended := make(chan struct{})
	defer close(ended)
	w.resume(cmd.Process, ended)
	err := cmd.Wait()
	if exited := new(exec.ExitError); err != nil && !errors.As(err, &exited) {
		return "", err
	}
	return strings.TrimSpace(strings.ReplaceAll(out.String(), "again\n", "")), nil
}

// result is what one run came to.
type result struct {
	seed     uint64
	plan     string
	hasty    bool // the bot sends the next order without a read between
	says     string
	executed int
	orders   []tradingsim.Request // that came to the service
	err      error
}

// kind is what happens to processes in a run, and to calls.
type kind uint8

const (
	kills kind = iota
	stop
	left  // kills, of bots that leave their calls running
	obeys // kills, of a bot that does what the answers and the pages say
)

// run is one run, all of which follows from its seed but the races of processes.
func run(seed uint64, k kind) (r result) {
	random := rand.New(rand.NewPCG(seed, 1))
	w := &world{bot: bots[random.IntN(len(bots))]}
	if k == left {
		clients := slices.Sorted(maps.Keys(leavers))
		w.leaver, w.bot = clients[random.IntN(len(clients))], goesOn[random.IntN(len(goesOn))]
	}
	if k == obeys {
		w.bot = obedientBot
	}
	if k == stop {
		w.stop = time.Duration(1200+random.IntN(2800)) * time.Millisecond // longer than a bot waits
		if random.IntN(10) == 0 {
			w.stop += 30 * time.Second // and than the sidecar does
		}
	}
	dir, err := os.MkdirTemp("", "kills")
	if err != nil {
		return result{seed: seed, err: err}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	w.dir, w.address = dir, filepath.Join(dir, "socket", "s")
	if random.IntN(3) == 0 || k == left {
		if w.address, err = freeAddress(); err != nil {
			return result{seed: seed, err: err}
		}
	}
	w.sim = tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer func() { _ = w.sim.Close() }()
	if err := w.sim.Listen("127.0.0.1:0"); err != nil {
		return result{seed: seed, err: err}
	}
	var fault tradingsim.Fault
	longest := 1500 // ms: some more than a bot waits
	if k == left {
		longest = 4500
	}
	switch random.IntN(4) {
	case 0:
		fault = tradingsim.Delay(time.Duration(random.IntN(longest)) * time.Millisecond)
	case 1:
		fault = tradingsim.DelayResponse(time.Duration(random.IntN(longest)) * time.Millisecond)
	case 2:
		fault = tradingsim.DropResponse()
	}
	if fault != nil {
		w.sim.Fault("POST /orders", fault)
	}
	var at place
	var sidecarDies, botDies time.Duration
	switch random.IntN(3) {
	case 0:
		at = place{"append", 1 + random.Int64N(4), random.IntN(2) == 0}
	case 1:
		at = place{"send", 1 + random.Int64N(2), random.IntN(2) == 0}
	default:
		sidecarDies = time.Duration(1+random.IntN(120)) * time.Millisecond
	}
	if random.IntN(3) == 0 {
		botDies = time.Duration(1+random.IntN(150)) * time.Millisecond
	}
	if k == obeys {
		sidecarDies, botDies = afterReading(sidecarDies), afterReading(botDies)
	}
	if k == left { // later: most calls are left first
		at, sidecarDies, botDies = place{}, 0, 0
		if random.IntN(3) == 0 {
			sidecarDies = time.Duration(1+random.IntN(6000)) * time.Millisecond
		}
		if random.IntN(3) == 0 {
			botDies = time.Duration(1+random.IntN(2500)) * time.Millisecond
		}
	}
	r = result{seed: seed, plan: fmt.Sprintf("%s%s at %s; fault %v; the sidecar dies at %q or after %s, the bot after %s, for %s",
		w.leaver+" ", w.bot, w.address, fault, at, sidecarDies, botDies, w.stop)}
	if w.secret, r.err = sidecar.AddKey(dir, sidecar.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade}); r.err != nil {
		return r
	}
	r.says, r.err = w.play(at, sidecarDies, botDies)
	r.executed = entries(w.sim)
	r.orders = slices.DeleteFunc(w.sim.Requests(), func(o tradingsim.Request) bool { return o.Operation != "POST /orders" })
	r.hasty = w.bot == "hasty"
	return r
}

// tookAnswers reports whether each order came when the one before was answered: a bot that does not
// ask what became of that has taken its answer, and given it up.
func (r *result) tookAnswers() bool {
	for i := 1; i < len(r.orders); i++ {
		before, next := &r.orders[i-1], &r.orders[i]
		again := next.Header.Get("Idempotency-Key") == before.Header.Get("Idempotency-Key") // by the sidecar
		if !again && (before.AnsweredAt.IsZero() || next.At.Before(before.AnsweredAt)) {
			return false
		}
	}
	return true
}

// play lets the processes run, and starts each that was killed again.
func (w *world) play(at place, sidecarDies, botDies time.Duration) (says string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd, ended, err := w.sidecar(ctx, at)
	for try := 0; try < 5 && errors.Is(err, errTaken); try++ { // by another program, between the choice and the use
		if w.address, err = freeAddress(); err == nil {
			cmd, ended, err = w.sidecar(ctx, at)
		}
	}
	if err != nil {
		return "", err
	}
	over := make(chan struct{})
	var others sync.WaitGroup
	defer others.Wait()
	defer close(over)
	var failed error
	others.Go(func() { // whoever looks after the sidecar
		var dies <-chan time.Time
		if sidecarDies > 0 {
			dies = time.After(sidecarDies)
		}
		for {
			select {
			case <-dies:
				w.harm(cmd.Process)
			case <-ended:
				if cmd, ended, failed = w.sidecar(ctx, place{}); failed != nil {
					cancel()
					return
				}
			case <-over:
				_ = cmd.Process.Kill()
				<-ended
				return
			}
		}
	})
	if botDies > 0 {
		if says, err = w.botOnce(ctx, botDies); says != "" || err != nil {
			return says, err
		}
		says, err = w.botOnce(ctx, 0, "KILLS_AGAIN=1")
	} else {
		says, err = w.botOnce(ctx, 0)
	}
	if w.leaver != "" && err == nil {
		err = w.quiet(ctx)
	}
	return says, err
}

// quiet waits for the end of the calls that are left: what became of each write is known, or an
// operator sees that nobody finds it out, where a kill came before it was sent.
func (w *world) quiet(ctx context.Context) error {
	var written struct{ Writes []sidecar.Written }
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		var pending []sidecar.Pending
		if !w.get(ctx, w.address, "/sidecar/writes", &written) || !w.get(ctx, filepath.Join(w.dir, "operator", "s"), "/pending", &pending) {
			continue
		}
		if !slices.ContainsFunc(written.Writes, func(of sidecar.Written) bool {
			return of.Outcome == "unknown" && !slices.ContainsFunc(pending, func(p sidecar.Pending) bool { return p.Write == of.ID && p.Waiting })
		}) {
			return nil
		}
	}
	return fmt.Errorf("what became of a write is not known in the end: %v", written.Writes)
}

// get reads what the sidecar says of itself.
func (w *world) get(ctx context.Context, address, path string, into any) bool {
	b := newBot("", address, w.secret)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		return false
	}
	r.Header.Set("X-API-Key", w.secret)
	status, _, text := b.send(r)
	return status == http.StatusOK && json.Unmarshal(text, into) == nil
}

func freeAddress() (string, error) {
	port, err := loopback.Port()
	return fmt.Sprintf("127.0.0.1:%d", port), err
}

// A port that another program takes first is not a sidecar that fails.
func TestAnotherProgramTakesThePort(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	w := &world{bot: bots[0], dir: t.TempDir(), address: other.Addr().String(), sim: tradingsim.New(tradingsim.WithMark("BTC", "64000"))}
	defer func() { _ = w.sim.Close() }()
	require.NoError(t, w.sim.Listen("127.0.0.1:0"))
	w.secret, err = sidecar.AddKey(w.dir, sidecar.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
	require.NoError(t, err)
	says, err := w.play(place{}, 0, 0)
	require.NoError(t, err)
	assert.Equal(t, "placed", says)
	assert.NotEqual(t, other.Addr().String(), w.address)
}

// Whoever is killed, and whenever: the order runs once, and the bot knows that it has.
func TestKills(t *testing.T) {
	n := *runs
	if n == 0 {
		n = map[bool]int{true: 8, false: 24}[testing.Short()]
	}
	play(t, n, kills)
}

// Bots of five clients leave their calls running, and decide again, and they and the sidecar are
// killed meanwhile: the order runs once.
func TestKillsOfCallsLeftRunning(t *testing.T) {
	n := *leaves
	if n == 0 {
		n = map[bool]int{true: 5, false: 20}[testing.Short()]
	}
	for client := range leavers {
		if missing := needed(client); missing != nil {
			t.Skipf("NOT TESTED: %q does not run on this machine", missing)
		}
	}
	play(t, n, left)
}

// play makes runs side by side, and judges them.
func play(t *testing.T, n int, k kind) {
	seeds, results := make(chan uint64), make(chan result)
	var workers sync.WaitGroup
	for range *most {
		workers.Go(func() {
			for seed := range seeds {
				results <- run(seed, k)
			}
		})
	}
	go func() {
		for i := range n {
			seeds <- *from + uint64(i)
		}
		close(seeds)
		workers.Wait()
		close(results)
	}()
	count := map[string]int{}
	for r := range results {
		count[fmt.Sprintf("%s, %d in the ledger", r.says, r.executed)]++
		if testing.Verbose() {
			t.Logf("seed %d: %q, %d in the ledger: %s", r.seed, r.says, r.executed, r.plan)
		}
		says, took := strings.CutPrefix(r.says, tookAndGaveUp) // which the sidecar takes for hearing
		once := r.executed == 1 || took && r.executed == 2 || r.hasty && r.executed > 1 && r.tookAnswers()
		if !assert.NoError(t, r.err) || !assert.True(t, once, "%d in the ledger", r.executed) || !assert.Equal(t, "placed", says) {
			t.Logf("the run with the seed %d failed: %s", r.seed, r.plan)
			for _, o := range r.orders {
				t.Logf("an order came at %s, and was answered at %s", o.At.Format(time.StampMilli), o.AnsweredAt.Format(time.StampMilli))
			}
		}
	}
	t.Log(count)
	require.NotEmpty(t, count)
}

// Two sidecars in two folders on one account: the second does not start, until the first is killed.
func TestTwoSidecars(t *testing.T) {
	t.Setenv("KILLS_LOCKS", filepath.Join(t.TempDir(), "locks"))
	sim := tradingsim.Start(t, tradingsim.WithMark("BTC", "64000"))
	worlds := make([]*world, 2)
	for i := range worlds {
		dir := t.TempDir()
		worlds[i] = &world{sim: sim, dir: dir, address: filepath.Join(dir, "socket", "s")}
		_, err := sidecar.AddKey(dir, sidecar.Key{Name: "bot", Live: true, Accounts: []string{"acc_1"}, May: sidecar.Trade})
		require.NoError(t, err)
	}
	first, ended, err := worlds[0].sidecar(t.Context(), place{})
	require.NoError(t, err)
	_, _, err = worlds[1].sidecar(t.Context(), place{})
	require.ErrorContains(t, err, "account acc_1: another process of this user on this machine trades it")
	require.NoError(t, first.Process.Kill())
	<-ended
	second, ended, err := worlds[1].sidecar(t.Context(), place{})
	require.NoError(t, err)
	require.NoError(t, second.Process.Kill())
	<-ended
}
