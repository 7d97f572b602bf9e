package trading

import (
	"iter"

	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/wire"
	"github.com/tradingapi/trading-go/journal"
)

// JournaledWrite is what a journal says of a write.
type JournaledWrite = resolve.Journaled

// JournaledFact is one thing that happened to a write.
type JournaledFact = resolve.Event

// DescribeHistory decodes what a journal keeps of a write, for people and tools. It
// says what was written down, and decides nothing: [Client.Recover] does.
func DescribeHistory(h journal.History) (*JournaledWrite, error) {
	return resolve.Describe(h, func(code string) string { return wire.Printable(code, wire.MostMessage) })
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
