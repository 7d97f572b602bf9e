// Package journal is a [trading.Journal] in a file, for bots that must know after a
// crash which orders they may have placed.
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
// keeps what it says it has written. A write costs one sync. Writers that come
// while others are being written share the next one; one that is alone never waits
// for company.
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
// # Two files while it is open
//
// Tables that can be searched cost two syncs a commit, one for the data and one
// for the page that makes it valid. So what is written goes to a log beside them
// first, whose name ends in -wal, and from there to the tables many writes at a
// time: some 64 KiB of them while nobody waits, twice that at most besides the last
// writes. One that comes in that moment waits for it, which takes as long as half a
// dozen writes, or a dozen (BenchmarkCheckpoint measures it). Until then the rows of
// the log are kept in memory.
//
// Close puts everything into the one file and removes the log. Then the file can be
// copied and moved, and versions that knew of no log open it. Where a process has
// ended without closing, the next Open goes on from both. As long as there is a log, the two
// belong together: Open refuses one without the other, or with another's, since
// orders may be pending in it. Where a log ends in the middle of a write, nobody has
// been told that it was written, and it is left out. Where something of the log is
// missing that was answered for, it is damaged. One case cannot be told from the
// other: damage to the last write alone, before the next one, where the power was
// lost as well.
//
// A log of its own was chosen over a file of its own format because the tables
// answer by name and time without all entries in memory, and what reads and repairs
// them exists already.
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
// A new file has 4 MiB, which are used again and again; a file does not shrink. Its
// log has 512 KiB, or what the largest writes have taken since it was opened.
package journal
