package backtest

// Definition says how a figure is computed.
type Definition struct {
	Name string // of the figure
	Text string // what it is, in a sentence or two
}

// Definitions are the figures of a result and of its report, in the order in which a report
// has them.
func Definitions() []Definition { return append([]Definition(nil), definitions...) }

var definitions = []Definition{
	{"Verdict", "passed, failed or open, as judging the equity at every whole second gives it while a position is open: failed at or below the higher loss floor, passed where the equity less the taker fees of closing everything reaches the profit target. Whichever comes first. A pass takes every path, and the run without spikes; one path that fails is a failure. Figures end at the verdict. Where it is not said whether the daily floor moves with the balance at midnight, the account is judged both ways, and the worse is shown."},
	{"Finding", "whether what the account earned shows an edge, or luck explains it. What it earned before costs, at the marks, is taken from step to step: each whole UTC minute with a position, or the candle where its inside was not drawn or is a straight line. S is the sum of the steps, Q the sum of their squares, C what fees, spread, slippage and funding cost. An edge was found if S ÷ √Q, and it pays its costs if (S - C) ÷ √Q, is more than luck makes of it in half of 1 of 100 runs, divided by the number of attempts; it loses its costs if (S - C) ÷ √Q is as far below 0. Of several paths the one with the least to show counts. Nothing can be said where fewer than 10 steps of one size were at risk (Q² ÷ the sum of the fourth powers), or where candles hide what happened: more than a tenth of the fills inside straight lines, or half of the round trips shorter than three candles and begun or ended inside one. The figures are S and S - C, each ± 1.96 √Q, in basis points of half of what was traded. " + FindingLimits},
	{"Verdict by the service", "what the simulated service has made of the account. It judges a paper account when it is read or traded, and a live one when a position is closed."},
	{"Lowest room", "the least that the equity was above the higher loss floor."},
	{"Equity", "balance and unrealized profit at the mark. Gross - fees + funding + unrealized = equity - opening, checked to the cent."},
	{"Return", "(equity at the end - what leaving what is open costs - opening balance) ÷ opening balance."},
	{"Best day", "the profit of the best day ÷ that of all complete days, and how many of them had round trips that ended: what rules of consistency ask for."},
	{"Drawdown", "the deepest fall of the equity from an earlier peak, as a share of that peak, at every whole second while a position is open."},
	{"Under water", "the share of the time in which the equity was below an earlier peak. The longest stretch counts to the end of the run."},
	{"Exposure", "the share of the time with a position in any market."},
	{"Leverage", "the value of all positions at the mark ÷ equity: the largest of the run, and of each stretch in the picture, at every fill and every extreme of the equity."},
	{"Round trip", "what happens in one market from flat to flat. An order that turns a position around ends one round trip and begins another. What is open at the end is in none."},
	{"Net", "gross profit less the fees of opening and closing; funding is not in it."},
	{"Win rate", "the share of the round trips whose net is greater than 0, with Wilson's interval. A market that is held at a loss at the end counts as a round trip that lost."},
	{"Expectancy", "the mean net of a round trip, with the interval of 1.96 standard errors."},
	{"Profit factor", "the sum of the nets above 0 ÷ the sum of the others, without its sign. None where no round trip lost."},
	{"SQN", "√n × mean ÷ standard deviation (n-1) of the nets of n round trips."},
	{"Day", "a complete UTC day. Its return is r = E ÷ E before - 1, with E the equity at its end. A day at whose end the equity is not known, since a market that was held had no price, does not count: what it made is in the next that does. The first and the last may be a part, which has a room above the floor and no other figure."},
	{"Month", "the days of a calendar month in UTC, their returns compounded. The first and the last may be a part."},
	{"Sharpe", "mean(r) ÷ standard deviation(r, n-1) × √365, over the days that count; where some do not, a year has as many fewer. The risk-free rate is 0, and a year has 365 days. The interval is that of Lo 2002, for days that do not depend on each other."},
	{"Sortino", "mean(r) ÷ √mean(min(r, 0)²) × √365, over the days that count."},
	{"CAGR", "(equity at the end of the last day ÷ equity at the beginning of the first)^(365 ÷ days) - 1."},
	{"Calmar", "CAGR ÷ drawdown."},
	{"Too short to quote", "Sharpe, Sortino, CAGR, Calmar, skew and tail take 30 days that count."},
	{"Path", "the prices inside candles, which no recording has. Random paths are drawn from the law of a random walk with the candle's open, high, low and close; two are made, and the worse is the headline. Random ones with jumps have one step in one second where a candle's range stands out. Fixed ones are straight lines, O-H-L-C and O-L-H-C. Their spread is how far apart the two ended. That paths agree proves nothing. Inside candles a drawn path holds no edge; a straight one shows its end to who looks."},
	{"Placebo", "the bot on candles of a random walk with the volatility of these, their insides drawn the same way. It is made where more than a tenth of the fills are inside candles. What it earns, the construction gives and no market."},
	{"Spike", "a price that is a hundredth and twelve usual moves away from those around it, and comes back by three quarters with the next."},
	{"MAE, MFE", "of a round trip: the worst and the best that it was while it was open, before fees, at the marks that were worst and best for it, for all that was closed. Both are in the list of trades that Result.WriteTrades and trading backtest --trades write."},
	{"Streaks", "the most round trips in a row that won, and that lost, in the order in which they ended."},
	{"Holding", "the time from the opening of a round trip to its end: the shortest, the median and the longest."},
	{"Average drawdown", "by the equity at the ends of days: the mean depth of its falls from a peak, as a share of it, and their mean length in days. A fall ends when the peak is reached again, or with the days."},
	{"Skew", "mean((r - mean)³) ÷ standard deviation(r)³, over the days. Below 0 the losses are the larger days."},
	{"Tail", "the mean return of the worst twentieth of the days."},
	{"Deflated Sharpe", "the probability that the Sharpe ratio is more than the expected best of as many attempts, or variants of a sweep, without an edge (Bailey and Lopez de Prado 2014), from the daily returns; of a sweep, those on which the variants were chosen. It takes 20 days. It is a figure and no verdict: days of capped gains have a high one without an edge."},
	{"Probability of overfitting", "of a sweep: how often the variant that is best on half of the days is below the median on the other half, over all halves of ten blocks (CSCV). It is a figure and no verdict."},
	{"Chances", "how many of 100 such accounts are lost and how many pass, of paths of days that are drawn from those of the history in blocks. The interval holds the truth with 95 % confidence: it is of 200 histories that might have been seen, each more or less restless than this one, 500 paths each, as the days are and with a day worse than any of them. It takes 4 days. Of fewer than 250 more may be lost, since they may all be of one calm regime (package odds)."},
	{"Buy and hold", "last price ÷ first price - 1, without fees or leverage."},
	{"Cause", "what closed a round trip last: market (an order or a close), stop_loss or take_profit."},
	{"Fee share", "fees ÷ gross."},
	{"Wilson interval", "where the share of all such runs lies with 95 % confidence, given the runs that were made."},
}
