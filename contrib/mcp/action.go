package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/risk"
)

// action is the exact request of a ticket. What is in it is what is digested, shown to a person, and
// sent.
type action struct {
	Kind    string            `json:"kind"` // of the entries, or close, levels, cancel
	Account trading.AccountID `json:"account,omitempty"`
	Symbol  string            `json:"symbol,omitempty"`

	Order       *trading.Order       `json:"order,omitempty"`
	Conditional *trading.Conditional `json:"conditional,omitempty"`
	TWAP        *trading.TWAP        `json:"twap,omitempty"`
	Chase       *trading.Chase       `json:"chase,omitempty"`
	ChaseTWAP   *trading.ChaseTWAP   `json:"chaseTwap,omitempty"`
	Ladder      *trading.Ladder      `json:"ladder,omitempty"`
	Swarm       *trading.Swarm       `json:"swarm,omitempty"`

	Percent decimal.Decimal `json:"percent,omitzero"` // of a close
	Levels  *trading.TPSL   `json:"levels,omitempty"`
	OrderID trading.OrderID `json:"orderId,omitempty"` // of a cancel
	RunID   trading.RunID   `json:"runId,omitempty"`
}

func (a *action) entry() bool { return a.Order != nil }

// waits reports whether it leaves something with the service.
func (a *action) waits() bool { return a.entry() && a.Kind != "market" && a.Kind != "limit" }

func (a *action) side() trading.Side {
	if a.entry() {
		return a.Order.Side
	}
	return ""
}

