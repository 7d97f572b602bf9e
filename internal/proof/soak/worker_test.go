package soak

import (
	"context"
	"errors"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// worker is one of the goroutines that use the client.
type worker struct {
	client  *trading.Client
	service *service
	dice    *dice // its own, so that one run is like the next as far as can be
	sizes   *sizes
	tally   *tally

	resting []trading.OrderID
	runs    []trading.RunID
}

// call makes one call: of any operation, in either environment.
func (w *worker) call(ctx context.Context) {
	ctx, cancel := w.bound(ctx)
	defer cancel()
	switch n := w.dice.intN(100); {
	case n < 20:
		w.readPaper(ctx)
	case n < 40:
		w.readLive(ctx, w.account())
	case n < 58:
		w.writePaper(ctx)
	default:
		w.writeLive(ctx, w.account())
	}
}

// bound gives some calls a context that ends, a few of them at once.
func (w *worker) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	switch w.dice.intN(12) {
	case 0:
		return context.WithTimeout(ctx, time.Duration(w.dice.intN(4))*time.Second/4)
	case 1, 2:
		return context.WithTimeout(ctx, time.Duration(1+w.dice.intN(20))*time.Second)
	case 3:
		return context.WithCancel(ctx)
	default:
		return ctx, func() {}
	}
}

func (w *worker) account() *trading.Account {
	return w.client.Live.Account(w.service.pick(w.dice))
}

func (w *worker) symbol() string { return symbols[w.dice.intN(len(symbols))] }

// reading is a read that a worker can draw.
type reading struct {
	op trading.Operation
	do func(context.Context) error
}

func reads[T any](op trading.Operation, read func(context.Context, ...trading.CallOption) (T, error)) reading {
	return reading{op, func(ctx context.Context) error { return rig.Only(read(ctx)) }}
}

func (w *worker) readOne(ctx context.Context, of ...reading) {
	one := of[w.dice.intN(len(of))]
	w.tally.read(one.op, one.do(ctx))
}

func (w *worker) readPaper(ctx context.Context) {
	paper := w.client.Sandbox
	state := reads(trading.OpSandboxState, paper.State)
	w.readOne(ctx, state, state, reads(trading.OpSandboxPositions, paper.Positions), reads(trading.OpSandboxTrades, paper.Trades),
		reads(trading.OpMarkets, paper.Markets), reads(trading.OpPrices, paper.Prices), reads(trading.OpHealth, w.client.Health),
		reading{trading.OpPrices, func(ctx context.Context) error { return rig.Only(paper.Price(ctx, w.symbol())) }})
}

func (w *worker) readLive(ctx context.Context, a *trading.Account) {
	positions := reads(trading.OpPositions, a.Positions)
	w.readOne(ctx, reads(trading.OpState, a.State), positions, positions, reads(trading.OpTrades, a.Trades),
		reads(trading.OpOpenOrders, a.OpenOrders), reads(trading.OpFinishedRuns, a.FinishedRuns), reads(trading.OpFunding, a.Funding),
		reads(trading.OpAccounts, w.client.Live.Accounts))
}

// order is one that no other is like, a few of them too large for any account.
func (w *worker) order() trading.Order {
	o := trading.Order{Symbol: w.symbol(), Side: trading.Long, Leverage: trading.Dec("2")}
	o.Size = w.sizes.next(w.dice, o.Symbol)
	if w.dice.intN(2) == 0 {
		o.Side = trading.Short
	}
	switch w.dice.intN(30) {
	case 0:
		o.Size = o.Size.Add(decimal.NewFromInt(100_000))
	case 1:
		o.ExpectedPrice = trading.At(decimal.NewFromInt(int64(prices[o.Symbol])))
	case 2:
		o.MaxSlippagePct = trading.Some(trading.Dec("0.5"))
	}
	return o
}

func (w *worker) levels(symbol string) trading.TPSL {
	at := func(pct int) trading.Level {
		if w.dice.intN(4) == 0 {
			return trading.Clear
		}
		return trading.At(decimal.New(int64(prices[symbol]*pct), -2))
	}
	return trading.TPSL{TakeProfit: at(85 + w.dice.intN(30)), StopLoss: at(85 + w.dice.intN(30))}
}

func (w *worker) part() trading.Part {
	if w.dice.intN(3) == 0 {
		return trading.All
	}
	return trading.Percent(decimal.NewFromInt(int64(1 + w.dice.intN(99))))
}

