package trading

import (
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Between the records of the account and what accounting goes by.

// evidence is what is known of a write's account, to hold later reads against.
type evidence struct {
	Base  *accounting.Baseline `json:"base,omitempty"`
	Own   []accounting.Own     `json:"own,omitempty"`
	Ended bool                 `json:"ended,omitempty"` // a reset, or another holder
}

// heldPosition is a position as accounting sees it.
func heldPosition(p *Position) accounting.Position {
	return accounting.Position{Size: p.Signed(), EntryPrice: p.EntryPrice, OpenedAt: p.OpenedAt}
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

func rowsOf(trades []Trade) []accounting.Row {
	rows := make([]accounting.Row, len(trades))
	for i := range trades {
		t := &trades[i]
		rows[i] = accounting.Row{
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
	return rows
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

// side is the side of the call's order; none without one.
func (c *call) side() accounting.Side {
	if c.order == nil {
		return accounting.NoSide
	}
	return sideOf(c.order.Side)
}

// askedOf reads what a write asked for.
func askedOf(in *Intent) accounting.Write {
	var sent sentWrite
	_ = json.Unmarshal(in.Body, &sent) // of our own making
	w := accounting.Write{Symbol: in.Symbol, Side: sideOf(sent.Side)}
	w.Size, _ = decimal.NewFromString(sent.Size.String())
	e := endpointOf(in.Operation)
	switch {
	case in.Operation == OpClose || in.Operation == OpSandboxClose:
		w.Kind = accounting.Close
		percent := sent.ClosePercent
		if percent == "" {
			percent = sent.Pct
		}
		w.Percent, _ = decimal.NewFromString(percent.String())
	case in.Operation == OpEditRun:
		w.Kind = accounting.EditRun
	case in.Operation == OpLimit:
		w.Kind = accounting.Limit
	case e != nil && e.pro:
		w.Kind = accounting.Pro
	case sent.ReduceOnly:
		w.Kind = accounting.ReduceOnly
	default:
		w.Kind = accounting.Entry
	}
	return w
}

// effect is what an answered write did: for the books of its account, and the
// position after it if the answer says one.
type effect struct {
	own   accounting.Own
	after *accounting.Position
}

// effectOf reads the effect of a success, from the record that it was decoded into
// or from its body. It is not clear if neither can be read.
func effectOf(in *Intent, h *heard, result wire.Value, answered time.Time) (e effect, clear bool) {
	asked := askedOf(in)
	e = effect{own: accounting.Own{Last: answered, Answered: true, Side: asked.Side}}
	switch asked.Kind {
	case accounting.Entry, accounting.ReduceOnly:
		return e, e.ofOrder(in, h, result, asked)
	case accounting.Close:
		e.own.LeftRow = true
		var answer api.ClosePositionResponse
		if in.Environment == EnvLive && wire.Unmarshal(h.attempt.Body, &answer) == nil {
			e.own.PnL = decimal.NewNullDecimal(answer.Pnl)
		}
	default:
		e.own.Resting, e.own.Run = true, asked.Kind != accounting.Limit
		e.own.Size = decimal.NewNullDecimal(asked.Size)
		if asked.Kind == accounting.EditRun {
			e.own.Size = decimal.NullDecimal{}
		}
		e.own.ID = waitingID(asked.Kind, h)
	}
	return e, true
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

// ofOrder is the effect of an order that filled; false if its answer cannot be read.
func (e *effect) ofOrder(in *Intent, h *heard, result wire.Value, asked accounting.Write) bool {
	filled, after := asked.Size, accounting.Position{}
	switch answer := orderAnswerOf(in, h, result).(type) {
	case *api.OrderResponse:
		if answer.Fill.Size.IsPositive() {
			filled = answer.Fill.Size
		}
		if p, open := optLivePosition(&answer.Position).Get(); open {
			after = heldPosition(&p)
		}
	case *api.SandboxOrderResponse:
		if p, open := optPosition(&answer.Position).Get(); open {
			after = heldPosition(&p)
		}
	default:
		return false
	}
	e.after = &after
	side := decimal.NewFromInt(int64(asked.Side))
	e.own.Opened = decimal.Min(filled, decimal.Max(after.Size.Mul(side), decimal.Zero))
	if closed := filled.Sub(e.own.Opened); closed.IsPositive() {
		e.own.LeftRow, e.own.Closed = true, decimal.NewNullDecimal(closed)
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
