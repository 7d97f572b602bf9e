// Package candle draws a price for each second of a candle from the law of a random walk that
// has the candle's open, high, low and close. A path from that law has no edge inside it: who
// sees candles and paths together sees a random walk.
//
// What is left is the volatility, since a path whose volatility follows from its own range shows
// the range before it is reached. [Volatility] therefore shrinks what a candle's range says
// towards what its neighbours say.
//
// Nothing is drawn but what is asked for: see [Inside].
//
// A market that jumps is no such walk. [NewJumpVolatility] separates the candles that stand apart from
// the others, and [Bar.JumpPath] draws them as two walks with one step in one second between them.
//
// Times are steps of a second and lengths are in units of the volatility of a second. Floats are
// for synthetic prices alone; the conversions keep products from being fused, so that machines
// agree.
package candle
