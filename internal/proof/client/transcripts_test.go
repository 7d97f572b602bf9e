package client

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
)

var update = flag.Bool("update", false, "write the transcripts in testdata anew")

// golden requires that a text is the one on file.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := "internal/proof/client/testdata/" + name
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), text, "run with -update if that is meant")
}

// The text of each mistake of the caller's, whole.
func TestTheTextsOfMistakes(t *testing.T) {
	var all strings.Builder
	for _, row := range mistakes(t) {
		fmt.Fprintf(&all, "%v\n", row.err)
	}
	golden(t, "mistakes.txt", all.String())
}

// accident is how a service, or what is in front of it, answers a call that is sent again and again.
type accident struct {
	name  string
	steps []rig.Step // the last again and again
}

func refusal(code trading.Code, status int, header ...string) rig.Step {
	return rig.Answered(status, rig.RefusalBody(code), header...)
}

var accidents = []accident{
	{"nothing answers", []rig.Step{rig.CutAfterWrite()}},
	{"no connection", []rig.Step{rig.Unreachable()}},
	{"one answer is late", []rig.Step{rig.Hanging(nil), refusal(trading.CodeBadSize, 400), refusal(trading.CodeBadSize, 400)}},
	{"a refusal", []rig.Step{refusal(trading.CodeBadSize, 400)}},
	{"the key is refused", []rig.Step{refusal(trading.CodeInvalidAPIKey, 401)}},
	{"a limit of the key, and a refusal", []rig.Step{refusal(trading.CodeRateLimited, 429, "Retry-After", "2", "X-RateLimit-Limit", "600", "X-RateLimit-Remaining", "0"), refusal(trading.CodeBadSize, 400)}},
	{"a limit that lasts too long", []rig.Step{refusal(trading.CodeRateLimited, 429, "Retry-After", "900")}},
	{"no price", []rig.Step{refusal(trading.CodeNoPrice, 503)}},
	{"an error of the service", []rig.Step{refusal(trading.CodeInternalError, 500)}},
	{"in flight", []rig.Step{refusal(trading.CodeIdempotencyInFlight, 409)}},
	{"a stored refusal", []rig.Step{refusal(trading.CodeRateLimited, 429, "Idempotent-Replayed", "true"), refusal(trading.CodeBadSize, 400)}},
	{"a page of a gateway", []rig.Step{rig.Answered(502, "<html>bad gateway</html>")}},
	{"a page that forbids", []rig.Step{rig.Answered(403, "<html>forbidden</html>")}},
	{"a gateway that is busy", []rig.Step{rig.Answered(503, "busy", "Retry-After", "3"), refusal(trading.CodeBadSize, 400), refusal(trading.CodeBadSize, 400)}},
	{"a redirect", []rig.Step{rig.Answered(307, "", "Location", "https://elsewhere.example/v1?key=x")}},
	{"a redirect to nowhere", []rig.Step{rig.Answered(302, "", "Location", "::")}},
	{"an empty success", []rig.Step{rig.Answered(200, "{}")}},
	{"another shape", []rig.Step{rig.Answered(200, `{"success":true,"ok":true,"positions":7}`)}},
}

// transcript is what a program sees of its calls, and a service of its requests.
type transcript struct {
	mu    sync.Mutex
	lines []string
	names map[string]string // of what is random
}

func (s *transcript) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// text is the transcript, in which what is random has a name.
func (s *transcript) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return random.ReplaceAllStringFunc(strings.Join(s.lines, "\n"), func(id string) string {
		if s.names[id] == "" {
			s.names[id] = fmt.Sprintf("uuid%d", len(s.names)+1)
		}
		return s.names[id]
	}) + "\n"
}

type toldKey struct{}

// hooks write down what they hear. A context goes on from hook to hook.
func (s *transcript) hooks() trading.Hooks {
	call := func(c trading.Call) string {
		return fmt.Sprintf("%s env=%q account=%q symbol=%q priority=%v write=%t entry=%t intent=%q key=%q tag=%q body=%d",
			c.Operation, c.Environment, c.Account, c.Symbol, c.Priority, c.Write, c.Entry, c.Intent, c.Key, c.Tag, len(c.Body))
	}
	passed := func(ctx context.Context) any { return ctx.Value(toldKey{}) }
	return trading.Hooks{
		CallStart: func(ctx context.Context, c trading.Call) context.Context {
			s.say("start    %s", call(c))
			return context.WithValue(ctx, toldKey{}, "call")
		},
		CallDone: func(ctx context.Context, c trading.Call, d trading.Done) {
			s.say("done     (%v) %s priority=%v intent=%q key=%q outcome=%v attempts=%d err=%v",
				passed(ctx), c.Operation, c.Priority, c.Intent, c.Key, d.Outcome, d.Attempts, d.Err)
		},
		AttemptStart: func(ctx context.Context, c trading.Call, n int) context.Context {
			s.say("send     (%v) %d priority=%v intent=%q key=%q", passed(ctx), n, c.Priority, c.Intent, c.Key)
			return context.WithValue(ctx, toldKey{}, "attempt")
		},
		AttemptDone: func(ctx context.Context, c trading.Call, a trading.Attempt) {
			s.say("sent     (%v) %d key=%q status=%d code=%q replayed=%t written=%t outcome=%v err=%v request=%d response=%d intent=%q",
				passed(ctx), a.Number, a.Key, a.Status, a.Code, a.Replayed, a.Written, a.Outcome, a.Err, len(a.Request), len(a.Response), c.Intent)
		},
		Waiting: func(ctx context.Context, _ trading.Call, w trading.Wait) {
			long := "a while"
			if w.For >= time.Second {
				long = w.For.Round(time.Second).String()
			}
			s.say("wait     (%v) %s %s %s", passed(ctx), long, w.Reason, w.Bucket)
		},
	}
}

