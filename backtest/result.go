package backtest

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/backtest/internal/words"
)

// Verdict is what an account has come to.
type Verdict string

const (
	// Open is an account that has neither passed nor failed.
	Open Verdict = "open"
	// Passed is an account that has reached its profit target.
	Passed Verdict = "passed"
	// Failed is an account that was at or below a loss floor.
	Failed Verdict = "failed"
)

// Result is what a run came to. The same data, bot and config give the same result.
type Result struct {
	Name     string    // that of the config
	From, To time.Time // From and To are what the run spans
	Terms    Terms     // what the account was judged by
	Data     DataInfo  // the prices
	Versions Versions  // of what made the result
	// Frictions are what was assumed of the market beside the fees.
	Frictions Frictions
	Options   int // of Config.Simulation
	// Profile names what the simulation behaved by; nil is by the document alone.
	Profile *ProfileInfo
	// Verdict is passed only if every path passed and the prices can show it, and failed if any
	// failed. VerdictNote is why it is not that of the paths; empty where it is.
	Verdict     Verdict
	VerdictNote string
	// Finding says whether what was earned from step to step shows an edge; see [Finding].
	Finding Finding
	// Overfit is what the choice among attempts, or among the variants of a sweep, explains.
	Overfit Overfit
	// Paths are one, or two where the prices are candles: the worse first.
	Paths []Path
	// Spikes are prices that are far from those around them for one tick, and WithoutSpikes the
	// worse path of a run without them; nil where there are none.
	Spikes        []Spike
	WithoutSpikes *Path
	// Placebo is the bot on candles of a random walk with the volatility of these, where it
	// traded inside candles: what it earns there the construction of the paths gives, and no
	// market. It is nil where it was not needed.
	Placebo *Path
	// Unprotected is the worse path of the bot without Config.Protect; nil where that is not set.
	Unprotected *Path
	// Others are the results of Config.Others.
	Others   []*Result
	WarmUp   time.Duration // before From
	Warnings []string
}

// DataInfo names the data of a run.
type DataInfo struct {
	Name      string   // the file, or what was computed
	Source    string   // where they come from, as the config says
	Symbols   []string // the markets
	SHA256    string   // of the file, or of what a walk is computed from
	Synthetic bool     // no market's prices
	Seed      uint64   // of synthetic data
}

// Versions are those of the program that made the result.
type Versions struct {
	Library string // this module
	Go      string // the toolchain
}

// Path is a run with the prices inside each candle in one order.
type Path struct {
	Order   string    // "random, seed 0", "random with jumps, seed 0", "O-H-L-C" or "O-L-H-C"; empty where the prices are marks
	Stopped string    // the bot's error; empty if it ran to the end
	Ended   time.Time // when the bot returned, if that was before its end

	// Service is what the service made of the account, which it judges when it is asked.
	// Continuous is what judging every second gives, and Decided when that was.
	Service       Verdict
	ServiceStatus string
	Continuous    Verdict
	Decided       time.Time
	// Until is where the figures end: at the verdict, or with the run. FillsAfter are the fills
	// after it, which are in no figure.
	Until      time.Time
	FillsAfter int

	// Gross - Fees + Funding + Unrealized = Equity - Opening, to the cent. Equity and
	// Unrealized are not valid while a market that is held has no price.
	Opening, Balance, Gross, Fees, Funding decimal.Decimal
	Unrealized, Equity                     decimal.NullDecimal
	// ExitFees are the fees, spread and slippage of leaving what is open. They are in Return, and
	// not in Equity. OpenValue is what is open, at the marks.
	ExitFees, OpenValue decimal.Decimal
	Turnover            decimal.Decimal // what all fills together traded, in dollars
	Took                decimal.Decimal // by spread and slippage, of Gross

	// LowestRoom is the least that the equity was above the higher loss floor.
	LowestRoom   decimal.Decimal
	LowestRoomAt time.Time
	Drawdown     Drawdown
	Leverage     Leverage
	Shape        Shape
	Exposure     Figure // the share of the time with a position
	Unpriced     time.Duration

	// Return is the profit, less ExitFees, as a share of the opening balance.
	Return                                 Figure
	Sharpe, Sortino, CAGR, Calmar          Figure
	ProfitFactor, Expectancy, WinRate, SQN Figure
	SharpeIn, ExpectancyIn, WinRateIn      Interval
	OpenLosers                             int                 // markets held at a loss at the end, which count as lost in WinRate
	DayOpening                             decimal.NullDecimal // the equity at the first midnight
	DayBalance                             decimal.Decimal     // the balance then
	DayFlat                                bool                // whether nothing was held then
	Days                                   []Day
	PartDays                               []Day // that are not complete: the first and the last, which are in no figure by day
	Trips                                  []RoundTrip
	StillOpen                              []string // markets that were held at the end
	Curve                                  []CurvePoint
	Markets                                []Market
	Fills, Unanswered, Pending             int
	FillTimes                              FillTimes
	Steps                                  Steps       // what Result.Finding goes by
	Protection                             *Protection // nil without
	Others                                 []Path      // of further accounts, until a result has them
	Requests, Refusals                     map[string]int
}

