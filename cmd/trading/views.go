package main

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/protect"
	"github.com/tradingapi/trading-go/risk"
)

// What the commands print as JSON. Amounts are strings, what is missing is null.

type accountView struct {
	ID              trading.AccountID     `json:"id"`
	ReadAt          time.Time             `json:"readAt"`
	Environment     trading.Environment   `json:"environment"`
	Status          trading.AccountStatus `json:"status"`
	Locked          bool                  `json:"locked"`
	Phase           trading.Opt[int]      `json:"phase"`
	Balance         cli.Amount            `json:"balance"`
	Equity          cli.Amount            `json:"equity"`
	UnrealizedPnL   cli.Amount            `json:"unrealizedPnL"`
	DailyLossFloor  cli.Amount            `json:"dailyLossFloor"`
	GlobalLossFloor cli.Amount            `json:"globalLossFloor"`
	LossRoom        cli.Amount            `json:"lossRoom"`
	// RoomAtStops is what is left of the room when every stop is hit, before fees and
	// gaps. None if a position has no stop, or no price.
	RoomAtStops  cli.Amount     `json:"roomAtStops"`
	ProfitTarget cli.Amount     `json:"profitTarget"`
	TargetGap    cli.Amount     `json:"targetGap"`
	Positions    []positionView `json:"positions"`
	Orders       []orderView    `json:"orders"`
	Runs         []runView      `json:"runs"`
	// Protection is as the folder of a protection has it; none without one.
	Protection *protectionView `json:"protection,omitempty"`
	// Errors are the reads that failed: what they would show is not known.
	Errors []string `json:"errors,omitempty"`
	known  bool     // the state was read
}

// protectionView is what a protection has written of an account.
type protectionView struct {
	Running bool          `json:"running"`
	State   protect.State `json:"state"`
	Since   time.Time     `json:"since"`
	Reason  string        `json:"reason,omitempty"`
	Manual  bool          `json:"manual"`
	Blind   bool          `json:"blind"`
	// Entries reports whether programs that follow take entries; if not, Refusal says why.
	Entries bool   `json:"entries"`
	Refusal string `json:"refusal,omitempty"`
}

func viewProtection(s protect.Status) protectionView {
	return protectionView{s.Running, s.State, s.Since, s.Reason, s.Manual, s.Blind, s.Entries, s.Refusal}
}

func (v *accountView) setState(s *trading.AccountState) {
	v.known = true
	v.ID, v.Environment, v.Status, v.Locked, v.Phase = s.ID, s.Environment, s.Status, s.Locked, s.Phase
	v.Balance, v.Equity = cli.AmountOf(s.Balance), cli.AmountOf(s.Equity)
	v.UnrealizedPnL, v.ProfitTarget = cli.Amount{Opt: s.UnrealizedPnL}, cli.Amount{Opt: s.ProfitTarget}
	v.DailyLossFloor, v.GlobalLossFloor = cli.Amount{Opt: s.DailyLossFloor}, cli.Amount{Opt: s.GlobalLossFloor}
	v.LossRoom, v.TargetGap = cli.AmountIf(s.LossRoom()), cli.AmountIf(s.TargetGap())
}

// whole reports whether nothing of the account is missing.
func (v accountView) whole() bool { return v.known && len(v.Errors) == 0 }

// keep replaces what could not be read by what was read before: an old picture, which says
// how old it is, is better than none.
func (s *statusView) keep(before []accountView) {
	if len(s.Accounts) == 0 && len(s.Errors) > 0 {
		s.Accounts = before
		return
	}
	for i, a := range s.Accounts {
		for _, old := range before {
			if !a.whole() && old.ID == a.ID && old.known {
				old.Errors, old.Protection = a.Errors, a.Protection
				s.Accounts[i] = old
			}
		}
	}
}

// setPositions notes the positions, and what follows from them and the state.
func (v *accountView) setPositions(positions trading.Positions) {
	room, known := v.LossRoom.Get()
	for _, p := range positions {
		v.Positions = append(v.Positions, viewPosition(v.ID, p))
		mark, priced := p.Mark.Price()
		loss, stopped := risk.ToStop(p.Side, mark, p.StopLoss)
		room = room.Sub(p.Size.Mul(loss))
		known = known && priced && stopped
	}
	v.RoomAtStops = cli.AmountIf(room, known)
	if _, shown := v.UnrealizedPnL.Get(); !shown {
		v.UnrealizedPnL = cli.AmountIf(positions.UnrealizedPnL())
	}
}

type positionView struct {
	Account       trading.AccountID `json:"account,omitempty"`
	Symbol        string            `json:"symbol"`
	Side          trading.Side      `json:"side"`
	Size          decimal.Decimal   `json:"size"`
	Leverage      cli.Amount        `json:"leverage"`
	EntryPrice    decimal.Decimal   `json:"entryPrice"`
	MarkPrice     cli.Amount        `json:"markPrice"`
	Notional      cli.Amount        `json:"notional"`
	UnrealizedPnL cli.Amount        `json:"unrealizedPnL"`
	StopLoss      cli.Level         `json:"stopLoss,omitzero"`
	TakeProfit    cli.Level         `json:"takeProfit,omitzero"`
	OpenedAt      time.Time         `json:"openedAt,omitzero"`
}

