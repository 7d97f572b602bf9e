package tradingsim

import (
	"fmt"
	"time"
)

// Account describes a live account. Amounts are absolute dollars, as text.
type Account struct {
	ID              string // its accountId
	Status          string // ACTIVE unless set
	EvalType        string // 1-step unless set
	Phase           int    // 1 unless set
	Balance         string // that of [WithBalance] unless set
	DailyLossFloor  string // 95 percent of the balance unless set
	GlobalLossFloor string // 90 percent of the balance unless set
	ProfitTarget    string // 110 percent of the balance unless set
	TournamentName  string // left out if empty
	FundedFrom      string // on a funded account: the challenge it was issued from
	Trial           bool   // isTrial of the account
	Tournament      bool   // isTournament
	Archived        bool   // isArchived
}

// The statuses of a live account.
const (
	statusActive    = "ACTIVE"
	statusPurchased = "PURCHASED" // legacy, like ACTIVE
	statusFunded    = "FUNDED"
	statusPassed    = "PASSED"
	statusFailed    = "FAILED"
	statusExpired   = "EXPIRED"
)

// WithAccount adds a live account. Without any there is "acc_1". A later one is
// newer.
func WithAccount(a Account) Option {
	return option(func(c *config) { c.accounts = append(c.accounts, a) })
}

// account is a live account in force.
type account struct {
	book
	Account
	terms     terms
	createdAt time.Time
	resting   []*resting       // oldest first
	runs      []*run           // running, oldest first
	finished  []*run           // oldest first
	funding   []FundingPayment // oldest first
	past      history[*account]
	track     track
}

func (s *Sim) addAccount(a Account, balance string) {
	if a.ID == "" {
		panic("tradingsim: an account needs an ID")
	}
	if _, ok := s.accounts[a.ID]; ok {
		panic("tradingsim: there are two accounts " + a.ID)
	}
	if a.Status == "" {
		a.Status = statusActive
	}
	if a.EvalType == "" {
		a.EvalType = "1-step"
	}
	if a.Phase == 0 {
		a.Phase = 1
	}
	if a.Balance == "" {
		a.Balance = balance
	}
	live := &account{
		Account:   a,
		terms:     newTerms(a.Balance, a.DailyLossFloor, a.GlobalLossFloor, a.ProfitTarget, ""),
		createdAt: s.now.Add(time.Duration(len(s.accounts)) * time.Second),
	}
	live.balance = live.terms.opening
	s.accounts[a.ID] = live
	s.accountIDs = append(s.accountIDs, a.ID)
	s.opened(&live.track, &live.book)
	s.keep(live)
}

// SetStatus sets the status of a live account.
func (s *Sim) SetStatus(accountID, status string) {
	s.enter()
	defer s.leave()
	a := s.mustAccount(accountID)
	a.Status = status
	s.changedTo(EventStatus, Change{Account: a.ID, Value: status})
	s.tick()
	s.keep(a)
}

// PayFunding books a funding payment to a live account; a negative amount is
// paid by the account.
func (s *Sim) PayFunding(accountID, symbol, amount string) {
	s.enter()
	defer s.leave()
	s.payLive(s.mustAccount(accountID), FundingPayment{symbol, must("funding", amount), s.now})
}

// Trade fills a market order on a live account as somebody in the terminal would: it
// counts against the shared limit of market orders, and no check is in its way. For
// anything else that a person does there is [Sim.Terminal].
func (s *Sim) Trade(accountID, side, size, symbol string) {
	s.enter()
	defer s.leave()
	if side != long && side != short {
		panic("tradingsim: side must be long or short")
	}
	a, m := s.mustAccount(accountID), s.market(symbol)
	mark := m.markAt(s.now)
	if !mark.set {
		panic("tradingsim: Trade in " + symbol + ", which has no mark")
	}
	_ = s.userLimit(s.routes.byName["POST /orders"]) // a person is not turned away here
	t := ticket{symbol: symbol, side: side, size: must("size", size), leverage: some(m.maxLeverage)}
	in := s.plan(&a.book, t, m, mark.value)
	s.take(&in)
	s.execute(&a.book, in, s.fees.taker)
	s.record(nil, Execution{
		Account: accountID, Symbol: symbol, Side: side, Actor: "terminal", Filled: true,
		Size: in.reduce.Add(in.add), Price: in.price,
	})
	s.keep(a)
}

func (s *Sim) mustAccount(id string) *account {
	a, ok := s.accounts[id]
	if !ok {
		panic(fmt.Sprintf("tradingsim: there is no account %q", id))
	}
	return a
}

// accountFor finds the account of a request. One that is not the caller's looks
// like one that does not exist.
func (s *Sim) accountFor(id string) (*account, *refusal) {
	a, ok := s.accounts[id]
	if !ok {
		return nil, refuse("account_not_found", "There is no account %q of yours.", id)
	}
	if s.newDay(&a.terms, a.balance) {
		s.keep(a)
	}
	return a, nil
}

// active reports whether the account takes new exposure.
func (a *account) active() bool {
	return a.Status == statusActive || a.Status == statusPurchased || a.Status == statusFunded
}

// mayEnter judges the status before new exposure.
func (a *account) mayEnter() *refusal {
	if a.Status == statusPassed {
		return refuse("account_locked", "The account is not active: it has passed, and takes closes, TP/SL and reduceOnly orders only.")
	}
	return a.mayExit()
}

// open reports whether the account takes what adds no exposure.
func (a *account) open() bool { return a.active() || a.Status == statusPassed }

// mayExit judges the status before anything that adds no exposure.
func (a *account) mayExit() *refusal {
	if a.open() {
		return nil
	}
	return refuse("account_locked", "The account is locked: its status is %s.", a.Status)
}

// mayCancel judges the status before a cancel.
func (s *Sim) mayCancel(a *account) *refusal {
	if s.other(37) {
		return a.mayEnter()
	}
	return a.mayExit()
}

// conclude moves the status after a close: at or below a floor the account has
// failed, and its book is closed. At the target it has passed, and keeps what it may
// still close and protect: positions with their levels, reduceOnly orders and runs.
// Under interpretation 55 a pass closes the book too.
func (s *Sim) conclude(a *account, c *call) {
	if !a.active() {
		return
	}
	v := a.value(s.mark)
	if v.unpriced != "" && !s.other(17) {
		return
	}
	equity := a.equity(v)
	switch {
	case a.terms.breached(equity):
		a.Status = statusFailed
	case a.Status != statusFunded && a.terms.passed(equity, &a.book, s.fees.taker, s.mark):
		a.Status = statusPassed
	default:
		return
	}
	s.changedTo(EventStatus, Change{Account: a.ID, Value: a.Status})
	if a.Status == statusFailed || s.other(55) {
		s.closeBook(&a.book, c, a.ID)
		s.drop(a, func(ticket) bool { return true })
		return
	}
	s.drop(a, func(t ticket) bool { return !t.allowed(a) })
}
