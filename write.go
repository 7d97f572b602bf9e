package trading

import (
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
	core   *core // of the client that works on it
	asked  accounting.Write
	side   accounting.Side // of an order
	books  *books.Books    // of its service
	booked books.Write     // the write as they see it

	registered  bool // it is among the open writes
	journaled   bool // its journal knows it
	keyInStore  Key  // the key that the journal has
	unjournaled error
	left        bool // an earlier run began it
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

// askedFor is what it asked for, as accounting sees it.
func (w *write) askedFor() *accounting.Write {
	if w.asked.Kind == 0 {
		w.asked = askedOf(&w.intent)
	}
	return &w.asked
}

// tracked reports whether what becomes of it can be asked for by its id.
func (w *write) tracked() bool { return w.registered || w.left }
