// Package crash kills programs at every step that they take, and holds what the
// client then says of their writes against what the simulated service did.
//
// A schedule is one life of a write: what is sent and how, what breaks on the way, how
// far behind each read is, the step at which the program is killed, how long it stays
// away, what others do meanwhile, and where the recovery is killed in its turn. It comes
// from a seed alone. There are four kinds: one program; two clients on one journal; two
// programs with journals of their own, which take the same decision; and the paper
// account. Journals are files. Time is virtual, a killed program is one whose transport
// and journal refuse everything from then on, and a power cut also takes what was not
// synced.
//
// Beside the faults of its calls a schedule meets none, one or two accidents: of clocks,
// disks, machines, connections, limits, gateways, and of the bot's own pace (accidents).
// internal/proof/model/README.md says which accident lives where.
//
// A schedule goes over a transport of the program's, or, one in eight, over connections of the client's own, on
// which it listens to its writes and asks twice for exits: they last, swallow what is sent, or are on a path
// that drops packets.
//
// Real programs are killed with SIGKILL, in real time and over loopback, while they
// write and while they recover. Others are stopped with SIGSTOP, before and after their first
// byte, and go on when their write is older than it may be sent. Who comes after them lives in
// virtual time.
//
//	go test ./internal/proof/crash/                                      a sample
//	go test ./internal/proof/crash/ -crash.n 10000 -timeout 1h           ten thousand of each kind
//	go test ./internal/proof/crash/ -crash.n 25000 -crash.from 1000000 -crash.count -v -timeout 2h
//	                                                               a hundred thousand: each problem counted by its kind
//	go test ./internal/proof/crash/ -crash.accidents 1 -crash.only "an append is lost" -crash.n 500 -v
//	go test ./internal/proof/crash/ -crash.accidents 1 -crash.only "over a path that drops" -crash.n 2000 -timeout 1h
//	go test ./internal/proof/crash/ -crash.accidents 1 -crash.only "orders are given up before" -crash.n 10000 -crash.count -v -timeout 2h
//	                                                               how many of these are unknown in the end stands apart
//	go test ./internal/proof/crash/ -crash.from 4711 -crash.n 1 -crash.tell -v   one, printed step by step
//
// What must hold of each:
//
//   - nothing is executed twice, for one write or for one client order id;
//   - what is called applied was executed, and what is called not applied never
//     is: not then, not when copies of it arrive late, not a day later;
//   - whatever was executed is in a journal;
//   - a recovery ends, and one without an error leaves nothing open;
//   - nothing runs after Close.
//
// What no client can promise is counted apart, by kind ([rig.Exceptions]). What stays Unknown is counted by its reason.
//
// It holds no code outside its tests, and is imported by nothing.
package crash