// Leverage is the largest value of all positions as a multiple of the equity.
type Leverage struct {
	Most Figure    // 0 if nothing was held
	At   time.Time // when
}

// Drawdown is the deepest fall of the equity from a peak, judged every second, and of candles where
// they open, are at their high and at their low, and close.
type Drawdown struct {
	Share      Figure          // of the peak
	Amount     decimal.Decimal // in dollars
	From, To   time.Time       // the peak and the lowest point; zero if there was none
	Longest    time.Duration   // the longest time below an earlier peak
	UnderWater Figure          // the share of the time below an earlier peak
}

// CurvePoint is the equity in one stretch of the run. It is not valid where the equity was
// not known all the while.
type CurvePoint struct {
	At time.Time // the end of the stretch
	// Low and High are the extremes in the stretch, and Last is the equity at its end.
	Low, High, Last decimal.NullDecimal
	Floor           decimal.Decimal // the higher of the two
	Leverage        Figure          // the largest in the stretch
}

// Market is what buying at the beginning and holding would have brought.
type Market struct {
	Symbol      string          // of the market
	First, Last decimal.Decimal // the first price of the run, and the last
	BuyAndHold  Figure          // as a share
	// Points are the prices at the beginning, and at each point of the curve.
	Points []decimal.NullDecimal
}

func newResult(p plan) *Result {
	d := p.Data
	r := &Result{
		Name: p.Name, From: p.From, To: p.To, Terms: p.terms, Frictions: p.Frictions, Options: len(p.Simulation), Profile: infoOf(p.Profile), WarmUp: p.WarmUp, Spikes: p.spikesIn(),
		Data:     DataInfo{Name: d.name, Source: d.source, Symbols: d.Symbols(), SHA256: d.hash, Synthetic: d.synthetic, Seed: d.seed},
		Versions: Versions{Library: trading.Version, Go: runtime.Version()},
	}
	if d.synthetic {
		r.Warnings = append(r.Warnings, "The prices are synthetic: computed, and no market's. The result says nothing of a market.")
	}
	r.Warnings = append(r.Warnings, d.notes...)
	if f := p.Frictions.Funding; f != nil {
		r.Warnings = append(r.Warnings, f.gaps(d.Symbols(), p.From, p.To)...)
	}
	return r
}

// Worse is the headline: of two paths the one that failed, or ended lower.
func (r *Result) Worse() *Path { return &r.Paths[0] }

func (r *Result) add(p Path) {
	r.Paths = append(r.Paths, p)
	slices.SortStableFunc(r.Paths, comparePaths)
}

