package tradingsim

import "time"

// stamp is a timestamp whose type the contract does not name.
func (s *Sim) stamp(t time.Time) any {
	if s.other(42) {
		return t.UnixMilli()
	}
	return isoTime(t)
}

// envelope wraps a live read whose envelope the contract does not show.
func (s *Sim) envelope(name string, data any) any {
	if s.other(43) {
		return data
	}
	return object{{name, data}}
}

func (s *Sim) liveAccounts(c *call) (any, *refusal) {
	rows := make([]object, 0, len(s.accountIDs))
	for i := len(s.accountIDs) - 1; i >= 0; i-- {
		a := s.seenAccount(c, s.accounts[s.accountIDs[i]])
		row := object{
			{"id", a.ID},
			{"status", a.Status},
			{"isTrial", a.Trial},
			{"isTournament", a.Tournament},
			{"challengeSize", num(a.terms.opening)},
			{"startingBalance", num(a.terms.opening)},
			{"currentBalance", num(a.balance)},
			{"evalType", a.EvalType},
			{"phase", a.Phase},
			{"archived", a.Archived},
			{"createdAt", s.stamp(a.createdAt)},
		}
		if a.TournamentName != "" {
			row = append(row, member{"tournamentName", a.TournamentName})
		}
		if a.FundedFrom != "" {
			row = append(row, member{"fundedFromAccountId", a.FundedFrom})
		}
		rows = append(rows, row)
	}
	return object{{"accounts", rows}}, nil
}

// readAccount is the account a read names, in its path or in its query.
func (s *Sim) readAccount(c *call) (*account, *refusal) {
	id := c.query.Get("accountId")
	if len(c.params) > 0 {
		id = c.params[0]
	} else if id == "" {
		return nil, refuse("missing_fields", "accountId is missing.")
	}
	a, r := s.accountFor(id)
	if r != nil {
		return nil, r
	}
	if s.other(38) {
		s.conclude(a, c)
		s.keep(a)
	}
	return s.seenAccount(c, a), nil
}

func (s *Sim) liveAccount(c *call) (any, *refusal) {
	a, r := s.readAccount(c)
	if r != nil {
		return nil, r
	}
	v := a.value(s.seenMarks(c))
	return s.envelope("account", object{
		{"id", a.ID},
		{"status", a.Status},
		{"phase", a.Phase},
		{"balance", num(a.balance)},
		{"equity", num(a.equity(v).decimal())},
		{"profitTarget", num(a.terms.target)},
		{"dailyLossFloor", num(a.terms.dailyFloor)},
		{"globalLossFloor", num(a.terms.globalFloor)},
	}), nil
}

func (s *Sim) livePositions(c *call) (any, *refusal) {
	a, r := s.readAccount(c)
	if r != nil {
		return nil, r
	}
	return s.envelope("positions", positionViews{s, c, &a.book}), nil
}

func (s *Sim) liveTrades(c *call) (any, *refusal) {
	a, r := s.readAccount(c)
	if r != nil {
		return nil, r
	}
	return s.envelope("trades", s.tradeViews(a.trades)), nil
}

func (s *Sim) liveOrders(c *call) (any, *refusal) {
	a, r := s.readAccount(c)
	if r != nil {
		return nil, r
	}
	orders := make([]object, 0, len(a.resting))
	for _, o := range a.resting {
		orders = append(orders, s.viewResting(o))
	}
	runs := make([]object, 0, len(a.runs))
	for _, o := range a.runs {
		runs = append(runs, s.viewRun(o))
	}
	return object{{"orders", orders}, {"runs", runs}}, nil
}

func (s *Sim) liveRuns(c *call) (any, *refusal) {
	a, r := s.readAccount(c)
	if r != nil {
		return nil, r
	}
	rows := make([]object, 0, len(a.finished))
	for i := len(a.finished) - 1; i >= 0; i-- {
		rows = append(rows, s.viewRun(a.finished[i]))
	}
	return object{{"history", rows}}, nil
}

func (s *Sim) liveFunding(c *call) (any, *refusal) {
	a, r := s.readAccount(c)
	if r != nil {
		return nil, r
	}
	rows := make([]object, 0, len(a.funding))
	for i := len(a.funding) - 1; i >= 0; i-- {
		p := a.funding[i]
		rows = append(rows, object{{"symbol", p.Symbol}, {"amount", num(p.Amount)}, {"paidAt", s.stamp(p.At)}})
	}
	return s.envelope("funding", rows), nil
}
