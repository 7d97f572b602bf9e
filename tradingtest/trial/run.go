package trial

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
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
	if len(seeds) == 0 {
		seeds = []uint64{1, 2, 3}
	}
	quiet, _ := playVirtually(t, bot, Scene{Scenario: Quiet, Seed: seeds[0], Manifest: m})
	runs := []Outcome{quiet}
	for _, scenario := range Scenarios()[1:] {
		for _, seed := range seeds {
			t.Run(fmt.Sprintf("%s/seed %d", scenario, seed), func(t *testing.T) {
				o, _ := playVirtually(t, bot, Scene{Scenario: scenario, Seed: seed, Manifest: m, Quiet: quiet.Counts})
				runs = append(runs, o)
				for _, f := range o.Findings {
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
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var err error
		o, events, err = Play(t.Context(), s, func(sim *tradingsim.Sim) (Program, error) {
			return &virtual{bot: bot, service: Service{
				BaseURL: sim.URL(), LiveKey: sim.LiveKey(), SandboxKey: sim.SandboxKey(), Account: Account,
				Transport: sim.Transport(), Journal: journal.NewMemory(), Dir: dir,
			}}, nil
		})
		if err != nil {
			t.Fatalf("trial: %v", err)
		}
	})
	return o, events
}

// virtual is a bot that is a function: its present life is one call.
type virtual struct {
	bot     Bot
	service Service
	kill    context.CancelFunc
	ended   chan struct{}
	err     error
}

func (v *virtual) Start() error {
	ctx, kill := context.WithCancel(context.Background())
	ended, at := make(chan struct{}), v.service
	v.kill, v.ended = kill, ended
	at.Transport, at.Journal = cutTransport{at.Transport, ctx}, cutJournal{at.Journal, ctx}
	go func() {
		defer close(ended)
		v.err = v.bot(ctx, at)
	}()
	return nil
}

func (v *virtual) Kill() (part bool, err error) {
	v.kill()
	select {
	case <-v.ended:
		return false, nil
	case <-time.After(time.Hour):
		panic("trial: the bot has not returned an hour after its context ended")
	}
}

func (v *virtual) Ended() <-chan struct{} { return v.ended }

func (v *virtual) How() string { return fmt.Sprintf("%.200v", v.err) }

var errKilled = errors.New("trial: the bot was killed")

// cutTransport reaches nothing once its bot is killed.
type cutTransport struct {
	http.RoundTripper
	life context.Context
}

func (c cutTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer context.AfterFunc(c.life, cancel)()
	defer cancel() // the answer is here as a whole
	var a *http.Response
	err := c.life.Err()
	if err == nil {
		a, err = c.RoundTripper.RoundTrip(r.WithContext(ctx))
	}
	if c.life.Err() != nil {
		return nil, errKilled
	}
	return a, err
}

// cutJournal takes nothing once its bot is killed.
type cutJournal struct {
	journal.Store
	life context.Context
}

func (c cutJournal) Append(ctx context.Context, durable bool, records ...journal.Record) error {
	if c.life.Err() != nil {
		return errKilled
	}
	return c.Store.Append(ctx, durable, records...)
}
