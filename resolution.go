package trading

import (
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Intent is a write that the program decided on, as it was before its first byte.
type Intent = pending.Intent

// PendingWrite is a write whose outcome is not known yet.
type PendingWrite = pending.Doubt

// PendingError names the writes whose outcome is not known: those beside which an
// entry was refused, or that are left when the client closes.
type PendingError struct {
	// IDs are the writes, oldest first.
	IDs []IntentID
}

// Error names the first of them.
func (e *PendingError) Error() string {
	if len(e.IDs) == 1 {
		return fmt.Sprintf("the outcome of write %s is not known yet", e.IDs[0])
	}
	return fmt.Sprintf("the outcome of %d writes is not known yet, the oldest is %s", len(e.IDs), e.IDs[0])
}

// Evidence is what an outcome rests on.
type Evidence = resolve.Evidence

const (
	// EvidenceNone: nothing is decided.
	EvidenceNone = resolve.ByNothing
	// EvidenceAnswer: the service answered the write itself.
	EvidenceAnswer = resolve.ByAnswer
	// EvidenceReplay: the service repeated its stored answer.
	EvidenceReplay = resolve.ByReplay
	// EvidenceUnsent: not a byte of it can have arrived.
	EvidenceUnsent = resolve.ByUnsent
	// EvidenceAccounting: positions, trades, orders and runs add up to it alone.
	EvidenceAccounting = resolve.ByAccounting
	// EvidenceAcknowledged: somebody has looked, and acknowledged it.
	EvidenceAcknowledged = resolve.ByAcknowledged
)

// Resolution is what became of a write, and what that rests on.
type Resolution struct {
	// Intent is the write.
	Intent Intent
	// Outcome is Unknown while the evidence does not decide. Of a setting of levels whose
	// evidence is accounting it says whether the position has the levels that were asked
	// for, whoever set them; if not, this setting cannot bring them any more.
	Outcome Outcome
	// Evidence is what the outcome rests on.
	Evidence Evidence
	// Late means that the write ran only now: it had not arrived, and the question
	// for its stored answer placed it. MaybeLate means that such a question went
	// unheard.
	Late, MaybeLate bool
	// Superseded is of a setting of levels beside which a newer one was sent: the newer
	// one's levels are the ones to go by. Overwritten means that the older one replaced
	// them all the same, and the client set them again; if it could not, Err says so.
	Superseded, Overwritten bool
	// Contradicted means that the service's answers to the sends of the write cannot all be true of one
	// execution: it succeeded after its outcome was NotApplied, or beside a send that failed and may have run.
	// The outcome stays, and the market is closed to entries until somebody who has read the account
	// acknowledges the write ([Client.Acknowledge]). A restart forgets it: the journal takes nothing of a write
	// after its end.
	Contradicted bool
	// Answer is the service's answer, where it repeated it.
	Answer Body
	// Err is the service's refusal, or why there is no outcome.
	Err error
	// Looks are the reads of the account that it rests on.
	Looks []Look
}

// Look is what one look at an account showed of a write's symbol.
type Look struct {
	// At is when it began.
	At time.Time
	// Size is the position in base units, negative for a short, and EntryPrice its
	// average entry.
	Size, EntryPrice decimal.Decimal
	// Orders, Runs and Finished are the ids of what rests, runs and has run on the
	// account: of what has run, the newest 256.
	Orders   []OrderID
	Runs     []RunID
	Finished []RunID
	// Trades are the account's closed trades, the newest 512.
	Trades []Trade
}

// ErrUndetermined is the error of a write whose outcome the evidence does not
// decide. It stays pending: Unknown never decays into failure.
var ErrUndetermined = resolve.ErrUndetermined

// ErrLate is the error beside the result of a write that ran later than its send
// TTL allows: it had not arrived, and asking for its stored answer placed it.
var ErrLate = errors.New("executed late, when its stored answer was asked for")

// Into decodes the service's answer: into an [*OrderResult], [*CloseResult],
// [*LimitResult], [*RunResult] or [*Ack], as the write would have returned it.
func (r Resolution) Into(result any) error {
	if len(r.Answer) == 0 {
		return errors.New("trading: Resolution.Into: the service's answer is not known")
	}
	meta := Meta{Operation: r.Intent.Operation, Status: 200, Body: r.Answer, Key: r.Intent.Key, Replayed: r.Evidence == EvidenceReplay}
	switch result := result.(type) {
	case *OrderResult:
		return into(result, r.Answer, meta, orderResultOf)
	case *CloseResult:
		return into(result, r.Answer, meta, closeResultOf)
	case *LimitResult:
		return into(result, r.Answer, meta, limitResultOf)
	case *RunResult:
		return into(result, r.Answer, meta, runResultOf)
	case *Ack:
		return into(result, r.Answer, meta, ackOf)
	default:
		return fmt.Errorf("trading: Resolution.Into: the result is a %T: it must be a pointer to the result of a write", result)
	}
}

// into decodes an answer, and converts it as the method of its write does.
func into[W, T any, P wire.Record[W]](result *T, answer Body, meta Meta, convert func(*W, Meta) *T) error {
	var record W
	if err := wire.Unmarshal(answer, P(&record)); err != nil {
		return err
	}
	*result = *convert(&record, meta)
	return nil
}
