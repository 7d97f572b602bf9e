package trading

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Between the records of the account and what accounting goes by.

// heldPosition is a position as accounting sees it.
func heldPosition(p *Position) accounting.Position {
	return accounting.Position{Size: p.Signed(), EntryPrice: p.EntryPrice, OpenedAt: p.OpenedAt}
}

// heldPositions are positions as the books take them.
func heldPositions(positions Positions) []books.Held {
	held := make([]books.Held, len(positions))
	for i := range positions {
		held[i] = books.Held{Symbol: positions[i].Symbol, Position: heldPosition(&positions[i])}
	}
	return held
}

// restingOf are resting orders as the books take them.
func restingOf(orders []RestingOrder) []books.Waiting {
	waiting := make([]books.Waiting, len(orders))
	for i := range orders {
		o := &orders[i]
		waiting[i] = books.Waiting{ID: string(o.ID), Symbol: o.Symbol, Side: sideOf(o.Side), Size: nullable(o.Size)}
	}
	return waiting
}

// runningOf are runs as the books take them. No record shows what is left of one.
func runningOf(runs []Run) []books.Waiting {
	waiting := make([]books.Waiting, len(runs))
	for i := range runs {
		waiting[i] = books.Waiting{ID: string(runs[i].ID), Symbol: runs[i].Symbol, Side: sideOf(runs[i].Side)}
	}
	return waiting
}

func orderIDs(open *OpenOrders) []string {
	ids := make([]string, len(open.Limits))
	for i := range open.Limits {
		ids[i] = string(open.Limits[i].ID)
	}
	return ids
}

func runIDs(runs []Run) []string {
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = string(runs[i].ID)
	}
	return ids
}

func sideOf(s Side) accounting.Side {
	switch s {
	case Long:
		return accounting.Long
	case Short:
		return accounting.Short
	default:
		return accounting.NoSide
	}
}

// digestsOf are closed trades as the books keep them.
func digestsOf(trades []Trade) func(most int) []accounting.Row {
	return func(most int) []accounting.Row {
		rows := make([]accounting.Row, min(most, len(trades)))
		for i := range rows {
			rows[i] = accounting.Row{Digest: digestOfTrade(&trades[i]), Symbol: trades[i].Symbol, ClosedAt: trades[i].ClosedAt}
		}
		return rows
	}
}

// rowsOf are closed trades as accounting sees them.
func rowsOf(trades []Trade) []accounting.Row {
	rows := make([]accounting.Row, len(trades))
	for i := range trades {
		rows[i] = rowOf(&trades[i])
	}
	return rows
}

func rowOf(t *Trade) accounting.Row {
	return accounting.Row{
		Digest:     digestOfTrade(t),
		Symbol:     t.Symbol,
		Side:       sideOf(t.Side),
		Cause:      causeOf(t.Cause),
		Size:       nullable(t.Size),
		EntryPrice: nullable(t.EntryPrice),
		ExitPrice:  decimal.NewNullDecimal(t.ExitPrice),
		GrossPnL:   decimal.NewNullDecimal(t.GrossPnL),
		Fee:        decimal.NewNullDecimal(t.RoundTripFee),
		ClosedAt:   t.ClosedAt,
	}
}

func causeOf(c CloseCause) accounting.Cause {
	switch c {
	case CauseMarket:
		return accounting.Market
	case CauseStopLoss:
		return accounting.StopLoss
	case CauseTakeProfit:
		return accounting.TakeProfit
	default:
		return accounting.OtherCause
	}
}

func nullable(d Opt[decimal.Decimal]) decimal.NullDecimal {
	v, ok := d.Get()
	return decimal.NullDecimal{Decimal: v, Valid: ok}
}

// sentWrite is what a write asked for, by its own bytes.
type sentWrite struct {
	Side         Side        `json:"side"`
	Size         json.Number `json:"size"`
	ReduceOnly   bool        `json:"reduceOnly"`
	ClosePercent json.Number `json:"closePercent"`
	Pct          json.Number `json:"pct"` // the sandbox's name for it
}

// askedOf reads what a write asked for.
func askedOf(in *Intent) accounting.Write {
	var sent sentWrite
	_ = json.Unmarshal(in.Body, &sent) // of our own making
	size, _ := decimal.NewFromString(sent.Size.String())
	w := askedOfOrder(in, &Order{Side: sent.Side, Size: size, ReduceOnly: sent.ReduceOnly})
	if w.Kind == accounting.Close {
		percent := sent.ClosePercent
		if percent == "" {
			percent = sent.Pct
		}
		w.Percent, _ = decimal.NewFromString(percent.String())
	}
	return w
}

