package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/backtest"
	"github.com/tradingapi/trading-go/backtest/internal/words"
	"github.com/tradingapi/trading-go/backtest/odds"
)

// view is what the page shows, as text.
type view struct {
	Title, Prices, Period, Account string
	Synthetic                      bool
	Verdict                        backtest.Verdict
	VerdictText                    string
	Finding, FindingFigures        string
	FindingLimits                  string
	Cards                          []row
	Warnings                       []string
	Assumed                        []backtest.Assumption
	Floors                         [][]string // of the ten days with the least room
	BestDay, BetweenNote           string
	Days                           int // complete ones

	Room, Between, Equity, Drawdown, Daily, Histogram, Leverage, Hours, Against *chart

	Months   [][]string
	Groups   []group
	Money    []row
	Figures  []row
	Exposed  []row
	Shape    []row
	Paths    [][]string // a line for each figure, a column for each path
	Spread   string
	Holding  []row
	Requests []row
	Refusals []row
	Made     []row
	Defs     []definition
	Odds     []*oddsView
}

type row struct{ Name, Value, Note string }

type group struct {
	Name string // a defined term, or not
	Term bool
	Rows [][]string
}

type definition struct{ ID, Name, Text string }

func newView(r *backtest.Result, forecasts []*odds.Forecast) view {
	p := r.Worse()
	v := view{
		Title: r.Name, Prices: r.Data.Name, Synthetic: r.Data.Synthetic, Verdict: r.Verdict,
		Period:   fmt.Sprintf("%s to %s UTC, %s", clock(r.From), clock(r.To), length(r.To.Sub(r.From))),
		Account:  accountText(r.Terms),
		Warnings: r.Warnings,
	}
	if v.Title == "" {
		v.Title = "Backtest"
	}
	if r.Data.Source != "" {
		v.Prices += ": " + r.Data.Source
	}
	v.Finding, v.FindingFigures, v.FindingLimits = r.Finding.Headline(), signs.Replace(r.Finding.Figures()), backtest.FindingLimits
	v.VerdictText = string(r.Verdict)
	if r.VerdictNote != "" {
		v.VerdictText += ": " + r.VerdictNote
	}
	if !p.Decided.IsZero() {
		v.VerdictText += " on " + clock(p.Decided)
	}
	v.Cards = []row{
		{"Lowest room", money(p.LowestRoom), "on " + clock(p.LowestRoomAt)},
		{"Equity", nullMoney(p.Equity), "from " + money(p.Opening) + leaving(p)},
		{"Return", percent(p.Return), ""},
		{"Drawdown", percent(p.Drawdown.Share), money(p.Drawdown.Amount)},
		{"Best day", bestDay(p.Days), ""},
	}
	v.BestDay = v.Cards[len(v.Cards)-1].Value
	v.Assumed, v.Floors, v.Days = r.Assumptions(), dayFloors(p), len(allDays(p))
	v.charts(r)
	v.Months = months(p.Days)
	v.Groups = groups(p.Trips)
	v.Money = moneyRows(p)
	v.Figures, v.Exposed, v.Shape = figureRows(r), exposedRows(p), shapeRows(p)
	v.Paths = pathTable(r.Paths)
	if len(r.Paths) > 1 {
		v.Spread = nullMoney(r.Spread().NullDecimal)
	}
	for _, m := range p.Markets {
		v.Holding = append(v.Holding, row{m.Symbol, percent(m.BuyAndHold), m.First.String() + " to " + m.Last.String()})
	}
	v.Requests, v.Refusals = counts(p.Requests), counts(p.Refusals)
	if p.Unanswered > 0 {
		v.Refusals = append(v.Refusals, row{Name: "without an answer", Value: whole(p.Unanswered)})
	}
	v.Made = made(r)
	for _, f := range forecasts {
		v.Odds = append(v.Odds, newOdds(f))
	}
	for _, d := range backtest.Definitions() {
		v.Defs = append(v.Defs, definition{anchor(d.Name), d.Name, d.Text})
	}
	return v
}

// allDays are the complete days and those that are not, in order of time.
func allDays(p *backtest.Path) []backtest.Day {
	all := slices.Concat(p.Days, p.PartDays)
	slices.SortFunc(all, func(a, b backtest.Day) int { return a.Date.Compare(b.Date) })
	return all
}