// finish judges the paths together.
func (r *Result) finish(p plan, attempts int) {
	w := r.Worse()
	r.Verdict, r.Finding, r.Overfit = w.Continuous, evidenceOf(r.Paths).finding(attempts), overfitOfOne(r, attempts)
	first, last := p.Data.Span()
	if all := last.Sub(first); p.To.Sub(p.From) < all*9/10 {
		r.warn("The run takes %s of the %s that the prices span: other parts may give other figures.", inDays(p.To.Sub(p.From)), inDays(all))
	}
	r.judgeCandles(p)
	for _, s := range r.Spikes {
		r.warn("A spike: %s.", s)
	}
	if c := r.WithoutSpikes; c != nil {
		r.warn("Without the spikes: %s, equity %s.", c.Continuous, dollars(c.Equity))
		if r.Verdict == Passed && c.Continuous != Passed {
			r.Verdict, r.VerdictNote = Open, "it passed by prices that lasted one tick"
		}
	}
	texts := make([][]string, len(r.Paths))
	for i := range r.Paths {
		texts[i] = r.Paths[i].warnings()
	}
	for i, list := range texts {
		for _, text := range list {
			if len(texts) > 1 && !(slices.Contains(texts[0], text) && slices.Contains(texts[1], text)) {
				text = r.named(&r.Paths[i], text)
			}
			if !slices.Contains(r.Warnings, text) {
				r.Warnings = append(r.Warnings, text)
			}
		}
	}
}

func (r *Result) warn(format string, values ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, values...))
}

// named is a text about one of the paths.
func (r *Result) named(p *Path, text string) string {
	if len(r.Paths) < 2 {
		return text
	}
	return "Path " + p.Order + ": " + text
}

func inDays(d time.Duration) string { return fmt.Sprintf("%.1f days", d.Hours()/24) }

// The shares of fills inside candles from which on candles are doubtful, and of no use.
const (
	doubtfulShare = 10 // a tenth
	uselessShare  = 2  // a half
	leastGross    = 0.08
)

// judgeCandles says what candles cannot show of this bot.
func (r *Result) judgeCandles(p plan) {
	worst, bar := r.mostInside(), p.longestCandle()
	if worst == nil || bar == 0 {
		return
	}
	warn := func(format string, values ...any) { // of this path, whose figures may not be those of the headline
		r.warn("%s", r.named(worst, fmt.Sprintf(format, values...)))
	}
	f := worst.FillTimes
	if why := worst.unmeasured(bar); why != "" {
		warn("These candles cannot measure this bot: %s. Take shorter candles, or marks.", why)
		if r.Verdict == Passed {
			r.Verdict, r.VerdictNote = Open, "these candles cannot measure this bot"
		}
	} else if f.Inside*doubtfulShare > f.Of {
		warn("%d of %d fills are inside candles, neither at an opening nor at a level that was set before: their prices are drawn, and a drawn path holds no edge.", f.Inside, f.Of)
	}
	if f.Inside*doubtfulShare <= f.Of {
		return
	}
	if gross, unit := grossShare(worst.Trips), p.usualMove(); unit > 0 && len(worst.Trips) > 0 && gross < leastGross*unit {
		warn("The gross profit of a round trip is %.2f basis points, not above the error of how paths are drawn (%.2f).", 1e4*gross, 1e4*leastGross*unit)
	}
	if r.Placebo != nil {
		warn("On candles of a random walk with the same volatility the bot grossed $%s in %d round trips; here $%s in %d.",
			r.Placebo.Gross.StringFixed(2), len(r.Placebo.Trips), worst.Gross.StringFixed(2), len(worst.Trips))
	}
}

// unmeasured is why candles of a length cannot measure the bot of a path; empty where they can.
func (p *Path) unmeasured(bar time.Duration) string {
	f, holding := p.FillTimes, medianHolding(p.Trips)
	short := len(p.Trips) > 0 && holding < bar
	switch {
	case f.Inside > 0 && (f.Inside*uselessShare >= f.Of || short):
		return fmt.Sprintf("%d of %d fills are inside candles of %s, and half of the round trips last %s or less", f.Inside, f.Of, bar, holding)
	case f.Apart*doubtfulShare > f.Of:
		return fmt.Sprintf("%d of %d fills are inside candles of several markets, whose paths are drawn apart though their prices may move together", f.Inside, f.Of)
	}
	return ""
}

