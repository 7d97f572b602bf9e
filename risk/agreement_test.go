package risk_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/depth"
	"github.com/tradingapi/trading-go/risk"
)

var (
	full = flag.Bool("risk.full", false, "try a million orders instead of some ten thousand")
	seed = flag.Uint64("risk.seed", 1, "what the orders are drawn from")
)

// tally is what came out of many orders.
type tally struct {
	mu         sync.Mutex
	orders     int
	numbers    int            // answers whose numbers were compared
	seen       map[string]int // answers, methods, effects, warnings, and why Preview could not know
	complaints []string
}

func (y *tally) merge(x *tally) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.orders += x.orders
	y.numbers += x.numbers
	for what, n := range x.seen {
		y.seen[what] += n
	}
	y.complaints = append(y.complaints, x.complaints...)
}

// Preview and the simulator share no code but the contract. They must agree on
// whether an order is taken and on the code if it is not; where they do not, there
// must be a reason that Preview could not know, by name. What an accepted order
// answers must be what Preview said, to the last digit: so a leverage that is clamped
// has its margin (T61), a stale expected price is GUARD_BAND (T66), and each clip and
// each rung has to be worth the minimum (T97).
func TestPreviewAgreesWithTheSimulator(t *testing.T) {
	total, shards := 40_000, 8
	if *full {
		total = 1_000_000
	}
	few := !depth.Full() // each world is one goroutine
	if few {
		total = 4_000
	}
	all := &tally{seen: map[string]int{}}
	t.Run("orders", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					own := &tally{seen: map[string]int{}}
					r := rand.New(rand.NewPCG(*seed, uint64(shard)))
					for own.orders < total/shards && len(own.complaints) < 5 {
						runWorld(t, r, own)
					}
					all.merge(own)
				})
			})
		}
	})
	for _, complaint := range all.complaints[:min(len(all.complaints), 5)] {
		t.Error(complaint)
	}
	all.report(t)
	if !few {
		all.demand(t)
	}
}

// runWorld sends some orders to one random service.
func runWorld(t *testing.T, r *rand.Rand, y *tally) {
	w := newWorld(t, r)
	defer w.close()
	w.lookAround(t)
	for range 80 {
		switch w.IntN(25) {
		case 0: // the market moves, and is looked at
			w.move()
			w.lookAround(t)
		case 1: // the market moves unseen
			w.move()
			w.judge(t, y, true)
			w.lookAround(t)
			continue
		}
		w.judge(t, y, false)
	}
}

// move moves a mark.
func (w *world) move() {
	symbol := w.symbols[w.IntN(len(w.symbols))]
	if price, ok := w.markets[symbol].Mark.Price(); ok {
		w.sim.SetMark(symbol, w.near(price, 120).String())
	}
}

// judge previews an order, places it, and holds the one against the other.
func (w *world) judge(t *testing.T, y *tally, moved bool) {
	a := w.attempt()
	inputs := w.inputs(a.order.Symbol, a.method)
	report := risk.Preview(a.order, inputs)
	var result *trading.OrderResult
	var err error
	switch {
	case w.env == trading.EnvSandbox:
		result, err = w.client.Sandbox.PlaceOrder(t.Context(), a.order)
	case a.place != nil:
		result, err = a.place(t.Context(), w.account, a.order)
	default:
		result, err = w.account.PlaceOrder(t.Context(), a.order)
	}
	y.orders++
	y.seen["method "+a.what]++
	y.seen["effect "+string(report.Effect)]++
	for _, p := range report.Problems {
		if p.Warning != "" {
			y.seen["warning "+string(p.Warning)]++
		}
	}
	got := codeOf(err)
	y.seen["answer "+string(w.env)+" "+string(got)]++
	foreseen, _ := report.Refused()
	switch {
	case got == foreseen:
	default:
		cause := w.cause(a, got, foreseen)
		if cause == "" && moved && w.couldHave(t, a, got) {
			cause = "the market moved"
		}
		if cause != "" {
			y.seen["not to be known: "+cause]++
			break
		}
		y.complaints = append(y.complaints, fmt.Sprintf("%s %s: Preview says %q, the service %q\norder %+v\nproblems %v\nstate %+v\npositions %+v\nmarket %+v\nanswer %v",
			w.env, a.what, foreseen, got, a.order, report.Problems, *w.state, w.positions, w.markets[a.order.Symbol], err))
	}
	if err != nil {
		return
	}
	// Who knows less finds less: nothing that is missing makes a problem.
	if code, refused := risk.Preview(a.order, w.forget(inputs)).Refused(); refused && !moved {
		y.complaints = append(y.complaints, fmt.Sprintf("%s %s: with less known Preview says %q, and the service takes it\norder %+v", w.env, a.what, code, a.order))
	}
	if result != nil && !moved {
		if differences := w.differences(a, report, result); len(differences) > 0 {
			y.complaints = append(y.complaints, fmt.Sprintf("%s: the numbers of %+v: %s\npositions %+v", w.env, a.order, strings.Join(differences, "; "), w.positions))
		}
		y.numbers++
	}
	w.look(t)
}