// dayFloors are the ten days on which the equity came nearest to the floor, in order of time.
func dayFloors(p *backtest.Path) (rows [][]string) {
	worst := slices.SortedStableFunc(slices.Values(allDays(p)), func(a, b backtest.Day) int { return a.LowestRoom.Cmp(b.LowestRoom) })
	worst = worst[:min(10, len(worst))]
	slices.SortFunc(worst, func(a, b backtest.Day) int { return a.Date.Compare(b.Date) })
	for _, d := range worst {
		profit := nullMoney(d.Profit)
		if slices.ContainsFunc(p.PartDays, func(part backtest.Day) bool { return part.Date.Equal(d.Date) }) {
			profit = "a part"
		}
		rows = append(rows, []string{d.Date.Format(time.DateOnly), money(d.Floor), money(d.LowestRoom), profit, fmt.Sprint(d.Trips)})
	}
	return rows
}

func leaving(p *backtest.Path) string {
	if !p.ExitFees.IsPositive() {
		return ""
	}
	return ", less " + money(p.ExitFees) + " for leaving what is open"
}

// bestDay is the best day's share of the profit, which rules of consistency ask for.
func bestDay(list []backtest.Day) string {
	best, sum, traded := decimal.Zero, decimal.Zero, 0
	for _, d := range list {
		best, sum = decimal.Max(best, d.Profit.Decimal), sum.Add(d.Profit.Decimal)
		if d.Trips > 0 {
			traded++
		}
	}
	days := words.Count(traded, "day") + " with trades"
	if !sum.IsPositive() {
		return "no profit; " + days
	}
	return fmt.Sprintf("%s %% of the profit; %s", best.Mul(decimal.NewFromInt(100)).DivRound(sum, 0), days)
}

// interval is where a figure lies with 95 percent confidence.
func interval(i backtest.Interval, text func(backtest.Figure) string) string {
	if _, ok := i.Low.Value(); !ok {
		return ""
	}
	return text(i.Low) + " to " + text(i.High)
}

func pathTable(paths []backtest.Path) [][]string {
	rows := [][]string{{"order"}, {"verdict"}, {"equity"}, {"drawdown"}, {"lowest room"}, {"round trips"}}
	for _, p := range paths {
		for i, text := range []string{
			orText(p.Order, "marks"), string(p.Continuous), nullMoney(p.Equity), percent(p.Drawdown.Share), money(p.LowestRoom), fmt.Sprint(len(p.Trips)),
		} {
			rows[i] = append(rows[i], text)
		}
	}
	return rows
}

func accountText(t backtest.Terms) string {
	name := "Paper account"
	if t.ID != "" {
		name = "Live account " + t.ID
	}
	daily := "daily loss floor " + money(t.DailyLossFloor)
	switch t.DailyFloor {
	case backtest.BothFloors:
		daily += ", judged fixed and moving with the balance at 0:00 UTC (the contract leaves it open; the worse is shown)"
	case backtest.FixedFloor:
		daily += ", fixed"
	case backtest.MovingFloor:
		daily += " on the first day, then moving with the balance at 0:00 UTC"
	}
	return fmt.Sprintf("%s, opened with %s; %s; global loss floor %s; profit target %s", name, money(t.Opening), daily, money(t.GlobalLossFloor), money(t.ProfitTarget))
}

func moneyRows(p *backtest.Path) []row {
	rows := []row{
		{"Gross", money(p.Gross), "of what was closed"},
		{"Fees", money(p.Fees.Neg()), feeShare(p)},
		{"Funding", money(p.Funding), ""},
		{"Unrealized", nullMoney(p.Unrealized), ""},
	}
	sum := decimal.NullDecimal{Valid: p.Equity.Valid}
	if p.Equity.Valid {
		sum.Decimal = p.Equity.Decimal.Sub(p.Opening)
	}
	return append(rows, row{"Sum", nullMoney(sum), "equity - opening"})
}

