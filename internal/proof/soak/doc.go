// Package soak wears a client out: one client, 64 goroutines, reads and writes of
// both environments on several accounts, and every fault of the simulated service
// at random.
//
//	go test ./internal/proof/soak/                        a few thousand calls
//	go test ./internal/proof/soak/ -soak.full -timeout 1h more than a hundred thousand of each kind
//	go test ./internal/proof/soak/ -soak.seed 4711        with other dice
//	go test ./internal/proof/soak/ -v -run Soak           with the figures
//
//	go test ./internal/proof/soak/ -run Accidents -soak.pairs -soak.trial 1280 -timeout 3h
//
// The last lets accidents happen for the whole of a soak, each two of them together: to clocks,
// disks, connections, health, limits, guards, the bot's pace, with two clients on one journal
// (accidents_test.go). Without the flag each happens alone.
//
// It runs in process and in virtual time, in which the full run is some hours long.
// internal/proof/client, hostile and crash have real connections. What must hold:
//
//   - every error is of one of the client's types, and has an outcome;
//   - by the service's ledger nothing is executed twice, what was called applied was
//     executed, and what was called not applied was not;
//   - after a round of calls the client holds no more memory than after the round
//     before it: each round has a simulation of its own, which is let go before the
//     heap is measured, so that what is left is the client's.
//
// One fault the contract leaves open is kept out: a request that was executed and
// answered with a 5xx, and of which a copy arrives afterwards. Package crash plays
// and counts it. So the soak has two mixes of faults: one in which copies arrive
// late, and one in which the service fails after the work.
//
// It holds no code outside its tests, and is imported by nothing.
package soak
