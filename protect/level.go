package protect

import (
	"time"

	"github.com/shopspring/decimal"
)

// The intervals between looks at an account.
const (
	shortest  = 2 * time.Second
	middle    = 5 * time.Second
	longest   = 15 * time.Second
	whenFlat  = 30 * time.Second
	calmAfter = 60 * time.Second // before entries are let in again
)

// level is how near an account is to its floor.
type level uint8

const (
	levelOK level = iota
	levelWarn
	levelSoft
	levelFlatten // to be confirmed by a second reading
	levelUrgent  // at once
	levelTooLate // closing itself would breach
)

// measure is what a level is judged by, in dollars.
type measure struct {
	room   decimal.Decimal // by the lower of two equities
	better decimal.Decimal // by the higher
	need   decimal.Decimal
	cost   decimal.Decimal // of closing
	keep   decimal.Decimal
	held   bool // something is held
}

// levelOf judges a measure. The levels of the user are minimums of room, and only make it
// stricter.
func levelOf(m measure, l Limits) level {
	times := func(tenths int64) decimal.Decimal { return m.need.Mul(decimal.New(tenths, -1)) }
	flattenAt := decimal.Max(m.need, l.FlattenAt)
	switch {
	case m.held && m.better.LessThanOrEqual(m.cost):
		return levelTooLate
	case m.held && m.room.LessThanOrEqual(times(7)):
		return levelUrgent
	case m.held && m.room.LessThanOrEqual(flattenAt):
		return levelFlatten
	case m.room.LessThanOrEqual(decimal.Max(times(15), m.keep, l.SoftHaltAt)):
		return levelSoft
	case m.held && m.room.LessThanOrEqual(decimal.Max(times(30), l.WarnAt)):
		return levelWarn
	default:
		return levelOK
	}
}

// calm reports whether there is room enough to end a soft halt, once it lasts.
func calm(m measure, l Limits) bool {
	return m.room.GreaterThanOrEqual(m.need.Mul(decimal.NewFromInt(2))) &&
		m.room.GreaterThanOrEqual(decimal.Max(m.keep, l.SoftHaltAt).Mul(decimal.New(15, -1)))
}

// intervalOf is the longest interval that leaves twice the need it has.
func intervalOf(room decimal.Decimal, waiting bool, need func(time.Duration) decimal.Decimal) time.Duration {
	if !waiting {
		return whenFlat
	}
	for _, interval := range []time.Duration{longest, middle} {
		if room.GreaterThanOrEqual(need(interval).Mul(decimal.NewFromInt(2))) {
			return interval
		}
	}
	return shortest
}

// State is what an account is in.
type State string

// The states. Entries are taken in OK and Warned alone.
const (
	// Starting is before the first good look.
	Starting State = "starting"
	// OK is far from the floor.
	OK State = "ok"
	// Warned is nearer than three times the room that the positions need.
	Warned State = "warned"
	// SoftHalt refuses entries until there is room again for a minute, or until
	// [Protection.Resume] after [Protection.Halt].
	SoftHalt State = "soft halt"
	// Flattening cancels and closes everything.
	Flattening State = "flattening"
	// Held is flat, and stays so until it is resumed.
	Held State = "held"
	// TooLate is so near the floor that closing itself would breach it: nothing is sent.
	TooLate State = "too late"
	// Stuck is a flattening that nothing can be done for at the moment; it is tried again.
	Stuck State = "stuck"
	// Lost is an account that has failed or expired.
	Lost State = "lost"
	// Passed is an account that has reached its target.
	Passed State = "passed"
)

// AllowsEntry reports whether entries are judged at all in the state.
func (s State) AllowsEntry() bool { return s == OK || s == Warned }

// ended reports whether nothing is to be done in the state any more.
func (s State) ended() bool { return s == Lost || s == Passed }

// next is the state that a level leads to. calmed means that there has been room enough
// for a soft halt to end, and manual that a person has halted the account.
func (s State) next(l level, calmed, manual bool, closeTooLate bool) State {
	switch {
	case s.ended() || s == Held || s == Flattening || s == Stuck:
		return s
	case l == levelTooLate && !closeTooLate:
		return TooLate
	case l >= levelFlatten:
		return Flattening
	case manual, l == levelSoft:
		return SoftHalt
	case (s == SoftHalt || s == TooLate) && !calmed:
		return SoftHalt
	case l == levelWarn:
		return Warned
	default:
		return OK
	}
}
