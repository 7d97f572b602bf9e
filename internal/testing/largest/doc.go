// Package largest searches for schedules in which a bound of the largest position fails: a small
// service does everything that it can do, in every order, for so many steps, against an
// implementation of the bound. A bound is held to two properties. It is safe: no entry is let
// through with which the position, and all that may still be executed, is larger than the limit.
// It is useful: when nothing is open and fresh looks have shown it, an entry within the limit is
// let through.
package largest

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

const (
	// Lag is how much older than its request what a read shows may be; of each read another time.
	Lag = 5 * time.Second
	// Gone is how long after it was sent nothing of a write is executed any more: the client asks about
	// it for ten minutes, and nothing arrives after half an hour.
	Gone = 45 * time.Minute
	// Market is the market of all orders, which are long.
	Market = "BTC"
)

// Limit is the largest position.
var Limit = decimal.NewFromInt(3)

// Kind is what an entry leaves with the service.
type Kind string

// The kinds of entries.
const (
	Now     Kind = "order" // it is executed at once
	Resting Kind = "limit"
	Running Kind = "run"
)

// Write is an entry of the program's.
type Write struct {
	ID   string
	Kind Kind
	Size decimal.Decimal
	Sent time.Duration // by the clock of the search
}

// Answer is what became of one: of a bare one no more than the outcome is known.
type Answer struct {
	Applied bool
	Order   string          // the order or the run that it left
	After   decimal.Decimal // the position right after it
}

// Look is what reads show that began and ended at a time: the orders first, and the position after them.
type Look struct {
	Began, Ended time.Duration
	Open         *trading.OpenOrders
	Positions    trading.Positions
}

// Bound is an implementation. It sends a write that it lets through, once.
type Bound interface {
	// Enter judges an entry by a look.
	Enter(l Look, w Write) (passes bool)
	// See has a look that no entry waits for.
	See(l Look)
	// Doubt is the end of a call whose outcome is not known.
	Doubt(w Write)
	// Known is the outcome of a write, at the end of its call or later.
	Known(w Write, a Answer)
	// Restart ends the process, and starts it on what is on the disk.
	Restart()
}