func viewPosition(account trading.AccountID, p trading.Position) positionView {
	return positionView{
		account, p.Symbol, p.Side, p.Size, cli.Amount{Opt: p.Leverage}, p.EntryPrice, cli.AmountIf(p.Mark.Price()),
		cli.Amount{Opt: p.Notional}, cli.Amount{Opt: p.UnrealizedPnL}, cli.Level{Level: p.StopLoss}, cli.Level{Level: p.TakeProfit}, p.OpenedAt,
	}
}

type orderView struct {
	Account    trading.AccountID `json:"account,omitempty"`
	ID         trading.OrderID   `json:"id"`
	Symbol     string            `json:"symbol,omitempty"`
	Side       trading.Side      `json:"side,omitempty"`
	Size       cli.Amount        `json:"size"`
	LimitPrice cli.Amount        `json:"limitPrice"`
}

func viewOrder(account trading.AccountID, o trading.RestingOrder) orderView {
	return orderView{account, o.ID, o.Symbol, o.Side, cli.Amount{Opt: o.Size}, cli.Amount{Opt: o.LimitPrice}}
}

type runView struct {
	Account  trading.AccountID `json:"account,omitempty"`
	ID       trading.RunID     `json:"id"`
	Symbol   string            `json:"symbol,omitempty"`
	Side     trading.Side      `json:"side,omitempty"`
	Finished bool              `json:"finished"`
}

func viewRun(account trading.AccountID, r trading.Run, finished bool) runView {
	return runView{account, r.ID, r.Symbol, r.Side, finished}
}

type tradeView struct {
	Account      trading.AccountID  `json:"account,omitempty"`
	Symbol       string             `json:"symbol"`
	Side         trading.Side       `json:"side"`
	Cause        trading.CloseCause `json:"cause"`
	Size         cli.Amount         `json:"size"`
	EntryPrice   cli.Amount         `json:"entryPrice"`
	ExitPrice    decimal.Decimal    `json:"exitPrice"`
	GrossPnL     decimal.Decimal    `json:"grossPnL"`
	RoundTripFee decimal.Decimal    `json:"roundTripFee"`
	NetPnL       decimal.Decimal    `json:"netPnL"`
	ClosedAt     time.Time          `json:"closedAt,omitzero"`

	record trading.Trade
}

func viewTrade(account trading.AccountID, t trading.Trade) tradeView {
	return tradeView{
		account, t.Symbol, t.Side, t.Cause, cli.Amount{Opt: t.Size}, cli.Amount{Opt: t.EntryPrice}, t.ExitPrice,
		t.GrossPnL, t.RoundTripFee, t.NetPnL(), t.ClosedAt, t,
	}
}

// pendingView is a write whose outcome is not known.
type pendingView struct {
	ID            trading.IntentID    `json:"id"`
	Journal       string              `json:"journal"`
	Decided       time.Time           `json:"decided"`
	Operation     trading.Operation   `json:"operation"`
	Environment   trading.Environment `json:"environment"`
	Account       trading.AccountID   `json:"account,omitempty"`
	Symbol        string              `json:"symbol,omitempty"`
	Entry         bool                `json:"entry"`
	ClientOrderID string              `json:"clientOrderId,omitempty"`
	Key           trading.Key         `json:"idempotencyKey,omitempty"`
	Tag           string              `json:"tag,omitempty"`
	// Last is the newest that says something of its outcome.
	Last string `json:"last"`
}

func viewPending(path string, w *trading.JournaledWrite) pendingView {
	return pendingView{
		w.ID, path, w.Decided, w.Operation, w.Environment, w.Account, w.Symbol, w.Entry, w.ClientOrderID, w.Key, w.Tag, w.Last,
	}
}

type healthView struct {
	Safe   bool                 `json:"safe"`
	Status trading.HealthStatus `json:"status"`
	Feed   trading.Feed         `json:"feed"`
	AsOf   time.Time            `json:"asOf"`
	Old    bool                 `json:"old"`
	// Age is how old it was when it came, by the service's clock.
	Age trading.Opt[time.Duration] `json:"-"`
}

// limitView is a rate limit as this program has used it.
type limitView struct {
	Name          string `json:"name"`
	Limit         int    `json:"limit"`
	Left          int    `json:"left"`
	ClosedSeconds int    `json:"closedSeconds"`
}

// statusView is everything at a glance.
type statusView struct {
	At          time.Time           `json:"at"`
	BaseURL     string              `json:"baseURL"`
	Environment trading.Environment `json:"environment"`
	Findings    []finding           `json:"findings"`
	Health      *healthView         `json:"health"`
	Accounts    []accountView       `json:"accounts"`
	// Archived accounts are not shown.
	Archived int           `json:"archived"`
	Pending  []pendingView `json:"pending"`
	unread   bool          // not every journal could be read, so that none in Pending proves nothing
	Limits   []limitView   `json:"limits"`
	// Errors are the reads that failed.
	Errors []string `json:"errors,omitempty"`
}
