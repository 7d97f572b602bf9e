// Package odds estimates how likely an account passes and how likely it is lost: from what its bot
// has done, by the account's own floors, with an interval.
//
//	history, err := odds.FromResult(result) // of a backtest; or FromTrades
//	forecast, err := odds.Of(history, odds.Options{
//		Rules:   odds.RulesOfTerms(result.Terms),
//		Horizon: 60, // days
//	})
//	fmt.Print(forecast)
//
// # How it is computed
//
//  1. A history is days: balance and equity at both midnights, the lows and highs between in their
//     order, and the largest position. Losses of trades that are open together do not add. Days
//     without trades count.
//  2. The history is resampled 200 times by the stationary bootstrap, and 500 paths are drawn from
//     each. The mean length of a block is chosen after Politis and White 2004, corrected in 2009;
//     the result at half and at double the length stands beside it. Blocks are cut where the
//     account was flat, if it ever was.
//  3. A resampled history forgets what its blocks cut, so the means of the 200 are spread to what
//     the long-run variance of the days says. All deviations from its mean are multiplied by
//     exp(0.4 (60/n)^¼ N), with n days and N normal, since it is as restless as its years only by
//     chance.
//  4. The paths run twice: as the days are, and with a day worse than any of them. Its rate a day
//     is exponential by n, one for each of the 200; its loss is the worst deviation by the cube
//     root of a uniform number.
//  5. Each path is judged at every low and high of a day by the higher floor, at exactly the floor
//     too. Where the contract leaves open whether a daily floor moves, and with what, each reading
//     is judged, and the worst is the headline. At a pass the fees of leaving are paid.
//  6. The interval is that of the 200 chances, from the lower of both runs to the higher. What the
//     paths add to their spread is taken out, unless they add more than there is.
//  7. If no day and no moment took a tenth of the room to a floor, the history does not show how
//     an account is lost. It is k whole stretches of the horizon without a loss: the upper end of
//     lose is 1 − 0.025^(1/k) at least (Clopper and Pearson), and the lower end of pass the rest.
//     Without a horizon a stretch is what paths take in the mean.
//
// Several accounts are joined by [Join]; on a date that several have, a path takes the day of one.
// An account that failed belongs in: the forecast names the accounts, and says if none of them
// failed.
//
// docs/odds-reference.md has how often the interval holds the truth.
//
// # What it refuses
//
// Below 4 days there is no interval. Trades without times or excursions, and lists that were cut,
// make no history. No size is best without a horizon or a payoff, while the mean may be 0, or
// where the bot was not run at other sizes. [Forecast.Refused] says what is missing.
//
// Amounts that come in are decimals. Probabilities, and what paths come to, are floats: they are
// statistics, and no money.
package odds
