package trading

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
)

// accountLook is one look at everything on an account in which a write can show. It
// serves every write that is asked about.
type accountLook struct {
	at        time.Time
	positions Positions
	trades    []Trade
	rows      []accounting.Row
	orders    []string
	runs      []string
	finished  []string
	status    AccountStatus
}

// lookAt reads an account.
func (c *core) lookAt(ctx context.Context, env Environment, id AccountID, opts callOptions) (*accountLook, error) {
	l := &accountLook{at: time.Now()}
	var t Trader = &Sandbox{&MarketData{caller{c, opts}}}
	account := &Account{id: id, caller: caller{c, opts}}
	if env == EnvLive {
		t = account
	}
	state, err := t.State(ctx)
	if err != nil {
		return nil, err
	}
	l.status = state.Status
	if l.positions, err = t.Positions(ctx); err != nil {
		return nil, err
	}
	if env == EnvLive {
		open, err := account.OpenOrders(ctx)
		if err != nil {
			return nil, err
		}
		finished, err := account.FinishedRuns(ctx)
		if err != nil {
			return nil, err
		}
		l.orders, l.runs, l.finished = orderIDs(open), runIDs(open.Runs), runIDs(finished)
	}
	if l.trades, err = t.Trades(ctx); err != nil {
		return nil, err
	}
	l.rows = rowsOf(l.trades)
	return l, nil
}

// state is the look as accounting sees it, for one symbol.
func (l *accountLook) state(symbol string) accounting.State {
	s := accounting.State{Rows: l.rows, Orders: l.orders, Runs: l.runs, Finished: l.finished, Status: string(l.status)}
	if p, held := l.positions.In(symbol); held {
		s.Position = heldPosition(&p)
	}
	return s
}

// shown is the look as a resolution shows it.
func (l *accountLook) shown(symbol string) Look {
	s := l.state(symbol)
	look := Look{At: l.at, Size: s.Position.Size, EntryPrice: s.Position.EntryPrice, Trades: l.trades}
	for _, id := range s.Orders {
		look.Orders = append(look.Orders, OrderID(id))
	}
	for _, id := range s.Runs {
		look.Runs = append(look.Runs, RunID(id))
	}
	for _, id := range s.Finished {
		look.Finished = append(look.Finished, RunID(id))
	}
	return look
}

// decide judges a write by equal looks.
func (c *core) decide(w *write, shown *seenLook) accounting.Verdict {
	now, first := shown.look, shown.began[0]
	if w.intent.Operation == OpTPSL {
		return decideLevels(w, now, w.ledger.IsGone(c.clock.now()))
	}
	asked := *w.askedFor()
	at := c.clock.now()
	asked.From = serviceTime(w.ledger.Decided, w.intent.Decided).Add(-clockTolerance)
	if asked.Kind == accounting.Entry || asked.Kind == accounting.ReduceOnly || asked.Kind == accounting.Close {
		asked.Until = serviceTime(at, at.Wall).Add(clockTolerance)
	}
	if !w.ledger.FirstUseKnown {
		asked.From = w.ledger.Since
	}
	shows := w.books.Evidence(&w.booked)
	f := accounting.Facts{
		Write:     asked,
		Held:      w.ledger.Held() || w.intent.Environment == EnvSandbox,
		Gone:      w.ledger.IsGone(at),
		Base:      shows.Base,
		Look:      accounting.Look{State: now.state(w.intent.Symbol), At: serviceTime(c.clock.at(first), first), Equal: len(shown.began)},
		Own:       shows.Own,
		Exclusive: c.isExclusive(w.intent.Account) && !w.gap, // what others did is not known
		Ended:     shows.Ended,
	}
	f.Known = idsOf(f.Own)
	if f.Base != nil {
		f.Look.Rows = upTo(f.Look.Rows, f.Base.Rows)
	}
	f.PendingBeside = c.pending.Beside(&w.Entry)
	f.PendingID = f.PendingBeside
	if f.Base != nil && !w.ledger.FirstUseKnown {
		base := *f.Base
		base.BeforeFirstUse = false
		f.Base = &base
	}
	return accounting.Decide(f)
}

// idsOf are the orders and runs that other writes are known to have left.
func idsOf(own []accounting.Own) map[string]bool {
	ids := make(map[string]bool, len(own))
	for i := range own {
		if own[i].ID != "" {
			ids[own[i].ID] = true
		}
	}
	return ids
}

// clockTolerance is how far a Date, which has whole seconds, may be off.
const clockTolerance = 2 * time.Second

func serviceTime(i ledger.Instant, otherwise time.Time) time.Time {
	if i.Service.IsZero() {
		return otherwise
	}
	return i.Service
}

// upTo drops the rows behind the last that the baseline had: it keeps the newest alone, so
// what is older looks new.
func upTo(rows, known []accounting.Row) []accounting.Row {
	for i := len(rows) - 1; i >= 0; i-- {
		if slices.ContainsFunc(known, func(k accounting.Row) bool { return k.Digest == rows[i].Digest }) {
			return rows[:i+1]
		}
	}
	return rows
}

// readBaseline reads what the baseline of an entry lacks, once, for a second at the
// most. Without it the entry goes all the same, and is harder to find out about.
func (c *call) readBaseline() {
	if !c.core.books.WantsRead(&c.write.booked, time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(c.Context, time.Second)
	defer cancel()
	opts := c.core.recoveryOptions()
	opts.failFast, opts.retry = true, defaultCallOptions().retry
	_, _ = c.core.lookAt(ctx, c.env, c.account, opts)
}

// recoveryOptions are those of the requests by which the client finds out.
func (c *core) recoveryOptions() callOptions {
	opts := defaultCallOptions()
	opts.recovering, opts.retry.Attempts = true, 1
	return opts
}

func byDecision(a, b *job) int {
	return cmp.Or(a.w.intent.Decided.Compare(b.w.intent.Decided), cmp.Compare(a.w.Entry.ID, b.w.Entry.ID))
}
