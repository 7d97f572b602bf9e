package tradingsim

import (
	"time"

	"github.com/shopspring/decimal"
)

// ProLimits are the ranges of the Pro fields. The contract names the codes and
// not the numbers, so these are the simulator's own. Zero keeps the default.
type ProLimits struct {
	MaxRuns     int           // running at once on one account: 10
	MinOrders   int           // fewest totalOrders: 2
	MaxOrders   int           // most totalOrders: 50
	MinDuration time.Duration // shortest durationMs: one minute
	MaxDuration time.Duration // longest durationMs: one day
	Clip        time.Duration // between the clips of a TWAP: 30 seconds
}

// WithProLimits sets the ranges of the Pro fields.
func WithProLimits(l ProLimits) Option {
	return option(func(c *config) { c.pro = l })
}

func (l ProLimits) withDefaults() ProLimits {
	set := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	span := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&l.MaxRuns, 10)
	set(&l.MinOrders, 2)
	set(&l.MaxOrders, 50)
	span(&l.MinDuration, time.Minute)
	span(&l.MaxDuration, 24*time.Hour)
	span(&l.Clip, 30*time.Second)
	return l
}

// proTicket is a Pro order after its fields were judged.
type proTicket struct {
	liveTicket
	first, last decimal.Decimal // startPrice and endPrice
	trigger     decimal.Decimal
	bound       opt // chaseTo
	count       int
	duration    time.Duration
	stopLimit   bool
}

// proKind is one type of Pro order: what it reads, and what it becomes.
type proKind struct {
	read     []func(*Sim, *proTicket) *refusal
	children func(s *Sim, t *proTicket, mark decimal.Decimal) ([]child, *refusal)
}

var proKinds = map[string]proKind{
	"conditional": {[]func(*Sim, *proTicket) *refusal{readTrigger, readExecKind}, conditionalChild},
	"ladder":      {[]func(*Sim, *proTicket) *refusal{readRange, readCount}, ladderChildren},
	"twap":        {[]func(*Sim, *proTicket) *refusal{readDuration}, twapChildren},
	"chase":       {[]func(*Sim, *proTicket) *refusal{readBound}, chaseChild},
	"chase-twap":  {[]func(*Sim, *proTicket) *refusal{readDuration, readBound}, chaseTwapChildren},
	"swarm":       {[]func(*Sim, *proTicket) *refusal{readCount}, swarmChildren},
}

// preparePro is POST /orders/<kind>.
func preparePro(kind string) func(*Sim, *call) (job, *refusal) {
	return func(s *Sim, c *call) (job, *refusal) {
		live, r := s.readLiveOrder(c)
		if r != nil {
			return nil, r
		}
		t := &proTicket{liveTicket: live}
		for _, read := range proKinds[kind].read {
			if r := read(s, t); r != nil {
				return nil, s.proStatus(r)
			}
		}
		return func() (any, *refusal) { return s.placePro(c, kind, t) }, nil
	}
}

// proStatus gives a Pro refusal its status: the contract says only 4xx.
func (s *Sim) proStatus(r *refusal) *refusal {
	if s.other(45) {
		switch r.code {
		case "BAD_DURATION", "BAD_ORDER_COUNT", "BAD_PRICE", "BAD_TRIGGER":
			return r.as(422)
		case "TOO_MANY_RUNS", "CHASE_EXISTS":
			return r.as(400)
		}
	}
	return r
}

func (s *Sim) placePro(c *call, kind string, t *proTicket) (any, *refusal) {
	a, m, r := s.enterLive(t.liveTicket)
	if r != nil {
		return nil, r
	}
	if r := s.roomForRun(a, kind, t.symbol); r != nil {
		return nil, s.proStatus(r)
	}
	price, r := s.livePrice(m, t.reduceOnly)
	if r != nil {
		return nil, r
	}
	if r := s.nothingToReduce(a, t.ticket); r != nil {
		return nil, r
	}
	children, r := proKinds[kind].children(s, t, price)
	if r != nil {
		return nil, s.proStatus(r)
	}
	if r := s.checkChildren(kind, t, children, price); r != nil {
		return nil, r
	}
	in := s.plan(&a.book, t.ticket, m, price)
	if r := in.judgeLevels(&a.book, t.entry(price)); r != nil {
		return nil, r
	}
	in.parts = true // held against the minimum above
	if r := s.checkEntry(a, in, s.fees.taker); r != nil {
		return nil, r
	}
	run := s.newRun(a, m, kind, t.ticket, children, c)
	s.record(c, Execution{Account: a.ID, Symbol: t.symbol, Side: t.side, Actor: "api", Size: t.size})
	s.runAll(a)
	s.keep(a)
	return object{{"success", true}, {"runId", run.id}}, nil
}

// entry is where an order is expected to fill: a conditional at its trigger or at its
// limit, any other at the mark.
func (t *proTicket) entry(mark decimal.Decimal) decimal.Decimal {
	switch {
	case t.stopLimit:
		return t.limitPrice
	case t.trigger.IsPositive():
		return t.trigger
	}
	return mark
}

// roomForRun judges the limits on runs.
func (s *Sim) roomForRun(a *account, kind, symbol string) *refusal {
	for _, r := range a.runs {
		if kind == "chase" && r.kind == kind && r.symbol == symbol {
			return refuse("CHASE_EXISTS", "A chase is running in %s already; cancel %s first.", symbol, r.id)
		}
	}
	if len(a.runs) >= s.pro.MaxRuns {
		return refuse("TOO_MANY_RUNS", "%d Pro runs are running on this account, which is the limit; cancel one first.", len(a.runs))
	}
	return nil
}

// checkChildren holds each clip or rung against the minimum order value.
func (s *Sim) checkChildren(kind string, t *proTicket, children []child, mark decimal.Decimal) *refusal {
	least := s.caps.minNotional
	for _, c := range children {
		price := mark
		if c.limit.set {
			price = c.limit.value
		}
		if c.size.Mul(price).GreaterThanOrEqual(least) {
			continue
		}
		// Round up, so that the size named really works.
		clip := least.DivRound(price, quotientPlaces).RoundUp(8)
		total := clip.Mul(decimal.NewFromInt(int64(len(children))))
		return refuse("MIN_NOTIONAL", "Each of the %d parts of this %s would be %s %s, below the minimum of %s: a part needs %s, a total of %s.",
			len(children), kind, c.size, t.symbol, dollars(least), clip, total)
	}
	return nil
}
