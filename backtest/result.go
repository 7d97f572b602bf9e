package backtest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
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
	// Paths are one, or two where the prices are candles: the worse first.
	Paths    []Path
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
	Order   string    // "O-H-L-C" or "O-L-H-C"; empty where the prices are marks
	Stopped string    // the bot's error; empty if it ran to the end
	Ended   time.Time // when the bot returned, if that was before its end

	// Service is what the service made of the account, which it judges when it is asked.
	// Continuous is what judging every second gives, and Decided when that was.
	Service       Verdict
	ServiceStatus string
	Continuous    Verdict
	Decided       time.Time

	// Gross - Fees + Funding + Unrealized = Equity - Opening, to the cent. Equity and
	// Unrealized are not valid while a market that is held has no price.
	Opening, Balance, Gross, Fees, Funding decimal.Decimal
	Unrealized, Equity                     decimal.NullDecimal

	// LowestRoom is the least that the equity was above the higher loss floor.
	LowestRoom   decimal.Decimal
	LowestRoomAt time.Time
	Drawdown     Drawdown
	Exposure     Figure // the share of the time with a position
	Unpriced     time.Duration

	// Return is the profit as a share of the opening balance.
	Return                                 Figure
	Sharpe, Sortino, CAGR, Calmar          Figure
	ProfitFactor, Expectancy, WinRate, SQN Figure
	DayOpening                             decimal.NullDecimal // the equity at the first midnight
	Days                                   []Day
	Trips                                  []RoundTrip
	StillOpen                              []string // markets that were held at the end
	Curve                                  []CurvePoint
	Markets                                []Market
	Fills, Unanswered, Pending             int
	Requests, Refusals                     map[string]int
}

// Drawdown is the deepest fall of the equity from a peak, judged every second.
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
		Name: p.Name, From: p.From, To: p.To, Terms: p.terms,
		Data:     DataInfo{Name: d.name, Source: d.source, Symbols: d.Symbols(), SHA256: d.hash, Synthetic: d.synthetic, Seed: d.seed},
		Versions: Versions{Library: trading.Version, Go: runtime.Version()},
	}
	if d.synthetic {
		r.Warnings = append(r.Warnings, "The prices are synthetic: computed, and no market's. The result says nothing of a market.")
	}
	r.Warnings = append(r.Warnings, d.notes...)
	return r
}

// Worse is the headline: of two paths the one that failed, or ended lower.
func (r *Result) Worse() *Path { return &r.Paths[0] }

func (r *Result) add(p Path) {
	r.Paths = append(r.Paths, p)
	slices.SortStableFunc(r.Paths, comparePaths)
	for _, w := range p.warnings() {
		if !slices.Contains(r.Warnings, w) {
			r.Warnings = append(r.Warnings, w)
		}
	}
}

// comparePaths puts the worse first.
func comparePaths(a, b Path) int {
	rank := map[Verdict]int{Failed: 0, Open: 1, Passed: 2}
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
		list = append(list, "Positions were open at the end: "+strings.Join(p.StillOpen, ", ")+". They are in the equity and in no round trip.")
	}
	if p.Unpriced > 0 {
		list = append(list, fmt.Sprintf("For %s a market that was held had no price: the equity was not known and not judged.", p.Unpriced))
	}
	if p.Pending > 0 {
		list = append(list, fmt.Sprintf("The outcome of %d writes was not known at the end.", p.Pending))
	}
	if p.Service != p.Continuous {
		list = append(list, fmt.Sprintf("The service says %s, and judging every second says %s: the service judges an account only when it is asked.", p.Service, p.Continuous))
	}
	if len(p.Trips) < 30 {
		list = append(list, fmt.Sprintf("%d round trips are too few to tell skill from luck.", len(p.Trips)))
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
		line("path", "%s, the worse of two; spread of the equity $%s", p.Order, r.Spread().String())
	}
	line("verdict", "%s; by the service %s; lowest room $%s", p.Continuous, p.Service, p.LowestRoom.StringFixed(2))
	line("equity", "$%s to %s", p.Opening.StringFixed(2), dollars(p.Equity))
	line("return", "%s", percent(p.Return))
	line("drawdown", "%s, $%s", percent(p.Drawdown.Share), p.Drawdown.Amount.StringFixed(2))
	line("round trips", "%d, won %s, profit factor %s", len(p.Trips), percent(p.WinRate), p.ProfitFactor)
	line("fees", "$%s, funding $%s", p.Fees.StringFixed(2), p.Funding.StringFixed(2))
	line("sharpe", "%s", p.Sharpe)
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
