package trial

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/tradingsim"
)

// Bot is a bot in Go: it trades at a service until ctx ends.
type Bot func(ctx context.Context, at Service) error

// Service is where a bot trades.
type Service struct {
	// BaseURL, LiveKey, SandboxKey and Account are what a program finds in its environment.
	BaseURL, LiveKey, SandboxKey, Account string
	// Transport reaches the service, until the bot is killed.
	Transport http.RoundTripper
	// Journal and Dir are what is left to the next life: a journal, and a folder.
	Journal journal.Store
	Dir     string
}

// Client is a client of the service with the journal. Options win over what it sets.
func (s Service) Client(opts ...trading.Option) (*trading.Client, error) {
	return trading.New(s.BaseURL, append([]trading.Option{
		trading.WithLiveKey(s.LiveKey), trading.WithSandboxKey(s.SandboxKey),
		trading.WithTransport(s.Transport), trading.WithJournal(s.Journal),
	}, opts...)...)
}

// Run judges a bot on virtual time: a quiet run, and then each scenario with each seed, 1 to 3
// unless named, as a subtest of its own. It fails the test with what the bot did wrong, and
// where nothing was exercised.
//
// A kill cuts the bot's transport and its journal, ends its context, and waits until the bot
// has returned: what the bot still does in memory a killed process would not do. A bot that
// does not return within an hour of its context's end ends the program. To kill a process
// there is the command "trading trial".
func Run(t *testing.T, bot Bot, m Manifest, seeds ...uint64) {
	t.Helper()
	m, err := m.complete()
	if err != nil {
		t.Fatalf("trial: %v", err)
	}
	if len(seeds) == 0 {
		seeds = []uint64{1, 2, 3}
	}
	quiet := Scene{Scenario: Quiet, Seed: seeds[0], Manifest: m}
	first, _ := playVirtually(t, bot, quiet)
	runs := []Outcome{first}
	for _, scenario := range Scenarios()[1:] {
		for _, seed := range seeds {
			t.Run(fmt.Sprintf("%s/seed %d", scenario, seed), func(t *testing.T) {
				o, _ := playVirtually(t, bot, Scene{Scenario: scenario, Seed: seed, Manifest: m, Quiet: first.Counts})
				runs = append(runs, o)
				for _, f := range o.Findings.Findings {
					if f.Verdict == Fail {
						t.Errorf("%s", f)
					}
				}
			})
		}
	}
	var text strings.Builder
	WriteReached(&text, runs)
	t.Log("\n" + text.String())
	if Summary(runs).Verdict == NotExercised {
		t.Error("trial: nothing was exercised")
	}
}

// playVirtually plays a scene in a bubble.
func playVirtually(t *testing.T, bot Bot, s Scene) (o Outcome, events []tradingsim.Event) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sim := NewSim(s, func(e tradingsim.Event) { events = append(events, e) })
		defer func() { _ = sim.Close() }() // it has no log
		v := &virtual{bot: bot, service: Service{
			BaseURL: sim.URL(), LiveKey: sim.LiveKey(), SandboxKey: sim.SandboxKey(), Account: Account,
			Transport: sim.Transport(), Journal: journal.NewMemory(), Dir: dir,
		}}
		counts, err := Play(t.Context(), s, sim, v)
		if err != nil {
			t.Fatalf("trial: %v", err)
		}
		findings, err := Judge(s.Manifest, events)
		if err != nil {
			t.Fatalf("trial: %v", err)
		}
		o = Outcome{Scenario: s.Scenario, Seed: s.Seed, Counts: counts, Findings: findings}
	})
	return o, events
}

// virtual is a bot that is a function.
type virtual struct {
	bot     Bot
	service Service
	life    *life
}

// life is one call of the function.
type life struct {
	over   atomic.Bool
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

func (v *virtual) Start() error {
	ctx, cancel := context.WithCancel(context.Background())
	l := &life{cancel: cancel, done: make(chan struct{})}
	v.life = l
	at := v.service
	at.Transport = cutTransport{at.Transport, ctx, l}
	at.Journal = cutJournal{at.Journal, l}
	go func() {
		defer close(l.done)
		l.err = v.bot(ctx, at)
	}()
	return nil
}

func (v *virtual) Kill() error {
	v.life.over.Store(true)
	v.life.cancel()
	select {
	case <-v.life.done:
		return nil
	case <-time.After(time.Hour):
		panic("trial: the bot has not returned an hour after its context ended")
	}
}

func (v *virtual) Ended() <-chan struct{} { return v.life.done }

func (v *virtual) How() string { return fmt.Sprintf("%.200v", v.life.err) }

var errKilled = errors.New("trial: the bot was killed")

// cutTransport reaches nothing once its bot is killed.
type cutTransport struct {
	http.RoundTripper
	killed context.Context
	*life
}

func (c cutTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.over.Load() {
		return nil, errKilled
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer context.AfterFunc(c.killed, cancel)()
	defer cancel() // the answer is here as a whole
	a, err := c.RoundTripper.RoundTrip(r.WithContext(ctx))
	if c.over.Load() {
		return nil, errKilled
	}
	return a, err
}

// cutJournal takes nothing once its bot is killed.
type cutJournal struct {
	journal.Store
	*life
}

func (c cutJournal) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if c.over.Load() {
		return errKilled
	}
	return c.Store.Append(ctx, durable, records...)
}
