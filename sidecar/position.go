package sidecar

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/sidecar/internal/answers"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
)

var (
	// errPosition is of an entry beyond the largest position that is allowed.
	errPosition = errors.New("the position would be larger than is allowed")
	// errNotJudged is of an entry of which that cannot be said.
	errNotJudged = errors.New("how large the position would be is not known")
)

const (
	// lag is how long a read may not show what was done.
	lag = hearing.Lag
	// judgedWithin is how long an entry waits for the reads that it is judged by.
	judgedWithin = 5 * time.Second
)

// claim is what one entry, or an order that rests, may add to a position: until reads show that it
// is in the position or will never be.
type claim struct {
	holder
	size    decimal.Decimal
	write   *write    // nil once its outcome is known
	known   time.Time // when that was; zero while it is not
	waits   string    // the order or run that it left with the service
	missing time.Time // the first look that does not show that one
}

// holder is one side of a market on an account.
type holder struct {
	account, symbol string
	side            trading.Side
}

// base is a position as a look showed it that had all that was known by then, and what has been
// added since by claims that are over.
type base struct{ held, added decimal.Decimal }

// positions refuses the entries of bots that could make a position larger than is allowed. What
// several may still do adds up, and no position makes up for an opposite one: an exit may have
// taken it meanwhile.
type positions struct {
	most   map[string]decimal.Decimal // by market
	client *trading.Client
	of     func(*write) (r reply, outcome trading.Outcome, known time.Time)
	turn   chan struct{} // who has it judges

	mu     sync.Mutex
	claims map[string]*claim // by write, or by order where none is known
	bases  map[holder]base
}

func newPositions(c *Config, u *unheard) *positions {
	return &positions{most: c.MaxPosition, of: u.outcomeOf, turn: make(chan struct{}, 1), claims: map[string]*claim{}, bases: map[holder]base{}}
}

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
	most, bounded := p.most[c.symbol]
	switch {
	case !o.Entry: // passes, and what it leaves with the service is known
		p.claim(c)
		return nil
	case err != nil || !bounded && !a.write.Waits || p.has(a.write.ID):
		return err
	case !bounded:
		p.claim(c)
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
	return p.judge(ctx, c, most)
}

func (p *positions) has(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.claims[id] != nil
}

func (p *positions) claim(c *claim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learn()
	p.claims[c.write.ID] = c
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
	c := &claim{holder: holder{w.Place.Account, w.Place.Market, of.Side}, write: w, waits: of.Run}
	if c.waits != "" {
		p.mu.Lock()
		p.learn()
		before := p.waiting(c.account, c.waits)
		p.mu.Unlock()
		if before == nil {
			return c, fmt.Errorf("%w: run %q is none of this sidecar's", errNotJudged, c.waits)
		}
		c.holder = before.holder
	}
	if w.Kind != hearing.Entry {
		return c, nil
	}
	size, err := decimal.NewFromString(of.Size.String())
	if err != nil {
		return c, fmt.Errorf("%w: its size cannot be read", errNotJudged)
	}
	c.size = size
	return c, nil
}

// waiting is the claim of an order or a run; nil if there is none.
func (p *positions) waiting(account, id string) *claim {
	for _, c := range p.claims {
		if c.waits == id && c.account == account {
			return c
		}
	}
	return nil
}

