package watch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
)

// Account watches an account: its status and money, its open positions, its closed
// trades. A look reads the first two. It reads the list of closed trades, which can be
// long, at the first look; when balance, status or positions have changed, and for 10
// seconds after that, since the list may lag; and otherwise at every 15th look and once
// a minute. On a live account a look changes nothing.
//
// Looking at the paper account has side effects: it fires the triggers of that account,
// judges its loss floors, and can so close positions or lock it. That is also what keeps
// its stops alive: without anybody looking none fires, and a gap fills behind the level.
// A program that only wants prices takes [Marks], which cannot touch the account.
func Account(t trading.Trader) Watch {
	name := "account"
	switch t := t.(type) {
	case nil:
		return misuse(name, "watch: Account needs a Trader")
	case *trading.Account:
		if t == nil {
			return misuse(name, "watch: Account needs an account")
		}
		name = "account " + string(t.ID())
	case *trading.Sandbox:
		if t == nil {
			return misuse(name, "watch: Account needs a sandbox")
		}
		name = "the paper account"
	}
	return Watch{name: name, open: func() source { return &accountSource{name: name, trader: t} }}
}

// accountLook is an account as one look saw it.
type accountLook struct {
	name      string
	at        time.Time
	state     trading.AccountState
	positions trading.Positions // by market, then side
	trades    []trading.Trade   // the list, the newest first
	shown     []trading.Trade   // the same, unless that was an older copy
	delivered tradeLog
	early     []earlyTrade
	holes     int       // how often the list of trades did not reach back to the one before
	hole      string    // why, the last time
	holeFrom  time.Time // when that one was read
	replaced  int       // how often the account was replaced
}

// earlyTrade is a trade that was delivered before a change of positions explained it.
type earlyTrade struct {
	trade trading.Trade
	seen  time.Time
}

// readLag is how far reads of one account may be apart.
const readLag = 10 * time.Second

type accountSource struct {
	name     string
	trader   trading.Trader
	ledger   ledger
	evidence evidence
	due      tradesDue
}

// reading is what the reads of one look brought. What could not be read is as before.
type reading struct {
	at        time.Time
	state     trading.AccountState
	positions trading.Positions
	trades    []trading.Trade
	held      bool // the positions have been read
	listed    bool // the trades have been read
	parts     int  // how many have been read
}

func (s *accountSource) look(ctx context.Context, before look) (look, bool, error) {
	was, _ := before.(*accountLook)
	r, err := s.read(ctx, was)
	if r == nil {
		return nil, false, err
	}
	return s.follow(was, r), false, err
}

// read reads the parts, the state first: on the paper account it fires the triggers and
// judges the floors, so that what follows shows what came of it; and the trades last,
// so that those of a position that is gone are there. It returns nil if there is nothing
// new, or not all that a first look needs.
func (s *accountSource) read(ctx context.Context, was *accountLook) (*reading, error) {
	r := &reading{}
	if was != nil {
		r.state, r.positions, r.trades = was.state, was.positions, was.trades
	}
	var failed []error
	parts := []func() error{
		func() error {
			state, err := s.trader.State(ctx)
			if err == nil {
				r.state = *state
			}
			return err
		},
		func() error {
			positions, err := s.trader.Positions(ctx)
			if err == nil {
				r.positions = slices.Clone(positions)
				slices.SortStableFunc(r.positions, comparePositions)
				r.held = true
			}
			return err
		},
		func() error {
			trades, err := s.trader.Trades(ctx)
			if err == nil {
				r.trades, r.listed = trades, true
				s.due.read(time.Now())
			}
			return err
		},
	}
	for i, part := range parts {
		if i == len(parts)-1 && len(failed) == 0 && !s.due.now(was, r) {
			break
		}
		err := part()
		if err == nil {
			r.parts++
			continue
		}
		failed = append(failed, err)
		if !partial(err) {
			break // the others would fail too
		}
	}
	r.at = time.Now()
	if r.parts == 0 || was == nil && len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	return r, errors.Join(failed...)
}

// tradesDue decides which looks read the list of closed trades.
type tradesDue struct {
	readAt time.Time // when it was read last
	looks  int       // how many looks there were since
	until  time.Time // a change may still be on its way into the list
}

const (
	mostLooksUnread = 15
	mostTimeUnread  = time.Minute
)