// mostInside is the path with the largest share of fills inside candles.
func (r *Result) mostInside() *Path {
	var most *Path
	for i := range r.Paths {
		p := &r.Paths[i]
		if p.FillTimes.Of > 0 && (most == nil || p.FillTimes.Inside*most.FillTimes.Of > most.FillTimes.Inside*p.FillTimes.Of) {
			most = p
		}
	}
	return most
}

// needsPlacebo reports whether more than a tenth of the fills are inside candles.
func (r *Result) needsPlacebo() bool {
	most := r.mostInside()
	return most != nil && most.FillTimes.Inside*doubtfulShare > most.FillTimes.Of
}

func (p plan) longestCandle() (bar time.Duration) {
	for _, s := range p.Data.series {
		bar = max(bar, s.interval)
	}
	return bar
}

func medianHolding(trips []RoundTrip) time.Duration {
	list := holdings(trips)
	if len(list) == 0 {
		return 0
	}
	return list[len(list)/2]
}

// grossShare is the mean gross of round trips as a share of what they traded.
func grossShare(trips []RoundTrip) float64 {
	sum := 0.0
	for _, t := range trips {
		sum += t.grossShare()
	}
	return sum / float64(max(1, len(trips)))
}

// usualMove is the largest volatility of a candle, as a share of the price.
func (p plan) usualMove() (most float64) {
	for _, s := range p.Data.series {
		if s.interval > 0 {
			most = max(most, s.volatility(p.CandlePaths == JumpPaths).Typical()*math.Sqrt(s.interval.Seconds()))
		}
	}
	return most
}

// rank has the worse first.
var rank = map[Verdict]int{Failed: 0, Open: 1, Passed: 2}

// comparePaths puts the worse first.
func comparePaths(a, b Path) int {
	if a.Continuous != b.Continuous {
		return rank[a.Continuous] - rank[b.Continuous]
	}
	switch {
	case a.Equity.Valid && b.Equity.Valid:
		return a.Equity.Decimal.Cmp(b.Equity.Decimal)
	case a.Equity.Valid:
		return 1
	case b.Equity.Valid:
		return -1
	}
	return a.Balance.Cmp(b.Balance)
}

func (p *Path) warnings() (list []string) {
	if p.Stopped != "" {
		list = append(list, fmt.Sprintf("The bot stopped with an error at %s: %s", p.Ended.Format(time.DateTime), p.Stopped))
	} else if !p.Ended.IsZero() {
		list = append(list, fmt.Sprintf("The bot returned at %s, before the end of the run.", p.Ended.Format(time.DateTime)))
	}
	if len(p.StillOpen) > 0 {
		list = append(list, "Positions were open at the end: "+strings.Join(p.StillOpen, ", ")+". They are in the equity, and in no round trip, but for the win rate, where those at a loss count as lost; the return has the costs of leaving them.")
	}
	if p.Unpriced > 0 {
		list = append(list, fmt.Sprintf("For %s a market that was held had no price: the equity was not known and not judged.", p.Unpriced))
	}
	if p.FillsAfter > 0 {
		list = append(list, fmt.Sprintf("The figures end at the verdict, on %s; %d fills after it are in none.", p.Until.Format(time.DateTime), p.FillsAfter))
	}
	if p.Pending > 0 {
		list = append(list, "At the end the outcome was not known of "+words.Count(p.Pending, "write")+".")
	}
	if p.Service != p.Continuous {
		list = append(list, fmt.Sprintf("The service says %s, and judging every second says %s: the service judges an account only when it is asked.", p.Service, p.Continuous))
	}
	return list
}

