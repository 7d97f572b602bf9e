package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/protect"
)

// accounts looks at each account.
func (l *look) accounts(ctx context.Context) {
	if l.o.Paper && sendable(l.o.SandboxKey.Value, sandboxPrefix) && !l.refused[trading.EnvSandbox] {
		l.paper(ctx)
	}
	s := l.r.of("service")
	switch {
	case !sendable(l.o.LiveKey.Value, livePrefix):
		s.skip("accounts", "there is no live key")
		return
	case l.refused[trading.EnvLive]:
		s.skip("accounts", "the live key was refused")
		return
	case !l.turn(ctx):
		return
	}
	list, err := l.client.Live.Accounts(ctx)
	if err != nil {
		s.fail("accounts", l.toDo(trading.EnvLive, err), "they cannot be read: %s", oneLine(err))
		return
	}
	chosen := l.choose(s, list)
	s.ok("accounts", "%d of %d looked at", min(len(chosen), maxAccounts), len(list))
	for i, info := range chosen {
		if i == maxAccounts {
			s.skip("more-accounts", "%d more; --account names the ones to look at", len(chosen)-i)
			break
		}
		l.account(ctx, info)
	}
}

// choose returns the accounts to look at, those that are not archived first.
func (l *look) choose(s subject, list []trading.AccountInfo) (chosen []trading.AccountInfo) {
	slices.SortStableFunc(list, func(a, b trading.AccountInfo) int {
		switch {
		case a.Archived == b.Archived:
			return 0
		case a.Archived:
			return 1
		default:
			return -1
		}
	})
	for _, id := range l.o.Accounts {
		if !slices.ContainsFunc(list, func(a trading.AccountInfo) bool { return a.ID == id }) {
			s.fail("account", "Check the id: the key reaches other accounts.", "there is no account %s", id)
		}
	}
	for i, info := range list {
		if slices.ContainsFunc(list[:i], func(a trading.AccountInfo) bool { return a.ID == info.ID }) {
			s.warn("account", "Ask the service.", "account %s is listed twice", info.ID)
			continue
		}
		if len(l.o.Accounts) == 0 || slices.Contains(l.o.Accounts, info.ID) {
			chosen = append(chosen, info)
		}
	}
	return chosen
}

// account looks at one live account, by four requests at the most.
func (l *look) account(ctx context.Context, info trading.AccountInfo) {
	s := l.r.of(string(info.ID))
	l.kind(s, info)
	if info.Archived {
		s.skip("positions", "the account is archived")
		return
	}
	a := l.client.Live.Account(info.ID)
	open, err := a.OpenOrders(ctx)
	if err != nil {
		s.fail("resting", l.toDo(trading.EnvLive, err), "what rests cannot be read: %s", oneLine(err))
		open = &trading.OpenOrders{}
	} else {
		l.resting(s, open)
	}
	if positions, err := a.Positions(ctx); err != nil {
		s.fail("positions", l.toDo(trading.EnvLive, err), "they cannot be read: %s", oneLine(err))
	} else {
		stops(s, positions, open.Runs)
	}
	if state, err := a.State(ctx); err != nil {
		s.fail("room", l.toDo(trading.EnvLive, err), "the state cannot be read: %s", oneLine(err))
	} else {
		room(s, state)
		l.smallest(s, state)
	}
	l.protection(s, info.ID)
}

// paper looks at the paper account, which fires its triggers.
func (l *look) paper(ctx context.Context) {
	s := l.r.of(paperAccount)
	if positions, err := l.client.Sandbox.Positions(ctx); err != nil {
		s.fail("positions", l.toDo(trading.EnvSandbox, err), "they cannot be read: %s", oneLine(err))
	} else {
		stops(s, positions, nil)
	}
	if state, err := l.client.Sandbox.State(ctx); err != nil {
		s.fail("room", l.toDo(trading.EnvSandbox, err), "the state cannot be read: %s", oneLine(err))
	} else {
		if !state.Status.AllowsEntry() || state.Locked {
			s.warn("kind", "A reset begins it anew.", "paper, %s: it takes no entries", state.Status)
		} else {
			s.ok("kind", "paper, %s", state.Status)
		}
		room(s, state)
		l.smallest(s, state)
	}
}

// kind says what an account is.
func (l *look) kind(s subject, info trading.AccountInfo) {
	what := []string{"challenge"}
	switch {
	case info.Trial:
		what[0] = "trial"
	case info.Tournament:
		what[0] = "tournament"
	case info.Status == trading.StatusFunded:
		what[0] = "funded"
	}
	if info.Archived {
		what = append(what, "archived")
	}
	text := fmt.Sprintf("%s, %s, of %s dollars", strings.Join(what, ", "), info.Status, info.ChallengeSize)
	named := slices.Contains(l.o.Accounts, info.ID)
	switch {
	case !info.Status.AllowsExit() && named:
		s.fail("kind", "Name another account.", "%s: the service accepts nothing", text)
	case !info.Status.AllowsEntry() && !info.Archived:
		s.warn("kind", "", "%s: it takes no entries", text)
	default:
		s.ok("kind", "%s", text)
	}
}

