package trading

import (
	"fmt"
	"time"

	"github.com/tradingapi/trading-go/journal"
)

// lease is that of the journal, under which writes to a service leave.
type lease struct {
	journal.Leaser // nil for a journal that this machine has alone
	baseURL        string
}

// allows says, right before the first byte of a write and with its last, why the lease does
// not let it leave; nil without one.
func (l *lease) allows(env Environment, account AccountID, entry bool) error {
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
	if reason, halted := l.Halted(); halted && entry {
		return &GuardError{Kind: ErrHalted, Reason: reason}
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
