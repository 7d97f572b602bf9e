// Package answers keeps, for 24 hours and over restarts, which writes the bots of a sidecar have
// asked for, what each was answered, and whether the bot has heard it. A write is in the file
// before its first byte leaves: after a kill between an answer and its delivery, the journal of
// the client has forgotten the write, and the bot asks again.
//
// The file is a [journal.Log]: its checksums, its lock, its torn tail and its compaction.
package answers
