// Package ratelimittest is what any [ratelimit.Store] has to pass.
//
//	func TestStore(t *testing.T) {
//		ratelimittest.Run(t, ratelimittest.Store{New: newStore, In: synctest.Test, Sleep: time.Sleep})
//	}
//
// Each rule is a subtest with a store of its own. Run it with -race. Minutes pass in
// it, so the store's clock is a simulated one: that of a bubble of
// [testing/synctest], or one that Sleep moves.
package ratelimittest
