// Package trial judges a bot by what a simulated service saw of it: whether it orders twice,
// holds more than it may, trades into an unhealthy service, sends on through a rate limit, or
// forgets its position after a restart.
//
// [Run] does so with a bot in Go, on virtual time, in a test. The command "trading trial" does
// so with a program in any language. Both play the same scenarios by [Play], each with a fault
// or a kill that a seed chooses, and both judge by [Judge], from the log of the simulation alone.
//
// What a bot may do is its [Manifest]. Each judgement ends in one of four words: [Fail], [Warn],
// [Pass], and [NotExercised] where the run had no opportunity, which is never a pass.
package trial
