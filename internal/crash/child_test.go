package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	durable "github.com/tradingapi/trading-go/journal"
)

// The child is this test binary once more, as a small bot that tells its parent of
// each step on stdout, and goes on when the parent says so on stdin. It stops at a
// step, and does not die of itself: only SIGKILL ends it there.

// order is what the parent wants of a child; it is in the child's environment.
type order struct {
	BaseURL, Key, Journal string
	Recover               bool
	Operation             operation
	Decided, Sole         bool
	Lifetime              time.Duration
	ClockBack             time.Duration // how far the journal's times lie in the future
	StopAt                int           // the step to stop at; 0 for none
}

// line is what a child tells.
type line struct {
	Step    int    `json:",omitempty"`
	What    string `json:",omitempty"`
	Stopped bool   `json:",omitempty"`
	Outcome string `json:",omitempty"` // of the write, or of a verdict
	Intent  string `json:",omitempty"`
	Basis   string `json:",omitempty"`
	Error   string `json:",omitempty"`
	Done    bool   `json:",omitempty"`
}

const childEnv = "TRADING_CRASH_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		var o order
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			panic(err)
		}
		newChild(o).run()
		return
	}
	os.Exit(m.Run())
}

type child struct {
	order
	steps chan struct{} // one token: steps are told one after the other
	n     int
	out   *json.Encoder
}

func newChild(o order) *child {
	return &child{order: o, steps: make(chan struct{}, 1), out: json.NewEncoder(os.Stdout)}
}

func (c *child) tell(l line) {
	c.steps <- struct{}{}
	defer func() { <-c.steps }()
	c.write(l)
}

func (c *child) write(l line) {
	if err := c.out.Encode(l); err != nil {
		os.Exit(3) // the parent is gone
	}
}

// step tells of a step, and stays in it for good if it is the one to die at.
func (c *child) step(what string) {
	c.steps <- struct{}{}
	defer func() { <-c.steps }()
	c.n++
	c.write(line{Step: c.n, What: what, Stopped: c.n == c.StopAt})
	if c.n == c.StopAt {
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // never comes
	}
}

func (c *child) run() {
	j, err := durable.Open(c.Journal, durable.Options{})
	if err != nil {
		c.tell(line{Error: err.Error(), Done: true})
		return
	}
	opts := []trading.Option{
		trading.WithLiveKey(c.Key),
		trading.WithTransport(childWire{c, http.DefaultTransport}),
		trading.WithJournal(childJournal{j, c}),
		trading.WithAttemptTimeout(time.Second),
		trading.WithLifetime(c.Lifetime),
	}
	if c.Sole {
		opts = append(opts, trading.SoleActor(account))
	}
	client, err := trading.New(c.BaseURL, opts...)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if c.Recover {
		c.recover(ctx, client)
	} else {
		c.place(ctx, client)
	}
	_ = client.Close()
	_ = j.Close()
	c.tell(line{Done: true})
}

func (c *child) place(ctx context.Context, client *trading.Client) {
	a := client.Live.Account(account)
	readAll(ctx, a)
	var opts []trading.CallOption
	if c.Decided {
		opts = append(opts, trading.WithDecision("crash", "one"))
	}
	_, err := c.Operation.write(ctx, a, opts...)
	l := line{Outcome: trading.OutcomeOf(err).String()}
	if write := (*trading.WriteError)(nil); errors.As(err, &write) {
		l.Intent, l.Error = string(write.Intent), err.Error()
	}
	c.tell(l)
}

func (c *child) recover(ctx context.Context, client *trading.Client) {
	verdicts, err := client.Recover(ctx)
	for _, v := range verdicts {
		l := line{Outcome: v.Outcome.String(), Intent: string(v.Intent.ID), Basis: v.Basis.String()}
		if v.Err != nil {
			l.Error = reasonOf(v)
		}
		c.tell(l)
	}
	if err == nil {
		c.tell(line{What: "nothing left open"})
	}
}

// childWire is the bot's way to the service.
type childWire struct {
	c    *child
	next http.RoundTripper
}

func (t childWire) RoundTrip(req *http.Request) (*http.Response, error) {
	what := req.Method + " " + strings.TrimPrefix(req.URL.Path, "/v1")
	t.c.step("before " + what)
	req = req.WithContext(traced(req.Context(), func() { t.c.step("sent " + what) }))
	resp, err := t.next.RoundTrip(req)
	t.c.step("answered " + what)
	return resp, err
}

// childJournal is the durable journal, with a step before and after each write. It
// moves the journal's times, as a clock that was set back would.
type childJournal struct {
	*durable.Journal
	c *child
}

func (j childJournal) Begin(ctx context.Context, in trading.Intent) error {
	j.c.step("before the journal begins")
	err := j.Journal.Begin(ctx, moved(in, -j.c.ClockBack))
	j.c.step("after the journal begins")
	return err
}

func (j childJournal) Settle(ctx context.Context, id trading.IntentID, s trading.Settlement) error {
	j.c.step(fmt.Sprintf("before the journal settles %s", s.Outcome))
	err := j.Journal.Settle(ctx, id, s)
	j.c.step("after the journal settles")
	return err
}

func (j childJournal) Pending(ctx context.Context) iter.Seq2[trading.Intent, error] {
	return func(yield func(trading.Intent, error) bool) {
		for in, err := range j.Journal.Pending(ctx) {
			if !yield(moved(in, j.c.ClockBack), err) {
				return
			}
		}
	}
}

// moved is an intent as it looks to a clock that was set back by so much.
func moved(in trading.Intent, by time.Duration) trading.Intent {
	in.Created, in.Expires = in.Created.Add(by), in.Expires.Add(by)
	if b, known := in.Baseline.Get(); known {
		b.At = b.At.Add(by)
		in.Baseline = trading.Some(b)
	}
	return in
}
