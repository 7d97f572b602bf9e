package main

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
	"github.com/tradingapi/trading-go/protect"
)

// How long a write may be pending before it is worth a look, and before it is urgent; and
// how much of the way from floor to target is left when room gets short.
const (
	pendingWarn = 10 * time.Second
	pendingBad  = 2 * time.Minute
	roomWarnPct = 20
	roomBadPct  = 10
	leftWarnPct = 20
)

// finding is something that a person should know first.
type finding struct {
	Urgent bool   `json:"urgent"`
	Text   string `json:"text"`
}

// judge lists what is wrong, urgent things first.
func (s statusView) judge() []finding {
	var found findings
	switch {
	case s.Health == nil, s.Health.Safe:
	case s.Health.Old:
		found.urgent("the service shows an assessment of %s: entries are refused until it makes another, exits pass", cli.Stamp(s.Health.AsOf))
	default:
		found.urgent("the service is %s with a feed that is %s: entries are refused, exits pass", cli.Printable(s.Health.Status), cli.Printable(s.Health.Feed))
	}
	for _, err := range s.Errors {
		found.urgent("not known: %s", err)
	}
	for _, a := range s.Accounts {
		found.account(a)
	}
	for _, p := range s.Pending {
		found.pending(p, s.At)
	}
	for _, l := range s.Limits {
		switch {
		case l.ClosedSeconds > 0:
			found.urgent("rate limit %s is closed by the service for %d s", l.Name, l.ClosedSeconds)
		case l.Left*100 < l.Limit*leftWarnPct:
			found.warn("rate limit %s: %d of %d left", l.Name, l.Left, l.Limit)
		}
	}
	return append(found.bad, found.warned...)
}

type findings struct{ bad, warned []finding }

func (f *findings) urgent(format string, args ...any) {
	f.bad = append(f.bad, finding{true, fmt.Sprintf(format, args...)})
}

func (f *findings) warn(format string, args ...any) {
	f.warned = append(f.warned, finding{false, fmt.Sprintf(format, args...)})
}

func (f *findings) account(a accountView) {
	name := nameOf(a.ID, a.Environment)
	for _, err := range a.Errors {
		f.urgent("%s: not known: %s", name, err)
	}
	if a.known {
		switch {
		case !a.Status.AllowsExit() || a.Locked:
			f.urgent("%s is %s: the service accepts nothing", name, cli.Printable(a.Status))
		case !a.Status.AllowsEntry():
			f.warn("%s is %s: exits only", name, cli.Printable(a.Status))
		}
		f.room(name, a)
	}
	if a.Protection != nil {
		f.protection(name, *a.Protection)
	}
	for _, p := range a.Positions {
		if p.StopLoss.IsClear() {
			f.warn("%s: %s %s has no stop", name, cli.Printable(p.Side), cli.Printable(p.Symbol))
		}
		if _, priced := p.MarkPrice.Get(); !priced {
			f.warn("%s: %s has no price now, so its PnL is not known", name, cli.Printable(p.Symbol))
		}
	}
}

// protection judges what watches an account.
func (f *findings) protection(name string, p protectionView) {
	switch {
	case !p.Running:
		f.urgent("%s: its protection does not run: nothing watches it, and it was %s", name, cli.Printable(p.State))
	case p.Blind:
		f.urgent("%s: its protection is blind: it has no good look at the account", name)
	case p.State == protect.Flattening, p.State == protect.Stuck, p.State == protect.TooLate, p.State == protect.Lost:
		f.urgent("%s: its protection is %s: %s", name, cli.Printable(p.State), cli.Printable(p.Reason))
	case !p.Entries:
		f.warn("%s: its protection refuses entries: %s", name, cli.Printable(p.Refusal))
	case p.State == protect.Warned:
		f.warn("%s: its protection warns: %s", name, cli.Printable(p.Reason))
	}
}

func (f *findings) room(name string, a accountView) {
	room, known := a.LossRoom.Get()
	if !known {
		f.warn("%s: no loss floor is known", name)
		return
	}
	if !room.IsPositive() {
		f.urgent("%s: equity %s is at or below a loss floor", name, cli.DollarsIf(a.Equity))
		return
	}
	if at, ok := a.RoomAtStops.Get(); ok && !at.IsPositive() {
		f.urgent("%s: the stops are beyond the loss floor: hitting them all loses the account", name)
	}
	pct, ok := roomPct(a)
	switch {
	case ok && pct.LessThan(decimal.NewFromInt(roomBadPct)):
		f.urgent("%s: only %s above the loss floor", name, cli.Dollars(room))
	case ok && pct.LessThan(decimal.NewFromInt(roomWarnPct)):
		f.warn("%s: %s above the loss floor", name, cli.Dollars(room))
	}
}

// roomPct is the equity's place on the way from the floor to the target, in percent. It
// is none without both.
func roomPct(a accountView) (pct decimal.Decimal, ok bool) {
	room, known := a.LossRoom.Get()
	gap, aims := a.TargetGap.Get()
	way := room.Add(gap)
	if !known || !aims || !way.IsPositive() {
		return decimal.Decimal{}, false
	}
	return room.Mul(decimal.NewFromInt(100)).Div(way), true
}

func (f *findings) pending(p pendingView, now time.Time) {
	age := now.Sub(p.Decided)
	say := f.warn
	switch {
	case age < pendingWarn:
		return
	case age >= pendingBad:
		say = f.urgent
	}
	say("%s %s on %s is pending for %s: it may have been applied", p.Operation, cli.Printable(p.Symbol), nameOf(p.Account, p.Environment), age.Truncate(time.Second))
}

// nameOf names an account to people.
func nameOf(id trading.AccountID, env trading.Environment) string {
	if id == "" || env == trading.EnvSandbox {
		return "paper"
	}
	return cli.Printable(id)
}
