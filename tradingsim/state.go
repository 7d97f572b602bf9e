package tradingsim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// State is what the simulation really is at a moment, however much reads lag. Its
// amounts are text in JSON.
type State struct {
	At          time.Time `json:"at"`          // by the clock of the simulation
	ManualClock bool      `json:"manualClock"` // see [WithManualClock]
	URL         string    `json:"url"`         // where it is reached
	Health      string    `json:"health"`      // as [Sim.SetHealth] set it
	Feed        string    `json:"feed"`        // the same

	Keys    []KeyState    `json:"keys"`    // oldest first
	Markets []MarketState `json:"markets"` // in the order they were added
	// Accounts are the paper account, once it has been asked for, and then the live
	// accounts in the order they were added.
	Accounts []AccountState `json:"accounts"`
}

// KeyState is an API key.
type KeyState struct {
	ID          string `json:"id"`          // as GET /me shows it
	Environment string `json:"environment"` // sandbox or live
	Key         string `json:"key"`         // the key itself, which is no secret
	Fingerprint string `json:"fingerprint"` // its [KeyFingerprint]
	Revoked     bool   `json:"revoked"`     // it is refused
}

// MarketState is a market.
type MarketState struct {
	Symbol   string `json:"symbol"`   // the plain symbol
	Label    string `json:"label"`    // what a person reads
	Category string `json:"category"` // its class
	// Price is not valid while the market has none.
	Price     decimal.NullDecimal `json:"price"`
	Disabled  bool                `json:"disabled"`
	Paused    bool                `json:"paused"`
	FillError string              `json:"fillError"` // see [Sim.SetFillError]
}

// AccountState is an account with what it holds.
type AccountState struct {
	// ID is "" for the paper account.
	ID      string          `json:"id"`
	Status  string          `json:"status"`
	Balance decimal.Decimal `json:"balance"`
	// Equity is not valid while a position has no mark.
	Equity          decimal.NullDecimal `json:"equity"`
	DailyLossFloor  decimal.Decimal     `json:"dailyLossFloor"`
	GlobalLossFloor decimal.Decimal     `json:"globalLossFloor"`
	ProfitTarget    decimal.Decimal     `json:"profitTarget"`

	Positions []PositionState `json:"positions"` // oldest first
	Orders    []OrderState    `json:"orders"`    // resting ones, oldest first
	Runs      []RunState      `json:"runs"`      // running ones, oldest first
}

// PositionState is an open position.
type PositionState struct {
	Symbol     string          `json:"symbol"`     // of the market
	Side       string          `json:"side"`       // long or short
	Size       decimal.Decimal `json:"size"`       // in base units
	EntryPrice decimal.Decimal `json:"entryPrice"` // the blended average
	Leverage   decimal.Decimal `json:"leverage"`   // of the last order
	// Those are not valid where there is none: no mark, no level.
	PnL        decimal.NullDecimal `json:"pnl"`
	TakeProfit decimal.NullDecimal `json:"takeProfit"`
	StopLoss   decimal.NullDecimal `json:"stopLoss"`
	OpenedAt   time.Time           `json:"openedAt"`
}

// OrderState is an order that rests.
type OrderState struct {
	ID         string          `json:"id"`         // of the order
	Symbol     string          `json:"symbol"`     // of the market
	Side       string          `json:"side"`       // long or short
	Size       decimal.Decimal `json:"size"`       // in base units
	LimitPrice decimal.Decimal `json:"limitPrice"` // what it waits for
	ReduceOnly bool            `json:"reduceOnly"` // it adds no exposure
	CreatedAt  time.Time       `json:"createdAt"`  // by the clock of the simulation
}

// RunState is a Pro run.
type RunState struct {
	ID        string          `json:"id"`        // of the run
	Type      string          `json:"type"`      // twap, ladder and so on
	Symbol    string          `json:"symbol"`    // of the market
	Side      string          `json:"side"`      // long or short
	Size      decimal.Decimal `json:"size"`      // of all its orders, in base units
	Executed  decimal.Decimal `json:"executed"`  // so far
	CreatedAt time.Time       `json:"createdAt"` // by the clock of the simulation
}

// State is the present state.
func (s *Sim) State() State {
	s.enter()
	defer s.leave()
	_, manual := s.clock.(*manualClock)
	st := State{
		At: s.now, ManualClock: manual, URL: s.url, Health: s.health.status, Feed: s.health.feed,
		Keys:     make([]KeyState, 0, len(s.keys)),
		Markets:  make([]MarketState, 0, len(s.symbols)),
		Accounts: make([]AccountState, 0, len(s.desks)+len(s.accountIDs)),
	}
	for _, k := range s.keys {
		st.Keys = append(st.Keys, KeyState{k.id, string(k.env), k.text, k.print, k.revoked})
	}
	slices.SortFunc(st.Keys, func(a, b KeyState) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	for _, symbol := range s.symbols {
		m := s.markets[symbol]
		st.Markets = append(st.Markets, MarketState{
			Symbol: symbol, Label: m.label, Category: m.category, Price: m.markAt(s.now).null(),
			Disabled: m.disabled, Paused: m.paused, FillError: m.fillError,
		})
	}
	for _, owner := range slices.Sorted(maps.Keys(s.desks)) {
		p := s.desks[owner].paper
		st.Accounts = append(st.Accounts, s.stateOf(owner, p.status, p.terms, &p.book))
	}
	for _, id := range s.accountIDs {
		st.Accounts = append(st.Accounts, s.stateOfLive(s.accounts[id]))
	}
	return st
}

func (s *Sim) stateOf(id, status string, t terms, b *book) AccountState {
	a := AccountState{
		ID: id, Status: status, Balance: b.balance, Equity: s.equityAt(b, s.now),
		DailyLossFloor: t.dailyFloor, GlobalLossFloor: t.globalFloor, ProfitTarget: t.target,
		Positions: make([]PositionState, 0, len(b.positions)), Orders: []OrderState{}, Runs: []RunState{},
	}
	for i := range b.positions {
		p := &b.positions[i]
		row := PositionState{
			Symbol: p.symbol, Side: p.side, Size: p.size, EntryPrice: p.entryPrice(), Leverage: p.leverage,
			TakeProfit: p.takeProfit.null(), StopLoss: p.stopLoss.null(), OpenedAt: p.openedAt,
		}
		if mark := s.mark(p.symbol); mark.set {
			row.PnL = decimal.NewNullDecimal(p.pnl(mark.value).decimal())
		}
		a.Positions = append(a.Positions, row)
	}
	return a
}

func (s *Sim) stateOfLive(a *account) AccountState {
	st := s.stateOf(a.ID, a.Status, a.terms, &a.book)
	for _, o := range a.resting {
		st.Orders = append(st.Orders, OrderState{
			ID: o.id, Symbol: o.symbol, Side: o.side, Size: o.size, LimitPrice: o.limitPrice,
			ReduceOnly: o.reduceOnly, CreatedAt: o.createdAt,
		})
	}
	for _, r := range a.runs {
		st.Runs = append(st.Runs, RunState{
			ID: r.id, Type: r.kind, Symbol: r.symbol, Side: r.side, Size: r.size, Executed: r.executed,
			CreatedAt: r.createdAt,
		})
	}
	return st
}

func (o opt) null() decimal.NullDecimal {
	return decimal.NullDecimal{Decimal: o.value, Valid: o.set}
}
