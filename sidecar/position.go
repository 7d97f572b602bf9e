package sidecar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/claims"
	"github.com/tradingapi/trading-go/sidecar/internal/answers"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

var (
	// errPosition is of an entry beyond the largest position that is allowed.
	errPosition = errors.New("the position would be larger than is allowed")
	// errNotJudged is of an entry of which that cannot be said.
	errNotJudged = errors.New("how large the position would be is not known")
)

// judgedWithin is how long an entry waits for the reads that it is judged by.
const judgedWithin = 5 * time.Second

// claim is what a write of a bot may still add.
type claim = claims.Claim[claimant]

// claimant is nobody's where somebody else has placed it.
type claimant struct {
	id    string
	write *write // nil once its outcome is known
}

// positions refuses the entries of bots that could make a position larger than is allowed. What
// several may still do adds up, and no position makes up for an opposite one.
type positions struct {
	most   map[string]decimal.Decimal // by market
	client *trading.Client
	of     func(*write) (r reply, outcome trading.Outcome, since time.Time)
	turn   chan struct{} // who has it judges
	began  time.Time

	mu   sync.Mutex
	sets map[string]*claims.Set[claimant] // by account
}

func newPositions(c *Config, u *unheard) *positions {
	return &positions{
		most: c.MaxPosition, of: u.outcomeOf, turn: make(chan struct{}, 1), began: time.Now(),
		sets: map[string]*claims.Set[claimant]{},
	}
}

func (p *positions) at(t time.Time) time.Duration { return t.Sub(p.began) }

// guard judges a write of a bot, once for all its sends.
func (p *positions) guard(ctx context.Context, o trading.Write) error {
	if o.Environment != trading.EnvLive {
		return nil
	}
	a, bot := ctx.Value(attendedKey{}).(*attended)
	switch {
	case bot && (o.Entry || a.write.Waits):
	case o.Entry:
		return fmt.Errorf("%w: it is no bot's", errNotJudged)
	default:
		return nil
	}
	c, err := p.claimOf(a.write, a.write.asks)
	most, bounded := p.most[c.Symbol]
	switch {
	case !o.Entry: // passes, and what it leaves with the service is known
		p.claim(a.write, c)
		return nil
	case err != nil || !bounded && !a.write.Waits || p.has(a.write):
		return err
	case !bounded:
		p.claim(a.write, c)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, judgedWithin)
	defer cancel()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errNotJudged, ctx.Err())
	}
	return p.judge(ctx, a.write, c, most)
}

func (p *positions) has(w *write) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.claimed(w)
}

// claimed reports whether a write claims already. The lock is held.
func (p *positions) claimed(w *write) bool {
	return slices.ContainsFunc(p.set(w.Place.Account).All(), func(c *claim) bool { return c.Of.id == w.ID })
}

func (p *positions) claim(w *write, c *claim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learn(w.Place.Account)
	if !p.claimed(w) {
		p.set(w.Place.Account).Add(c)
	}
}

func (p *positions) set(account string) *claims.Set[claimant] {
	if p.sets[account] == nil {
		p.sets[account] = &claims.Set[claimant]{}
	}
	return p.sets[account]
}

// asks are the size and the side of what a bot asks for. A change of a run has the run instead of
// a side.
type asks struct {
	Side trading.Side
	Size json.Number
	Run  string
}

// asksOf reads them; they are empty where the body is wrong, which the client refuses.
func asksOf(members map[string]json.RawMessage) *asks {
	a := &asks{}
	text := func(name string, into any) { _ = json.Unmarshal(members[name], into) } // likewise
	text("side", &a.Side)
	text("size", &a.Size)
	if text("runId", &a.Run); a.Run != "" {
		text("totalSize", &a.Size)
	}
	return a
}

