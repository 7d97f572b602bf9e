package recovery

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/tradingsim"
)

var dec = trading.Dec

// state is what the account holds when the write is decided. The bot made it.
type state struct {
	name string
	make func(*trading.Account, context.Context) error
}

// places is how an order is placed, and left as it stands.
func places(o trading.Order) func(*trading.Account, context.Context) error {
	return func(a *trading.Account, ctx context.Context) error { return rig.Only(a.PlaceOrder(ctx, o)) }
}

// rests is how a limit is placed.
func rests(size, price string) func(*trading.Account, context.Context) error {
	return func(a *trading.Account, ctx context.Context) error {
		return rig.Only(a.PlaceLimit(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: dec(size), Leverage: dec("2"), LimitPrice: trading.At(dec(price))}))
	}
}

// triggers is how a run is placed that waits for a price.
func triggers(size, price string) func(*trading.Account, context.Context) error {
	return func(a *trading.Account, ctx context.Context) error {
		return rig.Only(a.PlacePro(ctx, trading.Order{Symbol: "BTC", Side: trading.Long, Size: dec(size), Leverage: dec("2")}, trading.Conditional{Trigger: dec(price)}))
	}
}

// closes is how a part of the position is closed.
func closes(part trading.Part) func(*trading.Account, context.Context) error {
	return func(a *trading.Account, ctx context.Context) error {
		return rig.Only(a.ClosePosition(ctx, "BTC", part))
	}
}

func held(side trading.Side, size string, stop trading.Level) func(*trading.Account, context.Context) error {
	return places(trading.Order{Symbol: "BTC", Side: side, Size: dec(size), Leverage: dec("2"), StopLoss: stop})
}

var states = []state{
	{"flat", func(*trading.Account, context.Context) error { return nil }},
	{"position", held(trading.Long, "0.02", trading.Level{})},
	{"position with stop", held(trading.Long, "0.02", trading.At(dec("60000")))},
	{"opposite position", held(trading.Short, "0.02", trading.Level{})},
	{"resting limit", rests("0.005", "60000")},
	{"running run", triggers("0.005", "70000")},
}

// busyStates are states in which an own order may trade as much as the write.
var busyStates = []state{
	{"larger order rests", rests("0.02", "60000")},
	{"run trades", func(a *trading.Account, ctx context.Context) error {
		return rig.Only(a.PlacePro(ctx, trading.Order{Symbol: "BTC", Side: trading.Short, Size: dec("0.06"), Leverage: dec("2")}, trading.TWAP{Duration: 2 * time.Hour}))
	}},
}

// write is what is decided.
type write struct {
	name   string
	path   string
	states []string // of the account; all if empty
	place  func(*trading.Account, context.Context) error
	shown  bool // what reads show is what became of it
}

func size(symbol string) trading.Order {
	return trading.Order{Symbol: symbol, Side: trading.Long, Size: dec("0.01"), Leverage: dec("2")}
}

var writes = []write{
	{name: "market order", path: "/orders", place: places(size("BTC"))},
	{name: "resting limit", path: "/orders/limit", place: rests("0.01", "61000")},
	{name: "close", path: "/positions/close", states: []string{"position", "position with stop"}, place: closes(trading.All)},
	{name: "close of half", path: "/positions/close", states: []string{"position", "position with stop"}, place: closes(trading.Percent(dec("50")))},
	{name: "reduce-only order", path: "/orders", states: []string{"position", "position with stop"}, place: places(trading.Order{Symbol: "BTC", Side: trading.Short, Size: dec("0.01"), Leverage: dec("2"), ReduceOnly: true})},
	{name: "Pro order", path: "/orders/conditional", place: triggers("0.01", "71000")},
	{name: "change of levels", path: "/positions/tpsl", states: []string{"position", "position with stop"}, shown: true, place: func(a *trading.Account, ctx context.Context) error {
		return rig.Only(a.SetTPSL(ctx, "BTC", trading.TPSL{StopLoss: trading.At(dec("62000")), TakeProfit: trading.At(dec("70000"))}))
	}},
}

// fault is what goes wrong with the write.
type fault struct {
	name  string
	fault tradingsim.Fault
	drop  bool          // it does not leave
	after time.Duration // when the process ends, or the caller leaves, after the request began; 0: after it ended
	ran   bool          // it was executed
	kill  bool          // the process ends in any case
}

var faults = []fault{
	{name: "request lost", fault: tradingsim.DropRequest()},
	{name: "reply lost", fault: tradingsim.DropResponse(), ran: true},
	{name: "refusal lost", fault: tradingsim.Together(tradingsim.Fail(422, "unprocessable"), tradingsim.DropResponse())},
	{name: "5xx before the work", fault: tradingsim.Fail(500, "internal_error")},
	{name: "5xx after the work", fault: tradingsim.FailAfter(500, "internal_error"), ran: true},
	{name: "part-way, before", fault: tradingsim.Crash()},
	{name: "part-way, after", fault: tradingsim.CrashAfter(), ran: true},
	{name: killedBefore, drop: true, after: aLittle, kill: true},
	{name: "killed after the send", ran: true, kill: true},
	{name: "in flight", fault: tradingsim.Delay(4 * time.Second), after: time.Second, ran: true},
}

const killedBefore = "killed before the send"

func faultOf(name string) fault {
	return faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == name })]
}

const inProcess = -1

var restarts = []time.Duration{inProcess, 0, time.Minute, time.Hour, 25 * time.Hour}

func nameOf(restart time.Duration) string {
	switch restart {
	case inProcess:
		return "in process"
	case 0:
		return "at once"
	case time.Minute:
		return "1 min"
	default:
		return fmt.Sprintf("%.0f h", restart.Hours())
	}
}