// couldHave reports whether Preview foresees an answer by inputs of now. An order
// that was taken has changed them, and so have reads of the sandbox, which fire
// triggers.
func (w *world) couldHave(t *testing.T, a attempt, got trading.Code) bool {
	if got == "" || w.env == trading.EnvSandbox {
		return true
	}
	w.lookAround(t)
	foreseen, _ := risk.Preview(a.order, w.inputs(a.order.Symbol, a.method)).Refused()
	return foreseen == got || w.cause(a, got, foreseen) != ""
}

// codeOf is what an order was refused with; empty if it was not.
func codeOf(err error) trading.Code {
	if err == nil {
		return ""
	}
	if refusal := (*trading.Error)(nil); errors.As(err, &refusal) {
		return refusal.Code
	}
	return trading.Code(err.Error())
}

// cause names why Preview could not know what the service answered; empty if it
// could have.
func (w *world) cause(a attempt, got, foreseen trading.Code) string {
	symbol := a.order.Symbol
	switch {
	case string(got) == w.trouble[symbol]:
		return "trouble at the moment of the fill"
	case (got == trading.CodeMaxSlippage || got == trading.CodeInsufficientLiquidity) && foreseen == "" && len(w.setup[symbol].Book.Levels) > 0:
		return "the order book"
	case got == trading.CodeTooManyRuns && a.place != nil && a.what != "rest", got == trading.CodeChaseExists && a.what == "chase":
		return "the runs that are running"
	case (got == trading.CodeBadDuration || got == trading.CodeBadOrderCount) && a.offRange:
		return "ranges that the contract does not show"
	case got == trading.CodeTotalMarginCap && a.order.Leverage.IsZero() && w.env == trading.EnvSandbox:
		return "the sandbox's default leverage"
	}
	return ""
}

