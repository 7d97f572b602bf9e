// Package risk works out what an order would do before it is sent: what it would
// cost, what would be left at its stop, and which code the service would refuse it
// with. It sends nothing and reads nothing; everything it knows is in the [Inputs]
// that the caller gives it, and what is missing there is not judged.
//
//	report := risk.Preview(order, risk.Inputs{Mark: mark, State: state, Positions: trading.Some(positions)})
//	if err := report.Err(); err != nil {
//		return err // refused, or a loss on every outcome
//	}
//
// [Size] and [MaxSize] find a size, [Guard] asks before every send of a client, and
// [Breaker] ends the loop that sends a refused order again and again.
//
// # The arithmetic
//
// All of it is exact, in decimals; amounts are in dollars, sizes in base units.
//
//   - Leverage: the one asked for, but not above the cap of the market and not below
//     1. The service does not refuse a higher one, and does not show.
//   - Notional: size × price. Margin: notional / leverage.
//   - Fee: 0.045% of the notional for whatever takes its price (market orders, limits
//     that fill at once, closes, triggers), 0.015% for a limit that has rested. The
//     fees themselves are [trading.TakerFee], [trading.MakerFee],
//     [trading.RoundTripFee] and [trading.BreakEven].
//   - Netting: an order against a position first closes it. What is left over opens
//     the other side, unless the order is reduce-only.
//   - Blended entry: what all parts cost, divided by their size. A part that closes
//     takes its share of the cost along, so that the entry stays.
//   - Loss at the stop: what the position afterwards has cost, less what it is sold
//     for at the stop, and the fees of both ways. The gain at the target is the same
//     with the sign turned. If it is negative at the target, the bracket is narrower
//     than its fees: it loses on every outcome.
//   - Room after the stop: the equity now, and what moves until the order has filled
//     and the position is closed at its stop, less the fees still to pay, less the
//     higher of the two loss floors. At 0 the account is lost, not only below.
//   - Gap at the target: the profit target less the equity at the take-profit, from
//     which the taker fees for closing everything else are deducted. At 0 the account
//     passes, and the service closes everything.
//
// Only quotients are rounded, to sixteen places, half away from zero: the margin, a
// blended entry and the share of a partial close. The contract names no rounding;
// the simulator rounds there too, and what an order answers there is what Preview
// said, to the last digit. An entry price that was read is such a quotient itself:
// the exact cost is recovered from the unrealized PnL and the mark of the same
// record, if it has them.
//
// # What it judges
//
// In this order, which is the simulator's, since the contract does not show the
// service's own: the fields of the order; on the sandbox, whether the symbol is
// listed; the status of the account; the market; whether there is a price; whether
// a limit has been reached; the expected price; whether there is something to
// reduce; the clips of a Pro order; the levels, by the price now; the loss limits;
// the caps: equity, minimum, position, margin, market. [Report.Refused] is the
// first of them, and Report.Problems has all.
//
// Then come the warnings, which the service does not mind; see [Warning].
//
// # What it cannot know
//
// An order that Preview lets pass can still be refused:
//
//   - MAX_SLIPPAGE, INSUFFICIENT_LIQUIDITY: the service walks an order book that it
//     does not show.
//   - STALE_PRICE, NO_PRICE, order_rejected, fill_rejected, cap_exceeded,
//     equity_unavailable: trouble at the moment of the fill.
//   - TOO_MANY_RUNS, CHASE_EXISTS: what runs already.
//   - BAD_DURATION, BAD_ORDER_COUNT and their like within reason: the contract gives
//     no ranges.
//   - TOTAL_MARGIN_CAP of a sandbox order that names no leverage: the default is not
//     shown.
//   - Anything that depends on a price, once the market has moved; on positions, once
//     somebody else has traded.
//
// What the contract leaves out is judged only if the inputs have it: the caps, the
// minimum of the sandbox, the tolerance of the expected price, how many clips a
// TWAP has, and which markets are disabled or paused.
package risk
