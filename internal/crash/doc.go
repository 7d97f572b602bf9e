// Package crash kills a trading bot at every step that it takes, and holds what
// the client then says of its orders against what the simulated service did.
//
// A schedule is one life of a write: what is sent and how, what breaks on the way,
// the step at which the program is killed, how long it stays away, what its owner
// does meanwhile, and where the recovery is killed in its turn. It comes from a
// seed alone. Most schedules run in process and in virtual time, where a killed
// client is one whose transport and journal refuse everything from then on; a
// sample runs as real processes that are killed with SIGKILL, to show that the
// one is like the other.
//
//	go test ./internal/crash/                    a few hundred schedules
//	go test ./internal/crash/ -crash.full        more than ten thousand
//	go test ./internal/crash/ -crash.seed 4711   one of them, told step by step
//
// What must hold of each:
//
//   - nothing is executed twice, for one intent or for one decision;
//   - what is called applied was executed, and what is called not applied never
//     is: not then, not when copies of it arrive late, not a day later;
//   - what may have left is in the journal, and stays there until it is settled;
//   - a recovery without an error leaves nothing open.
//
// One fault the contract itself leaves open: a 5xx after the work, whose answer is
// lost, under a key that is then sent again. It is counted apart.
//
// It holds no code outside its tests, and is imported by nothing.
package crash