func (w *worker) writePaper(ctx context.Context) {
	var (
		m     trading.Meta
		err   error
		size  decimal.Decimal
		op    trading.Operation
		paper = w.client.Sandbox
	)
	switch w.dice.intN(16) {
	case 0:
		op = trading.OpSandboxReset
		_, err = paper.Reset(ctx, trading.ResponseInto(&m))
	case 1, 2, 3, 4:
		op = trading.OpSandboxClose
		_, err = paper.ClosePosition(ctx, w.symbol(), w.part(), trading.ResponseInto(&m))
	case 5, 6:
		op = trading.OpSandboxTPSL
		symbol := w.symbol()
		_, err = paper.SetTPSL(ctx, symbol, w.levels(symbol), trading.ResponseInto(&m))
	default:
		op = trading.OpSandboxOrder
		o := w.order()
		size = o.Size
		_, err = paper.PlaceOrder(ctx, o, trading.ResponseInto(&m))
	}
	w.wrote(ctx, op, size, m, err)
}

func (w *worker) writeLive(ctx context.Context, a *trading.Account) {
	var (
		m    trading.Meta
		err  error
		size decimal.Decimal
		op   trading.Operation
	)
	switch w.dice.intN(20) {
	case 0, 1, 2:
		op = trading.OpClose
		_, err = a.ClosePosition(ctx, w.symbol(), w.part(), trading.ResponseInto(&m))
	case 3, 4:
		op = trading.OpTPSL
		symbol := w.symbol()
		_, err = a.SetTPSL(ctx, symbol, w.levels(symbol), trading.ResponseInto(&m))
	case 5, 6:
		op = trading.OpLimit
		o := w.order()
		size = o.Size
		o.LimitPrice = trading.At(decimal.New(int64(prices[o.Symbol]*(80+w.dice.intN(40))), -2))
		o.ExpectedPrice, o.MaxSlippagePct = trading.Level{}, trading.Opt[decimal.Decimal]{}
		var placed *trading.LimitResult
		if placed, err = a.PlaceLimit(ctx, o, trading.ResponseInto(&m)); err == nil {
			w.resting = append(w.resting, placed.Order.ID)
		}
	case 7:
		op = trading.OpCancelOrder
		id := trading.OrderID("lim_0")
		if n := len(w.resting); n > 0 {
			id, w.resting = w.resting[n-1], w.resting[:n-1]
		}
		_, err = a.CancelOrder(ctx, id, trading.ResponseInto(&m))
	case 8:
		op = trading.OpTWAP
		o := w.order()
		o.Size = o.Size.Mul(decimal.NewFromInt(8))
		size = o.Size
		o.ExpectedPrice, o.MaxSlippagePct = trading.Level{}, trading.Opt[decimal.Decimal]{}
		var placed *trading.RunResult
		if placed, err = a.PlacePro(ctx, o, trading.TWAP{Duration: 2 * time.Minute}, trading.ResponseInto(&m)); err == nil {
			w.runs = append(w.runs, placed.ID)
		}
	case 9:
		id := trading.RunID("run_0")
		if n := len(w.runs); n > 0 {
			id, w.runs = w.runs[n-1], w.runs[:n-1]
		}
		if w.dice.intN(2) == 0 {
			op = trading.OpCancelRun
			_, err = a.CancelRun(ctx, id, trading.ResponseInto(&m))
			break
		}
		op = trading.OpEditRun
		_, err = a.EditRun(ctx, id, trading.Dec("0.5"), trading.ResponseInto(&m))
	default:
		op = trading.OpOrder
		o := w.order()
		size = o.Size
		_, err = a.PlaceOrder(ctx, o, trading.ResponseInto(&m))
	}
	w.wrote(ctx, op, size, m, err)
}

// wrote keeps how a write ended, and finds out what became of one in doubt.
func (w *worker) wrote(ctx context.Context, op trading.Operation, size decimal.Decimal, m trading.Meta, err error) {
	if trading.OutcomeOf(err) == trading.Unknown {
		w.resolve(ctx, err)
	}
	w.tally.write(op, size, m, err)
}

// resolve finds out what became of a write, and lets a person look where that
// cannot be told: the person sees the ledger.
func (w *worker) resolve(ctx context.Context, cause error) {
	var failed *trading.WriteError
	if !errors.As(cause, &failed) {
		return // counted by the tally
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Hour)
	defer cancel()
	r, err := w.client.Resolve(ctx, cause)
	if err == nil {
		w.tally.count("resolved: " + r.Outcome.String() + " by " + r.Evidence.String())
		w.tally.resolution(*r)
		return
	}
	w.tally.count("not resolved")
	if failed.Intent == "" {
		return
	}
	found := rig.Became(len(w.service.sim.Executed(string(r.Intent.Key))))
	looked, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Hour) // resolving may have taken all of the other
	defer cancel()
	for range 5 { // the journal may not take it
		if err = w.client.Acknowledge(looked, failed.Intent, found, "looked at the ledger"); err == nil {
			w.tally.count("acknowledged")
			return
		}
		rig.Pause(looked, time.Second)
	}
	w.tally.count("acknowledged in vain")
}
