package resolve

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/wire"
	"github.com/tradingapi/trading-go/journal"
)

// Journaled is what a journal says of a write.
type Journaled struct {
	// Intent is the write. Of a resolved write a journal may keep ID, Key and Try alone.
	pending.Intent
	// Pending means that its outcome is not known.
	Pending bool
	// Outcome, Evidence and ResolvedAt are how it ended.
	Outcome    ledger.Outcome
	Evidence   Evidence
	ResolvedAt time.Time
	// Code is the service's refusal, Answer its success, and Note what somebody wrote
	// who acknowledged it; each is empty where there is none.
	Code   spec.Code
	Answer wire.Body
	Note   string
	// Facts are what happened to it, oldest first.
	Facts []Event
	// Last is the newest of them that says something of its outcome.
	Last string
}

// Event is one thing that happened to a write.
type Event struct {
	// At is when, by this machine's clock.
	At time.Time
	// What says it in words.
	What string
}

// Describe decodes what a journal keeps of a write, for people and tools. quote makes a
// line of the service's text.
func Describe(h journal.History, quote func(string) string) (*Journaled, error) {
	records, err := decode(&h)
	if err != nil {
		return nil, err
	}
	w := &Journaled{Pending: !h.Final}
	for i := range records {
		w.add(&records[i], quote)
	}
	switch {
	case len(h.Records) == 0, !h.Final && w.ID == "":
		return nil, fmt.Errorf("trading: journal: write %s: its first record is missing", h.Intent)
	case h.Final && w.ResolvedAt.IsZero():
		return nil, fmt.Errorf("trading: journal: write %s: %w", h.Intent, errors.New("it is resolved, and its final record is missing"))
	}
	w.ID = pending.IntentID(h.Intent)
	return w, nil
}

func (w *Journaled) add(r *record, quote func(string) string) {
	switch {
	case r.Begin != nil:
		w.Intent = *r.Begin.Intent
		w.key(r.Begin.Try)
		w.Facts = append(w.Facts, Event{r.Begin.Intent.Decided, "decided"})
		w.Last = "it was sent, or was about to be: no answer was heard"
	case r.Key != nil:
		w.key(r.Key.Try)
	case r.Fact != nil:
		w.Facts = append(w.Facts, Event{r.Fact.At.Wall, factText(r.Fact, quote)})
		if last := lastText(r.Fact, quote); last != "" {
			w.Last = last
		}
	case r.Beside != nil:
		for i := range r.Beside.Own {
			w.Facts = append(w.Facts, Event{r.Beside.Own[i].Heard, "another write of the program in the market ended"})
		}
	case r.End != nil:
		end := r.End
		w.Outcome, w.Evidence, w.ResolvedAt = end.Outcome, end.Evidence, end.At
		w.Code, w.Answer, w.Note = spec.Code(end.Code), wire.Body(end.Answer), end.Note
		if of := end.Of; of != nil && w.Operation == "" {
			w.Intent = pending.Intent{
				Operation: of.Operation, Environment: of.Environment, Account: of.Account, Symbol: of.Symbol,
				ClientOrderID: of.ClientOrderID, Decided: of.Decided,
			}
		}
		w.key(Try{end.Key, end.Try})
	}
}

func (w *Journaled) key(t Try) { w.Key, w.Try = t.Key, t.Number }

// code is a code of the service as a reason shows it.
func code(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }) {
		return "an unknown code"
	}
	return text
}

// factText says what a fact shows.
func factText(f *ledger.Fact, quote func(string) string) string {
	a := &f.Answer
	switch f.Kind {
	case ledger.SendBegun:
		return "it was sent again"
	case ledger.SendEnded:
		if a.Class == ledger.Unsent {
			return "nothing of it was sent"
		}
		return "it was sent: " + answerText(a, quote)
	case ledger.SendHeard:
		return fmt.Sprintf("a late answer to send %d: %s", f.Send, answerText(a, quote))
	case ledger.KeyChanged:
		return "it was sent under the next key"
	case ledger.SendingOver:
		return "its sending ended"
	case ledger.FenceBegun:
		return "the service was asked whether it knows its key"
	case ledger.FenceEnded:
		return fenceText(a, quote)
	case ledger.ProbeBegun:
		return "its stored answer was asked for"
	case ledger.ProbeEnded:
		return "its stored answer was asked for: " + answerText(a, quote)
	case ledger.Looked:
		return "the account was read"
	case ledger.Acknowledged:
		return "a person acknowledged what became of it"
	case ledger.Restarted:
		return "another run of the program took it over"
	case ledger.Confirmed:
		return "a second question was asked about its refusal: " + answerText(a, quote)
	case ledger.Asked:
		return "somebody asked what became of it"
	default:
		return "a fact that this version does not know"
	}
}

// lastText is factText of what says something of the outcome; empty of anything else.
func lastText(f *ledger.Fact, quote func(string) string) string {
	switch f.Kind {
	case ledger.SendBegun:
		return "it was sent again: no answer was heard"
	case ledger.FenceEnded:
		if f.Answer.Class != ledger.Refusal || f.Answer.Code != codeKeyReused && f.Answer.Code != codeOrderNotFound {
			return ""
		}
	case ledger.FenceBegun, ledger.KeyChanged, ledger.SendingOver, ledger.Looked, ledger.Restarted, ledger.Asked:
		return ""
	}
	return factText(f, quote)
}

// fenceText says what the answer to a fence shows.
func fenceText(a *ledger.Answer, quote func(string) string) string {
	switch {
	case a.Class == ledger.Refusal && a.Code == codeKeyReused:
		return "the service knows its key, so that it has arrived"
	case a.Class == ledger.Refusal && a.Code == codeOrderNotFound:
		return "the service did not know its key: it cannot run from now on; it may have run before"
	default:
		return "the service was asked whether it knows its key: " + answerText(a, quote)
	}
}

func answerText(a *ledger.Answer, quote func(string) string) string {
	text := ""
	switch a.Class {
	case ledger.Unsent, 0: // 0: there was no place for it in the limits
		return "nothing was sent"
	case ledger.Silence:
		return "no answer came"
	case ledger.Success:
		text = "the answer is a success"
	case ledger.Refusal:
		text = fmt.Sprintf("the answer is %d %s", a.Status, quote(a.Code))
	case ledger.Unclear:
		text = fmt.Sprintf("the answer is %d, which proves nothing", a.Status)
	default:
		if a.Status == 0 { // of a fence, in place of what it was answered
			return "it answered, and how it keeps keys is not known yet, so that proves nothing"
		}
		text = fmt.Sprintf("something in front of the service answered %d", a.Status)
	}
	if a.Replayed {
		text += ", repeated"
	}
	return text
}
