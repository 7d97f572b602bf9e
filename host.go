package trading

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/transport"
)

// host is the client as its driver sees it: what the client asks the service for by
// itself.
type host struct{ c *core }

// Read reads an account, or one list of it. For an entry that waits it tries again within its second.
func (h host) Read(ctx context.Context, of books.AccountKey, list resolve.List, awaited bool) (*resolve.AccountLook, error) {
	opts := recoveryOptions()
	if awaited {
		opts.retry.Attempts = defaultCallOptions().retry.Attempts
	}
	var t Trader = &Sandbox{&MarketData{caller{core: h.c, defaults: &opts}}}
	account := &Account{id: of.ID, caller: caller{core: h.c, defaults: &opts}}
	live, all := of.Environment == EnvLive, list == resolve.AllLists
	if live {
		t = account
	}
	l := &resolve.AccountLook{At: time.Now()}
	if all {
		state, err := t.State(ctx)
		if err != nil {
			return nil, err
		}
		l.Status = string(state.Status)
	}
	if all || list == resolve.ListPositions {
		positions, err := t.Positions(ctx)
		if err != nil {
			return nil, err
		}
		l.Positions, l.Levels = make(map[string]accounting.Holding, len(positions)), make(map[string]resolve.Levels)
		for i := range positions {
			l.Positions[positions[i].Symbol] = heldPosition(&positions[i])
			l.Levels[positions[i].Symbol] = levelsOf(&positions[i])
		}
	}
	if live && (all || list == resolve.ListOrders) {
		open, err := account.OpenOrders(ctx)
		if err != nil {
			return nil, err
		}
		l.Orders, l.Runs = books.IDsOf(restingOf(open.Limits)), books.IDsOf(runningOf(open.Runs))
	}
	if live && all {
		finished, err := account.FinishedRuns(ctx)
		if err != nil {
			return nil, err
		}
		l.Finished = endedOf(finished)
	}
	if all || list == resolve.ListTrades {
		trades, err := t.Trades(ctx)
		if err != nil {
			return nil, err
		}
		trades = slices.Clone(trades[:min(len(trades), maxTrades)])
		l.Rows, l.Shown = convertAll(trades, rowOf), trades
	}
	l.Ended = time.Now()
	return l, nil
}

// Prepare gets a request of the driver's its API key and its place in recovery's share of the
// rate limits.
func (h host) Prepare(ctx context.Context, r resolve.Request) (resolve.Prepared, error) {
	e := spec.Find(r.Operation)
	if e == nil {
		return nil, errors.New("an operation that this version does not know")
	}
	opts := recoveryOptions()
	opts.key.given = r.Key
	call := caller{core: h.c, defaults: &opts}.begin(ctx, e.Name, nil)
	call.once, call.alone, call.write = true, r.Alone, nil
	call.account, call.body = r.Account, r.Body
	if !e.Fixed() {
		call.aim("accountId", string(r.Account))
	}
	err := call.takeKey() // no breaker holds it up, and no guard
	if err == nil {
		err = call.takeSlot()
	}
	if err != nil {
		return nil, err
	}
	return prepared{call, r.Entry}, nil
}

// prepared is a request of the driver's.
type prepared struct {
	*call
	placesEntry bool // if it is carried out
}

func (p prepared) APIKey() string { return p.apiKey.ID() }

func (p prepared) Drop() { p.returnSlot(false) }

func (p prepared) Send(ctx context.Context, gate transport.Gate) resolve.Response {
	p.ctx, p.gate = ctx, gate
	if p.endpoint.Write {
		p.gate = permitGate{&p.core.permit, p.env, p.account, p.placesEntry, gate}
	}
	p.start()
	p.run()
	p.over(p.last.failed)
	last := p.last // which outlives the call
	return last.answer(nil)
}

// permitGate judges what the driver sends of a write.
type permitGate struct {
	*permit
	env     Environment
	account AccountID
	entry   bool
	inner   transport.Gate // nil for none
}

// MayLeave implements [transport.Gate].
func (g permitGate) MayLeave() error {
	if err := g.allows(g.env, g.account, g.entry); err != nil || g.inner == nil {
		return err
	}
	return g.inner.MayLeave()
}

// LeaveBy implements [transport.Leaser].
func (g permitGate) LeaveBy() time.Time { return g.leaveBy() }

func (h host) SetLevels(ctx context.Context, of *Intent, wanted resolve.Levels) error {
	opts := defaultCallOptions()
	opts.retry.Attempts, opts.patience, opts.tag = 1, durations{}, of.Tag
	opts.restores = of.ID
	ctx, cancel := context.WithTimeout(ctx, defaultAttemptTimeout)
	defer cancel()
	account := &Account{id: of.Account, caller: caller{core: h.c, defaults: &opts}}
	_, err := account.SetTPSL(ctx, of.Symbol, TPSL{TakeProfit: levelAtPrice(wanted.TakeProfitPrice), StopLoss: levelAtPrice(wanted.StopLossPrice)})
	return err
}

func (h host) Judge(err error) resolve.Judgment {
	refusal := (*Error)(nil)
	if errors.As(err, new(*GuardError)) { // by the gate
		return resolve.Judgment{Class: ledger.Unsent, Local: true}
	}
	if !errors.As(err, &refusal) {
		return resolve.Judgment{Class: ledger.Silence}
	}
	j := resolve.Judgment{Class: ledger.Refusal, Local: refusal.Local, Unreachable: errors.Is(err, CodeAccountNotFound)}
	j.KeyRefused = !j.Local && errors.Is(err, ErrKeyRefused)
	if j.Local && refusal.Code == CodeRateLimited {
		wait, _ := refusal.RetryAfter.Get()
		j.Wait = max(wait, time.Millisecond)
	}
	return j
}

func (h host) Keyless(env Environment) error { return h.c.keyless(env) }

func (h host) EntriesHeld(exiting bool) (why string, again time.Duration) {
	if reason, halted := h.c.permit.halted(); halted && !exiting {
		return (&GuardError{Kind: ErrHalted, Reason: reason}).Error(), resolve.AskLater
	}
	return h.c.gate.holdsProbe(h.c.life.Closing)
}

func (h host) Resolved(r resolve.Found) {
	if r.Contradicted {
		h.c.log.warn("answers to a write contradict each other", slog.String("operation", string(r.Intent.Operation)),
			slog.String("account", string(r.Intent.Account)), slog.String("symbol", r.Intent.Symbol), slog.String("intent", string(r.Intent.ID)))
	}
	if len(h.c.hooks) > 0 {
		h.c.hooks.resolved(context.Background(), resolutionOf(&r))
	}
}
