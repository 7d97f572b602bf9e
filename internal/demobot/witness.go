package demobot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// Write is a write as the client knows it.
type Write struct {
	ID          string
	At          time.Time
	Environment string
	Symbol      string
	Text        string
	Outcome     string // sending, pending, applied or not applied
	Steps       []string
}

func (w *Write) decided() bool { return w.Outcome == "applied" || w.Outcome == "not applied" }

// witness follows writes by the client's hooks.
type witness struct {
	show func(Write)

	mu     sync.Mutex
	count  int
	writes map[trading.IntentID]*Write // those that are not decided
}

func newWitness(show func(Write)) *witness {
	return &witness{show: show, writes: map[trading.IntentID]*Write{}}
}

// expectation is the write that a call is about to make.
type expectation struct{}

// expect names the write that is made with ctx.
func (w *witness) expect(ctx context.Context, symbol, text string) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	return context.WithValue(ctx, expectation{}, &Write{
		ID: strconv.Itoa(w.count), At: time.Now(), Symbol: symbol, Text: text, Outcome: "sending",
	})
}

func (w *witness) hooks() trading.Hooks {
	return trading.Hooks{CallStart: w.started, AttemptDone: w.attempted, CallDone: w.done, Resolved: w.resolved}
}

// of finds the write of a call. One that resolves a write in doubt has its name alone.
func (w *witness) of(ctx context.Context, c trading.Call) *Write {
	if !c.Write {
		return nil
	}
	if made, ok := ctx.Value(expectation{}).(*Write); ok {
		return made
	}
	return w.writes[c.Intent]
}

// note changes a write and shows it.
func (w *witness) note(ctx context.Context, c trading.Call, change func(*Write)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	write := w.of(ctx, c)
	if write == nil {
		return
	}
	if c.Intent != "" && !write.decided() {
		w.writes[c.Intent] = write
	}
	change(write)
	w.shown(write)
}

func (w *witness) shown(write *Write) {
	now := *write
	now.Steps = slices.Clone(write.Steps)
	w.show(now)
}

func (w *witness) started(ctx context.Context, c trading.Call) context.Context {
	w.note(ctx, c, func(write *Write) { write.Environment = string(c.Environment) })
	return nil
}

func (w *witness) attempted(ctx context.Context, c trading.Call, a trading.Attempt) {
	w.note(ctx, c, func(write *Write) {
		write.Steps = append(write.Steps, textOf(a))
		if a.Outcome == trading.Unknown {
			write.Outcome = "pending"
		}
	})
}

// textOf says how a send ended.
func textOf(a trading.Attempt) string {
	switch {
	case a.Err != nil && a.Status == 0 && !a.Written:
		return "nothing was sent: no connection"
	case a.Err != nil && a.Status == 0:
		return "sent, and no reply came"
	case a.Replayed:
		return "asked again under its key: the service repeated its first reply"
	case a.Code != "":
		return fmt.Sprintf("refused: %d %s", a.Status, a.Code)
	case a.Err != nil || a.Status >= 300:
		return fmt.Sprintf("sent, and a reply %d came that says nothing of it", a.Status)
	}
	return fmt.Sprintf("replied %d", a.Status)
}

func (w *witness) done(ctx context.Context, c trading.Call, d trading.Done) {
	w.note(ctx, c, func(write *Write) {
		switch {
		case d.Outcome == trading.Unknown && d.Err != nil:
			if write.decided() {
				return // the client found out as the call gave up
			}
			write.Outcome = "pending"
			write.Steps = append(write.Steps, "the client goes on finding out")
			return
		case d.Err == nil:
			write.Outcome = "applied"
		case d.Outcome == trading.Applied:
			write.Outcome = "applied"
		default:
			write.Outcome = "not applied"
			if len(write.Steps) == 0 {
				write.Steps = []string{"not sent: " + d.Err.Error()}
			}
		}
		delete(w.writes, c.Intent)
	})
}

func (w *witness) resolved(_ context.Context, r trading.Resolution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	write, ok := w.writes[r.Intent.ID]
	if !ok || r.Outcome == trading.Unknown {
		return
	}
	delete(w.writes, r.Intent.ID)
	write.Outcome = "not applied"
	if r.Outcome == trading.Applied {
		write.Outcome = "applied"
	}
	write.Steps = append(write.Steps, fmt.Sprintf("found %s after %v, by %s", write.Outcome, time.Since(write.At).Round(time.Second), r.Evidence))
	w.shown(write)
}
