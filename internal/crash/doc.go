// Package crash kills a trading bot at every step that it takes, and holds what
// the client then says of its orders against what the simulated service did.
//
// A schedule is one life of a write: what is sent and how, what breaks on the way,
// the step at which the program is killed, how long it stays away, what its owner
// does meanwhile, and where the recovery is killed in its turn. It comes from a
// seed alone.
//
// Each is played twice, by the same bot, in the same world and before the same
// oracle. In process a killed bot is one whose transport and journal refuse
// everything from then on. With real processes it is this test binary once more,
// with the durable journal in a file, that is killed with SIGKILL: it stops at each
// step until its parent has noted it, and at the last one the parent does not
// answer but kills it. Both live in virtual time: that of the child stands still
// while it talks to its parent or waits for its disk, and the parent moves the
// service's time to the child's whenever the child speaks. The two must come to
// the same, to the millisecond, but for one or two in a hundred: the bot does two
// things in one instant there, and they come in the other order.
//
// A sample of the processes runs over loopback and in real time, as the control: it
// must come to what it comes to without a network. Another has eight goroutines
// that write at once.
//
//	go test ./internal/crash/                           a few hundred schedules
//	go test ./internal/crash/ -crash.full -timeout 1h   more than ten thousand
//	go test ./internal/crash/ -crash.seed 4711          one of them, told step by step
//
// What must hold of each:
//
//   - nothing is executed twice, for one intent or for one decision;
//   - what is called applied was executed, and what is called not applied never
//     is: not then, not when copies of it arrive late, not a day later;
//   - what may have left is in the journal, and stays there until it is settled;
//     what was settled stays too;
//   - a recovery without an error leaves nothing open.
//
// One fault the contract itself leaves open: a 5xx after the work, whose answer is
// lost, under a key that is then sent again. It is counted apart, and does not
// happen with a lifetime of 0.
//
// Many schedules end with an Unknown, and each is counted by its reason. Most leave
// out what a verdict needs: the account was not read before the write, or others may
// trade it. The rest are kills and refusals that keep recovery from finding out.
//
// It holds no code outside its tests, and is imported by nothing.
package crash
