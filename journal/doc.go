// Package journal is a [trading.Journal] in one file, for bots that must know
// after a crash which orders they may have placed.
//
//	j, err := journal.Open("intents.db", journal.Options{})
//	…
//	defer j.Close()
//	client, err := trading.FromEnv(trading.WithJournal(j))
//
// # What it promises
//
// When Begin or Settle returns nil, the write is on the disk: it survives the
// process, however that ends, and the machine's loss of power, as far as the disk
// keeps what it says it has written. Writers that come while others are being
// written share the next commit; one that is alone never waits for company. A
// commit costs two syncs, one for the data and one for the page that makes it
// valid.
//
// After a write that failed the journal takes nothing until it is opened again,
// and every method returns a [*FailedError]: what the disk holds is uncertain, and
// a system may drop what it could not write. An intent whose Begin failed may turn
// up as pending then. So may one whose context ended while it was being written.
//
// The file is read through when it is opened, and opened only if all is there
// that was ever committed and not forgotten since; otherwise Open returns a
// [*DamagedError]. Never replace a damaged file by an empty one without a look at
// the accounts: what was pending may have been placed.
//
// # One process
//
// The file is locked while it is open. A second process waits for [Options.Wait]
// and gets a [*LockedError]. Use a file for each process, on a local disk: file
// systems on a network often sync or lock in name only.
//
// # What it keeps
//
// What is pending stays until it is settled. What is settled is kept for
// [Options.Keep], counted from its settlement; without a decision, which nobody
// can ask for again, the last [Options.History] of it at most. Each write deletes
// a few that are over. Time is that of the intents and settlements themselves.
// A new file has 4 MiB, which are used again and again; a file does not shrink.
package journal
