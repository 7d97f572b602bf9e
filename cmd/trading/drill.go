package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/contrib/postgres"
	"github.com/tradingapi/trading-go/tradingsim"
)

func newDrill(app *cli.App) *cobra.Command {
	return cli.Group("drill", "Try an accident on the simulator, before it comes", newDrillFailover(app), newDrillBot(app))
}

// drill is two machines, a service that is simulated, and what they say.
type drill struct {
	app      *cli.App
	fleet    *fleet
	lease    time.Duration
	began    time.Time
	sim      *tradingsim.Sim
	machines []*drillMachine
	heard    chan heard
	words    []heard
}

// heard is a word of a machine, or an order that the simulator has executed.
type heard struct {
	from     *drillMachine // nil for the simulator
	word     drillWord
	executed trading.Key
}

// drillMachine is a process that runs a bot.
type drillMachine struct {
	name  string
	cmd   *exec.Cmd
	stdin io.Closer
	read  sync.WaitGroup
}

func newDrillFailover(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "failover", Short: "Kill a bot that trades, and watch another one take over", Args: cli.Args(),
		Long: `Start a simulated service and two bots of this program, as processes of their own, whose journal is
in the database. The one that trades is killed while the service has executed its order and keeps
the answer back. The other one takes over, finds that order, and goes on; then it hands over in
order. At the end the simulator's ledger is the judge: each decision once, and each bot knows
what happened.

Use a database for the drill: the tables are made where they are missing. The drill has a lease of
its own, and removes it once the ledger agrees; else it stays, for you to look at. Nothing is sent
to the real service. The exit code is 8 if the ledger says otherwise than the bots.`,
		Example: "  trading drill failover --fleet postgres://postgres@localhost/postgres",
	}
	d := &drill{app: app, fleet: fleetFlags(app, cmd), heard: make(chan heard, 1000)}
	cmd.Flags().DurationVar(&d.lease, "lease-duration", 5*time.Second, "how long a bot must be silent until the other one takes over")
	timeout := cmd.Flags().Duration("timeout", 3*time.Minute, "how long the drill may take")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := errors.Join(cli.Require(cmd, "fleet"), d.fleet.check(cmd)); err != nil {
			return err
		}
		if d.lease < time.Second || *timeout <= 0 {
			return cli.Misuse("--lease-duration must be at least 1s, and --timeout greater than 0")
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), *timeout)
		defer cancel()
		return d.run(ctx)
	}
	return cmd
}

func (d *drill) run(ctx context.Context) (err error) {
	if err := postgres.Migrate(ctx, d.fleet.url); err != nil {
		return notReached(err)
	}
	d.sim = tradingsim.New(tradingsim.WithMark("BTC", "64000"))
	defer func() { err = errors.Join(err, d.sim.Close()) }()
	if err := d.sim.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	defer d.sim.Watch(func(e tradingsim.Event) {
		if e.Kind == tradingsim.EventExecution {
			d.heard <- heard{executed: trading.Key(e.Execution.Key)}
		}
	})()
	defer func() {
		for _, m := range d.machines {
			_ = m.cmd.Process.Kill()
			m.end()
		}
	}()
	d.began = time.Now()
	bot := drillBot{Database: d.fleet.url, Name: "drill " + uuid.NewString(), BaseURL: d.sim.URL(), LiveKey: d.sim.LiveKey(), Lease: d.lease}
	for _, name := range []string{"A", "B"} {
		if err := d.start(ctx, name, bot); err != nil {
			return err
		}
	}
	if err := d.failover(ctx); err != nil {
		return err
	}
	for _, m := range d.machines { // one that waits would make the lease anew
		_ = m.stdin.Close()
		m.end()
	}
	if err := d.judge(); err != nil {
		return err
	}
	if err := postgres.Remove(ctx, d.fleet.url, bot.Name); err != nil {
		return notReached(err)
	}
	return nil
}

// failover is what happens, until nothing runs any more.
func (d *drill) failover(ctx context.Context) error {
	placed := 0
	first, err := d.until(ctx, "a bot to trade", func(h heard) bool {
		if h.word.Kind == "decided" && h.word.Outcome == trading.Applied {
			placed++
		}
		return placed > drillAgain
	})
	if err != nil {
		return err
	}
	d.sim.Fault("POST /orders", tradingsim.DelayResponse(time.Hour))
	if _, err := d.until(ctx, "an order", func(h heard) bool { return h.executed != "" }); err != nil {
		return err
	}
	killed := time.Now()
	_ = first.from.cmd.Process.Kill()
	first.from.end()
	d.say("%s is killed; the service has executed its order, and the answer is lost", first.from.name)
	next, err := d.until(ctx, "the other bot to hold the lease", func(h heard) bool { return h.word.Kind == "holds" })
	if err != nil {
		return err
	}
	d.say("that is %.1f s after the kill", time.Since(killed).Seconds())
	_, err = d.until(ctx, "its first new order", func(h heard) bool {
		return h.from == next.from && h.word.Kind == "decided" && h.word.Outcome == trading.Applied && !d.knows(h.word.Decision)
	})
	if err != nil {
		return err
	}
	d.say("that is its first new order, %.1f s after the kill", time.Since(killed).Seconds())
	_ = next.from.stdin.Close()
	_, err = d.until(ctx, "it to hand over", func(h heard) bool { return h.from == next.from && h.word.Kind == "over" })
	return err
}

