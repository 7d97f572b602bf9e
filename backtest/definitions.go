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
	{"Verdict", "passed, failed or open, as judging the equity at every whole second gives it while a position is open: failed at or below the higher loss floor, passed where the equity less the taker fees of closing everything reaches the profit target. Whichever comes first."},
	{"Verdict by the service", "what the simulated service has made of the account. It judges a paper account when it is read or traded, and a live one when a position is closed."},
	{"Lowest room", "the least that the equity was above the higher loss floor."},
	{"Equity", "balance and unrealized profit at the mark. Gross - fees + funding + unrealized = equity - opening, checked to the cent."},
	{"Return", "(equity at the end - opening balance) ÷ opening balance."},
	{"Drawdown", "the deepest fall of the equity from an earlier peak, as a share of that peak, at every whole second while a position is open."},
	{"Under water", "the share of the time in which the equity was below an earlier peak. The longest stretch counts to the end of the run."},
	{"Exposure", "the share of the time with a position in any market."},
	{"Round trip", "what happens in one market from flat to flat. An order that turns a position around ends one round trip and begins another. What is open at the end is in none."},
	{"Net", "gross profit less the fees of opening and closing; funding is not in it."},
	{"Win rate", "the share of the round trips whose net is greater than 0."},
	{"Expectancy", "the mean net of a round trip."},
	{"Profit factor", "the sum of the nets above 0 ÷ the sum of the others, without its sign. None where no round trip lost."},
	{"SQN", "√n × mean ÷ standard deviation (n-1) of the nets of n round trips."},
	{"Day", "a complete UTC day. Its return is r = E ÷ E before - 1, with E the equity at its end."},
	{"Month", "the days of a calendar month in UTC, their returns compounded. The first and the last may be a part."},
	{"Sharpe", "mean(r) ÷ standard deviation(r, n-1) × √365, over the days. The risk-free rate is 0, and a year has 365 days."},
	{"Sortino", "mean(r) ÷ √mean(min(r, 0)²) × √365, over the days."},
	{"CAGR", "(equity at the end of the last day ÷ equity at the beginning of the first)^(365 ÷ days) - 1."},
	{"Calmar", "CAGR ÷ drawdown."},
	{"Too short to quote", "Sharpe, Sortino, CAGR and Calmar take 30 complete days."},
	{"Path", "the order of the prices inside a candle. Open, high, low and close are a third of the candle apart, with a straight line between them; the worse of O-H-L-C and O-L-H-C is the headline. Their spread is how far apart the two ended."},
	{"Buy and hold", "last price ÷ first price - 1, without fees or leverage."},
	{"Cause", "what closed a round trip last: market (an order or a close), stop_loss or take_profit."},
	{"Fee share", "fees ÷ gross profit of the round trips that won before fees."},
	{"Wilson interval", "where the share of all such runs lies with 95 % confidence, given the runs that were made."},
}
