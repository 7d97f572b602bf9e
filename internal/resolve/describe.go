package resolve

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/journal"
)

// Described is what a journal says of a write.
type Described struct {
	Intent Intent
	Try    Try
	End    *Final // nil while its outcome is not known
	Events []Event
}

// Event is one thing that happened to a write, in words.
type Event struct {
	At   time.Time
	What string
}

// Describe decodes what a journal keeps of a write, for people and tools. quote makes a
// line of the service's text.
func Describe(h journal.History, quote func(string) string) (*Described, error) {
	records, err := decode(&h)
	if err != nil {
		return nil, err
	}
	w := &Described{}
	for i := range records {
		w.add(&records[i], quote)
	}
	switch {
	case len(h.Records) == 0, !h.Final && w.Intent.ID == "":
		return nil, fmt.Errorf("trading: journal: write %s: its first record is missing", h.Intent)
	case h.Final && (w.End == nil || w.End.At.IsZero()):
		return nil, fmt.Errorf("trading: journal: write %s: %w", h.Intent, errors.New("it is resolved, and its final record is missing"))
	}
	w.Intent.ID = h.Intent
	return w, nil
}

func (w *Described) add(r *record, quote func(string) string) {
	switch {
	case r.Begin != nil:
		w.Intent, w.Try = r.Begin.Intent, r.Begin.Try
		w.Events = append(w.Events, Event{r.Begin.Intent.Decided, "decided"})
	case r.Key != nil:
		w.Try = r.Key.Try
	case r.Fact != nil:
		w.Events = append(w.Events, Event{r.Fact.At.Wall, factText(r.Fact, quote)})
	case r.Beside != nil:
		for i := range r.Beside.Own {
			w.Events = append(w.Events, Event{r.Beside.Own[i].Last, "another write of the program in the market ended"})
		}
	case r.End != nil:
		w.End = r.End
		w.Try = Try{r.End.Key, r.End.Try}
	}
}

func factText(f *ledger.Fact, quote func(string) string) string {
	switch f.Kind {
	case ledger.SendBegun:
		return "sent again"
	case ledger.SendEnded:
		return "the write came to " + answerText(&f.Answer, quote)
	case ledger.KeyChanged:
		return "sent under the next key"
	case ledger.SendingOver:
		return "its sending ended"
	case ledger.FenceBegun:
		return "asked whether the service knows its key"
	case ledger.FenceEnded:
		return "the question for the key came to " + answerText(&f.Answer, quote)
	case ledger.ProbeBegun:
		return "asked for its stored answer"
	case ledger.ProbeEnded:
		return "the question for the stored answer came to " + answerText(&f.Answer, quote)
	case ledger.Looked:
		return "the account was read"
	case ledger.Acknowledged:
		return "a person acknowledged what became of it"
	default:
		return "fact " + strconv.Itoa(int(f.Kind))
	}
}

func answerText(a *ledger.Answer, quote func(string) string) string {
	text := ""
	switch a.Class {
	case ledger.Unsent:
		return "nothing sent"
	case ledger.Silence:
		return "no answer"
	case ledger.Success:
		text = "a success"
	case ledger.Refusal:
		text = fmt.Sprintf("%d %s", a.Status, quote(a.Code))
	default:
		text = fmt.Sprintf("%d, by something in front of the service", a.Status)
	}
	if a.Replayed {
		text += ", replayed"
	}
	return text
}
