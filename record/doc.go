// Package record keeps what a client did: an [Audit] of every write, in a file, and a
// [Flight] recorder of the last attempts, in memory. Both are filled by what a client reports to
// its hooks.
//
//	audit, err := record.OpenAudit("bot.audit.jsonl", record.Options{})
//	…
//	defer audit.Close()
//	flight := record.NewFlight(500)
//	client, err := trading.FromEnv(
//		trading.WithHooks(audit.Hooks()),
//		trading.WithGuard(audit.Guard()),
//		trading.WithHooks(flight.Hooks()),
//	)
//	…
//	defer client.Close() // runs first
//
// # The audit
//
// A line for each event of a write: it has begun, it waits, it is about to be sent, how
// each attempt ended, what its caller got, and, of what was unknown, what it came to.
// [Event] has the members. What is recorded about an attempt is written before its
// first byte and after its answer, so the audit of a process that was killed in between
// shows an attempt without an end. The audit is for people and their questions later:
// what a bot itself must know after a crash is in its journal.
//
// Each line has the hash of the one before. [Verify] says at which line an audit is not
// what was written: changed, cut in the middle, put in another order. The end is a
// matter of its own. A line that a crash has torn has no newline, which distinguishes it
// from one that was changed: opening leaves the torn file as it is and begins a new one,
// which says how the other ends. Lines that somebody has removed from the very end leave
// no trace in the chain; nor does one that was written anew from its first line to its
// last, since no secret is in it. Against both, keep [Audit.Head] somewhere else.
// What a disk has damaged looks like what somebody has changed.
//
// A file that is full gets the number of its first line for a suffix, and the next one
// carries the chain on. Old files can be moved away; what is left verifies.
//
// One process has an audit at a time: its file is locked while it is open, and so is one
// beside it. What others can write to, or put in its place, is no audit, and is refused.
//
// While it cannot be written, on a full disk or because somebody has taken the file away
// (each line is compared with what is at the path), entries are refused by [Audit.Guard], and
// exits pass. Their events are held in memory, up to a MiB, and follow as soon as a write
// succeeds again, after a line that says since when that was, and how many were lost.
// The guard sees what came before it: a disk that fills up between the guard and the
// first byte stops the next entry, not this one.
//
// # What is not in it
//
// No API key: the client takes its own out of whatever comes from outside, and what
// looks like one is taken out of each line. Headers are not there at all. Idempotency
// keys are. Bodies are: sizes, prices, balances. The files are for their owner alone
// (0600).
//
// # The flight recorder
//
// [Flight.Dump] writes the last attempts, reads too, for [Read] and [Replayer] to take
// up in a test: the same requests, under the same idempotency keys and with the recorded
// time between them, against a simulation.
package record
