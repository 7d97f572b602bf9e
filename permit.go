package trading

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/journal"
)

// permit is what a write needs to leave: the lease of the journal and, where it is an entry, that nobody has
// stopped entries.
type permit struct {
	journal.Leaser // nil for a journal that this machine has alone
	baseURL        string
	halt           atomic.Pointer[string] // why the program has stopped entries; nil if it has not
}

// halted returns whether entries are refused, by this program or by the lease.
func (p *permit) halted() (reason string, halted bool) {
	switch why := p.halt.Load(); {
	case why != nil:
		return *why, true
	case p.Leaser != nil:
		return p.Halted()
	default:
		return "", false
	}
}

// allows says, right before the first byte of a write and with its last, why it may not leave: the guards
// that it has passed have seen an older halt, and an older lease.
func (p *permit) allows(env Environment, account AccountID, entry bool) error {
	if reason, halted := p.halted(); halted && entry {
		return &GuardError{Kind: ErrHalted, Reason: reason}
	}
	if p.Leaser == nil {
		return nil
	}
	if late := time.Since(p.Deadline()); late >= 0 {
		return &GuardError{Kind: ErrJournal, Reason: "the lease of the journal is over, and nothing leaves without it", Err: journal.ErrFenced}
	}
	if env == EnvLive && !p.Covers(p.baseURL, string(account)) {
		return &GuardError{
			Kind: ErrJournal, Reason: fmt.Sprintf("the lease of the journal is not for account %s at %s", account, p.baseURL),
			Err: journal.ErrFenced,
		}
	}
	return nil
}

// leaveBy is until when the bytes of a write may leave; the zero time where nothing ends that.
func (p *permit) leaveBy() time.Time {
	if p.Leaser == nil {
		return time.Time{}
	}
	return p.Deadline()
}