// judge judges an entry by the account as it is now, and by what may still come.
func (p *positions) judge(ctx context.Context, c *claim, most decimal.Decimal) error {
	began := time.Now()
	account := p.client.Live.Account(trading.AccountID(c.account))
	open, err := account.OpenOrders(ctx) // before the positions: what is filled between the two counts twice
	if err != nil {
		return fmt.Errorf("%w: %w", errNotJudged, err)
	}
	held, err := account.Positions(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotJudged, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learn()
	if err := p.look(c.account, c.symbol, open, began); err != nil {
		return err
	}
	now := decimal.Zero
	if h, is := held.In(c.symbol); is && h.Side == c.side {
		now = h.Size
	}
	sum := p.grown(c, now)
	if sum.GreaterThan(most) {
		return fmt.Errorf("%w: %s of %s %s on %s, with all that may still be executed, and %s at the most", errPosition, sum, c.side, c.symbol, c.account, most)
	}
	p.claims[c.write.ID] = c
	return nil
}

// grown is how large a position may get that is seen to be of a size now. That may have some of
// the claims or none; but if only claims add to it, it is no larger than the base and all of them.
func (p *positions) grown(with *claim, now decimal.Decimal) decimal.Decimal {
	waiting := true // all others
	for _, c := range p.claims {
		waiting = waiting && (c.holder != with.holder || c.waits != "" && c.write == nil && c.missing.IsZero())
	}
	if waiting {
		p.bases[with.holder] = base{held: now}
	}
	coming := p.sum(with)
	grown := now.Add(coming)
	if b, is := p.bases[with.holder]; is {
		all := b.held.Add(b.added).Add(coming)
		if now.LessThanOrEqual(all.Sub(with.size)) {
			return decimal.Min(grown, all)
		}
	}
	return grown
}

// over ends a claim that the position shows.
func (p *positions) over(id string, c *claim) {
	delete(p.claims, id)
	if b, is := p.bases[c.holder]; is {
		b.added = b.added.Add(c.size)
		p.bases[c.holder] = b
	}
}

// sum is what may come of the claims of a market on one side, with one more. Of a run that was
// changed its largest size counts.
func (p *positions) sum(with *claim) (sum decimal.Decimal) {
	runs := map[string]decimal.Decimal{}
	add := func(c *claim) {
		switch {
		case c.holder != with.holder:
		case c.waits != "":
			runs[c.waits] = decimal.Max(runs[c.waits], c.size)
		default:
			sum = sum.Add(c.size)
		}
	}
	add(with)
	for _, c := range p.claims {
		add(c)
	}
	for _, size := range runs {
		sum = sum.Add(size)
	}
	return sum
}

// learn takes over what is known by now of the writes that claim, and forgets what claims nothing.
func (p *positions) learn() {
	for id, c := range p.claims {
		if c.write != nil {
			answer, outcome, known := p.of(c.write)
			switch outcome {
			case trading.NotApplied:
				delete(p.claims, id)
			case trading.Applied:
				if c.write.Waits {
					c.waits = cmp.Or(leftBy(answer.body), c.waits)
				}
				c.write, c.known = nil, known
			}
		}
		if c.write == nil && time.Since(c.known) > answers.Kept { // then nothing is known of a run any more
			delete(p.claims, id)
		}
	}
}

// leftBy is the order or run that an answer names; empty without one.
func leftBy(body []byte) string {
	var answer struct {
		RunID string `json:"runId"`
		Order struct {
			ID string `json:"id"`
		} `json:"order"`
	}
	_ = json.Unmarshal(body, &answer) // empty, too
	if answer.RunID != "" {
		return answer.RunID
	}
	return answer.Order.ID
}

// look ends the claims that reads show to be over, and adds those of orders that rest and are
// nobody's here. A run that is, and an order whose record does not say what it is, cannot be judged.
func (p *positions) look(account, symbol string, open *trading.OpenOrders, began time.Time) error {
	shown := map[string]bool{}
	for i := range open.Runs {
		r := &open.Runs[i]
		shown[string(r.ID)] = true
		if (r.Symbol == "" || r.Symbol == symbol) && p.waiting(account, string(r.ID)) == nil {
			return fmt.Errorf("%w: what run %q may still add is not known", errNotJudged, r.ID)
		}
	}
	for i := range open.Limits {
		o := &open.Limits[i]
		shown[string(o.ID)] = true
		if p.waiting(account, string(o.ID)) != nil {
			continue
		}
		size, sized := o.Size.Get()
		if o.Symbol == "" || !sized || o.Side != trading.Long && o.Side != trading.Short {
			return fmt.Errorf("%w: the record of order %q does not say what it is", errNotJudged, o.ID)
		}
		if string(o.Extra["reduceOnly"]) == "true" {
			size = decimal.Zero
		}
		p.claims[account+" "+string(o.ID)] = &claim{holder: holder{account, o.Symbol, o.Side}, size: size, known: began, waits: string(o.ID)}
	}
	for id, c := range p.claims {
		switch {
		case c.account != account || c.write != nil || began.Sub(c.known) < lag:
		case shown[c.waits]:
			c.missing = time.Time{}
		case c.waits == "", !c.missing.IsZero() && began.Sub(c.missing) >= lag:
			p.over(id, c)
		case c.missing.IsZero(): // what it has done meanwhile the positions may not show yet
			c.missing = began
		}
	}
	return nil
}

// restore takes over what an earlier run let pass.
func (p *positions) restore(ctx context.Context, s *Server, now time.Time) error {
	for _, old := range s.file.Since("", time.Time{}) {
		if old.Asks == nil || old.Answered && old.Answer.Outcome == hearing.NotApplied {
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
			if c.write, c.known = nil, now; old.Answered {
				c.known = old.Answer.At
			}
		}
		if w.Waits {
			whole, _, err := s.file.Get(ctx, old.ID)
			if err != nil {
				return err
			}
			c.waits = cmp.Or(leftBy(whole.Answer.Body), c.waits)
		}
		if _, bounded := p.most[c.symbol]; bounded || w.Waits {
			p.claims[old.ID] = c // nobody else has p yet
		}
	}
	return nil
}