// String is a summary of a few lines, the same wherever and whenever it is made.
func (r *Result) String() string {
	p := r.Worse()
	var b strings.Builder
	line := func(name, format string, values ...any) {
		fmt.Fprintf(&b, "%-13s %s\n", name, fmt.Sprintf(format, values...))
	}
	prices := r.Data.Name
	if r.Data.Synthetic {
		prices += " (SYNTHETIC)"
	}
	line("prices", "%s, %s to %s", prices, r.From.Format(time.DateOnly), r.To.Format(time.DateOnly))
	if p.Order != "" {
		line("path", "%s, the worse of two; spread of the equity $%s; that paths agree proves nothing", p.Order, r.Spread().String())
	}
	line("service", "%s", r.Profile)
	line("floors", "%s", r.Terms.floors())
	verdict := string(r.Verdict)
	if r.VerdictNote != "" {
		verdict += " (" + r.VerdictNote + ")"
	}
	if !p.Decided.IsZero() {
		verdict += " on " + p.Decided.Format(time.DateTime) + ", where the figures end"
	}
	line("verdict", "%s; by the service %s; lowest room $%s", verdict, p.Service, p.LowestRoom.StringFixed(2))
	line("finding", "%s", r.Finding)
	line("", "%s", FindingLimits)
	line("equity", "$%s to %s", p.Opening.StringFixed(2), dollars(p.Equity))
	if p.ExitFees.IsPositive() {
		line("", "leaving what is open costs $%s more", p.ExitFees.StringFixed(2))
	}
	line("return", "%s", percent(p.Return))
	line("drawdown", "%s, $%s", percent(p.Drawdown.Share), p.Drawdown.Amount.StringFixed(2))
	losers := ""
	if p.OpenLosers > 0 {
		losers = fmt.Sprintf(", %d open at a loss counted as lost", p.OpenLosers)
	}
	line("round trips", "%d, won %s%s%s, profit factor %s", len(p.Trips), percent(p.WinRate), p.WinRateIn.percent(), losers, p.ProfitFactor)
	line("fees", "$%s, funding $%s", p.Fees.StringFixed(2), p.Funding.StringFixed(2))
	line("assumed", "%s; %s", r.Frictions.brief(), r.atCosts())
	if p.Protection != nil {
		line("protection", "%s", r.protected())
	}
	if len(r.Others) > 0 {
		line("accounts", "%s", r.accounts())
	}
	line("sharpe", "%s%s", p.Sharpe, p.SharpeIn)
	if text := p.DaysThatCount(); text != "" {
		line("", "%s", text)
	}
	sent := 0
	for _, n := range p.Requests {
		sent += n
	}
	refused := 0
	for _, n := range p.Refusals {
		refused += n
	}
	line("requests", "%d, refused %d", sent, refused)
	for _, w := range r.Warnings {
		line("warning", "%s", w)
	}
	return b.String()
}

// Spread is how far apart the paths ended, in dollars.
func (r *Result) Spread() Money {
	low, high := r.Paths[0].Equity, r.Paths[0].Equity
	for _, p := range r.Paths[1:] {
		if !p.Equity.Valid || !low.Valid {
			return Money{}
		}
		low = decimal.NewNullDecimal(decimal.Min(low.Decimal, p.Equity.Decimal))
		high = decimal.NewNullDecimal(decimal.Max(high.Decimal, p.Equity.Decimal))
	}
	if !low.Valid {
		return Money{}
	}
	return Money{decimal.NewNullDecimal(high.Decimal.Sub(low.Decimal))}
}

// Money is an amount that may not be known.
type Money struct{ decimal.NullDecimal }

// String has two places, or says "unknown".
func (m Money) String() string {
	if !m.Valid {
		return "unknown"
	}
	return m.Decimal.StringFixed(2)
}

func dollars(d decimal.NullDecimal) string {
	if !d.Valid {
		return "unknown"
	}
	return "$" + d.Decimal.StringFixed(2)
}

// percent is a share in percent.
func percent(f Figure) string {
	v, ok := f.Value()
	if !ok {
		return f.None()
	}
	return fmt.Sprintf("%.2f%%", 100*v)
}
