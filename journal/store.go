package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
)

// Record is one entry of a journal. What Data says is the client's business: the
// journal does not look into it.
type Record struct {
	// Intent names the write; required.
	Intent string
	// Name is the digest of the client order id, "" for a write without one. It is the
	// same in every record of an intent.
	Name string
	// Final means that the write is resolved: no record follows.
	Final bool
	// Data is what the client says.
	Data []byte
}

// History is what is known of one intent, oldest record first.
type History struct {
	// Intent and Name are those of its records.
	Intent, Name string
	// Final means that the write is resolved.
	Final bool
	// Records is the Data of each record.
	Records [][]byte
}

// Store keeps records. [Log] is the implementation for most programs, and
// [NewMemory] one for tests. A store in a database must pass package journaltest.
//
// Methods may be called concurrently. A store copies the bytes that it is given,
// and the bytes that it returns belong to the caller. A method whose context has
// already ended returns the context's error and changes nothing.
type Store interface {
	// Append appends the records in order: all of them or, on an error other than
	// [ErrUnanswered], none.
	//
	// If durable is set, Append returns once the records, and everything appended
	// before them, survive a power cut. Otherwise it returns at once, and a later
	// durable Append makes the records durable: what is away for a while takes such
	// records all the same, and has them when it is back. A durable Append without
	// records does this alone.
	//
	// The first record of an intent makes it pending, and a Final record resolves
	// it. A record for a resolved intent is [ErrResolved]; of an intent without a
	// Name, a store may forget in time that it was resolved. A record without an
	// Intent, or with another Name than the records before it, is [ErrInvalid].
	//
	// If the context ends while a durable Append waits, Append returns the
	// context's error, and the records may be there or not.
	Append(ctx context.Context, durable bool, records ...Record) error

	// Pending yields the intents without a Final record, in the order of their first
	// record, as they are when the iteration begins. The loop may call the store. If the
	// context ends meanwhile, the iteration ends with its error. An error is yielded
	// last, with a zero History.
	Pending(ctx context.Context) iter.Seq2[History, error]

	// Named returns the intents of a name, resolved ones too, in the order of their
	// first record. Of a resolved intent a store may return the Final record alone.
	// An unknown name, and "", have none.
	Named(ctx context.Context, name string) ([]History, error)

	// Forget deletes the intents of a name, durably. It returns [ErrPending] and
	// deletes nothing if one of them is pending. To forget an unknown name is no
	// error.
	Forget(ctx context.Context, name string) error

	// Shared returns where the clients of this handle keep what they must agree
	// on: the same pointer on each call.
	Shared() *Shared
}

// Shared holds one value for all clients of a store's handle. The zero value is
// ready. A store has one as a field and returns its address:
//
//	type Store struct {
//		shared journal.Shared
//		…
//	}
//
//	func (s *Store) Shared() *journal.Shared { return &s.shared }
type Shared struct {
	once  sync.Once
	value any
}

// Value returns the value that the first call made. The function must not call
// Value itself.
func (s *Shared) Value(first func() any) any {
	s.once.Do(func() { s.value = first() })
	return s.value
}

// Errors of a [Store] and of [Open], to be compared with [errors.Is].
var (
	// ErrResolved is the error of a record for an intent that is resolved.
	ErrResolved = errors.New("journal: the intent is resolved")
	// ErrPending is the error of Forget for a name of which an intent is pending.
	ErrPending = errors.New("journal: an intent of the name is pending")
	// ErrInvalid is the error of a record that breaks the rules of [Record].
	ErrInvalid = errors.New("journal: invalid record")
	// ErrUnanswered is the error of a durable Append to a database that has gone away meanwhile: the
	// records may be there, or come yet.
	ErrUnanswered = errors.New("journal: no answer: it may be there, or come yet")
	// ErrClosed is the error of a store after Close.
	ErrClosed = errors.New("journal: closed")
	// ErrLocked is the error of Open for a journal that is open already.
	ErrLocked = errors.New("journal: open in another process, or twice in this one")

	// ErrFailed wraps the first write or sync that failed. The log takes nothing
	// until it is closed and opened again: what the disk holds is uncertain.
	ErrFailed = errors.New("journal: takes nothing until it is opened again")
)

// DamageError means that a file is not what a [Log] wrote, or is not a journal at
// all. Nothing was changed. The documentation of the package says what to do then.
type DamageError struct {
	// Path is the file.
	Path string
	// Offset is where the damage begins, and What is wrong there.
	Offset int64
	What   string
}

// Error names the file, the place and the damage.
func (e *DamageError) Error() string {
	return fmt.Sprintf("journal: %q is damaged at byte %d: %s", e.Path, e.Offset, e.What)
}