// now reports whether a look that has read the rest reads the list too.
func (d *tradesDue) now(was *accountLook, r *reading) bool {
	at := time.Now()
	d.looks++
	if was == nil || !was.state.Balance.Equal(r.state.Balance) || was.state.ID != r.state.ID ||
		was.state.Status != r.state.Status || was.state.Locked != r.state.Locked || traded(was.positions, r.positions) {
		d.until = at.Add(readLag)
	}
	return !at.After(d.until) || d.looks >= mostLooksUnread || at.Sub(d.readAt) >= mostTimeUnread
}

func (d *tradesDue) read(at time.Time) { d.readAt, d.looks = at, 0 }

// traded reports whether positions differ by more than prices and levels.
func traded(was, is trading.Positions) bool {
	for pair := range pairs(was, is) {
		if pair.was == nil || pair.is == nil || !continues(*pair.was, *pair.is) || !pair.was.Size.Equal(pair.is.Size) {
			return true
		}
	}
	return false
}

// partial reports whether an error is about one read alone, so that the others are
// worth their requests: the service answered, but not as it should.
func partial(err error) bool {
	decode, refusal := (*trading.DecodeError)(nil), (*trading.Error)(nil)
	if errors.As(err, &decode) {
		return true
	}
	return errors.As(err, &refusal) && !refusal.Local && refusal.Status >= 500
}

// follow makes the look that follows another.
func (s *accountSource) follow(was *accountLook, r *reading) *accountLook {
	is := &accountLook{
		name: s.name, at: r.at,
		state: r.state, positions: r.positions, trades: r.trades,
	}
	listed := s.ledger.at
	var fresh freshTrades
	if r.listed {
		fresh = s.ledger.list(r.at, r.trades)
	}
	is.shown = s.ledger.shown
	if was == nil {
		s.evidence.note(is, r.listed)
		return is
	}
	is.delivered, is.early = was.delivered, was.early
	is.holes, is.hole, is.holeFrom = was.holes, was.hole, was.holeFrom
	is.replaced = was.replaced
	if s.evidence.replaced(was, is, fresh) {
		is.replaced++
		is.delivered = is.delivered.beginAnew()
		is.early = nil
		if !r.held {
			is.positions = nil // those were the other's
		}
		if !r.listed {
			is.trades = nil
			s.ledger.take(r.at, nil, nil)
		}
		s.ledger.show(r.at, is.trades)
		is.shown = is.trades
	} else if fresh.hole != "" {
		is.holes++
		is.hole, is.holeFrom = fresh.hole, listed
	}
	is.delivered = is.delivered.add(fresh.trades)
	is.early = unexplained(was, is, fresh.trades)
	s.evidence.note(is, r.listed)
	return is
}

// since returns the changes of account, trades and positions, in this order.
func (is *accountLook) since(before look) []Event {
	was, _ := before.(*accountLook)
	account := is.state.ID
	var events []Event
	if was == nil {
		events = is.stateSince(events, trading.AccountState{})
		for _, trade := range slices.Backward(is.shown) {
			events = append(events, TradeClosed{is.at, account, trade})
		}
		return is.positionsSince(events, nil, nil)
	}

	trades, since, missing := is.delivered.since(was.delivered)
	if was.holes != is.holes {
		events = append(events, Gap{From: earlier(was.at, is.holeFrom), To: is.at, Watch: is.name, Reason: is.hole})
	}
	if missing {
		events = append(events, Gap{From: was.at, To: is.at, Watch: is.name, Reason: "this loop is too far behind to receive every closed trade"})
	}
	if was.replaced != is.replaced {
		for _, trade := range trades[:since] {
			events = append(events, TradeClosed{is.at, was.state.ID, trade})
		}
		events = append(events, AccountReplaced{is.at, account, was.state, is.state})
		for _, trade := range trades[since:] {
			events = append(events, TradeClosed{is.at, account, trade})
		}
		return is.positionsSince(events, nil, nil)
	}
	events = is.stateSince(events, was.state)
	for _, trade := range trades {
		events = append(events, TradeClosed{is.at, account, trade})
	}
	return is.positionsSince(events, was, trades)
}

// stateSince returns what changed of the account itself.
func (is *accountLook) stateSince(events []Event, was trading.AccountState) []Event {
	now := is.state
	if was.Status != now.Status || was.Locked != now.Locked {
		events = append(events, StatusChanged{is.at, now.ID, was.Status, now.Status, now.Locked})
	}
	aside := was
	aside.Status, aside.Locked = now.Status, now.Locked
	if !aside.Equal(now) {
		events = append(events, AccountChanged{is.at, now.ID, was, now})
	}
	return events
}