// start starts a machine.
func (d *drill) start(ctx context.Context, name string, bot drillBot) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	m := &drillMachine{name: name, cmd: exec.CommandContext(ctx, program, "drill", "bot")}
	m.cmd.Env, m.cmd.Stderr = d.app.Environ, d.app.Lines()
	in, errIn := m.cmd.StdinPipe()
	out, errOut := m.cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, m.cmd.Start()); err != nil {
		return err
	}
	m.stdin = in
	d.machines = append(d.machines, m)
	m.read.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			h := heard{from: m}
			if json.Unmarshal(lines.Bytes(), &h.word) == nil {
				d.heard <- h
			}
		}
	})
	return json.NewEncoder(in).Encode(bot)
}

// end waits for the process, whose standard output is read first.
func (m *drillMachine) end() {
	m.read.Wait()
	_ = m.cmd.Wait() // which says how it ended; a second time, that it has
}

// until listens until something is so.
func (d *drill) until(ctx context.Context, what string, so func(heard) bool) (heard, error) {
	for {
		select {
		case <-ctx.Done():
			return heard{}, cli.WithCode(cli.NotApplied, fmt.Errorf("the drill waited for %s: %w", what, ctx.Err()))
		case h := <-d.heard:
			d.tell(h)
			is := so(h)
			d.words = append(d.words, h)
			if is {
				return h, nil
			}
			if h.word.Kind == "over" {
				return heard{}, fmt.Errorf("%s ended while the drill waited for %s: %s", h.from.name, what, cli.Printable(h.word.Err))
			}
		}
	}
}

// tell says what a machine has said.
func (d *drill) tell(h heard) {
	w := h.word
	switch w.Kind {
	case "holds":
		d.say("%s holds the lease", h.from.name)
	case "found":
		d.say("%s finds decision %s, which was pending: %s", h.from.name, w.Decision, w.Outcome)
	case "decided":
		again := ""
		if d.knows(w.Decision) {
			again = " again"
		}
		why := ""
		if w.Err != "" {
			why = ": " + cli.Printable(w.Err)
		}
		d.say("%s takes decision %s%s: %s%s", h.from.name, w.Decision, again, w.Outcome, why)
	}
}

// knows reports whether a machine has spoken of a decision.
func (d *drill) knows(decision string) bool {
	return slices.ContainsFunc(d.words, func(h heard) bool { return h.word.Decision == decision })
}

func (d *drill) say(format string, args ...any) {
	fmt.Fprintf(d.app.Out, "%6.1f s  %s\n", time.Since(d.began).Seconds(), fmt.Sprintf(format, args...))
}

// judge holds what the bots know against the simulator's ledger.
func (d *drill) judge() error {
	ran, known, names := map[string]int{}, map[string][]trading.Outcome{}, map[string]string{}
	for _, e := range d.sim.Ledger() {
		ran[decisionOf(trading.Key(e.Key))]++
	}
	for _, h := range d.words {
		if key := decisionOf(h.word.Key); key != "" {
			known[key], names[key] = append(known[key], h.word.Outcome), h.word.Decision
		}
	}
	var wrong []string
	orders := 0
	for _, key := range slices.Sorted(maps.Keys(ran)) {
		orders += ran[key]
		name := cmp.Or(names[key], key)
		if ran[key] > 1 {
			wrong = append(wrong, fmt.Sprintf("decision %s was executed %d times", name, ran[key]))
		}
		if !slices.Contains(known[key], trading.Applied) {
			wrong = append(wrong, fmt.Sprintf("decision %s was executed, and no bot knows", name))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if ran[key] == 0 && slices.Contains(known[key], trading.Applied) {
			wrong = append(wrong, fmt.Sprintf("decision %s was not executed, and a bot takes it for executed", names[key]))
		}
	}
	if len(wrong) > 0 {
		return cli.WithCode(cli.Unsound, errors.New(strings.Join(wrong, "\n")))
	}
	_, err := fmt.Fprintf(d.app.Out, "judged by the ledger: %d decisions, %d orders, none twice, none that no bot knows of\n", len(known), orders)
	return err
}

// decisionOf is a key without the number of its try.
func decisionOf(key trading.Key) string {
	text := string(key)
	if at := strings.LastIndex(text, "-"); strings.HasPrefix(text, "d-") {
		return text[:at]
	}
	return text
}
