package tradingsim

import (
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Report is the result of a run, as the service knows it and whatever callers
// were answered. Two runs with the same seed have equal reports.
type Report struct {
	From time.Time // when the simulation began
	To   time.Time // when the report was made

	// Accounts are the paper account, once it has been asked for, and then the
	// live accounts in the order they were added.
	Accounts []AccountReport

	// Requests counts what was sent, by operation; "other" is what the contract
	// does not have.
	Requests map[string]int
	// Refusals counts the refusals that callers got, by code.
	Refusals map[string]int
	// Unanswered counts the requests that got no answer.
	Unanswered int
}

// Account finds the report of an account; "" is the paper account. ok is false
// while there is none.
func (r Report) Account(id string) (a AccountReport, ok bool) {
	i := slices.IndexFunc(r.Accounts, func(a AccountReport) bool { return a.ID == id })
	if i < 0 {
		return a, false
	}
	return r.Accounts[i], true
}

// Sent is how many requests there were of all operations.
func (r Report) Sent() (n int) {
	for _, count := range r.Requests {
		n += count
	}
	return n
}

// AccountReport is what a run came to on one account. Amounts are dollars. What
// reads show may lag behind it, and what is not closed yet is in it.
type AccountReport struct {
	// ID is "" for the paper account. Under interpretation 30 each sandbox key has one,
	// by the key's own id.
	ID      string
	Status  string
	Opening decimal.Decimal
	Balance decimal.Decimal
	// Equity is the balance and the unrealized PnL; not valid while a position
	// has no mark.
	Equity decimal.NullDecimal
	// Profit is what the run has earned: equity less opening, and the same of
	// every paper account that a reset has ended. Not valid without Equity.
	Profit decimal.NullDecimal
	// Fees are all that were paid, those of open positions too.
	Fees decimal.Decimal
	// Funding is what funding payments brought; negative was paid.
	Funding decimal.Decimal
	// Payments are the funding payments, oldest first.
	Payments []FundingPayment
	// Fills counts what traded: orders, closes, triggers, clips.
	Fills int
	// Resets counts how often the paper account began anew: by a reset, or after
	// thirty days without a write.
	Resets int
	// Trades are the closed trades, oldest first, those before a reset too.
	Trades   []ClosedTrade
	Drawdown Drawdown
	Curve    []Point
}

// ClosedTrade is a closed trade, or the part of a position that a close took.
type ClosedTrade struct {
	Symbol       string          // of the market
	Side         string          // of the position
	Size         decimal.Decimal // in base units
	EntryPrice   decimal.Decimal // the blended average
	ExitPrice    decimal.Decimal // of the close
	GrossPnL     decimal.Decimal // before fees
	RoundTripFee decimal.Decimal // of opening and closing
	Cause        string          // market, take_profit or stop_loss
	OpenedAt     time.Time       // by the clock of the simulation
	ClosedAt     time.Time       // by the same
}

// NetPnL is what the trade earned.
func (t ClosedTrade) NetPnL() decimal.Decimal { return t.GrossPnL.Sub(t.RoundTripFee) }

// Report returns what the run has come to so far. The paper account's equity
// counts a level that the mark has crossed only once a read has fired it.
func (s *Sim) Report() Report {
	s.enter()
	defer s.leave()
	r := Report{
		From: s.began, To: s.now,
		Requests: map[string]int{}, Refusals: maps.Clone(s.refusals), Unanswered: s.unanswered,
	}
	for _, o := range s.routes.byName {
		if o.requests > 0 {
			r.Requests[o.name] = o.requests
		}
	}
	if s.strays > 0 {
		r.Requests["other"] = s.strays
	}
	for _, owner := range slices.Sorted(maps.Keys(s.desks)) {
		d := s.desks[owner]
		r.Accounts = append(r.Accounts, s.reportOf(owner, d.paper.status, &d.paper.book, &d.track))
	}
	for _, id := range s.accountIDs {
		a := s.accounts[id]
		r.Accounts = append(r.Accounts, s.reportOf(id, a.Status, &a.book, &a.track))
	}
	return r
}

func (s *Sim) reportOf(id, status string, b *book, t *track) AccountReport {
	r := AccountReport{
		ID: id, Status: status,
		Opening: t.opening, Balance: b.balance, Equity: s.equityAt(b, s.now),
		Fees: t.fees.Add(b.feesPaid()), Funding: t.funding(), Payments: slices.Clone(t.payments),
		Fills: t.fills, Resets: t.resets,
		Trades:   make([]ClosedTrade, 0, len(t.trades)+len(b.trades)),
		Drawdown: t.drawdown.worst,
		Curve:    slices.Clone(t.points),
	}
	if r.Equity.Valid {
		r.Profit = decimal.NewNullDecimal(t.earned.Add(r.Equity.Decimal).Sub(t.opening))
	}
	for _, rows := range [][]trade{t.trades, b.trades} {
		for _, row := range rows {
			r.Trades = append(r.Trades, ClosedTrade{
				Symbol: row.symbol, Side: row.side, Size: row.size, Cause: row.cause,
				EntryPrice: row.entryPrice, ExitPrice: row.exitPrice,
				GrossPnL: row.gross, RoundTripFee: row.fee(),
				OpenedAt: row.openedAt, ClosedAt: row.closedAt,
			})
		}
	}
	return r
}

// feesPaid are the fees that a book has cost so far.
func (b *book) feesPaid() (sum decimal.Decimal) {
	for _, t := range b.trades {
		sum = sum.Add(t.fee())
	}
	for _, p := range b.positions {
		sum = sum.Add(p.openFees)
	}
	return sum
}
