package protect

import (
	"slices"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
	"github.com/tradingapi/trading-go/internal/testing/largest"
)

// searched is what is reserved on an account, under search: its own rule is the room, so the largest
// position stands for that.
type searched struct {
	*watcher
	clock func() time.Duration
	of    map[string]*reservation
}

func newSearched(clock func() time.Duration) largest.Bound {
	s := &searched{clock: clock, of: map[string]*reservation{}}
	began := time.Now()
	p := &Protection{now: func() instant { return instant{began.Add(clock()), clock()} }}
	s.watcher = &watcher{p: p, reserved: claims.Set[terms]{Elsewhere: elsewhere}, wake: make(chan struct{}, 1)}
	return s
}

func (s *searched) See(l largest.Look) { s.reserved.See(claims.Snapshot(l)) }

func (s *searched) Enter(l largest.Look, w largest.Write) bool {
	s.See(l)
	b := &book{holding: holding{symbol: largest.Market}}
	r := &reservation{Symbol: largest.Market, Side: trading.Long, Size: w.Size, Waits: w.Kind != largest.Now}
	for _, r := range append(slices.Clone(s.reserved.All()), r) {
		if unjudged(r) != nil {
			return false
		}
		b.add(r)
	}
	if held, open := s.reserved.Positions().In(largest.Market); open {
		b.size = held.Signed()
	}
	if long, _ := b.ends(); long.size.GreaterThan(largest.Limit) {
		return false
	}
	s.of[w.ID] = r
	s.reserved.Add(r)
	return true
}

func (s *searched) Doubt(w largest.Write) {
	s.of[w.ID].Of.intent = trading.IntentID(w.ID)
	s.of[w.ID].InDoubt(s.clock())
}

func (s *searched) Known(w largest.Write, a largest.Answer) {
	outcome := trading.NotApplied
	if a.Applied {
		outcome, s.of[w.ID].Order = trading.Applied, a.Order
	}
	s.conclude(s.of[w.ID], outcome, nil)
}

func (s *searched) Restart() {
	var pending []string
	for id, r := range s.of {
		if slices.Contains(s.reserved.All(), r) && !r.Ended(s.clock()) {
			pending = append(pending, id)
		}
	}
	s.record.Reserved = s.keeps()
	s.reserved = claims.Set[terms]{Elsewhere: elsewhere}
	s.recall()
	for _, id := range pending { // as Adopt does
		s.of[id] = s.find(s.of[id])
		s.of[id].Of.intent = trading.IntentID(id)
		s.of[id].InDoubt(s.clock())
	}
	s.release()
}

// TestLargest finds no schedule in which what is reserved is less than what may be held, and none in which
// it stays for ever.
func TestLargest(t *testing.T) { largest.Check(t, false, true, newSearched) }
