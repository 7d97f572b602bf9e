// Package watch reports what changes on an account, in a market, or in the service.
// The service pushes nothing, so a watch looks again and again and delivers the
// differences between one look and the next, as typed events in one loop:
//
//	for ev, err := range watch.Events(ctx,
//		watch.Marks(client.Sandbox.MarketData, "BTC").WithInterval(5*time.Second),
//		watch.Account(client.Sandbox).WithSnapshot(), // also keeps its stops alive
//	) {
//		if err != nil {
//			slog.Warn("watching", "err", err) // it goes on by itself
//			continue
//		}
//		switch ev := ev.(type) {
//		case watch.MarkChanged:
//			…
//		case watch.TradeClosed:
//			…
//		}
//	}
//
// # What is delivered
//
// The events of a loop, applied in their order to what was there at its first look,
// give what was there at its last look: nothing is left out. [View] does that; with
// [Watch.WithSnapshot] it can begin empty. Each closed trade is delivered once, although
// trades have no ids and their list may be cut. A [Gap] marks an interval that may be
// incomplete: looks failed, or the list of trades does not reach back to the last
// look. What changed and changed back between two looks is not seen; the trades of a
// position that was opened and closed in between are.
//
// Reads lag by some seconds, each by its own: a trade can show before or after its
// position is gone. Only the fill of an order is authoritative.
//
// # Errors
//
// A look that failed is an [*Error] beside a nil event. The watch then looks less
// often, keeps to the Retry-After of the service, and goes on. Errors that cannot
// heal end the loop: they are the last thing it yields, and [Error.Ends] is set.
// These are a client that was closed, an account that does not exist, a symbol or a
// run that does not exist, a call that the client refuses to send, and a key that is
// refused twice in a row, half a minute apart (time for one that comes from a function
// to be replaced).
//
// # Requests
//
// A look at an account costs three requests, at marks, candles or health one, at orders one and
// a second when a run has ended, at fills one and three more while limits rest. Looks begin at
// least the interval apart, up to a tenth more, at random, so that many programs spread. They are reads, of the lowest
// priority in the client's rate limits, and wait there; where that would take longer
// than half a minute, or than the interval if it is longer, the look fails with the
// length of the wait. [Watch.Shared] lets any number of loops live on the same looks.
//
// # Side effects
//
// Looking at the paper account fires its triggers: [Account] on a sandbox closes
// positions whose stop or target has been crossed, and without anybody looking none
// fires. [Marks] never touches the account.
package watch
