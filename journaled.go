package trading

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/journal"
)

// JournaledWrite is what a journal says of a write.
type JournaledWrite struct {
	// Intent is the write. Of a resolved write a journal may keep ID, Key and Try alone.
	Intent
	// Pending means that its outcome is not known.
	Pending bool
	// Outcome, Evidence and ResolvedAt are how it ended.
	Outcome    Outcome
	Evidence   Evidence
	ResolvedAt time.Time
	// Code is the service's refusal, Answer its success, and Note what somebody wrote
	// who acknowledged it; each is empty where there is none.
	Code   Code
	Answer Body
	Note   string
	// Facts are what happened to it, oldest first.
	Facts []JournaledFact
}

// JournaledFact is one thing that happened to a write.
type JournaledFact struct {
	// At is when, by this machine's clock.
	At time.Time
	// What says it in words.
	What string
}

// DescribeHistory decodes what a journal keeps of a write, for people and tools. It
// says what was written down, and decides nothing: [Client.Recover] does.
func DescribeHistory(h journal.History) (*JournaledWrite, error) {
	w := &JournaledWrite{Pending: !h.Final}
	for i, data := range h.Records {
		var r record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("trading: journal: write %s, record %d: %w", h.Intent, i+1, err)
		}
		w.add(&r)
	}
	switch {
	case len(h.Records) == 0, w.Pending && w.ID == "":
		return nil, fmt.Errorf("trading: journal: write %s: its first record is missing", h.Intent)
	case !w.Pending && w.ResolvedAt.IsZero():
		return nil, fmt.Errorf("trading: journal: write %s: %w", h.Intent, errors.New("it is resolved, and its final record is missing"))
	}
	w.ID = IntentID(h.Intent)
	return w, nil
}

func (w *JournaledWrite) add(r *record) {
	switch {
	case r.Begin != nil:
		w.Intent = r.Begin.Intent
		w.Facts = append(w.Facts, JournaledFact{r.Begin.Intent.Decided, "decided"})
	case r.Key != nil:
		w.Key, w.Try = r.Key.Key, r.Key.Try
	case r.Fact != nil:
		w.Facts = append(w.Facts, JournaledFact{r.Fact.At.Wall, factText(r.Fact)})
	case r.Beside != nil:
		for i := range r.Beside.Own {
			w.Facts = append(w.Facts, JournaledFact{r.Beside.Own[i].Last, "another write of the program in the market ended"})
		}
	case r.End != nil:
		w.Outcome, w.Evidence, w.ResolvedAt = r.End.Outcome, r.End.Evidence, r.End.At
		w.Key, w.Try, w.Code = r.End.Key, r.End.Try, r.End.Code
		w.Answer, w.Note = Body(r.End.Answer), r.End.Note
	}
}

func factText(f *ledger.Fact) string {
	switch f.Kind {
	case ledger.SendBegun:
		return "sent again"
	case ledger.SendEnded:
		return "the write came to " + answerText(&f.Answer)
	case ledger.KeyChanged:
		return "sent under the next key"
	case ledger.SendingOver:
		return "its sending ended"
	case ledger.FenceBegun:
		return "asked whether the service knows its key"
	case ledger.FenceEnded:
		return "the question for the key came to " + answerText(&f.Answer)
	case ledger.ProbeBegun:
		return "asked for its stored answer"
	case ledger.ProbeEnded:
		return "the question for the stored answer came to " + answerText(&f.Answer)
	case ledger.Looked:
		return "the account was read"
	default:
		return "fact " + strconv.Itoa(int(f.Kind))
	}
}

func answerText(a *ledger.Answer) string {
	text := ""
	switch a.Class {
	case ledger.Unsent:
		return "nothing sent"
	case ledger.Silence:
		return "no answer"
	case ledger.Success:
		text = "a success"
	case ledger.Refusal:
		text = fmt.Sprintf("%d %s", a.Status, printable(a.Code, mostMessage))
	default:
		text = fmt.Sprintf("%d, by something in front of the service", a.Status)
	}
	if a.Replayed {
		text += ", replayed"
	}
	return text
}
