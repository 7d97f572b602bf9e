package backtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest/internal/words"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Protection is what package protect did in a run.
type Protection struct {
	// Refused are the entries that its guard refused, and Flattened how often it closed
	// everything.
	Refused, Flattened int
	// Ended is the state of the account at the end, of all protected ones that are not ok the
	// first.
	Ended protect.State
}

// guarded is a protection that runs beside a bot, as docs/protect.md has it live.
type guarded struct {
	*protect.Protection
	did    Protection
	client *trading.Client
	dir    string
	stop   context.CancelFunc
	ended  chan error
	shown  chan struct{}
}

// protection begins one on clients with keys of their own and the journal of the bot, and returns
// once it has looked at the accounts: before that it takes no entry.
func (p plan) protection(sim *tradingsim.Sim, writes journal.Store) (g *guarded, err error) {
	g = &guarded{ended: make(chan error, 1), shown: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.free())
		}
	}()
	if g.dir, err = os.MkdirTemp("", "backtest-protect"); err != nil {
		return g, fmt.Errorf("backtest: the folder of the protection: %w", err)
	}
	if g.client, err = trading.New(sim.URL(), trading.WithSandboxKey(sim.NewSandboxKey()), trading.WithLiveKey(sim.NewLiveKey()),
		trading.WithTransport(p.network(sim)), trading.WithJournal(writes)); err != nil {
		return g, fmt.Errorf("backtest: the client of the protection: %w", err)
	}
	o := *p.Protect
	o.Client, o.Dir, o.Accounts = g.client, g.dir, nil
	for _, t := range p.all() {
		if t.ID != "" {
			o.Accounts = append(o.Accounts, trading.AccountID(t.ID))
		}
	}
	if g.Protection, err = protect.New(o); err != nil {
		return g, fmt.Errorf("backtest: Config.Protect: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g.stop = cancel
	events := g.Events(ctx)
	go func() {
		defer close(g.shown)
		for e := range events {
			g.note(e)
		}
	}()
	go func() { g.ended <- g.Run(ctx) }()
	return g, nil
}

// ready waits until the accounts have been looked at.
func (g *guarded) ready(until time.Time) {
	for time.Now().Before(until) {
		starting := false
		for _, id := range g.Accounts() {
			s, err := g.State(id)
			starting = starting || err == nil && s.State == protect.Starting
		}
		if !starting {
			return
		}
		time.Sleep(time.Second)
	}
}

func (g *guarded) note(e protect.Event) {
	switch {
	case e.Kind == protect.Refused:
		g.did.Refused++
	case e.Kind == protect.Changed && e.To == protect.Flattening:
		g.did.Flattened++
	}
}

// end ends it after the bot, and says what it did.
func (g *guarded) end() (did *Protection, err error) {
	state := protect.OK
	for _, id := range g.Accounts() {
		if s, known := g.State(id); known == nil && s.State != protect.OK && state == protect.OK {
			state = s.State
		}
	}
	g.stop()
	err = <-g.ended
	<-g.shown
	if err != nil {
		err = fmt.Errorf("backtest: the protection: %w", err)
	}
	g.did.Ended = state
	return &g.did, errors.Join(err, g.free())
}

// free gives back what it took.
func (g *guarded) free() (err error) {
	if g.Protection != nil {
		err = g.Protection.Close()
	}
	if g.client != nil {
		var left *trading.PendingError // a close that the end of the run has cut
		if closing := g.client.Close(); !errors.As(closing, &left) {
			err = errors.Join(err, closing)
		}
	}
	if g.dir != "" {
		err = errors.Join(err, os.RemoveAll(g.dir))
	}
	return err
}

// checkProtect refuses what cannot be meant.
func (c Config) checkProtect() error {
	o := c.Protect
	switch {
	case o == nil:
		return nil
	case o.Client != nil || o.Dir != "" || len(o.Accounts) > 0:
		return errors.New("backtest: Config.Protect has a Client, a Dir or Accounts; the run sets them")
	case c.Account.ID == "":
		return errors.New("backtest: Config.Protect needs Config.Account.ID: a paper account cannot be protected")
	}
	return nil
}

// protected says what the protection did, beside the run without it.
func (r *Result) protected() string {
	p := r.Worse()
	if p.Protection == nil {
		return "none: the bot trades without package protect"
	}
	text := fmt.Sprintf("package protect, as live: entries refused %s, flattened %s, %s at the end", words.Count(p.Protection.Refused, "time"), words.Count(p.Protection.Flattened, "time"), p.Protection.Ended)
	if o := r.Unprotected; o != nil {
		text += fmt.Sprintf("; with it %s, equity %s; without it %s, equity %s", p.Continuous, dollars(p.Equity), o.Continuous, dollars(o.Equity))
	}
	return text
}
