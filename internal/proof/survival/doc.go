// Survival lets lethal bots trade violent markets, with and without a protection or a part
// of it, and counts the accounts that are lost.
//
//	go run ./internal/proof/survival -seeds 1 -out DIR
//
// Each strategy meets each market, jump and fault, once a seed, and each such run is made in
// seven modes: with nothing; with the guard of package protect alone, which judges entries
// and closes nothing; with its loop alone, which flattens, and whose halts the bot obeys
// while nobody judges its entries; with the loop beside a bot that does not know of it; with
// loop and guard; and with both on half and on a quarter of the room that they reserve by
// default. It writes a table, a CSV and a picture. The same seeds give the same bytes.
//
//	go run ./internal/proof/survival -unaware -seeds 1 -out DIR
//
// This compares what protects bots that know of no protection: nothing, the loop beside them, and a
// sidecar that carries loop and guard, through which they trade. One strategy more leaves by
// opposite orders, which a guard that holds refuses.
//
// Whether an account is lost is judged here, each second, from what was really executed
// and at the true price, whatever the service shows: with the loss floors of the contract,
// at or below which an account is lost. Every run takes one of the readings of the contract
// that decide when the service itself judges.
package main