func (a *action) digest() string {
	data, err := json.Marshal(a)
	if err != nil {
		return err.Error() // equals no digest
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// method is how package risk judges it.
func (a *action) method() risk.Method {
	switch {
	case a.Conditional != nil:
		return risk.Conditional(*a.Conditional)
	case a.TWAP != nil:
		return risk.TWAP(*a.TWAP, 0)
	case a.Chase != nil:
		return risk.Chase(*a.Chase)
	case a.ChaseTWAP != nil:
		return risk.ChaseTWAP(*a.ChaseTWAP, 0)
	case a.Ladder != nil:
		return risk.Ladder(*a.Ladder)
	case a.Swarm != nil:
		return risk.Swarm(*a.Swarm)
	case a.Kind == "resting":
		return risk.Resting()
	default:
		return risk.Method{}
	}
}

// pro is what a Pro order has beside the order; nil for what is none.
func (a *action) pro() trading.Pro {
	switch {
	case a.Conditional != nil:
		return a.Conditional
	case a.TWAP != nil:
		return a.TWAP
	case a.Chase != nil:
		return a.Chase
	case a.ChaseTWAP != nil:
		return a.ChaseTWAP
	case a.Ladder != nil:
		return a.Ladder
	case a.Swarm != nil:
		return a.Swarm
	default:
		return nil
	}
}

// price is the highest at which it is known that it can fill; ok is false where nothing says it.
func (a *action) price(mark trading.Mark) (highest decimal.Decimal, ok bool) {
	take := func(p decimal.Decimal, is bool) {
		if is {
			highest, ok = decimal.Max(highest, p), true
		}
	}
	take(mark.Price())
	take(a.Order.LimitPrice.Value())
	switch {
	case a.Conditional != nil:
		take(a.Conditional.Trigger, true)
	case a.Ladder != nil:
		take(decimal.Max(a.Ladder.From, a.Ladder.To), true)
	case a.Chase != nil && ok:
		take(a.Chase.To.Value())
	case a.ChaseTWAP != nil && ok:
		take(a.ChaseTWAP.To.Value())
	}
	return highest, ok
}

// operation is the contract's, on a live account.
func (a *action) operation() trading.Operation {
	if a.RunID != "" {
		return trading.OpCancelRun
	}
	return map[string]trading.Operation{
		"market": trading.OpOrder, "limit": trading.OpOrder, "resting": trading.OpLimit, "conditional": trading.OpConditional, "twap": trading.OpTWAP, "chase": trading.OpChase,
		"chase_twap": trading.OpChaseTWAP, "ladder": trading.OpLadder, "swarm": trading.OpSwarm, "close": trading.OpClose, "levels": trading.OpTPSL, "cancel": trading.OpCancelOrder,
	}[a.Kind]
}

// answer is what a write came to, in words of ours.
type answer struct {
	Price   string          `json:"price,omitempty"`
	Filled  string          `json:"filled,omitempty"`
	Fee     string          `json:"fee,omitempty"`
	Order   string          `json:"order,omitempty"`
	Run     string          `json:"run,omitempty"`
	PnL     string          `json:"pnl,omitempty"`
	Balance string          `json:"balance,omitempty"`
	After   decimal.Decimal `json:"position_after,omitzero"` // on the side of the order; zero where it is not said
}

// send sends it once, under the name of its ticket, and without the question that could place it
// later.
func (a *action) send(ctx context.Context, c *trading.Client, ticket string) (*answer, error) {
	opts := []trading.CallOption{trading.WithTag(ticket), trading.WithRecovery(trading.Recovery{WithoutProbe: true})}
	if a.Account != "" && ticket != "" {
		opts = append(opts, trading.WithClientOrderID(ticket))
	}
	switch t := trader(c, a.Account); a.Kind {
	case "close":
		return closed(t.ClosePosition(ctx, a.Symbol, trading.Percent(a.Percent), opts...))
	case "levels":
		_, err := t.SetTPSL(ctx, a.Symbol, *a.Levels, opts...)
		return &answer{}, err
	case "market", "limit":
		return a.filled(t.PlaceOrder(ctx, *a.Order, opts...))
	}
	account := c.Live.Account(a.Account)
	var run *trading.RunResult
	var err error
	switch {
	case a.OrderID != "":
		_, err = account.CancelOrder(ctx, a.OrderID, opts...)
	case a.RunID != "":
		_, err = account.CancelRun(ctx, a.RunID, opts...)
	case a.Kind == "resting":
		r, err := account.PlaceLimit(ctx, *a.Order, opts...)
		if r == nil {
			return nil, err
		}
		return &answer{Order: string(r.Order.ID)}, err
	default:
		how := a.pro()
		if how == nil {
			return nil, errors.New("nothing to send")
		}
		run, err = account.PlacePro(ctx, *a.Order, how, opts...)
	}
	if run == nil {
		return &answer{}, err
	}
	return &answer{Run: string(run.ID)}, err
}

func (a *action) filled(r *trading.OrderResult, err error) (*answer, error) {
	if r == nil {
		return nil, err
	}
	out := &answer{Price: r.Fill.Price.String(), Filled: opt(r.Fill.Size), Fee: opt(r.Fill.Fee), Balance: r.Balance.String()}
	if p, is := r.Position.Get(); is && p.Side == a.Order.Side {
		out.After = p.Size
	}
	return out, err
}

func closed(r *trading.CloseResult, err error) (*answer, error) {
	if r == nil {
		return nil, err
	}
	return &answer{PnL: r.PnL.String(), Fee: r.Fee.String(), Balance: r.Balance.String()}, err
}

// into reads the service's stored answer, as [trading.Resolution.Into] has it.
func (a *action) into(r *trading.Resolution) *answer {
	var out *answer
	switch {
	case r.Outcome != trading.Applied:
		return nil
	case a.Kind == "resting":
		if l := new(trading.LimitResult); r.Into(l) == nil {
			out = &answer{Order: string(l.Order.ID)}
		}
	case a.waits():
		if run := new(trading.RunResult); r.Into(run) == nil {
			out = &answer{Run: string(run.ID)}
		}
	case a.entry():
		if o := new(trading.OrderResult); r.Into(o) == nil {
			out, _ = a.filled(o, nil)
		}
	}
	return out
}