// differences holds what an order answered against what Preview said.
func (w *world) differences(a attempt, r risk.Report, got *trading.OrderResult) (found []string) {
	same := func(what string, want trading.Opt[decimal.Decimal], got trading.Opt[decimal.Decimal]) {
		if !want.Equal(got) {
			found = append(found, fmt.Sprintf("%s: Preview %s, the service %s", what, want, got))
		}
	}
	price, _ := r.Price.Price()
	same("price", trading.Some(price), trading.Some(got.Fill.Price))
	if w.env == trading.EnvLive {
		same("size", trading.Some(r.Opens.Add(r.Closes)), got.Fill.Size)
		same("fee", r.Fee, got.Fill.Fee)
		same("notional", r.Notional, trading.Some(got.Fill.Price.Mul(r.Opens.Add(r.Closes))))
	}
	if state, ok := got.Account.Get(); ok && state.Status != trading.StatusSandboxActive {
		return found // the order has ended the account, and its book with it
	}
	same("balance", r.Balance, trading.Some(got.Balance))
	want, left := r.After.Get()
	have, open := got.Position.Get()
	if left != open || left == r.Flat {
		return append(found, fmt.Sprintf("position: Preview %v, the service %v", r.After, got.Position))
	}
	if !left {
		return found
	}
	if want.Side != have.Side || !want.Size.Equal(have.Size) || !want.Mark.Equal(have.Mark) {
		found = append(found, fmt.Sprintf("position: Preview %+v, the service %+v", want, have))
	}
	same("entry", trading.Some(want.EntryPrice), trading.Some(have.EntryPrice))
	same("position's notional", want.Notional, have.Notional)
	same("unrealized PnL", want.UnrealizedPnL, have.UnrealizedPnL)
	if _, known := want.Leverage.Get(); known {
		same("leverage", want.Leverage, have.Leverage)
		same("margin", want.Margin, have.Margin)
	}
	if !want.TakeProfit.Equal(have.TakeProfit) || !want.StopLoss.Equal(have.StopLoss) {
		found = append(found, fmt.Sprintf("levels: Preview %s and %s, the service %s and %s", want.TakeProfit, want.StopLoss, have.TakeProfit, have.StopLoss))
	}
	return found
}

// report prints what was met, and how often.
func (y *tally) report(t *testing.T) {
	t.Logf("%d orders, %d answers compared to the last digit", y.orders, y.numbers)
	for _, what := range slices.Sorted(maps.Keys(y.seen)) {
		t.Logf("%8d  %s", y.seen[what], what)
	}
}

// demand wants every answer that an order can have to have been met, one order in
// ten thousand at least: a test that never meets a code says nothing about it.
func (y *tally) demand(t *testing.T) {
	t.Helper()
	least := max(1, y.orders/10_000)
	for environment, answers := range map[string]string{
		"live": `. ACCOUNT_LOCKED ASSET_NOTIONAL_CAP BAD_DURATION BAD_MAX_SLIPPAGE BAD_ORDER_COUNT BAD_PRICE BAD_TRIGGER
			CHASE_EXISTS DAILY_DRAWDOWN_BREACH GLOBAL_DRAWDOWN_BREACH GUARD_BAND INSUFFICIENT_LIQUIDITY MAX_SLIPPAGE
			MIN_NOTIONAL NOT_MARKETABLE NO_EQUITY NO_PRICE PER_POSITION_CAP PRICE_UNAVAILABLE STALE_PRICE TOO_MANY_RUNS
			TOTAL_MARGIN_CAP account_locked asset_disabled bad_limit_price bad_request bad_side bad_size
			equity_unavailable invalid_tpsl market_paused missing_fields no_position no_price`,
		"sandbox": `. ASSET_NOTIONAL_CAP BAD_MAX_SLIPPAGE GUARD_BAND INSUFFICIENT_LIQUIDITY MAX_SLIPPAGE MIN_NOTIONAL
			NO_EQUITY NO_PRICE PER_POSITION_CAP STALE_PRICE TOTAL_MARGIN_CAP account_locked asset_disabled bad_limit_price
			bad_request bad_side bad_size bad_symbol cap_exceeded fill_rejected invalid_tpsl no_price order_not_marketable order_rejected`,
	} {
		for _, answer := range strings.Fields(answers) {
			answer = "answer " + environment + " " + strings.TrimPrefix(answer, ".") // "." was taken
			if y.seen[answer] < least {
				t.Errorf("%q was met %d times in %d orders, not even %d", answer, y.seen[answer], y.orders, least)
			}
		}
	}
	for _, effect := range []risk.Effect{risk.Opens, risk.Adds, risk.Reduces, risk.Ends, risk.Flips} {
		if y.seen["effect "+string(effect)] < least {
			t.Errorf("%s: %d times", effect, y.seen["effect "+string(effect)])
		}
	}
	if y.numbers < y.orders/10 {
		t.Errorf("only %d answers had numbers to compare", y.numbers)
	}
}
