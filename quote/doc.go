// Package quote keeps resting limits where a program wants them: it finds the fewest cancels
// and placements that lead from what rests to what is desired, and carries them out.
//
//	q, err := quote.New(client, "acc_1", quote.Options{Symbol: "BTC", Leverage: trading.Dec("2"), MaxBuy: …, MaxSell: …})
//	for {
//		result, err := q.Step(ctx, quotes) // what should rest now
//		…
//	}
//
// [Diff] is the difference alone: a pure function. A quote that rests already, or nearly so
// by [Change], stays as it is; the contract knows no change of a resting limit, so what moves
// is cancelled and placed anew.
//
// # What a Step does not do
//
// It never places again what may rest. A placement or cancel whose outcome is not known holds
// placements back until it is known and reads have caught up; so do the first seconds, in
// which reads may not show what an earlier run placed. What it placed counts as resting, and what
// it cancelled as gone, although a read does not show it yet. Cancels come first, and an order
// that could not be found may have been filled: nothing is placed in that Step, since the
// quotes were decided without it.
//
// What rests is at no moment above [Options]: orders that are being cancelled count until
// their cancel is answered. Nor are there more placements or cancels in a minute. What has no
// room waits for a later Step.
//
// A Quoter takes every resting limit of its market on its account for its own, and cancels
// what is not desired. It leaves Pro orders and positions alone, and cannot bound what fills:
// that is for the quotes, a guard, or package protect.
package quote