func feeShare(p *backtest.Path) string {
	if !p.Gross.IsPositive() {
		return "beside no gross profit"
	}
	return fmt.Sprintf("fee share %s %%", p.Fees.Mul(decimal.NewFromInt(100)).DivRound(p.Gross, 1).StringFixed(1))
}

func winRateNote(p *backtest.Path) string {
	losers := ""
	if p.OpenLosers > 0 {
		losers = fmt.Sprintf("%d open at a loss counted as lost", p.OpenLosers)
	}
	return noted(interval(p.WinRateIn, percent), losers)
}

func figureRows(r *backtest.Result) []row {
	p := r.Worse()
	return []row{
		{"Verdict", string(p.Continuous), ""},
		{"Verdict by the service", string(p.Service), p.ServiceStatus},
		{"Sharpe", number(p.Sharpe), noted(interval(p.SharpeIn, number), p.DaysThatCount())},
		{"Deflated Sharpe", number(r.Overfit.DeflatedSharpe), attempts(r.Finding.Attempts)},
		{"Probability of overfitting", number(r.Overfit.Overfitting), ""},
		{"Sortino", number(p.Sortino), ""},
		{"CAGR", percent(p.CAGR), ""},
		{"Calmar", number(p.Calmar), ""},
		{"Profit factor", number(p.ProfitFactor), ""},
		{"Expectancy", figureMoney(p.Expectancy), interval(p.ExpectancyIn, figureMoney)},
		{"Win rate", percent(p.WinRate), winRateNote(p)},
		{"SQN", number(p.SQN), ""},
	}
}

// noted are two notes, of which either may be empty.
func noted(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

func attempts(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("one of %d attempts", n)
}

func exposedRows(p *backtest.Path) []row {
	most := row{"Leverage", "nothing was held", ""}
	if !p.Leverage.At.IsZero() {
		most = row{"Leverage", "at most " + number(p.Leverage.Most), "on " + clock(p.Leverage.At)}
	}
	return []row{most, {"Exposure", percent(p.Exposure), ""}}
}

func shapeRows(p *backtest.Path) []row {
	s, worst, under := p.Shape, "", ""
	if p.Drawdown.Amount.IsPositive() {
		worst = fmt.Sprintf("%s, from %s to %s, %s", money(p.Drawdown.Amount), clock(p.Drawdown.From), clock(p.Drawdown.To), length(p.Drawdown.To.Sub(p.Drawdown.From)))
		under = "the longest " + length(p.Drawdown.Longest)
	}
	falls := ""
	if s.Falls > 0 {
		falls = fmt.Sprintf("%s, %s days long in the mean", words.Count(s.Falls, "fall"), number(s.MeanFallDays))
	}
	streaks, holding := "no round trip", "no round trip"
	if len(p.Trips) > 0 {
		streaks = fmt.Sprintf("%d won, %d lost", s.WinStreak, s.LossStreak)
		holding = fmt.Sprintf("%s in the median, %s to %s", length(s.Median), length(s.Shortest), length(s.Longest))
	}
	return []row{
		{"Streaks", streaks, ""},
		{"Holding", holding, ""},
		{"Drawdown", percent(p.Drawdown.Share), worst},
		{"Average drawdown", percent(s.MeanFall), falls},
		{"Under water", percent(p.Drawdown.UnderWater), under},
		{"Skew", number(s.Skew), ""},
		{"Tail", percent(s.Tail), ""},
	}
}

// months compounds the days of each month.
func months(days []backtest.Day) (rows [][]string) {
	for i := 0; i < len(days); {
		month := days[i].Date.Format("2006-01")
		profit, grown, n, known := decimal.Zero, 1.0, 0, false
		for ; i < len(days) && days[i].Date.Format("2006-01") == month; i++ {
			r, ok := days[i].Return.Value()
			known = known || ok // a day that is not known is in the next that is
			profit, grown, n = profit.Add(days[i].Profit.Decimal), grown*(1+r), n+1
		}
		if !known {
			rows = append(rows, []string{month, fmt.Sprint(n), "unknown", "unknown"})
			continue
		}
		rows = append(rows, []string{month, fmt.Sprint(n), money(profit), strings.Replace(fmt.Sprintf("%.2f %%", 100*(grown-1)), "-", minus, 1)})
	}
	return rows
}

// groups are the round trips by what they have in common.
func groups(trips []backtest.RoundTrip) (list []group) {
	for _, g := range []struct {
		name string
		term bool
		of   func(backtest.RoundTrip) string
	}{
		{"Symbol", false, func(t backtest.RoundTrip) string { return t.Symbol }},
		{"Side", false, func(t backtest.RoundTrip) string { return t.Side }},
		{"Cause", true, func(t backtest.RoundTrip) string { return t.Cause }},
	} {
		by := map[string][]backtest.RoundTrip{}
		for _, t := range trips {
			by[g.of(t)] = append(by[g.of(t)], t)
		}
		made := group{Name: g.name, Term: g.term}
		for _, name := range slices.Sorted(maps.Keys(by)) {
			made.Rows = append(made.Rows, tripRow(name, by[name]))
		}
		list = append(list, made)
	}
	return list
}

func tripRow(name string, trips []backtest.RoundTrip) []string {
	net, fees, won := decimal.Zero, decimal.Zero, 0
	for _, t := range trips {
		net, fees = net.Add(t.Net()), fees.Add(t.Fees)
		if t.Net().IsPositive() {
			won++
		}
	}
	return []string{name, fmt.Sprint(len(trips)), fmt.Sprintf("%d %%", (100*won+len(trips)/2)/len(trips)), money(net), money(fees)}
}

func counts(of map[string]int) (rows []row) {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
	})
	for _, name := range names {
		rows = append(rows, row{Name: name, Value: whole(of[name])})
	}
	return rows
}

