package claims

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/internal/testing/largest"
)

// searched is the model itself under search.
type searched struct {
	Set[struct{}]
	now func() time.Duration
	of  map[string]*Claim[struct{}]
}

func newSearched(now func() time.Duration) largest.Bound {
	return &searched{now: now, of: map[string]*Claim[struct{}]{}}
}

func (s *searched) See(l largest.Look) { s.Set.See(Snapshot(l)) }

func (s *searched) Enter(l largest.Look, w largest.Write) bool {
	s.See(l)
	if _, is := s.Unsized(largest.Market); is || s.Largest(largest.Market, trading.Long).Add(w.Size).GreaterThan(largest.Limit) {
		return false
	}
	s.of[w.ID] = &Claim[struct{}]{Symbol: largest.Market, Side: trading.Long, Size: w.Size, Waits: w.Kind != largest.Now}
	s.Add(s.of[w.ID])
	return true
}

func (s *searched) Doubt(w largest.Write) { s.of[w.ID].InDoubt(s.now()) }

func (s *searched) Known(w largest.Write, a largest.Answer) {
	c := s.of[w.ID]
	if !a.Applied {
		s.Drop(c)
		return
	}
	c.Order, c.After = a.Order, a.After
	c.Applied(s.now())
}

// Restart keeps what a file may hold of a claim. What was under way is in doubt.
func (s *searched) Restart() {
	old := s.All()
	s.Set = Set[struct{}]{}
	for _, c := range old {
		if c.Elsewhere {
			continue
		}
		again := &Claim[struct{}]{Symbol: c.Symbol, Side: c.Side, Size: c.Size, Waits: c.Waits, Order: c.Order, After: c.After}
		if again.InDoubt(s.now()); c.Ended(s.now()) {
			again.Applied(s.now())
		}
		for id, of := range s.of {
			if of == c {
				s.of[id] = again
			}
		}
		s.Add(again)
	}
}

// TestSearch finds no schedule in which the position gets too large, and none that holds a bot out for ever.
func TestSearch(t *testing.T) { largest.Check(t, true, true, newSearched) }

// TestSearchFindsWhatIsWrong holds the search to bounds that are known to be wrong.
func TestSearchFindsWhatIsWrong(t *testing.T) {
	for what, c := range map[string]struct {
		search largest.Search
		breaks func(s *searched, l *Snapshot)
	}{
		"unsafe: an order that is not shown once is over": {largest.Search{Depth: 5, First: largest.Resting}, func(s *searched, l *Snapshot) {
			for _, c := range s.All() {
				if c.Waits && c.ended {
					c.missing, c.from = true, l.Began-Lag
				}
			}
		}},
		"unsafe: the first look without it ends when it begins": {largest.Search{Depth: 6, First: largest.Resting}, func(_ *searched, l *Snapshot) { l.Ended = l.Began }},
		"unsafe: what the orders say is filled is in the positions": {largest.Search{Depth: 4, First: largest.Running}, func(s *searched, l *Snapshot) {
			for _, c := range s.All() {
				c.filled = c.shown
			}
			for i := range l.Open.Runs {
				for _, c := range s.All() {
					if filled, _ := l.Open.Runs[i].Extra.Decimal("executedSize"); c.Order == string(l.Open.Runs[i].ID) {
						c.filled = filled
					}
				}
			}
		}},
		"useless: what nobody finds out counts for ever": {largest.Search{Depth: 3, First: largest.Now}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			if c.search.Depth > 5 && !depth.Full() || c.search.Depth > 4 && depth.Race {
				t.Skip("a sample is not so deep")
			}
			c.search.New = func(now func() time.Duration) largest.Bound {
				return &broken{newSearched(now).(*searched), c.breaks}
			}
			found, _ := c.search.Run()
			require.NotEmpty(t, found)
			require.Equal(t, what[:6], found[0].What[:6], "%v", found)
		})
	}
}

// broken is the model with a fault before each look.
type broken struct {
	*searched
	breaks func(s *searched, l *Snapshot) // nil hears of no doubt
}

func (b *broken) look(l largest.Look) largest.Look {
	of := Snapshot(l)
	if b.breaks != nil {
		b.breaks(b.searched, &of)
	}
	return largest.Look(of)
}

func (b *broken) See(l largest.Look) { b.searched.See(b.look(l)) }

func (b *broken) Enter(l largest.Look, w largest.Write) bool { return b.searched.Enter(b.look(l), w) }

func (b *broken) Doubt(w largest.Write) {
	if b.breaks != nil {
		b.searched.Doubt(w)
	}
}
