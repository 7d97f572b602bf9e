package crash

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tradingapi/trading-go"
)

// endpoint is where an operation is sent.
func (o operation) endpoint() trading.Operation {
	switch o {
	case resting:
		return trading.OpLimit
	case closing:
		return trading.OpClose
	case timed:
		return trading.OpTWAP
	case conditional:
		return trading.OpConditional
	default:
		return trading.OpOrder
	}
}

// side and size are what a hand would trade to look like it.
func (o operation) side() string {
	if o == closing {
		return "short"
	}
	return "long"
}

func (o operation) size() string {
	if o == closing {
		return "0.1"
	}
	return "0.05"
}

// write carries the operation out, and returns the key that it went by.
func (o operation) write(ctx context.Context, a *trading.Account, opts ...trading.CallOption) (trading.Key, error) {
	order := trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.05"), Leverage: trading.Dec("2")}
	var meta trading.Meta
	var err error
	opts = append(opts, trading.ResponseInto(&meta))
	switch o {
	case resting:
		order.LimitPrice = trading.At(trading.Dec("60000"))
		_, err = a.PlaceLimit(ctx, order, opts...)
	case closing:
		_, err = a.ClosePosition(ctx, "BTC", trading.Percent(trading.Dec("50")), opts...)
	case timed:
		order.Size = trading.Dec("0.1")
		_, err = a.PlaceTWAP(ctx, order, trading.TWAP{Duration: 5 * time.Minute}, opts...)
	case conditional:
		_, err = a.PlaceConditional(ctx, order, trading.Conditional{Trigger: trading.Dec("70000")}, opts...)
	default:
		_, err = a.PlaceOrder(ctx, order, opts...)
	}
	return meta.Key, err
}

// options are what the schedule sends the write with.
func (w *world) options() []trading.CallOption {
	var opts []trading.CallOption
	if w.decided {
		opts = append(opts, trading.WithDecision("crash", "one"))
	}
	if w.baseline == readByCall {
		opts = append(opts, trading.ReadBaseline())
	}
	return opts
}

func (w *world) clientOptions() []trading.Option {
	var opts []trading.Option
	if w.lifetime >= 0 {
		opts = append(opts, trading.WithLifetime(w.lifetime))
	}
	if w.sole {
		opts = append(opts, trading.SoleActor(account))
	}
	return opts
}

// context is what the bot calls with.
func (p *process) context() context.Context {
	if p.world.bound {
		return p.ctx
	}
	return context.WithoutCancel(p.ctx)
}

// first is the process that takes the decision.
func (w *world) firstProcess(killAt int) *process {
	p := w.newProcess("first", killAt)
	client := p.client(w.sim.URL(), w.clientOptions()...)
	defer p.end(client)
	a := client.Live.Account(account)
	ctx := p.context()
	if w.baseline == readBefore {
		readAll(ctx, a)
	}
	w.ownerActs(beforeWrite)
	err := p.act(ctx, a, w.op, w.options()...)
	if err != nil && trading.OutcomeOf(err) == trading.Unknown && !p.gone() {
		p.goOn(ctx, a, err)
	}
	return p
}

// act carries out a write, and notes what the bot was told.
func (p *process) act(ctx context.Context, a *trading.Account, o operation, opts ...trading.CallOption) error {
	key, err := o.write(ctx, a, opts...)
	if p.gone() {
		return err
	}
	t := told{by: p.name, key: key, outcome: trading.OutcomeOf(err)}
	if write := (*trading.WriteError)(nil); errors.As(err, &write) {
		t.intent = write.Intent
		p.world.note("%s: %v", p.name, err)
	}
	p.world.tell(t)
	return err
}

// goOn is what the bot does about an Unknown.
func (p *process) goOn(ctx context.Context, a *trading.Account, unknown error) {
	switch p.world.second {
	case closesHalf:
		_ = p.act(ctx, a, closing, trading.WithLifetime(0))
	case closesAll:
		var meta trading.Meta
		_, _ = a.ClosePosition(ctx, "BTC", trading.All, trading.ResponseInto(&meta))
	case ordersToo:
		time.Sleep(10 * time.Second)
		_ = p.act(ctx, a, p.world.op, trading.SkipUnsettled(), trading.ReadBaseline(), trading.WithLifetime(0))
	case limitsETH:
		_, _ = a.PlaceLimit(ctx, trading.Order{
			Symbol: "ETH", Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("2"), LimitPrice: trading.At(trading.Dec("3000")),
		})
	}
	var opts []trading.CallOption
	switch p.world.resolve {
	case none:
		return
	case stillWant:
		opts = append(opts, trading.WithLifetime(5*time.Minute))
	}
	verdict, err := a.Resolve(ctx, unknown, opts...)
	if verdict != nil && !p.gone() {
		p.hear(*verdict, err)
	}
}

// hear notes a verdict.
func (p *process) hear(v trading.Verdict, err error) {
	p.world.tell(told{by: p.name, intent: v.Intent.ID, key: v.Intent.Key, outcome: v.Outcome, basis: v.Basis})
	if v.Outcome == trading.Unknown {
		p.world.note("%s: %v", p.name, errors.Join(v.Err, err))
		p.world.mu.Lock()
		defer p.world.mu.Unlock()
		p.world.unknown = append(p.world.unknown, reasonOf(v))
	}
}

// recoverProcess is a process that settles what was left.
func (w *world) recoverProcess(name string, killAt int, plain bool) *process {
	p := w.newProcess(name, killAt)
	left := w.pending(w.sim.URL())
	base := w.sim.URL()
	if w.elsewhere && !plain {
		base = "http://localhost:9/v1"
	}
	client := p.client(base, w.clientOptions()...)
	defer p.end(client)
	a := client.Live.Account(account)
	if !plain && w.repeat == beforeRecovery {
		_ = p.act(p.ctx, a, w.op, w.options()...)
	}
	var besides sync.WaitGroup
	if !plain {
		besides.Go(func() { p.tradeBeside(a) })
		besides.Go(func() {
			if pause(p.ctx, 3*time.Second) {
				w.ownerActs(inRecovery)
			}
		})
	}
	verdicts, err := client.Recover(p.ctx)
	besides.Wait()
	if p.gone() {
		return p
	}
	for _, v := range verdicts {
		p.hear(v, nil)
	}
	for _, id := range w.pending(w.sim.URL()) {
		if err == nil && base == w.sim.URL() && slices.Contains(left, id) {
			w.problem("%s: Recover has no error, and left %.8s open", name, id)
		}
	}
	if !plain {
		w.ownerActs(afterRecovery)
		if w.repeat == afterRecovery {
			_ = p.act(p.ctx, a, w.op, w.options()...)
		}
	}
	return p
}

// tradeBeside is the life of the bot while it recovers.
func (p *process) tradeBeside(a *trading.Account) {
	w := p.world
	if w.beside == none || !pause(p.ctx, 2*time.Second) {
		return
	}
	order := trading.Order{Symbol: "ETH", Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("2")}
	for range 3 {
		switch w.beside {
		case otherMarket:
			_, _ = a.PlaceOrder(p.ctx, order)
		case sameMarket:
			_, _ = a.ClosePosition(p.ctx, "BTC", trading.Percent(trading.Dec("10")))
		}
		if !pause(p.ctx, 3*time.Second) {
			return
		}
	}
}

// readAll reads what a baseline is made of, as a bot does anyway.
func readAll(ctx context.Context, a *trading.Account) {
	_, _ = a.Positions(ctx)
	_, _ = a.Trades(ctx)
	_, _ = a.OpenOrders(ctx)
	_, _ = a.FinishedRuns(ctx)
}