// claimOf is what a write may add. One that only takes away adds nothing, but what it leaves with
// the service is known then.
func (p *positions) claimOf(w *write, of *asks) (*claim, error) {
	c := &claim{Of: claimant{w.ID, w}, Symbol: w.Place.Market, Side: of.Side, Waits: w.Waits, Order: of.Run, Exit: w.Kind != hearing.Entry}
	if c.Order != "" {
		p.mu.Lock()
		p.learn(w.Place.Account)
		before := p.set(w.Place.Account).Waiting(c.Order)
		p.mu.Unlock()
		if before == nil || before.Unsized {
			return c, fmt.Errorf("%w: run %q is none of this sidecar's", errNotJudged, c.Order)
		}
		c.Symbol, c.Side, c.Waits = before.Symbol, before.Side, true
	}
	if c.Exit {
		return c, nil
	}
	size, err := decimal.NewFromString(of.Size.String())
	if err != nil {
		return c, fmt.Errorf("%w: its size cannot be read", errNotJudged)
	}
	c.Size = size
	return c, nil
}

// judge judges an entry by the account as it is now, and by what may still come.
func (p *positions) judge(ctx context.Context, w *write, c *claim, most decimal.Decimal) error {
	l := claims.Snapshot{Began: p.at(time.Now())}
	account := p.client.Live.Account(trading.AccountID(w.Place.Account))
	var err error
	if l.Open, err = account.OpenOrders(ctx); err != nil { // before the positions: what is filled between the two counts twice
		return fmt.Errorf("%w: %w", errNotJudged, err)
	}
	if l.Positions, err = account.Positions(ctx); err != nil {
		return fmt.Errorf("%w: %w", errNotJudged, err)
	}
	l.Ended = p.at(time.Now())
	return p.admit(w, c, most, l)
}

// admit judges an entry by a look, and claims for it.
func (p *positions) admit(w *write, c *claim, most decimal.Decimal, l claims.Snapshot) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learn(w.Place.Account)
	set := p.set(w.Place.Account)
	set.See(l)
	if id, is := set.Unsized(c.Symbol); is {
		return fmt.Errorf("%w: what %q may still add is not known", errNotJudged, id)
	}
	set.Add(c)
	if sum := set.Largest(c.Symbol, c.Side); sum.GreaterThan(most) {
		set.Drop(c)
		return fmt.Errorf("%w: %s of %s %s on %s, with all that may still be executed, and %s at the most", errPosition, sum, c.Side, c.Symbol, w.Place.Account, most)
	}
	return nil
}

// learn takes over what is known by now of the writes that claim, and forgets what claims nothing.
func (p *positions) learn(account string) {
	now := p.at(time.Now())
	p.set(account).DropFunc(func(c *claim) bool {
		_, bounded := p.most[c.Symbol]
		return c.Of.write != nil && p.over(c) || !bounded && c.Age(now) > answers.Kept // no entry there looks for its end
	})
}

// over takes over what is known of one write, and reports whether nothing of it was carried out.
func (p *positions) over(c *claim) bool {
	answer, outcome, since := p.of(c.Of.write)
	switch {
	case outcome == trading.NotApplied:
		return true
	case outcome == trading.Applied:
		c.Of.write = nil
		c.Answered(answer.body)
		c.Applied(p.at(since))
	case !since.IsZero():
		c.InDoubt(p.at(since))
	}
	return false
}

// restore takes over what an earlier run let pass.
func (p *positions) restore(ctx context.Context, s *Server, now time.Time) error {
	for _, old := range s.file.Since("", time.Time{}) {
		if old.Asks == nil || old.Answered && (old.Answer.Outcome == hearing.NotApplied || old.Answer.Unsent) {
			continue
		}
		of, w := new(asks), s.unheard.byID(old.ID)
		if err := json.Unmarshal(old.Asks, of); err != nil {
			return fmt.Errorf("sidecar: the write %q: %w", old.ID, err)
		}
		heard := w == nil
		if heard {
			w = &write{Write: old.Write}
		}
		c, err := p.claimOf(w, of)
		if err != nil {
			continue // its run is over, or is not judged either
		}
		if _, outcome, _ := p.of(w); heard || outcome != trading.Unknown {
			c.Of.write = nil
			c.Applied(p.at(now))
		}
		if w.Waits {
			whole, _, err := s.file.Get(ctx, old.ID)
			if err != nil {
				return err
			}
			c.Answered(whole.Answer.Body)
		}
		if _, bounded := p.most[c.Symbol]; bounded || w.Waits {
			p.set(w.Place.Account).Add(c) // nobody else has p yet
		}
	}
	return nil
}
