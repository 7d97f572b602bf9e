package mcp

import (
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
	"github.com/tradingapi/trading-go/internal/testing/largest"
)

// searched is the largest position of the tools, under search.
type searched struct {
	*Engine
	of map[string]*write
}

func newSearched(clock func() time.Duration) largest.Bound {
	began := time.Now()
	now := func() Moment { return Moment{Wall: began.Add(clock()), Up: clock(), Boot: "boot"} }
	return &searched{&Engine{now: now, claims: map[trading.AccountID]*claims.Set[*write]{}, closed: true}, map[string]*write{}}
}

func (s *searched) at(l largest.Look) *look {
	m := s.now()
	began, ended := m, m
	began.Up, ended.Up = l.Began, l.Ended
	return &look{began: began, ended: ended, orders: *l.Open, positions: l.Positions}
}

func (s *searched) See(l largest.Look) { s.seen("acc_1", s.at(l)) }

func (s *searched) Enter(l largest.Look, w largest.Write) bool {
	one := &write{ID: w.ID, Action: action{
		Kind: map[largest.Kind]string{largest.Now: "market", largest.Resting: "resting", largest.Running: "twap"}[w.Kind], Account: "acc_1", Symbol: largest.Market,
		Order: &trading.Order{Symbol: largest.Market, Side: trading.Long, Size: w.Size},
	}}
	if !s.seen("acc_1", s.at(l)) || s.claimsOf("acc_1").Largest(largest.Market, trading.Long).Add(w.Size).GreaterThan(largest.Limit) {
		return false
	}
	s.of[w.ID] = one
	s.register(one)
	return true
}

func (s *searched) Doubt(w largest.Write) {
	s.finish(s.of[w.ID], trading.Unknown, "", nil)
}

func (s *searched) Known(w largest.Write, a largest.Answer) {
	if !a.Applied {
		s.finish(s.of[w.ID], trading.NotApplied, "", nil)
		return
	}
	of := &answer{After: a.After}
	switch w.Kind {
	case largest.Resting:
		of.Order = a.Order
	case largest.Running:
		of.Run = a.Order
	}
	s.finish(s.of[w.ID], trading.Applied, "", of)
}

func (s *searched) Restart() {
	left := s.writes
	s.writes, s.claims = nil, map[trading.AccountID]*claims.Set[*write]{}
	s.takeOver(left)
}

// TestLargest finds no schedule in which the tools get a position that is too large, and none that holds them
// out for ever.
func TestLargest(t *testing.T) { largest.Check(t, false, true, newSearched) }
