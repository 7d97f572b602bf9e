package crash

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
)

// elsewhere is what the program trades in another market, so fast that a list of closed trades that is cut no
// longer shows what was closed in the write's.
type elsewhere struct {
	closes int           // 0: nothing
	at     time.Duration // after the decision; below 0: before it
	again  bool          // in the second life as well
}

// hidesWhatClosed has a schedule do so, and often has its position closed by a stop meanwhile.
func (s *schedule) hidesWhatClosed(r *rand.Rand) {
	if s.kind == paper { // one write goes at a time there
		return
	}
	s.rows = pick(r, 5, 8, 20)
	s.elsewhere = elsewhere{
		closes: s.rows - 1 + r.IntN(4),
		at:     pick(r, -time.Second, 0, time.Second, 4*time.Second, 9*time.Second, 14*time.Second, time.Minute),
		again:  r.IntN(2) == 0,
	}
	if r.IntN(2) == 0 {
		s.held, s.person = withStop, moves
		s.personAt = max(s.elsewhere.at, 0) + pick(r, -2*time.Second, 0, time.Second, 3*time.Second)
	}
	if s.ttl != 0 && r.IntN(2) == 0 { // what is lost has nothing but the account to show it
		s.op, s.tries, s.ttl = pick(r, market, market, closing), []fault{pick(r, unheard...)}, 0
	}
}

// A lost write is never judged by a list that was cut before the row that shows it.
func TestClosesElsewhereHideThoseOfHere(t *testing.T) {
	for _, k := range []kind{solo, oneHandle} {
		for seed := range uint64(depth.Of(30, 100)) {
			s := draw(k, seed, func(s *schedule, r *rand.Rand) { s.meets(accidentOf(closesElsewhere), r) })
			for _, p := range playOne(t, s).problems {
				t.Errorf("%s, seed %d: %s", k, seed, p)
			}
		}
	}
}

const closesElsewhere = "closes elsewhere hide those of here"

// closesElsewhere opens and closes positions in another market, if it is time for that.
func (p *program) closesElsewhere(now bool) {
	w := p.world
	if !now {
		return
	}
	a := p.client.Live.Account(account)
	for range w.elsewhere.closes {
		for _, op := range []trading.Operation{trading.OpOrder, trading.OpClose} {
			var meta trading.Meta
			var err error
			opts := []trading.CallOption{trading.ResponseInto(&meta), trading.WithResolveTimeout(0)}
			if op == trading.OpOrder {
				o := theOrder()
				o.Symbol = "ETH"
				_, err = a.PlaceOrder(p.ctx, o, opts...)
			} else {
				_, err = a.ClosePosition(p.ctx, "ETH", trading.All, opts...)
			}
			if p.isDead() {
				return
			}
			w.tell(toldBy(p, op, &meta, false, err))
		}
	}
}
