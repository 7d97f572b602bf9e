package trading

import (
	"time"

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

	registered  bool // it is among the open writes
	journaled   bool // its journal knows it
	keyInStore  Key  // the key that the journal has
	unjournaled error
	left        bool // an earlier run began it
	gap         bool // and an exit beside it may be in no journal
	accompanied bool // another own write ended beside it: the position that its answer says may be of before that one
	firstSend   time.Time

	// Of a setting of levels.
	unnamed     unnamedLevels
	restores    IntentID       // the setting whose levels it sets again
	restore     restore        // of what is newer
	newer       []newerSetting // that an earlier run began
	superseded  bool
	overwritten bool

	evidence evidence // what accounting goes by

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
