package resolve

import (
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/wire"
)

// effectOf reads the effect of a success, from the record that it was decoded into
// or from its body. It is not clear if neither can be read.
func effectOf(w *OpenWrite, a *Response) (did *books.Did, clear bool) {
	asked := w.asked()
	did = &books.Did{Own: accounting.Own{Act: *asked, Began: w.firstSend, Heard: a.Received}}
	did.Own.Ran = true
	switch asked.Kind {
	case accounting.Entry, accounting.ReduceOnly:
		return did, orderEffect(did, orderAnswerOf(w, a))
	case accounting.Close:
		var answer api.PositionCloseResponse
		if w.Ledger.Keyed && wire.Unmarshal(a.Body, &answer) == nil {
			did.Profit = decimal.NewNullDecimal(answer.Pnl)
		}
	default:
		did.Own.WaitID = waitingID(asked.Kind, a.Body)
	}
	return did, true
}

// waitingID is the id of what a success left to wait; empty if it says none.
func waitingID(kind accounting.ActKind, body []byte) string {
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
func orderEffect(did *books.Did, answer wire.Value) bool {
	after := decimal.Zero
	switch answer := answer.(type) {
	case *api.OrderResponse:
		if answer.Fill.Size.IsPositive() {
			did.Own.Size = answer.Fill.Size
		}
		if p := answer.Position.Value(); p != nil {
			after = signed(p.Side, p.Size)
		}
	case *api.SandboxOrderResponse:
		if p := answer.Position.Value(); p != nil {
			after = signed(p.Side, p.Size)
		}
	default:
		return false
	}
	did.Own.After = decimal.NewNullDecimal(after)
	return true
}

func signed(side string, size decimal.Decimal) decimal.Decimal {
	if SideOf(side) == accounting.Short {
		return size.Neg()
	}
	return size
}

func orderAnswerOf(w *OpenWrite, a *Response) wire.Value {
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
