package resolve

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/accounting"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/pending"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Response is what a request came to, apart from what the journal keeps of it.
type Response struct {
	ledger.Answer
	Key      pending.Key // that it had
	Body     []byte
	Received time.Time
	Err      error // nil after a success
	Refusal  error // the service's no
	// Decoded is what a success was decoded into; nil if nobody has.
	Decoded wire.Value
	// Heard is the answer as the client keeps it.
	Heard any
	// Send is the number of the send that it answers, where nobody waited for that any more.
	Send int
}

// spends reports whether an answer is stored under its key.
func (a *Response) spends() bool {
	return a.Class == ledger.Success || a.Status < 500 && (!a.InFront || a.Replayed)
}

// asked is what it asked for, as accounting sees it: by its own bytes, if its call does not know.
func (w *OpenWrite) asked() *accounting.Act {
	if w.Asked.Kind != 0 {
		return &w.Asked
	}
	var sent struct {
		Side         string      `json:"side"`
		Size         json.Number `json:"size"`
		ReduceOnly   bool        `json:"reduceOnly"`
		ClosePercent json.Number `json:"closePercent"`
		Pct          json.Number `json:"pct"` // the sandbox's name for it
	}
	_ = json.Unmarshal(w.Intent.Body, &sent) // of our own making
	size, _ := decimal.NewFromString(sent.Size.String())
	w.Asked = w.Traits.Order(SideOf(sent.Side), size, sent.ReduceOnly)
	if w.Asked.Kind == accounting.Close {
		w.Asked.Percent, _ = decimal.NewFromString(cmp.Or(sent.ClosePercent, sent.Pct).String())
	}
	return &w.Asked
}

// Order is what a write asked for that sent an order, or as much of one.
func (k Traits) Order(side accounting.Direction, size decimal.Decimal, reduceOnly bool) accounting.Act {
	w := accounting.Act{Kind: k.Asks, Side: side, Size: size}
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
func SideOf(name string) accounting.Direction {
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
