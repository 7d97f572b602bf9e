// Package ledger says what is known of one write, and what may be done next.
//
// Facts go in with [Ledger.Note]; [Ledger.Next] answers with a [Step]. There is no
// clock, no lock, no journal and no connection here: the moment is an argument, and
// whoever carries a step out notes what came of it. The call that placed the write,
// the background driver and the recovery after a restart all ask the same ledger.
//
// A ledger is also what a journal has to bring back: [Restore] folds the facts of an
// earlier process. A fact that a crash took is taken as the worst that it could have
// been.
//
// The times of the protocol are in terms.go. What a fact changes is in sending.go for S0, in
// resolve.go for S1 to S6, and in late.go for answers that nobody waited for; what may be
// done next, and when, is in next.go.
package ledger
