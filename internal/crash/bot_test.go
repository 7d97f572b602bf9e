package crash

import (
	"context"
	"errors"
	"fmt"
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

// bot is the program that is killed. It knows nothing of the service but what the
// client tells it.
type bot struct {
	schedule
	host
	life     life
	ctx      context.Context
	url, key string
	disk     trading.Journal
}

// run is one life of the program.
func (b *bot) run() {
	base := b.url
	if b.elsewhere && b.life == recovers {
		base = "http://localhost:9/v1"
	}
	client := b.client(base)
	defer func() {
		b.exit()
		_ = client.Close() // a real process does not come here
	}()
	a := client.Live.Account(account)
	switch {
	case b.family == many && b.life != settles:
		b.trade(client, a)
	case b.life == decides:
		b.decide(a)
	default:
		b.recover(client, a)
	}
}

// client opens the client as the bot's program would after a start.
func (b *bot) client(baseURL string) *trading.Client {
	opts := []trading.Option{
		trading.WithLiveKey(b.key),
		trading.WithTransport(wire{b.host, b.latency}),
		trading.WithJournal(journal{b.disk, b.host}),
		// Waits of chance would make a schedule differ from run to run.
		trading.WithRetry(trading.Retry{MinWait: 1, MaxWait: 1}),
	}
	if b.lifetime >= 0 {
		opts = append(opts, trading.WithLifetime(b.lifetime))
	}
	if b.sole {
		opts = append(opts, trading.SoleActor(account))
	}
	client, err := trading.New(baseURL, opts...)
	if err != nil {
		panic(fmt.Sprintf("the client cannot be made: %v", err))
	}
	return client
}

// options are what the schedule sends the write with.
func (b *bot) options() []trading.CallOption {
	var opts []trading.CallOption
	if b.decided {
		opts = append(opts, trading.WithDecision("crash", "one"))
	}
	if b.baseline == readByCall {
		opts = append(opts, trading.ReadBaseline())
	}
	return opts
}

// context is what the bot calls with.
func (b *bot) context() context.Context {
	if b.bound {
		return b.ctx
	}
	return context.WithoutCancel(b.ctx)
}

// decide takes the decision.
func (b *bot) decide(a *trading.Account) {
	ctx := b.context()
	if b.baseline == readBefore {
		readAll(ctx, a)
	}
	b.ownerActs(beforeWrite)
	err := b.act(ctx, a, b.op, b.options()...)
	if err != nil && trading.OutcomeOf(err) == trading.Unknown && !b.gone() {
		b.goOn(ctx, a, err)
	}
}

// act carries out a write, and notes what the bot was told.
func (b *bot) act(ctx context.Context, a *trading.Account, o operation, opts ...trading.CallOption) error {
	key, err := o.write(ctx, a, opts...)
	t := told{Key: key, Outcome: trading.OutcomeOf(err)}
	if write := (*trading.WriteError)(nil); errors.As(err, &write) {
		t.Intent = write.Intent
		b.note(err.Error())
	}
	b.tell(t)
	return err
}

// goOn is what the bot does about an Unknown.
func (b *bot) goOn(ctx context.Context, a *trading.Account, unknown error) {
	switch b.second {
	case closesHalf:
		_ = b.act(ctx, a, closing, trading.WithLifetime(0))
	case closesAll:
		var meta trading.Meta
		_, _ = a.ClosePosition(ctx, "BTC", trading.All, trading.ResponseInto(&meta))
	case ordersToo:
		time.Sleep(10 * time.Second)
		_ = b.act(ctx, a, b.op, trading.SkipUnsettled(), trading.ReadBaseline(), trading.WithLifetime(0))
	case limitsETH:
		_, _ = a.PlaceLimit(ctx, trading.Order{
			Symbol: "ETH", Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("2"), LimitPrice: trading.At(trading.Dec("3000")),
		})
	}
	var opts []trading.CallOption
	switch b.resolve {
	case none:
		return
	case stillWant:
		opts = append(opts, trading.WithLifetime(5*time.Minute))
	}
	verdict, err := a.Resolve(ctx, unknown, opts...)
	if verdict != nil {
		b.hear(*verdict, err)
	}
}

// hear notes a verdict.
func (b *bot) hear(v trading.Verdict, err error) {
	b.tell(told{Intent: v.Intent.ID, Key: v.Intent.Key, Outcome: v.Outcome, Basis: v.Basis, Verdict: true})
	if v.Outcome == trading.Unknown {
		b.note(fmt.Sprint(errors.Join(v.Err, err)))
		b.unknown(reasonOf(v))
	}
}

// pending are the intents in the journal that are not settled, of the service.
func (b *bot) pending() []trading.IntentID {
	var ids []trading.IntentID
	for in, err := range b.disk.Pending(context.WithoutCancel(b.ctx)) {
		switch {
		case err != nil:
			b.problem("the journal cannot be read: " + err.Error())
		case in.BaseURL == b.url:
			ids = append(ids, in.ID)
		}
	}
	return ids
}

// recover settles what was left.
func (b *bot) recover(client *trading.Client, a *trading.Account) {
	left := b.pending()
	plain := b.life == settles
	if !plain && b.repeat == beforeRecovery {
		_ = b.act(b.ctx, a, b.op, b.options()...)
	}
	var besides sync.WaitGroup
	if !plain {
		besides.Go(func() { b.tradeBeside(a) })
		besides.Go(func() {
			if pause(b.ctx, 3*time.Second) {
				b.ownerActs(inRecovery)
			}
		})
	}
	verdicts, err := client.Recover(b.ctx)
	besides.Wait()
	if b.gone() {
		return
	}
	for _, v := range verdicts {
		b.hear(v, nil)
	}
	for _, id := range b.pending() {
		if err == nil && (plain || !b.elsewhere) && slices.Contains(left, id) {
			b.problem(fmt.Sprintf("Recover has no error, and left %.8s open", id))
		}
	}
	if !plain {
		b.ownerActs(afterRecovery)
		if b.repeat == afterRecovery {
			_ = b.act(b.ctx, a, b.op, b.options()...)
		}
	}
}

// tradeBeside is the life of the bot while it recovers.
func (b *bot) tradeBeside(a *trading.Account) {
	if b.beside == none || !pause(b.ctx, 2*time.Second) {
		return
	}
	order := trading.Order{Symbol: "ETH", Side: trading.Long, Size: trading.Dec("1"), Leverage: trading.Dec("2")}
	for range 3 {
		switch b.beside {
		case otherMarket:
			_, _ = a.PlaceOrder(b.ctx, order)
		case sameMarket:
			_, _ = a.ClosePosition(b.ctx, "BTC", trading.Percent(trading.Dec("10")))
		}
		if !pause(b.ctx, 3*time.Second) {
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
