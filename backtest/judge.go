package backtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// judge computes what a path came to from the ledger and the prices alone, and holds it
// against what the service reports.
func (p plan) judge(got raw) (path Path, err error) {
	a, err := p.account(got.report)
	if err != nil {
		return path, err
	}
	end := p.To
	if got.report.To.After(end) {
		end = got.report.To
	}
	p.drawn = got.drawn
	w := newWalk(p, a, got.ledger, end)
	if err := w.run(a.Curve, got.report.To, a.Equity); err != nil {
		return path, err
	}
	whole := Path{}
	w.into(&whole, p.spread)
	if err := reconcile(&whole, a, w.book.gross); err != nil {
		return path, err
	}
	if w, err = p.untilVerdict(w, a, got.ledger); err != nil {
		return path, err
	}
	path = Path{
		Order: p.in.order, Ended: got.ended, ServiceStatus: a.Status, Service: verdictOf(a.Status), Opening: a.Opening,
		Requests: got.report.Requests, Refusals: got.report.Refusals,
		Unanswered: got.report.Unanswered, Pending: got.pending,
	}
	path.Protection = got.guarded
	if got.stopped != nil {
		path.Stopped = got.stopped.Error()
	}
	w.into(&path, p.spread)
	path.FillsAfter = whole.Fills - path.Fills
	path.FillTimes = p.fillTimes(got.ledger, path.Until)
	path.Steps = w.stepsOf(&path, p.in)
	path.figures(p.terms, w.book.openLosers(w.to))
	path.Markets = p.markets(path.Curve)
	p.excursions(path.Trips)
	return path, nil
}

// untilVerdict is the walk that figures are taken from: it ends at the verdict.
func (p plan) untilVerdict(w *walk, a tradingsim.AccountReport, ledger []tradingsim.Execution) (*walk, error) {
	if w.verdict == Open || !w.decided.Before(w.to) {
		return w, nil
	}
	cut := newWalk(p, a, ledger, w.decided)
	err := cut.again(a.Curve)
	return cut, err
}

// account is the account that the run is of. One that the bot never asked for is as it was
// opened.
func (p plan) account(r tradingsim.Report) (a tradingsim.AccountReport, err error) {
	t := p.terms
	a, ok := r.Account(t.ID)
	switch {
	case !ok && t.ID == "":
		a = tradingsim.AccountReport{Status: "active", Opening: t.Opening, Balance: t.Opening, Equity: decimal.NewNullDecimal(t.Opening)}
	case !ok:
		return a, fmt.Errorf("backtest: the simulation has no account %q", t.ID)
	}
	if !a.Opening.Equal(t.Opening) {
		return a, fmt.Errorf("backtest: the account began with %s, and Config.Account says %s; set the account there and not in Config.Simulation", a.Opening, t.Opening)
	}
	if a.Resets > 0 {
		return a, fmt.Errorf("backtest: the paper account began anew %d times, by a reset or after thirty days without a write; a run is of one account", a.Resets)
	}
	for _, other := range r.Accounts {
		if other.Fills > 0 && !slices.ContainsFunc(p.traded, func(t Terms) bool { return t.ID == other.ID }) {
			return a, fmt.Errorf("backtest: the bot traded %s, and the run is of %s; want the account that it trades (Config.Account.ID, or --account)", accountName(other.ID), accountName(t.ID))
		}
	}
	return a, nil
}

func accountName(id string) string {
	if id == "" {
		return "the paper account"
	}
	return "account " + id
}

func verdictOf(status string) Verdict {
	switch strings.ToLower(status) {
	case "passed":
		return Passed
	case "locked", "failed":
		return Failed
	}
	return Open
}

// cent is how far apart two computations of an amount may be.
var cent = decimal.New(1, -2)

// reconcile holds the amounts against each other: those of the service, and those that
// follow from the fills and the prices.
func reconcile(path *Path, a tradingsim.AccountReport, fromFills decimal.Decimal) error {
	gross := decimal.Zero
	for _, t := range a.Trades {
		gross = gross.Add(t.GrossPnL)
	}
	if apart(gross, fromFills) {
		return fmt.Errorf("backtest: the result does not add up: the trades have earned %s, and the fills %s", gross, fromFills)
	}
	made := gross.Sub(a.Fees).Add(a.Funding)
	if apart(made, a.Balance.Sub(a.Opening)) {
		return fmt.Errorf("backtest: the result does not add up: gross - fees + funding is %s, and the balance has changed by %s", made, a.Balance.Sub(a.Opening))
	}
	if path.Equity.Valid && apart(made.Add(path.Unrealized.Decimal), path.Equity.Decimal.Sub(a.Opening)) {
		return fmt.Errorf("backtest: the result does not add up: with %s unrealized the equity is %s", path.Unrealized.Decimal, path.Equity.Decimal)
	}
	return nil
}

func apart(a, b decimal.Decimal) bool { return a.Sub(b).Abs().GreaterThanOrEqual(cent) }

// figures computes the ratios.
func (p *Path) figures(t Terms, openLosers int) {
	p.Return = none("the equity is not known")
	if p.Equity.Valid {
		p.Return = figure(p.Equity.Decimal.Sub(p.ExitFees).Sub(t.Opening).InexactFloat64() / t.Opening.InexactFloat64())
	}
	a := byDay(p.DayOpening, p.Days, p.Drawdown.Share)
	p.Sharpe, p.Sortino, p.CAGR, p.Calmar = a.sharpe, a.sortino, a.cagr, a.calmar
	p.SharpeIn = a.sharpeIn
	p.Shape = shapeOf(p.Trips, p.Days, p.DayOpening.Decimal.InexactFloat64())
	f := byTrip(p.Trips, openLosers)
	p.OpenLosers, p.ExpectancyIn, p.WinRateIn = openLosers, f.expectancyIn, f.winRateIn
	p.ProfitFactor, p.Expectancy, p.WinRate, p.SQN = f.profitFactor, f.expectancy, f.winRate, f.sqn
}

// markets are the prices at the points of the curve.
func (p plan) markets(curve []CurvePoint) []Market {
	list := make([]Market, 0, len(p.Data.series))
	for _, s := range p.Data.series {
		f := s.feed(p.in, nil)
		m := Market{Symbol: s.symbol, BuyAndHold: none("there was no price")}
		known := false
		for _, point := range append([]CurvePoint{{At: p.From}}, curve...) {
			price, ok := f.At(point.At)
			if ok {
				if !known {
					m.First, known = price, true
				}
				m.Last = price
			}
			m.Points = append(m.Points, decimal.NullDecimal{Decimal: price, Valid: ok})
		}
		if known {
			m.BuyAndHold = figure(m.Last.Sub(m.First).InexactFloat64() / m.First.InexactFloat64())
		}
		list = append(list, m)
	}
	return list
}
