package trading

import (
	"context"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
)

// write is one write on its way: what it is, what is known of it, and who waits for
// it. The call that placed it owns it until it hands it to the driver.
type write struct {
	pending.Entry[*write]
	intent Intent
	ledger ledger.Ledger
	worker worker // who works on it; nil if nobody does
	asked  accounting.Write
	side   accounting.Side // of an order
	books  *books.Books    // of its service
	booked books.Write     // the write as they see it

	registered  bool // it is among the open writes
	journaled   bool // its journal knows it
	keyInStore  Key  // the key that the journal has
	unjournaled error
	left        bool // an earlier run began it
	abandoned   bool // the client that began it has closed; the registry's
	gap         bool // and an exit beside it may be in no journal
	firstSend   time.Time

	// Of a setting of levels.
	unnamed     unnamedLevels
	restores    IntentID       // the setting whose levels it sets again
	restore     restore        // of what is newer
	newer       []newerSetting // that an earlier run began
	superseded  bool
	overwritten bool

	answer  *heard // the success, or the stored refusal, that decided it
	reason  string // why it is Unknown
	lastErr error  // what the last step met
	by      Evidence
	looks   []Look

	handed chan struct{} // closed when the call that sends it is over; nil where nobody can wait
}

// handOver lets those go on who wait for the call that sent it.
func (w *write) handOver() {
	if w.handed != nil {
		close(w.handed)
	}
}

// tracked reports whether what becomes of it can be asked for by its id.
func (w *write) tracked() bool { return w.registered || w.left }

// worker finds out what became of writes: the driver of a client.
type worker interface {
	// serves reports whether it asks a service, and is open.
	serves(baseURL string) bool
	// adopt takes over what others left, writes are those that it works on, oldest first.
	adopt(left []*write)
	writes() []*write
	// ask has it go on with a write about which it does nothing more, unless it has asked
	// since a request. goOn does so where the write has waited for another one to end.
	ask(w *write, since uint64)
	goOn(w *write)
	// wait waits until a write is resolved, nothing more is done about it, or ctx ends.
	wait(ctx context.Context, w *write) (Resolution, bool)
	describe(w *write) PendingWrite
	acknowledge(ctx context.Context, w *write, found Outcome, note string) error
}

// unnamedLevels are those that the caller of a setting did not name: the client read them.
type unnamedLevels struct{ TakeProfit, StopLoss bool }

// restore is how far a setting has come that ended beside a newer one.
type restore struct {
	at    time.Time // of the next look; zero before the first
	until time.Time // how long an open setting is waited for
	tries int
	err   error // of the last try
}

// newerSetting is a setting of levels as the history of an older one has it.
type newerSetting struct {
	Intent   Intent        `json:"intent"`
	Unnamed  unnamedLevels `json:"unnamed,omitzero"`
	Restores IntentID      `json:"restores,omitempty"`

	ended bool
}

// newerEnd is what a newer one came to.
type newerEnd struct {
	ID      IntentID `json:"id"`
	Outcome Outcome  `json:"outcome"`
}
