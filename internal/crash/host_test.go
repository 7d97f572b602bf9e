package crash

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
)

// errKilled is what a killed bot's transport and journal say. Nobody is left to
// read it.
var errKilled = errors.New("the process is dead")

// host is what a bot lives in: the world of this process, or of the parent that
// will kill it. Everything that a bot does to its surroundings goes through it, so
// bots in process and real ones differ in how they die alone.
type host interface {
	// step is a step that the bot can die at; it reports whether the bot is dead
	// now. A real one never hears that it is.
	step(what string) (dead bool)
	// gone reports whether the bot is dead.
	gone() bool
	// carry takes a request to the service and brings the answer back.
	carry(what string, req *http.Request) (*http.Response, error)
	// begun notes that the journal has begun an intent under a key.
	begun(id trading.IntentID, key trading.Key)
	// tell notes what the bot was told, and note what it makes of it.
	tell(t told)
	note(text string)
	// unknown notes why a verdict was not reached, and problem what does not hold.
	unknown(reason string)
	problem(text string)
	// ownerActs lets the owner act, if it is the moment, and returns when that is done.
	ownerActs(at moment)
	// exit ends the process at the end of its program, without a word to the client.
	exit()
}

// wire is a bot's way to the service.
type wire struct {
	host
	latency time.Duration
}

func (t wire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	what := req.Method + " " + strings.TrimPrefix(req.URL.Path, "/v1")
	if t.step("before "+what) || !pause(req.Context(), t.latency) {
		return nil, errKilled
	}
	resp, err := t.carry(what, req)
	if !pause(req.Context(), t.latency) {
		if err == nil {
			_ = resp.Body.Close()
		}
		return nil, errKilled
	}
	return resp, err
}

// pause waits; false if the context ends first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// journal is what survives a bot, as the bot has it open.
type journal struct {
	trading.Journal
	host
}

// Begin is a commit.
func (j journal) Begin(ctx context.Context, in trading.Intent) error {
	return j.write(ctx, "journal begins "+string(in.Operation), func() error {
		err := j.Journal.Begin(ctx, in)
		if err == nil {
			j.begun(in.ID, in.Key)
		}
		return err
	})
}

// Settle is a commit.
func (j journal) Settle(ctx context.Context, id trading.IntentID, s trading.Settlement) error {
	return j.write(ctx, "journal settles "+s.Outcome.String(), func() error { return j.Journal.Settle(ctx, id, s) })
}

// write is one commit, which the bot can die before or after.
func (j journal) write(ctx context.Context, what string, commit func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if j.step("before the " + what) {
		return errKilled
	}
	err := commit()
	if j.step("after the " + what) {
		return errKilled
	}
	return err
}
