package trading

import (
	"context"
	"errors"
	"time"

	"github.com/tradingapi/trading-go/internal/ledger"
)

// What the client asks the service for by itself.

// lookWith reads an account.
func (c *core) lookWith(ctx context.Context, env Environment, id AccountID, opts callOptions) (*accountLook, error) {
	l := &accountLook{at: time.Now()}
	var t accountReader = &Sandbox{&MarketData{caller{c, opts}}}
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
	l.rows, l.ended = rowsOf(l.trades), time.Now()
	return l, nil
}

// send sends one request of the driver's, in its share of the rate limits.
func (c *core) send(ctx context.Context, r driverRequest) heard {
	if r.endpoint == nil {
		return heard{class: ledger.Foreign, err: errors.New("an operation that this version does not know")}
	}
	call := caller{c, recoveryOptions()}.begin(ctx, r.endpoint, nil)
	call.account, call.body, call.askKey = r.account, r.body, r.key
	defer call.returnSlot(false)
	for _, stage := range [...]func() error{call.takeKey, call.waitForLimit} {
		if err := stage(); err != nil {
			return heard{class: ledger.Unsent, err: err}
		}
	}
	call.hookStart()
	call.sends++
	call.lastCtx = call.hookSend(ctx)
	send := c.transport.Send
	if r.alone {
		send = c.transport.SendAlone
	}
	call.last = c.exchangeOver(call.lastCtx, send, &call.request, call.apiKey, r.key, call.question())
	call.returnSlot(call.last.attempt.Written)
	if said := call.last.said(); said.Advice == ledger.WaitFirst && !call.last.attempt.replayed() {
		call.closeLimit(said.RetryAfter)
	}
	call.noteKey()
	call.outcome = OutcomeOf(call.last.err)
	call.hookSent()
	call.hookDone(call.hookCall(), Done{Err: call.last.err, Outcome: call.outcome, Attempts: 1})
	return call.last
}

func (c *core) entriesHeld(leaving bool) string {
	if reason, halted := c.halt.get(); halted && !leaving {
		return (&GuardError{Kind: ErrHalted, Reason: reason}).Error()
	}
	if c.gate.knownUnsafe() {
		return ErrUnhealthy.Error()
	}
	return ""
}

func (c *core) positionsOf(ctx context.Context, id AccountID) (Positions, error) {
	account := &Account{id: id, caller: caller{c, recoveryOptions()}}
	return account.Positions(ctx)
}

// setLevels sets levels in place of a setting, once, as a write of its own, which is found
// out about like any other.
func (c *core) setLevels(ctx context.Context, of *Intent, wanted levels) error {
	opts := defaultCallOptions()
	opts.retry.Attempts, opts.resolveTimeout, opts.tag = 1, Some(time.Duration(0)), of.Tag
	opts.restores = of.ID
	ctx, cancel := context.WithTimeout(ctx, defaultAttemptTimeout)
	defer cancel()
	account := &Account{id: of.Account, caller: caller{c, opts}}
	_, err := account.SetTPSL(ctx, of.Symbol, TPSL{TakeProfit: wanted.TakeProfitPrice, StopLoss: wanted.StopLossPrice})
	return err
}

// accountReader is what the paper account and a live one show alike.
type accountReader interface {
	State(ctx context.Context, opts ...CallOption) (*AccountState, error)
	Positions(ctx context.Context, opts ...CallOption) (Positions, error)
	Trades(ctx context.Context, opts ...CallOption) ([]Trade, error)
}
