package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/flatten"
	"github.com/tradingapi/trading-go/protect"
)

const (
	lookEvery = time.Second
	// lateAfter is how long a write can be pending before a person has to know.
	lateAfter = time.Minute
)

// Watch notifies of halts of a client and of writes that have been pending for more than a
// minute, each once, and of their ends. It sends no request. It returns when ctx ends.
func (n *Notifier) Watch(ctx context.Context, c *trading.Client) {
	w := watched{n: n, late: map[trading.IntentID]trading.PendingWrite{}}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		w.look(ctx, c)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// watched is what Watch has said.
type watched struct {
	n      *Notifier
	halted bool
	reason string
	late   map[trading.IntentID]trading.PendingWrite
}

func (w *watched) look(ctx context.Context, c *trading.Client) {
	reason, halted := c.Halted()
	switch {
	case halted && (!w.halted || reason != w.reason):
		w.n.Notify(Message{Kind: Halt, Text: "halted, entries are refused: " + reason})
	case !halted && w.halted:
		w.n.Notify(Message{Kind: Halt, Text: "resumed, entries are taken again"})
	}
	w.halted, w.reason = halted, reason

	pending, err := c.Pending(ctx)
	if err != nil {
		return // the client is closed, or ctx has ended
	}
	open := make(map[trading.IntentID]bool, len(pending))
	for _, p := range pending {
		open[p.ID] = true
		if _, said := w.late[p.ID]; !said && time.Since(p.Decided) > lateAfter {
			w.late[p.ID] = p
			w.n.Notify(Message{Kind: Pending, Account: p.Account, Text: lateText(p)})
		}
	}
	for id, p := range w.late {
		if !open[id] {
			delete(w.late, id)
			w.n.Notify(Message{Kind: Pending, Account: p.Account, Text: fmt.Sprintf("write %s is pending no more: its outcome is known", id)})
		}
	}
}

func lateText(p trading.PendingWrite) string {
	text := string(p.Operation)
	if p.Symbol != "" {
		text += " in " + p.Symbol
	}
	text += fmt.Sprintf(": its outcome has not been known since %s: write %s", p.Decided.UTC().Format(time.TimeOnly+" UTC"), p.ID)
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	if p.MarketOpen {
		text += "; entries in its market go on"
	} else {
		text += "; entries in its market are refused"
	}
	if p.Waiting {
		text += "; a person has to look"
	}
	return text
}

// Protection notifies of what a protection does: each change of an account's state, but
// those to ok from starting or warned, and each alert. It returns when ctx ends.
func (n *Notifier) Protection(ctx context.Context, p *protect.Protection) {
	for e := range p.Events(ctx) {
		if m, ok := fromEvent(e); ok {
			n.Notify(m)
		}
	}
}

// fromEvent is an event as a message; ok is false for what nobody has to be called for.
func fromEvent(e protect.Event) (m Message, ok bool) {
	m = Message{At: e.At, Kind: Floor, Account: e.Account, Text: e.String()}
	switch e.Kind {
	case protect.Changed:
		return m, !(e.To == protect.OK && (e.From == protect.Starting || e.From == protect.Warned))
	case protect.Alert, protect.BlindBegan, protect.BlindEnded:
		return m, true
	}
	return m, e.Missed > 0
}

// Flattened notifies of what [flatten.Account] and its kind returned; of a nil report, of
// the error alone.
func (n *Notifier) Flattened(report *flatten.Report, err error) {
	m := Message{Kind: Flatten}
	switch {
	case report == nil && err == nil:
		return
	case report == nil:
		m.Text = fmt.Sprintf("not flat: %v", err)
	default:
		m.Account, m.Text = report.Account, report.String()
	}
	n.Notify(m)
}