// kindsOf are the calls that pass the pipeline each in its own way.
var kindsOf = []struct {
	name string
	call func(*trading.Client, context.Context, *trading.Meta) error
}{
	{"a read", func(c *trading.Client, ctx context.Context, m *trading.Meta) error {
		return rig.Only(c.Live.Account("acc_1").Positions(ctx, trading.ResponseInto(m)))
	}},
	{"a read that fails fast", func(c *trading.Client, ctx context.Context, m *trading.Meta) error {
		return rig.Only(c.Live.Account("acc_1").State(ctx, trading.ResponseInto(m), trading.FailFast()))
	}},
	{"a read without a key", func(c *trading.Client, ctx context.Context, m *trading.Meta) error {
		return rig.Only(c.OpenAPI(ctx, trading.ResponseInto(m)))
	}},
	{"an entry", func(c *trading.Client, ctx context.Context, m *trading.Meta) error {
		return rig.Only(c.Live.Account("acc_1").PlaceOrder(ctx, rig.Buy("0.01"), trading.ResponseInto(m), trading.WithTag("tag")))
	}},
	{"an entry with an id", func(c *trading.Client, ctx context.Context, m *trading.Meta) error {
		return rig.Only(c.Live.Account("acc_1").PlaceOrder(ctx, rig.Buy("0.01"), trading.ResponseInto(m), trading.WithClientOrderID("breakout")))
	}},
	{"an exit", func(c *trading.Client, ctx context.Context, m *trading.Meta) error {
		return rig.Only(c.Live.Account("acc_1").ClosePosition(ctx, "BTC", trading.All, trading.ResponseInto(m)))
	}},
	{"a cancel", func(c *trading.Client, ctx context.Context, m *trading.Meta) error {
		return rig.Only(c.Live.Account("acc_1").CancelOrder(ctx, "o-1", trading.ResponseInto(m)))
	}},
	{"a paper order", func(c *trading.Client, ctx context.Context, m *trading.Meta) error {
		return rig.Only(c.Sandbox.PlaceOrder(ctx, rig.Buy("0.01"), trading.ResponseInto(m)))
	}},
}

// What each kind of call does under each accident, with its hooks, requests, errors and advice, is on file:
// a change of the pipeline that changes nothing else leaves it as it is.
func TestTranscriptsOfThePipeline(t *testing.T) {
	for _, kind := range kindsOf {
		t.Run(kind.name, func(t *testing.T) {
			var all strings.Builder
			for _, a := range accidents {
				synctest.Test(t, func(t *testing.T) {
					fmt.Fprintf(&all, "# %s\n%s\n", a.name, transcribe(t, a, kind.call))
				})
			}
			golden(t, strings.ReplaceAll(kind.name, " ", "-")+".txt", all.String())
		})
	}
}

func transcribe(t *testing.T, a accident, call func(*trading.Client, context.Context, *trading.Meta) error) string {
	s := &transcript{names: map[string]string{}}
	script := rig.NewScript(t, slices.Concat(a.steps, slices.Repeat(a.steps[len(a.steps)-1:], 9))...)
	client := rig.ScriptedClient(t, script, trading.WithHooks(s.hooks()),
		trading.WithHealthGate(trading.HealthGate{Off: true}), trading.WithRetry(trading.Retry{MaxWait: time.Second}))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var meta trading.Meta
	err := call(client, ctx, &meta)
	s.say("error    %v", err)
	wait, asked := trading.RetryAfter(err)
	s.say("         outcome=%v advice=%v retry=%v %t", trading.OutcomeOf(err), trading.AdviceOf(err), asked, asked && wait > time.Second)
	s.say("         kinds: %s", strings.Join(typesOf(err), " "))
	s.say("meta     op=%s status=%d key=%q replayed=%t unjournaled=%v attempts=%d intent=%q settled=%t body=%d",
		meta.Operation, meta.Status, meta.Key, meta.Replayed, meta.Unjournaled, meta.Attempts, meta.Intent, meta.Settled, len(meta.Body))
	for _, r := range script.Received() {
		header := map[string][]string(r.Header)
		s.say("request  %s %s key=%q %s", r.Operation, slices.Sorted(maps.Keys(header)), header["idempotency-key"], r.Body)
	}
	return s.text()
}

// typesOf are the types of an error and of what is in it.
func typesOf(err error) (types []string) {
	if err == nil {
		return nil
	}
	types = append(types, fmt.Sprintf("%T", err))
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range all.Unwrap() {
			types = append(types, typesOf(one)...)
		}
		return types
	}
	return append(types, typesOf(errors.Unwrap(err))...)
}
