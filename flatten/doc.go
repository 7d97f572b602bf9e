// Package flatten closes everything on an account, and reports it flat only with
// proof.
//
// [Account] cancels the Pro runs, then the resting limits, then closes the
// positions, and looks again, until two looks in a row show nothing. Closing first
// would be in vain: what still waits on the account would fill into it again.
// [Sandbox] does the same on the paper account, [All] on every account of a key,
// and [Inspect] looks and touches nothing.
//
//	report, err := flatten.Account(ctx, account, flatten.Options{Halt: client})
//
// The error is nil only if the account is proven flat, and the [Report] is never
// nil: it says what was done and what was seen.
//
// With [Options.Urgent] cancels and closes go beside each other, and a round does not wait
// for calls that hang: no cancel delays a close.
//
// # The proof
//
// Reads lag by seconds, and each by its own. So one look proves nothing, nor do two
// at once. A look reads what waits first and the positions after it, and the proof
// is two looks, the second begun [Options.ProofInterval] after the first had ended, that
// both showed nothing, with no write between them. Whatever filled before the first
// look found nothing waiting is a position by the second. A read that failed is no
// look, and an answer in another shape than the service's is a read that failed.
//
// An entry of this client whose outcome is not known may be executed after both looks. So
// nothing is proven while the account has one: it is resolved beside the rounds, closed if
// it was executed, and named in [Report.Pending] and by a [trading.PendingError] if its
// outcome stays unknown. The outcome of an entry is known within half an hour at the most,
// and normally in seconds.
//
// The proof is of the time that the looks saw. An order that someone places
// afterwards, or that another program has in flight, is exposure again: stop what trades
// the account first. [Options.Halt] stops this process; it does not bind another
// process, the terminal, or the service itself.
//
// # Doubt
//
// An exit whose outcome is unknown is neither a failure nor a success: the next
// read shows. To repeat it is safe, since nothing that this package sends can add
// exposure: a close of 100 percent closes what is there, at whatever size that is
// by then, and cannot turn it round, and a cancel can only cancel. For the same
// reason the proof does not have to wait for exits in doubt: arriving late, they
// take away. That holds until the account trades again: a late close would then
// close the new position. The client remembers a close in doubt as it does any
// write and holds back entries in its symbol until it is resolved: with
// [trading.Account.Resolve] and the [Step]'s Err, or [trading.Client.Recover].
//
// That an order or a run is not found may mean that it has filled, and that there
// is no position, that somebody else closed it: neither is an error, and both are
// looked at again.
//
// # The end
//
// It ends with proof; with its context; or when nothing can be done any more, as
// on an account that has failed and accepts nothing ([ErrStuck]). Then what is left
// is in the error and in the last look. What passes (no price, a rate limit, a
// degraded service, lost connections, pages of gateways) is tried until the context ends,
// so give it a deadline that fits, and no shorter than two looks and the time
// between them. Looks are apart by a wait that doubles up to [Options.ProofInterval].
// What failed is tried again after a wait that doubles too, up to a quarter of a
// minute, and never before its Retry-After. A wait that the context
// would not survive is not begun.
//
// Closes and cancels are exits: they pass the health gate, a halt and every other
// guard unless the client is configured otherwise, and they and the reads here have the
// priority of exits in the rate limits.
package flatten
