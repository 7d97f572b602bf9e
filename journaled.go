package trading

import (
	"iter"
	"time"

	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/wire"
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
type JournaledFact = resolve.Event

// DescribeHistory decodes what a journal keeps of a write, for people and tools. It
// says what was written down, and decides nothing: [Client.Recover] does.
func DescribeHistory(h journal.History) (*JournaledWrite, error) {
	d, err := resolve.Describe(h, func(code string) string { return wire.Printable(code, wire.MostMessage) })
	if err != nil {
		return nil, err
	}
	w := &JournaledWrite{Intent: d.Intent, Pending: !h.Final, Facts: d.Events}
	if end := d.End; end != nil {
		w.Outcome, w.Evidence, w.ResolvedAt = end.Outcome, end.Evidence, end.At
		w.Code, w.Answer, w.Note = Code(end.Code), Body(end.Answer), end.Note
	}
	return w, nil
}

// ReadJournal yields what a journal file says of each write, as [journal.Read] reads it. An error is
// the last.
func ReadJournal(path string) iter.Seq2[*JournaledWrite, error] {
	return func(yield func(*JournaledWrite, error) bool) {
		for h, err := range journal.Read(path) {
			var w *JournaledWrite
			if err == nil {
				w, err = DescribeHistory(h)
			}
			if !yield(w, err) || err != nil {
				return
			}
		}
	}
}
