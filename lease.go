package trading

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tradingapi/trading-go/journal"
)

// lease is that of the journal, under which writes to a service leave, and the halt, under which entries do not.
type lease struct {
	journal.Leaser // nil for a journal that this machine has alone
	baseURL        string
	halt           atomic.Pointer[string] // why the program has stopped entries; nil if it has not
}

// halted returns whether entries are refused, by this program or by the lease.
func (l *lease) halted() (reason string, halted bool) {
	switch why := l.halt.Load(); {
	case why != nil:
		return *why, true
	case l.Leaser != nil:
		return l.Halted()
	default:
		return "", false
	}
}

// allows says, right before the first byte of a write and with its last, why it may not leave: the guards
// that it has passed have seen an older halt, and an older lease.
func (l *lease) allows(env Environment, account AccountID, entry bool) error {
	if reason, halted := l.halted(); halted && entry {
		return &GuardError{Kind: ErrHalted, Reason: reason}
	}
	if l.Leaser == nil {
		return nil
	}
	if late := time.Since(l.Deadline()); late >= 0 {
		return &GuardError{Kind: ErrJournal, Reason: "the lease of the journal is over, and nothing leaves without it", Err: journal.ErrFenced}
	}
	if env == EnvLive && !l.Covers(l.baseURL, string(account)) {
		return &GuardError{
			Kind: ErrJournal, Reason: fmt.Sprintf("the lease of the journal is not for account %s at %s", account, l.baseURL),
			Err: journal.ErrFenced,
		}
	}
	return nil
}

// leaveBy is until when the bytes of a write may leave; the zero time where nothing ends that.
func (l *lease) leaveBy() time.Time {
	if l.Leaser == nil {
		return time.Time{}
	}
	return l.Deadline()
}
