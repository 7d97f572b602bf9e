package main

import (
	"context"
	"errors"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
)

// bot is a careless strategy. It is asked once each twenty seconds what to do.
type bot struct {
	ctx     context.Context
	account *trading.Account
	market  *trading.MarketData

	marks   map[string]trading.Mark
	held    trading.Positions
	open    *trading.OpenOrders
	last    decimal.Decimal // the price of the last entry
	refused int
}

// strategies are the bots, each deadly in its way.
var strategies = []struct {
	name string
	turn func(b *bot, turn int)
}{
	{"all in, no stop", func(b *bot, _ int) {
		if b.size("BTC").IsZero() {
			b.enter("BTC", trading.Long, "3", "")
		}
	}},
	{"martingale", func(b *bot, _ int) {
		price, ok := b.marks["BTC"].Price()
		switch size := b.size("BTC"); {
		case !ok:
		case size.IsZero():
			b.enter("BTC", trading.Long, "0.5", "")
		case price.LessThan(b.last.Mul(trading.Dec("0.997"))):
			b.order("BTC", trading.Long, size, "")
		}
	}},
	{"grid", func(b *bot, _ int) {
		price, ok := b.marks["BTC"].Price()
		if !ok || len(b.open.Limits) > 2 {
			return
		}
		for i := int64(1); i <= 4; i++ {
			step := price.Mul(decimal.New(3*i, -3))
			b.rest("BTC", trading.Long, "0.8", price.Sub(step))
			b.rest("BTC", trading.Short, "0.8", price.Add(step))
		}
	}},
	{"hedge", func(b *bot, _ int) {
		if b.size("BTC").IsZero() {
			b.enter("BTC", trading.Long, "2.3", "")
		}
		if b.size("ETH").IsZero() {
			b.enter("ETH", trading.Short, "2.3", "")
		}
	}},
	{"flipper", func(b *bot, turn int) {
		size := b.size("BTC")
		switch {
		case size.IsZero():
			b.enter("BTC", trading.Long, "3", "")
		case turn%9 == 0 && size.IsPositive():
			b.order("BTC", trading.Short, size.Mul(decimal.NewFromInt(2)), "")
		case turn%9 == 0:
			b.order("BTC", trading.Long, size.Mul(decimal.NewFromInt(-2)), "")
		}
	}},
	{"stop at 1 percent, again and again", func(b *bot, _ int) {
		if b.size("BTC").IsZero() {
			b.enter("BTC", trading.Long, "4", "0.99")
		}
	}},
	{"TWAP", func(b *bot, _ int) {
		if len(b.open.Runs) == 0 && b.size("BTC").Mul(trading.Dec("50000")).LessThan(trading.Dec("300000")) {
			b.run("BTC", "2")
		}
	}},
	{"leaves by opposite orders", func(b *bot, turn int) { // which a protection that holds refuses
		price, ok := b.marks["BTC"].Price()
		switch size := b.size("BTC"); {
		case !ok:
		case size.IsZero():
			b.enter("BTC", trading.Long, "3", "")
		case turn%9 == 0 || price.LessThan(b.last.Mul(trading.Dec("0.99"))):
			b.order("BTC", trading.Short, size, "")
		}
	}},
}

const equity = 100_000

// play asks the strategy again and again until ctx ends.
func (b *bot) play(turn func(*bot, int)) {
	ticker := time.NewTicker(20 * time.Second)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-b.ctx.Done():
			return
		case <-ticker.C:
		}
		if b.read() {
			turn(b, n)
		}
	}
}

func (b *bot) read() bool {
	var errs [3]error
	b.marks, errs[0] = b.market.Prices(b.ctx)
	b.held, errs[1] = b.account.Positions(b.ctx)
	b.open, errs[2] = b.account.OpenOrders(b.ctx)
	return errors.Join(errs[:]...) == nil
}

func (b *bot) size(symbol string) decimal.Decimal {
	p, _ := b.held.In(symbol)
	return p.Signed()
}

// units is so many times the account's first equity.
func (b *bot) units(symbol, times string) (decimal.Decimal, bool) {
	price, ok := b.marks[symbol].Price()
	if !ok {
		return decimal.Decimal{}, false
	}
	return trading.Dec(times).Mul(decimal.NewFromInt(equity)).DivRound(price, 3), true
}

// enter opens so many times the equity, with a stop at so much of the price.
func (b *bot) enter(symbol string, side trading.Side, times, stop string) {
	if size, ok := b.units(symbol, times); ok {
		b.order(symbol, side, size, stop)
	}
}

// isRefused reports whether a guard has refused an order: the bot's own, or one in a sidecar, which
// answers in the words of the service.
func (b *bot) isRefused(err error) bool {
	is := errors.Is(err, trading.ErrGuard) || errors.Is(err, trading.CodePerPositionCap) || errors.Is(err, trading.CodeForbidden)
	if is {
		b.refused++
	}
	return is
}

// order orders, and less where a guard refuses.
func (b *bot) order(symbol string, side trading.Side, size decimal.Decimal, stop string) {
	price, ok := b.marks[symbol].Price()
	if !ok {
		return
	}
	for range 4 {
		o := trading.Order{Symbol: symbol, Side: side, Size: size, Leverage: trading.Dec("5")}
		if stop != "" {
			o.StopLoss = trading.At(price.Mul(trading.Dec(stop)).Round(2))
		}
		_, err := b.account.PlaceOrder(b.ctx, o)
		if err == nil {
			b.last = price
		}
		if !b.isRefused(err) {
			return
		}
		size = size.Mul(trading.Dec("0.6")).Round(3)
	}
}

func (b *bot) rest(symbol string, side trading.Side, times string, price decimal.Decimal) {
	size, ok := b.units(symbol, times)
	if !ok {
		return
	}
	o := trading.Order{Symbol: symbol, Side: side, Size: size, Leverage: trading.Dec("5"), LimitPrice: trading.At(price.Round(1))}
	_, err := b.account.PlaceLimit(b.ctx, o)
	b.isRefused(err)
}

func (b *bot) run(symbol, times string) {
	size, ok := b.units(symbol, times)
	if !ok {
		return
	}
	o := trading.Order{Symbol: symbol, Side: trading.Long, Size: size, Leverage: trading.Dec("5")}
	_, err := b.account.PlacePro(b.ctx, o, trading.TWAP{Duration: 20 * time.Minute})
	b.isRefused(err)
}
