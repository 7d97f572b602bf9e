// Package odds says how likely an account passes and how likely it is lost, from what its bot has
// done, by the account's own floors, and how wide that is.
//
//	history, err := odds.FromResult(result) // of a backtest; or FromTrades
//	forecast, err := odds.Of(history, odds.Options{
//		Rules:   odds.RulesOfTerms(result.Terms),
//		Horizon: 60, // days
//	})
//	fmt.Print(forecast)
//
// A [History] is days, not trades: losses of trades that are open together do not add. Paths are
// drawn from it by the stationary bootstrap, in blocks whose length follows from the days
// themselves, and are judged at every low and high of a day by the higher floor.
//
// # How wide
//
// A history is one of many that might have been. So it is resampled 200 times, and 500 paths are
// drawn from each: the interval is that of the 200 chances, and is the headline. It holds the
// truth in 92 to 97 of 100 cases, where what simulators print holds it in fewer than 10;
// docs/odds-reference.md has the measurement.
//
// # What it refuses
//
// Below 60 days there is no probability, and none where its interval is wider than 0.3. Trades
// without times or excursions, and lists that were cut, make no history. No size is best without a
// horizon or a payoff, while the mean may be 0, or where the bot was not run at other sizes.
// [Forecast.Refused] says what is missing.
//
// Amounts that come in are decimals. Probabilities, and what paths come to, are floats: they are
// statistics, and no money.
package odds
