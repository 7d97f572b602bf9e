package resolve

import (
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
)

// Look is one look at everything on an account in which a write can show. It serves
// every write that is asked about.
type Look struct {
	At, Ended time.Time // when its first read began, and its last was answered
	Positions map[string]accounting.Position
	Levels    map[string]Levels // of the positions
	Rows      []accounting.Row
	Orders    []string
	Runs      []string
	Finished  accounting.Newest
	Status    string
	Shown     any // the closed trades as the client shows them
}

// List is a list of an account.
type List uint8

// The lists.
const (
	AllLists List = iota // everything in which a write can show
	ListPositions
	ListTrades
	ListOrders // what rests and runs
)

// State is the look as accounting sees it, for one symbol.
func (l *Look) State(symbol string) accounting.State {
	return accounting.State{
		Position: l.Positions[symbol], Rows: l.Rows, Orders: l.Orders, Runs: l.Runs, Finished: l.Finished, Status: l.Status,
	}
}

// seenLook is the last look that a write was held against, and when it and those
// before it began that showed the same.
type seenLook struct {
	look  *Look
	began []time.Time // the last three at most: no verdict needs more
	equal int         // how many they are in all
}
