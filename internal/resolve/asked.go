package resolve

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/servicetime"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Answer is what a request came to, apart from what the journal keeps of it.
type Answer struct {
	ledger.Answer
	Key      string // that it had
	Body     []byte
	Received time.Time
	Err      error // nil after a success
	Refusal  error // the service's no
	// Decoded is what a success was decoded into; nil if nobody has.
	Decoded wire.Value
	// Heard is the answer as the client keeps it.
	Heard any
}

// spends reports whether an answer is stored under its key.
func (a *Answer) spends() bool {
	return a.Class == ledger.Success || a.Status < 500 && (!a.InFront || a.Replayed)
}

// sentWrite is what a write asked for, by its own bytes.
type sentWrite struct {
	Side         string      `json:"side"`
	Size         json.Number `json:"size"`
	ReduceOnly   bool        `json:"reduceOnly"`
	ClosePercent json.Number `json:"closePercent"`
	Pct          json.Number `json:"pct"` // the sandbox's name for it
}

// asked is what it asked for, as accounting sees it.
func (w *Write) asked() *accounting.Write {
	if w.Asked.Kind == 0 {
		w.Asked = askedOf(&w.Intent, w.Kind)
	}
	return &w.Asked
}

// askedOf reads what a write asked for.
func askedOf(in *Intent, k Kind) accounting.Write {
	var sent sentWrite
	_ = json.Unmarshal(in.Body, &sent) // of our own making
	size, _ := decimal.NewFromString(sent.Size.String())
	w := k.Order(in.Symbol, SideOf(sent.Side), size, sent.ReduceOnly)
	if w.Kind == accounting.Close {
		percent := sent.ClosePercent
		if percent == "" {
			percent = sent.Pct
		}
		w.Percent, _ = decimal.NewFromString(percent.String())
	}
	return w
}

// Order is what a write asked for that sent an order, or as much of one.
func (k Kind) Order(symbol string, side accounting.Side, size decimal.Decimal, reduceOnly bool) accounting.Write {
	w := accounting.Write{Kind: k.Asks, Symbol: symbol, Side: side, Size: size}
	switch {
	case w.Kind != 0:
	case reduceOnly:
		w.Kind = accounting.ReduceOnly
	default:
		w.Kind = accounting.Entry
	}
	return w
}

// SideOf is the side of an order, a position or a trade by its name on the wire.
func SideOf(name string) accounting.Side {
	switch name {
	case "long":
		return accounting.Long
	case "short":
		return accounting.Short
	default:
		return accounting.NoSide
	}
}

// CauseOf is why a trade was closed by its name on the wire.
func CauseOf(name string) accounting.Cause {
	switch name {
	case "market":
		return accounting.Market
	case "stop_loss":
		return accounting.StopLoss
	case "take_profit":
		return accounting.TakeProfit
	default:
		return accounting.OtherCause
	}
}

// effectOf reads the effect of a success, from the record that it was decoded into
// or from its body. It is not clear if neither can be read.
func effectOf(w *Write, a *Answer) (did *books.Did, clear bool) {
	asked := w.asked()
	did = &books.Did{At: a.Received, Sent: w.firstSend, Own: accounting.Own{Last: a.Received, Answered: true, Side: asked.Side}}
	own := &did.Own
	switch asked.Kind {
	case accounting.Entry, accounting.ReduceOnly:
		return did, orderEffect(did, orderAnswerOf(w, a), asked)
	case accounting.Close:
		own.LeftRow = true
		var answer api.PositionCloseResponse
		if w.Ledger.Keyed && wire.Unmarshal(a.Body, &answer) == nil {
			own.PnL = decimal.NewNullDecimal(answer.Pnl)
		}
	default:
		own.Resting, own.Run = true, asked.Kind != accounting.Limit
		own.Size = decimal.NewNullDecimal(asked.Size)
		if asked.Kind == accounting.EditRun {
			own.Size = decimal.NullDecimal{}
		}
		own.ID = waitingID(asked.Kind, a.Body)
	}
	return did, true
}

// waitingID is the id of what a success left to wait; empty if it says none.
func waitingID(kind accounting.Kind, body []byte) string {
	var limit api.LimitOrderResponse
	var run api.RunResponse
	switch {
	case kind == accounting.Limit && wire.Unmarshal(body, &limit) == nil:
		return limit.Order.ID
	case kind == accounting.Pro && wire.Unmarshal(body, &run) == nil:
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
		if p := answer.Position.Value(); p != nil {
			opened, _ := p.OpenedAt.Get()
			after = positionOf(p.Side, p.Size, p.EntryPrice, opened)
		}
	case *api.SandboxOrderResponse:
		if p := answer.Position.Value(); p != nil {
			after = positionOf(p.Side, p.Size, p.EntryPrice, p.OpenedAt)
		}
	default:
		return false
	}
	did.After, did.Filled = &after, filled
	side := decimal.NewFromInt(int64(asked.Side))
	did.Own.Opened = decimal.Min(filled, decimal.Max(after.Size.Mul(side), decimal.Zero))
	if closed := filled.Sub(did.Own.Opened); closed.IsPositive() {
		did.Own.LeftRow, did.Own.Closed = true, decimal.NewNullDecimal(closed)
	}
	return true
}

func positionOf(side string, size, entryPrice decimal.Decimal, openedAt wire.Time) accounting.Position {
	opened, _ := openedAt.Get()
	if SideOf(side) == accounting.Short {
		size = size.Neg()
	}
	return accounting.Position{Size: size, EntryPrice: entryPrice, OpenedAt: servicetime.Shown(opened)}
}

func orderAnswerOf(w *Write, a *Answer) wire.Value {
	if a.Decoded != nil {
		return a.Decoded
	}
	var answer wire.Value = &api.OrderResponse{}
	if !w.Ledger.Keyed {
		answer = &api.SandboxOrderResponse{}
	}
	if wire.Unmarshal(a.Body, answer) != nil {
		return nil
	}
	return answer
}

// Look is one look at everything on an account in which a write can show. It serves
// every write that is asked about.
type Look struct {
	At, Ended time.Time // when its first read began, and its last was answered
	Positions map[string]accounting.Position
	Levels    map[string]Levels // of the positions
	Rows      []accounting.Row
	Orders    []string
	Runs      []string
	Finished  accounting.Newest
	Status    string
	Shown     any // the closed trades as the client shows them
}

// State is the look as accounting sees it, for one symbol.
func (l *Look) State(symbol string) accounting.State {
	return accounting.State{
		Position: l.Positions[symbol], Rows: l.Rows, Orders: l.Orders, Runs: l.Runs, Finished: l.Finished, Status: l.Status,
	}
}

// seenLook is the last look that a write was held against, and when it and those
// before it began that showed the same.
type seenLook struct {
	look  *Look
	began []time.Time // the last three at most: no verdict needs more
	equal int         // how many they are in all
}

// idsOf are the orders and runs that other writes are known to have left. What was read
// before the write is theirs only if the write itself cannot have left it by then.
func idsOf(own []accounting.Own, firstUseKnown bool) map[string]bool {
	ids := make(map[string]bool, len(own))
	for i := range own {
		if own[i].ID != "" && (firstUseKnown || !own[i].Read) {
			ids[own[i].ID] = true
		}
	}
	return ids
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
