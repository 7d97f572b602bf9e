package record

import (
	"errors"
	"fmt"
)

// Sync says when an audit is made durable. What was written survives the process in
// any case, however that ends; a sync is for the machine's loss of power.
type Sync int

const (
	// SyncNever leaves it to the system, which writes within some seconds; Close
	// syncs. It costs nothing.
	SyncNever Sync = iota
	// SyncDone syncs when a write is done, before its caller gets the result, and when
	// it is resolved. It costs each write one sync of the disk, between 50 microseconds
	// and 10 milliseconds; writes that end together share it. A sync that fails is
	// final: what the disk holds is uncertain, so the audit takes nothing until it is
	// opened again.
	SyncDone
)

// Options say how an audit is kept. The zero value is right for most.
type Options struct {
	// Sync says when it is made durable.
	Sync Sync

	// MaxFile is how large a file grows before the next one is begun, 64 MiB if zero.
	// OpenAudit reads the latest file through, at some tens of MiB a second.
	MaxFile int64

	// MaxBody is how much of each body is kept, 16 KiB if zero and 32 KiB at most. No
	// request comes near; some answers to reads do, which an audit does not have.
	MaxBody int

	// Holder is the account holder whose keys the audit is of: [trading.Identity]'s UserID,
	// which Client.Me reads. OpenAudit refuses an audit of another one with a
	// [*HolderError]. Empty is not checked.
	Holder string
}

const maxBody = 32 << 10

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.MaxFile < 0 || o.MaxBody < 0:
		return o, errors.New("record: MaxFile and MaxBody cannot be negative")
	case o.MaxBody > maxBody:
		return o, fmt.Errorf("record: MaxBody is %d, and at most %d is kept", o.MaxBody, maxBody)
	case o.Sync != SyncNever && o.Sync != SyncDone:
		return o, errors.New("record: Sync is neither SyncNever nor SyncDone")
	}
	if o.MaxFile == 0 {
		o.MaxFile = 64 << 20
	}
	if o.MaxBody == 0 {
		o.MaxBody = 16 << 10
	}
	return o, nil
}