// resting looks for what waits on the account and what no journal knows.
func (l *look) resting(s subject, open *trading.OpenOrders) {
	known, seen := l.journaled()
	var strangers []string
	total := 0
	note := func(kind, id string) {
		if total++; !slices.Contains(l.o.Known, id) && !known[id] {
			strangers = append(strangers, kind+" "+id)
		}
	}
	for _, o := range open.Limits {
		note("order", string(o.ID))
	}
	for _, r := range open.Runs {
		note("run", string(r.ID))
	}
	where := "the journal does not know them"
	if !seen {
		where = "no journal was given"
	}
	switch {
	case total == 0:
		s.ok("resting", "nothing rests and nothing runs")
	case len(strangers) > 0:
		s.warn("resting", "Cancel them, or name them with --known if they are right.", "%s: %s", strings.Join(strangers, ", "), where)
	default:
		s.ok("resting", "%d rest or run, all known", total)
	}
}

// journaled are the ids that the answers in the journal name.
func (l *look) journaled() (ids map[string]bool, seen bool) {
	ids = map[string]bool{}
	if l.o.Journal == "" {
		return ids, false
	}
	for w, err := range trading.ReadJournal(l.o.Journal) {
		if err != nil {
			return ids, !errors.Is(err, fs.ErrNotExist)
		}
		for _, id := range idsIn(w.Answer) {
			ids[id] = true
		}
	}
	return ids, true
}

// idsIn are the ids that an answer gives.
func idsIn(answer []byte) (ids []string) {
	var a struct {
		OrderID string `json:"orderId"`
		RunID   string `json:"runId"`
		Order   struct {
			ID string `json:"id"`
		} `json:"order"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return nil
	}
	for _, id := range []string{a.OrderID, a.RunID, a.Order.ID} {
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// stops looks for positions without a stop.
func stops(s subject, positions trading.Positions, runs []trading.Run) {
	var bare, unknown []string
	for _, p := range positions {
		text := fmt.Sprintf("%s %s %s", p.Side, p.Size, p.Symbol)
		if slices.ContainsFunc(runs, func(r trading.Run) bool { return r.Symbol == p.Symbol && r.Side != p.Side }) {
			text += " (a run on the other side may be its stop)"
		}
		switch {
		case p.StopLoss.IsClear():
			bare = append(bare, text)
		case p.StopLoss.IsZero():
			unknown = append(unknown, text)
		}
	}
	switch {
	case len(bare) > 0:
		s.warn("stops", "trading tpsl sets one.", "no stop: %s", strings.Join(bare, ", "))
	case len(unknown) > 0:
		s.skip("stops", "the service does not show the levels of %s", strings.Join(unknown, ", "))
	case len(positions) == 0:
		s.ok("stops", "no position is open")
	default:
		s.ok("stops", "%d positions, each with a stop", len(positions))
	}
}

// room says how far the equity is above each floor.
func room(s subject, state *trading.AccountState) {
	var floors []string
	for _, f := range []struct {
		name  string
		floor trading.Opt[decimal.Decimal]
	}{{"daily", state.DailyLossFloor}, {"global", state.GlobalLossFloor}} {
		if at, ok := f.floor.Get(); ok {
			floors = append(floors, fmt.Sprintf("%s above the %s floor of %s", state.Equity.Sub(at).StringFixed(2), f.name, at.StringFixed(2)))
		}
	}
	left, ok := state.LossRoom()
	text := fmt.Sprintf("equity %s, %s", state.Equity.StringFixed(2), strings.Join(floors, ", "))
	const lowShare = 100
	switch {
	case !ok:
		s.warn("room", "Nothing can guard a floor that is not known.", "equity %s, no floor is known", state.Equity.StringFixed(2))
	case !left.IsPositive():
		s.fail("room", "The account is lost at its floor. Do not trade it.", "%s", text)
	case left.Mul(decimal.NewFromInt(lowShare)).LessThan(state.Equity):
		s.warn("room", "Less than one percent: a spread and a fee can take it.", "%s", text)
	default:
		s.ok("room", "%s", text)
	}
}

// smallest compares the bot's smallest order with what the account takes.
func (l *look) smallest(s subject, state *trading.AccountState) {
	const minimum, mostLeverage = 10, 5 // dollars, and the highest leverage of any market
	order := l.o.SmallestOrder
	most := state.Equity.Mul(decimal.NewFromInt(mostLeverage))
	switch {
	case !order.IsPositive():
		s.skip("smallest-order", "none is declared (--smallest-order)")
	case order.LessThan(decimal.NewFromInt(minimum)):
		s.fail("smallest-order", "Order more: the service answers MIN_NOTIONAL.", "%s dollars are below the minimum of %d", order, minimum)
	case order.GreaterThan(most):
		s.fail("smallest-order", "Order less, or on a larger account.", "%s dollars are above what equity %s carries at a leverage of %d", order, state.Equity.StringFixed(2), mostLeverage)
	default:
		s.ok("smallest-order", "%s dollars, between %d and %s; the caps are not shown by the contract", order, minimum, most.StringFixed(2))
	}
}

// protection looks at what guards the account.
func (l *look) protection(s subject, id trading.AccountID) {
	if l.o.StateDir == "" {
		s.warn("protection", "Package protect keeps an account above its floors. TRADING_STATE_DIR names its folder.", "none: no folder of a protection is named")
		return
	}
	status, err := protect.ReadStatus(l.o.StateDir, id)
	switch {
	case err != nil:
		s.fail("protection", "Start it, or name its folder.", "%s", oneLine(err))
	case !status.Running:
		s.fail("protection", "Start it: nothing watches the account.", "it does not run, and was %s", status.State)
	case status.Blind:
		s.fail("protection", "Look at its log.", "it has no good look at the account")
	case !status.Entries:
		s.fail("protection", "trading resume lifts a halt.", "%s, entries are refused: %s", status.State, status.Refusal)
	default:
		s.ok("protection", "%s, running", status.State)
	}
}
