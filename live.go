package trading

import (
	"context"
	"fmt"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Live is the way to the real accounts. A live key has no markets or prices: a
// live bot reads them with a sandbox key, from [Client.Sandbox]'s MarketData.
type Live struct{ caller caller }

// Accounts lists every account that the key's owner can trade, the newest first,
// archived ones too. Do not take the first: a key reaches all of them.
func (l *Live) Accounts(ctx context.Context, opts ...CallOption) ([]AccountInfo, error) {
	return listed(l.caller.begin(ctx, OpAccounts, opts), shownList("accounts", accountInfoOf))
}

// Account returns a handle of an account. It sends nothing: a wrong id shows on
// the first call. opts hold for each of the handle's calls, and one that is not
// valid is reported by them.
func (l *Live) Account(id AccountID, opts ...CallOption) *Account {
	return &Account{id: id, caller: l.caller, opts: opts}
}

// Account is one live account. Every write to it carries an idempotency key, and
// is sent again only where that cannot place it twice. A result is nil if there is an
// error, unless the error is [ErrLate]: then the write was executed, and both are set.
type Account struct {
	id     AccountID
	caller caller
	opts   []CallOption
}

// Trader is what the paper account and a live account have in common: a strategy
// that takes a Trader runs on either. Methods may be added in a minor version;
// embed a Trader in a type of your own.
type Trader interface {
	// State reads the account: its money, its rules, and whether it accepts orders.
	State(ctx context.Context, opts ...CallOption) (*AccountState, error)
	// Positions reads the open positions.
	Positions(ctx context.Context, opts ...CallOption) (Positions, error)
	// Trades reads the closed trades.
	Trades(ctx context.Context, opts ...CallOption) ([]Trade, error)
	// PlaceOrder places an order at the market, or a marketable limit.
	PlaceOrder(ctx context.Context, o Order, opts ...CallOption) (*OrderResult, error)
	// ClosePosition closes a position, or a part of it, at the market.
	ClosePosition(ctx context.Context, symbol string, part Part, opts ...CallOption) (*CloseResult, error)
	// SetTPSL sets, clears or leaves the take-profit and the stop of a position.
	SetTPSL(ctx context.Context, symbol string, t TPSL, opts ...CallOption) (*TPSLResult, error)
	// Pending lists the account's writes whose outcome is not known.
	Pending(ctx context.Context) ([]PendingWrite, error)
	// Resolve finds out what became of the write that returned err.
	Resolve(ctx context.Context, err error) (*Resolution, error)
}

var _ Trader = (*Account)(nil)

// ID returns the account's id.
func (a *Account) ID() AccountID { return a.id }

// begin starts a call of this account. A write has the account in its body.
func (a *Account) begin(ctx context.Context, op Operation, opts []CallOption) *call {
	if len(a.opts) > 0 {
		opts = append(a.opts[:len(a.opts):len(a.opts)], opts...)
	}
	c := a.caller.begin(ctx, op, opts)
	c.account = a.id
	if f := check.ID("account", string(a.id)); f != nil && c.stopped == nil {
		c.stopped = local(EnvLive, f)
	}
	if !c.endpoint.Write {
		c.aim("accountId", string(a.id))
	}
	return c
}

// State reads balance, equity, floors, target and status.
func (a *Account) State(ctx context.Context, opts ...CallOption) (*AccountState, error) {
	call := a.begin(ctx, OpState, opts)
	var answer api.LiveAccountDetail
	record := &wire.Either{Member: "account", Record: &answer}
	if err := call.do(checked{record, func() error { return sameOptName("id", answer.ID, string(a.id)) }}); err != nil {
		return nil, err
	}
	state := liveStateOf(a.id, &answer)
	call.saw(&state)
	return &state, nil
}

// Positions reads the open positions, with their triggers.
func (a *Account) Positions(ctx context.Context, opts ...CallOption) (Positions, error) {
	rows, err := listed(a.begin(ctx, OpPositions, opts), listOf("positions", livePositionOf))
	return openOf(rows), err
}

// Trades reads the closed trades.
func (a *Account) Trades(ctx context.Context, opts ...CallOption) ([]Trade, error) {
	return listed(a.begin(ctx, OpTrades, opts), listOf("trades", tradeOf))
}

// OpenOrders reads what waits on the account: resting limits and running runs.
func (a *Account) OpenOrders(ctx context.Context, opts ...CallOption) (*OpenOrders, error) {
	call := a.begin(ctx, OpOpenOrders, opts)
	var answer api.AccountOrdersResponse
	if err := call.do(&answer); err != nil {
		return nil, err
	}
	open := &OpenOrders{
		Limits: convertAll(answer.Orders, restingOrderOf),
		Runs:   convertAll(answer.Runs, runOf),
	}
	call.saw(open)
	return open, nil
}

// FinishedRuns reads the Pro runs that have ended, whatever ended them.
func (a *Account) FinishedRuns(ctx context.Context, opts ...CallOption) ([]Run, error) {
	return listed(a.begin(ctx, OpFinishedRuns, opts), shownList("history", runOf))
}

// Funding reads the funding payments.
func (a *Account) Funding(ctx context.Context, opts ...CallOption) ([]FundingPayment, error) {
	return listed(a.begin(ctx, OpFunding, opts), listOf("funding", fundingOf))
}

// read carries out a read, for [Client.Do].
func (l *Live) read(ctx context.Context, op Operation, of AccountID, opts []CallOption) error {
	account := l.Account(of)
	switch op {
	case OpAccounts:
		return only(l.Accounts(ctx, opts...))
	case OpState:
		return only(account.State(ctx, opts...))
	case OpPositions:
		return only(account.Positions(ctx, opts...))
	case OpTrades:
		return only(account.Trades(ctx, opts...))
	case OpOpenOrders:
		return only(account.OpenOrders(ctx, opts...))
	case OpFinishedRuns:
		return only(account.FinishedRuns(ctx, opts...))
	case OpFunding:
		return only(account.Funding(ctx, opts...))
	default:
		return errNoOperation(op)
	}
}

// PlaceOrder places an order that fills now: a market order, or a limit that the
// market has reached. ErrNotMarketable says that it has not: the same order given
// to PlaceLimit rests until it has.
func (a *Account) PlaceOrder(ctx context.Context, o Order, opts ...CallOption) (*OrderResult, error) {
	call, request, err := a.beginOrder(ctx, OpOrder, o, opts)
	if err != nil {
		return nil, err
	}
	result, err := posted(call, request.AppendWire, orderResultOf)
	if result != nil {
		result.ExecutedTwice = call.write.ranTwice(result)
	}
	return result, err
}

// PlaceLimit leaves a limit order with the service until the market reaches it.
// It fills there even when this program no longer runs.
func (a *Account) PlaceLimit(ctx context.Context, o Order, opts ...CallOption) (*LimitResult, error) {
	o.Type = LimitOrder
	call, order, err := a.beginOrder(ctx, OpLimit, o, opts)
	if err != nil {
		return nil, err
	}
	return posted(call, limitRequest(&order).AppendWire, limitResultOf)
}

// CancelOrder cancels a resting limit order. [CodeOrderNotFound] can mean that it
// has filled: read the positions.
func (a *Account) CancelOrder(ctx context.Context, id OrderID, opts ...CallOption) (*Ack, error) {
	request := api.CancelOrderRequest{AccountID: string(a.id), OrderID: string(id)}
	return posted(a.begin(ctx, OpCancelOrder, opts), request.AppendWire, ackOf, check.ID("order", string(id)))
}

// ClosePosition closes a position or part of it, at a fresh price. How much is
// always sent. A close can pass or fail the account: read the result's Status.
func (a *Account) ClosePosition(ctx context.Context, symbol string, part Part, opts ...CallOption) (*CloseResult, error) {
	call := a.begin(ctx, OpClose, opts)
	call.symbol, call.all = symbol, isAll(part.pct)
	request := api.ClosePositionRequest{AccountID: string(a.id), Symbol: symbol, ClosePercent: wire.Some(part.pct)}
	return posted(call, request.AppendWire, closeResultOf, check.Symbol(check.Live, symbol), check.Part(check.Live, part.pct))
}

// SetTPSL sets or clears the levels that are named, and leaves the other as it
// is. The contract does not say what leaving a level out does on a live account, so
// both are always sent. Where one is absent from t, the client first reads the
// positions and sends the level that it finds there, or null if it finds none. That
// read is one more request and can be some seconds old: if two programs change the
// levels of one position, name both. A call with [WithIdempotencyKey] or
// [WithClientOrderID] must name both too, since its body has to be the same each time.
//
// A level that was read from the position can be given back; one sent unchanged is
// not judged.
//
// A setting never waits for an older one. It is sent at once, and the older one is not
// sent again. If the outcome of the older one is in doubt, the service may still carry it
// out after the newer one. The client corrects that, with a journal also after a restart: 5
// seconds after the outcome is known it reads the position. If the position has the levels of a
// setting that is not the last, the client sends the last levels again, each as the newest
// setting named it, under a new key, at most three times. Levels that no setting of this
// program named stay. Until then the position can have the older levels. [Hooks.Resolved]
// reports the correction, with Superseded and Overwritten.
//
// Two cases are not corrected. Of two calls at once that both return their answers, either
// can be the last. If two settings are in doubt and the older one is carried out last, the
// newer one can end as not applied: then the position has the older levels, and the
// program has to set others.
func (a *Account) SetTPSL(ctx context.Context, symbol string, t TPSL, opts ...CallOption) (*TPSLResult, error) {
	call := a.begin(ctx, OpTPSL, opts)
	call.symbol = symbol
	if err := call.check(check.Symbol(check.Live, symbol), t.fault(check.Live)); err != nil {
		return nil, err
	}
	if err := a.completeTPSL(ctx, call, &t); err != nil {
		return nil, call.refused(err)
	}
	request := api.TPSLRequest{
		AccountID: string(a.id), Symbol: symbol, TakeProfitPrice: wireLevel(t.TakeProfit), StopLossPrice: wireLevel(t.StopLoss),
	}
	return posted(call, request.AppendWire, tpslResultOf)
}

// completeTPSL fills in the level that the caller left out, as the position has
// it.
func (a *Account) completeTPSL(ctx context.Context, c *call, t *TPSL) error {
	absent := "takeProfitPrice"
	if t.StopLoss.IsZero() {
		absent = "stopLossPrice"
	}
	switch {
	case !t.TakeProfit.IsZero() && !t.StopLoss.IsZero(), c.stopped != nil:
		return nil
	case c.opts.key.isNamed():
		return refuse(EnvLive, CodeMissingFields,
			"required and missing: the %s; with an idempotency key or a client order id both levels must be named", absent)
	}
	opts := defaultCallOptions()
	opts.retry, opts.attemptTimeout, opts.forExit = c.opts.retry, c.opts.attemptTimeout, true
	positions, err := (&Account{id: a.id, caller: caller{core: c.core, defaults: &opts}}).Positions(ctx)
	if err != nil {
		return fmt.Errorf("the %s is missing, and the position to read it from cannot be read: %w", absent, err)
	}
	position, open := positions.In(c.symbol)
	if !open {
		return refuse(EnvLive, CodeNoPosition,
			"the %s is missing, and the account shows no position in %s to read it from: name both levels", absent, c.symbol)
	}
	if t.TakeProfit.IsZero() {
		t.TakeProfit, c.write.unnamed.TakeProfit = position.TakeProfit.orClear(), true
	} else {
		t.StopLoss, c.write.unnamed.StopLoss = position.StopLoss.orClear(), true
	}
	return local(EnvLive, t.fault(check.Live))
}

// fault is what is wrong with a change of levels.
func (t *TPSL) fault(env string) *check.Fault {
	return check.TPSL(env, wireLevel(t.TakeProfit), wireLevel(t.StopLoss), wireClosePct(t), t.ClearClosePct)
}

// beginOrder starts a call that places an order, if that could be one.
func (a *Account) beginOrder(ctx context.Context, op Operation, o Order, opts []CallOption) (*call, api.OrderRequest, error) {
	call := a.begin(ctx, op, opts)
	if o.Type == MarketOrder && o.MaxSlippagePct.IsZero() && !o.ReduceOnly {
		o.MaxSlippagePct = a.caller.core.maxSlippage
	}
	call.write.place(o)
	request := orderRequest(a.id, &o)
	err := call.check(check.Order(check.Live, &request))
	return call, request, err
}

// Pending lists the writes of this account whose outcome is not known: its part of
// [Client.Pending], and after that what is being sent, without its Key and Try.
func (a *Account) Pending(ctx context.Context) ([]PendingWrite, error) {
	return a.caller.core.pendingOn(ctx, EnvLive, a.id)
}

// Resolve is [Client.Resolve].
func (a *Account) Resolve(ctx context.Context, err error) (*Resolution, error) {
	return a.caller.core.resolveError(ctx, err)
}

// Check returns what is wrong with the order by itself: what PlaceOrder refuses before it
// sends anything, with the code that the service would have used. It is nil if nothing is.
// A resting limit is checked with Type [LimitOrder]; what Pro orders need besides, their
// own Check judges.
func (o Order) Check(env Environment) error {
	request := orderRequest("", &o)
	return local(env, check.Order(string(env), &request))
}