// askedOfOrder is what a write asked for that sent an order, or as much of one.
func askedOfOrder(in *Intent, o *Order) accounting.Write {
	w := accounting.Write{Symbol: in.Symbol, Side: sideOf(o.Side), Size: o.Size}
	e := endpointOf(in.Operation)
	switch {
	case in.Operation == OpClose || in.Operation == OpSandboxClose:
		w.Kind = accounting.Close
	case in.Operation == OpEditRun:
		w.Kind = accounting.EditRun
	case in.Operation == OpLimit:
		w.Kind = accounting.Limit
	case e != nil && e.pro:
		w.Kind = accounting.Pro
	case o.ReduceOnly:
		w.Kind = accounting.ReduceOnly
	default:
		w.Kind = accounting.Entry
	}
	return w
}

// effectOf reads the effect of a success, from the record that it was decoded into
// or from its body. It is not clear if neither can be read.
func effectOf(w *write, h *heard, result wire.Value, answered time.Time) (did *books.Did, clear bool) {
	asked := w.askedFor()
	did = &books.Did{At: h.attempt.Received, Own: accounting.Own{Last: answered, Answered: true, Side: asked.Side}}
	own := &did.Own
	switch asked.Kind {
	case accounting.Entry, accounting.ReduceOnly:
		return did, orderEffect(did, orderAnswerOf(&w.intent, h, result), asked)
	case accounting.Close:
		own.LeftRow = true
		var answer api.ClosePositionResponse
		if w.intent.Environment == EnvLive && wire.Unmarshal(h.attempt.Body, &answer) == nil {
			own.PnL = decimal.NewNullDecimal(answer.Pnl)
		}
	default:
		own.Resting, own.Run = true, asked.Kind != accounting.Limit
		own.Size = decimal.NewNullDecimal(asked.Size)
		if asked.Kind == accounting.EditRun {
			own.Size = decimal.NullDecimal{}
		}
		own.ID = waitingID(asked.Kind, h)
	}
	return did, true
}

// waitingID is the id of what a success left to wait; empty if it says none.
func waitingID(kind accounting.Kind, h *heard) string {
	var limit api.LimitOrderResponse
	var run api.RunResponse
	switch {
	case kind == accounting.Limit && wire.Unmarshal(h.attempt.Body, &limit) == nil:
		return limit.Order.ID
	case kind == accounting.Pro && wire.Unmarshal(h.attempt.Body, &run) == nil:
		return run.RunID
	default:
		return ""
	}
}

// orderEffect is the effect of an order that filled; false if its answer cannot be read.
func orderEffect(did *books.Did, answer wire.Value, asked *accounting.Write) bool {
	filled, after := asked.Size, accounting.Position{}
	switch answer := answer.(type) {
	case *api.OrderResponse:
		if answer.Fill.Size.IsPositive() {
			filled = answer.Fill.Size
		}
		if p, open := optRecord(&answer.Position, livePositionOf).Get(); open {
			after = heldPosition(&p)
		}
	case *api.SandboxOrderResponse:
		if p, open := optRecord(&answer.Position, positionOf).Get(); open {
			after = heldPosition(&p)
		}
	default:
		return false
	}
	did.After = &after
	side := decimal.NewFromInt(int64(asked.Side))
	did.Own.Opened = decimal.Min(filled, decimal.Max(after.Size.Mul(side), decimal.Zero))
	if closed := filled.Sub(did.Own.Opened); closed.IsPositive() {
		did.Own.LeftRow, did.Own.Closed = true, decimal.NewNullDecimal(closed)
	}
	return true
}

func orderAnswerOf(in *Intent, h *heard, result wire.Value) wire.Value {
	if h.decoded && result != nil {
		return result
	}
	var answer wire.Value = &api.OrderResponse{}
	if in.Environment == EnvSandbox {
		answer = &api.SandboxOrderResponse{}
	}
	if wire.Unmarshal(h.attempt.Body, answer) != nil {
		return nil
	}
	return answer
}

// askedFor is what it asked for, as accounting sees it.
func (w *write) askedFor() *accounting.Write {
	if w.asked.Kind == 0 {
		w.asked = askedOf(&w.intent)
	}
	return &w.asked
}

// accountLook is one look at everything on an account in which a write can show. It
// serves every write that is asked about.
type accountLook struct {
	at, ended time.Time // when its first read began, and its last was answered
	positions Positions
	trades    []Trade
	rows      []accounting.Row
	orders    []string
	runs      []string
	finished  []string
	status    AccountStatus
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

// seenLook is the last look that a write was held against, and when it and those
// before it began that showed the same.
type seenLook struct {
	look  *accountLook
	began []time.Time // the last three at most: no verdict needs more
	equal int         // how many they are in all
}
