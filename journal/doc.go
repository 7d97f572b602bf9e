// Package journal keeps what a program must know after a crash about the orders it
// may have placed. [Log] is a [Store] in one append-only file.
//
//	writes, err := journal.Open("bot.journal")
//	…
//	defer writes.Close() // after the client
//	client, err := trading.FromEnv(trading.WithJournal(writes))
//	…
//	defer client.Close()
//	resolutions, err := client.Recover(ctx) // what an earlier run left
//
// # Durability
//
// A durable Append costs one write and one sync, as far as the disk keeps what it
// says it has synced. Appends that come during a sync share the next one; one that
// is alone never waits for others. An append that is not durable is in the file,
// but not synced: it survives a kill of the process, not a power cut.
//
// After a write or a sync that failed the log takes nothing until it is opened
// again, since a system may drop what it could not write, and report success the
// next time. Reads continue.
//
// # Damage
//
// The file says up to where it was synced. Open refuses a file in which anything
// before that is missing or changed, with a [*DamageError], and changes nothing.
// What a power cut leaves half-written behind that is left out ([Log.Repaired]).
// The line lies here: the file learns of a sync with the next sync, or when it is
// closed. So of a file that lost its power, and that alone, the last synced batch
// can be missing unnoticed, if that batch is damaged as well.
//
// A damaged journal must not be replaced by an empty one without a look at the
// accounts, since pending orders may have been placed. Stop the program, keep a copy
// of the file, list with [Read] what is before the damage, and compare it with the
// orders, positions and trades of each account. When all is accounted for, move the
// file away and start with a new one. [Log.New] reports that a journal is new: if
// that is a surprise, the old one is lost, and the same advice holds.
//
// # Files
//
// A journal is locked while it is open, and so is a file beside it whose name ends in
// .lock, which is empty and stays: for those who make a journal at the same time. One
// that ends in .tmp is written while the journal is written anew, and replaces it. One
// that ends in .gap says that an exit went out which the journal did not take ([Gapper]);
// the client removes it when nothing is pending any more that it matters to. All of
// them, like the journal, are readable by their owner alone. Open follows no symbolic
// link, and refuses what is not a regular file, what belongs neither to this user nor to
// root, has a second name, or can be written by others, and a folder that everybody can
// write to.
//
// A journal that is removed, moved, replaced or written over while it is open has failed ([ErrFailed]):
// each sync compares the file with what is at its path, and its newest mark with the one in
// memory. A relative path is of the folder
// in which Open was called. Use a local disk: file systems on a
// network often sync or lock in name only. On Windows a folder cannot be synced.
//
// # Size
//
// The journal keeps pending intents with all their records, the Final record of
// resolved intents with a name until [Log.Forget], and no others. That is also what
// it takes of memory. It is written anew when the file has more than 4 MiB and four
// times what is kept; appends that come meanwhile wait (BenchmarkRewrite measures
// it). Open does so from 64 KiB on, and after a crash.
package journal