func made(r *backtest.Result) []row {
	rows := []row{
		{Name: "Prices", Value: r.Data.Name},
		{Name: "Source", Value: orText(r.Data.Source, "not said")},
		{Name: "Symbols", Value: strings.Join(r.Data.Symbols, ", ")},
		{Name: "SHA-256", Value: r.Data.SHA256},
	}
	if r.Data.Synthetic {
		rows = append(rows, row{Name: "Seed", Value: fmt.Sprint(r.Data.Seed)})
	}
	return append(rows, row{Name: "Library", Value: "trading-go " + r.Versions.Library + ", " + r.Versions.Go})
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

const minus = "\u2212"

// signs makes a minus of what stands for one.
var signs = strings.NewReplacer(" -", " "+minus, "(-", "("+minus)

// money has two places and separators of thousands.
func money(d decimal.Decimal) string {
	text := d.Abs().StringFixed(2)
	point := len(text) - 3
	var b strings.Builder
	if d.IsNegative() && d.Round(2).Sign() != 0 {
		b.WriteString(minus)
	}
	b.WriteByte('$')
	for i, c := range text {
		if i > 0 && i < point && (point-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func nullMoney(d decimal.NullDecimal) string {
	if !d.Valid {
		return "unknown"
	}
	return money(d.Decimal)
}

func figureMoney(f backtest.Figure) string {
	v, ok := f.Value()
	if !ok {
		return f.None()
	}
	return money(decimal.NewFromFloat(v))
}

// number has the sign of a minus, as amounts do.
func number(f backtest.Figure) string {
	if _, ok := f.Value(); !ok {
		return f.None()
	}
	return strings.Replace(f.String(), "-", minus, 1)
}

func percent(f backtest.Figure) string {
	v, ok := f.Value()
	if !ok {
		return f.None()
	}
	return strings.Replace(fmt.Sprintf("%.2f %%", 100*v), "-", minus, 1)
}

func whole(n int) string {
	text := money(decimal.NewFromInt(int64(n)))
	return strings.TrimSuffix(strings.TrimPrefix(text, "$"), ".00")
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// length is a duration in its two largest units.
func length(d time.Duration) string {
	d = d.Round(time.Second)
	hours, minutes := d/time.Hour%24, d/time.Minute%60
	days := words.Count(int(d/(24*time.Hour)), "day")
	switch {
	case d >= 24*time.Hour && hours > 0:
		return fmt.Sprintf("%s %d h", days, hours)
	case d >= 24*time.Hour:
		return days
	case hours > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	case minutes > 0:
		return fmt.Sprintf("%d min %d s", minutes, d/time.Second%60)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
