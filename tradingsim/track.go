package tradingsim

import (
	"time"

	"github.com/shopspring/decimal"
)

// Point is an account at a moment: at one of the regular samples, or right after
// something has happened to it.
type Point struct {
	// When, by the clock of the simulation, and the balance in dollars.
	At      time.Time
	Balance decimal.Decimal
	// Equity is not valid while a position has no mark.
	Equity decimal.NullDecimal
	// Changed distinguishes a fill, a funding payment or a reset from a sample.
	Changed bool
}

const (
	// maxSamples bounds the samples of a curve: beyond it every second one goes.
	maxSamples = 10_000
	// maxCatchUp bounds the samples of one step of the clock: beyond half a year
	// at a minute each they are farther apart.
	maxCatchUp = 1 << 18
)

// WithSampling sets how often the equity of every account is looked at between
// the changes: every minute unless set. The drawdown knows every look. A curve
// keeps 10,000 of them at the most, evenly spread, and every change, so that
// it grows with what was traded and not with what was polled.
func WithSampling(every time.Duration) Option {
	return option(func(c *config) {
		if every <= 0 {
			panic("tradingsim: WithSampling needs a time between samples")
		}
		c.sampling = every
	})
}

// track is what a run has done to an account, beyond what its book shows now.
type track struct {
	opening  decimal.Decimal
	points   []Point
	sampled  int   // points that are samples
	stride   int64 // keeps each so many-th sample
	fills    int
	drawdown drawdown
	payments []FundingPayment

	// Of the paper accounts that a reset has ended.
	resets int
	earned decimal.Decimal
	fees   decimal.Decimal
	trades []trade
}

// opened starts the curve of an account that has just been opened.
func (s *Sim) opened(t *track, b *book) {
	t.opening = b.balance
	t.stride = max(t.stride, 1)
	t.drawdown.restart()
	s.changed(t, b)
}

// retire keeps what a paper account came to before it is wiped. A position
// without a mark counts for nothing.
func (s *Sim) retire(t *track, b *book) {
	t.resets++
	t.drawdown.judge(Point{At: s.now, Equity: s.equityAt(b, s.now)})
	t.earned = t.earned.Add(b.equity(b.value(s.mark)).decimal()).Sub(t.opening)
	t.fees = t.fees.Add(b.feesPaid())
	t.trades = append(t.trades, b.trades...)
}

// changed notes an account right after something has happened to it. Of several
// things at one moment the curve has the last.
func (s *Sim) changed(t *track, b *book) {
	p := Point{At: s.now, Balance: b.balance, Equity: s.equityAt(b, s.now), Changed: true}
	t.drawdown.judge(p)
	if n := len(t.points); n > 0 && t.points[n-1].At.Equal(p.At) {
		if !t.points[n-1].Changed {
			t.sampled--
		}
		t.points[n-1] = p
		return
	}
	t.points = append(t.points, p)
}

// sampleTo looks at every account at the regular moments until t. Nothing
// happens to an account before t but that its marks move.
func (s *Sim) sampleTo(t time.Time) {
	if s.sampleAt.After(t) {
		return
	}
	step := 1 + int64(t.Sub(s.sampleAt)/s.sampling)/maxCatchUp
	for !s.sampleAt.After(t) {
		for _, d := range s.desks {
			s.sample(&d.track, &d.paper.book)
		}
		for _, id := range s.accountIDs {
			a := s.accounts[id]
			s.sample(&a.track, &a.book)
		}
		s.samples += step
		s.sampleAt = s.sampleAt.Add(time.Duration(step) * s.sampling)
	}
}

func (s *Sim) sample(t *track, b *book) {
	p := Point{At: s.sampleAt, Balance: b.balance, Equity: s.equityAt(b, s.sampleAt)}
	t.drawdown.judge(p)
	if s.samples%t.stride != 0 {
		return
	}
	t.points = append(t.points, p)
	if t.sampled++; t.sampled > maxSamples {
		t.thin(s.began, s.sampling)
	}
}

// thin drops every second sample.
func (t *track) thin(began time.Time, every time.Duration) {
	t.stride *= 2
	kept := t.points[:0]
	t.sampled = 0
	for _, p := range t.points {
		if !p.Changed {
			if int64(p.At.Sub(began)/every)%t.stride != 0 {
				continue
			}
			t.sampled++
		}
		kept = append(kept, p)
	}
	clear(t.points[len(kept):])
	t.points = kept
}

// equityAt is what an account is worth at a moment; none while a position has no
// mark.
func (s *Sim) equityAt(b *book, at time.Time) decimal.NullDecimal {
	equity := b.balance
	for i := range b.positions {
		p := &b.positions[i]
		mark := s.markets[p.symbol].markAt(at)
		if !mark.set {
			return decimal.NullDecimal{}
		}
		equity = amountOf(equity).plus(p.pnl(mark.value)).decimal()
	}
	return decimal.NewNullDecimal(equity)
}
