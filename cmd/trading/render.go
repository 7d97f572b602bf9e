package main

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// theme colours what it is given, or does not. Nothing is said by colour alone.
type theme struct{ bold, dim, good, loss, warn, bad func(...string) string }

// oldAfter is the age from which on it is said how old an account's data are.
const oldAfter = 30 * time.Second

func plainTheme() theme {
	plain := func(s ...string) string { return strings.Join(s, " ") }
	return theme{plain, plain, plain, plain, plain, plain}
}

func colourTheme() theme {
	style := lipgloss.NewStyle
	return theme{
		bold: style().Bold(true).Render,
		dim:  style().Faint(true).Render,
		good: style().Foreground(lipgloss.Green).Render,
		loss: style().Foreground(lipgloss.Red).Render,
		warn: style().Foreground(lipgloss.Yellow).Render,
		bad:  style().Bold(true).Foreground(lipgloss.Red).Render,
	}
}

func themeOf(app *cli.App) theme {
	if app.Colour() {
		return colourTheme()
	}
	return plainTheme()
}

// render draws a status as it was read, a line each.
func render(s statusView, t theme) []string {
	lines := []string{renderTitle(s, t) + "  " + s.At.UTC().Format("2006-01-02 15:04:05Z")}
	return append(lines, renderBody(s, -1, s.At, t)...)
}

func renderTitle(s statusView, t theme) string {
	return t.bold(strings.ToUpper(string(s.Environment))) + "  " + cli.Printable(s.BaseURL)
}

// renderBody draws all below the title. The account with the index chosen is marked.
func renderBody(s statusView, chosen int, now time.Time, t theme) []string {
	lines := []string{renderHealth(s, now, t), ""}
	lines = append(lines, renderFindings(s.Findings, t)...)
	for i, a := range s.Accounts {
		account := renderAccount(a, now, t)
		if i == chosen {
			account[0] = "> " + account[0]
		}
		lines = append(append(lines, ""), account...)
	}
	if s.Archived > 0 {
		lines = append(lines, "", t.dim(fmt.Sprintf("%d archived accounts are not shown", s.Archived)))
	}
	lines = append(append(lines, ""), renderPending(s, now, t)...)
	return append(append(lines, ""), renderLimits(s.Limits, t)...)
}

func renderHealth(s statusView, now time.Time, t theme) string {
	if s.Health == nil {
		return "service   " + t.bad("NOT KNOWN")
	}
	h := *s.Health
	assessed := fmt.Sprintf("at %s by the service's clock", cli.Stamp(h.AsOf)) // which this machine's may differ from
	if came, known := h.Age.Get(); known {
		assessed = age(came+now.Sub(s.At)) + " ago"
	}
	text := fmt.Sprintf("%s, feed %s, assessed %s", cli.Printable(h.Status), cli.Printable(h.Feed), assessed)
	if h.Old {
		text += ", which is too old"
	}
	if !h.Safe {
		return "service   " + t.bad("NOT SAFE") + "  " + text
	}
	return "service   " + t.good("safe") + "  " + t.dim(text)
}

func renderFindings(all []finding, t theme) []string {
	if len(all) == 0 {
		return []string{t.good("Nothing needs attention.")}
	}
	lines := make([]string, len(all))
	for i, f := range all {
		if f.Urgent {
			lines[i] = t.bad("!! " + f.Text)
		} else {
			lines[i] = t.warn(" ! " + f.Text)
		}
	}
	return lines
}

func renderAccount(a accountView, now time.Time, t theme) []string {
	title := t.bold(nameOf(a.ID, a.Environment))
	if !a.known {
		return append([]string{title + "  " + t.bad("NOT KNOWN")}, renderProtection(a.Protection, now, t)...)
	}
	title += "  " + cli.Printable(a.Status)
	if a.Locked {
		title += "  " + t.bad("LOCKED")
	}
	if phase, ok := a.Phase.Get(); ok {
		title += fmt.Sprintf("  phase %d", phase)
	}
	if old := now.Sub(a.ReadAt); old > oldAfter {
		title += "  " + t.bad("READ "+age(old)+" AGO")
	}
	lines := []string{title}
	money := grid{}
	money.add(cell{text: "equity"}, cell{text: cli.DollarsIf(a.Equity), right: true, paint: t.bold},
		cell{text: "balance " + cli.DollarsIf(a.Balance) + ", unrealized " + signed(a.UnrealizedPnL)})
	room := cell{text: cli.DollarsIf(a.LossRoom), right: true, paint: roomPaint(a, t)}
	money.add(cell{text: "room"}, room, cell{text: fmt.Sprintf("above the floors: daily %s, global %s", cli.DollarsIf(a.DailyLossFloor), cli.DollarsIf(a.GlobalLossFloor))})
	if len(a.Positions) > 0 {
		what := "room if every stop is hit, before fees and gaps"
		if _, known := a.RoomAtStops.Get(); !known {
			what = "not known: not every position has a stop and a price"
		}
		money.add(cell{text: "at stops"}, cell{text: cli.DollarsIf(a.RoomAtStops), right: true}, cell{text: what})
	}
	money.add(cell{text: "to target"}, cell{text: cli.DollarsIf(a.TargetGap), right: true}, cell{text: "target " + cli.DollarsIf(a.ProfitTarget)})
	lines = append(lines, money.lines()...)
	lines = append(lines, renderProtection(a.Protection, now, t)...)
	if bar := renderBar(a, t); bar != "" {
		lines = append(lines, bar)
	}
	return append(lines, renderHoldings(a, t)...)
}

// renderProtection says what watches an account, and whether it lets entries pass.
func renderProtection(p *protectionView, now time.Time, t theme) []string {
	if p == nil {
		return nil
	}
	paint := t.good
	switch {
	case !p.Running, p.Blind:
		paint = t.bad
	case !p.Entries:
		paint = t.warn
	}
	text := "  protection " + paint(cli.Printable(p.State)) + " for " + age(now.Sub(p.Since))
	for _, note := range []struct {
		show bool
		text string
	}{{!p.Running, "DOES NOT RUN"}, {p.Blind, "BLIND"}, {p.Manual, "halted by a person"}} {
		if note.show {
			text += ", " + paint(note.text)
		}
	}
	if p.Entries {
		return []string{text + t.dim(", entries pass")}
	}
	return []string{text + ", entries are refused: " + cli.Printable(p.Refusal)}
}

const barWidth = 50

// renderBar shows where the equity is between the higher floor and the target.
func renderBar(a accountView, t theme) string {
	pct, ok := roomPct(a)
	if !ok {
		return ""
	}
	n := int(pct.Mul(decimal.NewFromInt(barWidth)).Div(decimal.NewFromInt(100)).IntPart())
	n = max(0, min(barWidth, n))
	room, _ := a.LossRoom.Get()
	equity, _ := a.Equity.Get()
	return fmt.Sprintf("  floor %s [%s%s] %s target", cli.Dollars(equity.Sub(room)),
		roomPaint(a, t)(strings.Repeat("#", n)), t.dim(strings.Repeat(".", barWidth-n)), cli.DollarsIf(a.ProfitTarget))
}

func roomPaint(a accountView, t theme) func(...string) string {
	room, known := a.LossRoom.Get()
	pct, ok := roomPct(a)
	switch {
	case known && !room.IsPositive(), ok && pct.LessThan(decimal.NewFromInt(roomBadPct)):
		return t.bad
	case !known, ok && pct.LessThan(decimal.NewFromInt(roomWarnPct)):
		return t.warn
	default:
		return t.good
	}
}

func renderHoldings(a accountView, t theme) []string {
	var lines []string
	if len(a.Positions)+len(a.Orders)+len(a.Runs) == 0 && len(a.Errors) == 0 {
		return []string{t.dim("  flat: no position, nothing rests or runs")}
	}
	if len(a.Positions) > 0 {
		g := grid{}
		g.head(t, "POSITION", "", ">SIZE", ">ENTRY", ">MARK", ">PNL", ">STOP", ">TARGET")
		for _, p := range a.Positions {
			g.add(cell{text: cli.Printable(p.Symbol)}, cell{text: cli.Printable(p.Side)}, number(cli.Short(p.Size)), number(cli.Short(p.EntryPrice)),
				priced(p.MarkPrice, t), pnl(p.UnrealizedPnL, t), stop(p, t), number(p.TakeProfit.String()))
		}
		lines = append(lines, g.lines()...)
	}
	for _, o := range a.Orders {
		lines = append(lines, fmt.Sprintf("  rests  %s  %s %s %s at %s", cli.Printable(o.ID), cli.Printable(o.Side), o.Size, cli.Printable(o.Symbol), o.LimitPrice))
	}
	for _, r := range a.Runs {
		lines = append(lines, fmt.Sprintf("  runs   %s  %s %s", cli.Printable(r.ID), cli.Printable(r.Side), cli.Printable(r.Symbol)))
	}
	return lines
}

func number(text string) cell { return cell{text: text, right: true} }

func priced(mark cli.Amount, t theme) cell {
	if _, ok := mark.Get(); !ok {
		return cell{text: "no price", right: true, paint: t.warn}
	}
	return number(mark.String())
}

func pnl(amount cli.Amount, t theme) cell {
	d, ok := amount.Get()
	c := number(signed(amount))
	switch {
	case ok && d.IsNegative():
		c.paint = t.loss
	case ok && d.IsPositive():
		c.paint = t.good
	}
	return c
}

func stop(p positionView, t theme) cell {
	if p.StopLoss.IsClear() {
		return cell{text: "none", right: true, paint: t.warn}
	}
	return number(p.StopLoss.String())
}

// signed is an amount with its sign.
func signed(a cli.Amount) string {
	d, ok := a.Get()
	if ok && d.Round(2).IsPositive() {
		return "+" + cli.Dollars(d)
	}
	return cli.DollarsIf(a)
}

func renderPending(s statusView, now time.Time, t theme) []string {
	switch {
	case len(s.Pending) == 0 && s.unread:
		return []string{t.bad("pending writes: not known")}
	case len(s.Pending) == 0:
		return []string{t.dim("no pending writes")}
	}
	g := grid{}
	g.head(t, "PENDING WRITE", ">FOR", "ACCOUNT", "SYMBOL", "ID", "LAST")
	for _, p := range s.Pending {
		lasts := now.Sub(p.Decided)
		paint := t.warn
		if lasts >= pendingBad {
			paint = t.bad
		}
		g.add(cell{text: string(p.Operation)}, cell{text: age(lasts), right: true, paint: paint}, cell{text: nameOf(p.Account, p.Environment)},
			cell{text: cli.Printable(p.Symbol)}, cell{text: cli.Printable(p.ID)}, cell{text: cli.Printable(p.Last)})
	}
	lines := g.lines()
	for _, next := range nextSteps(s.Pending, now, journalFlag) {
		lines = append(lines, "  "+next)
	}
	return lines
}

func renderLimits(limits []limitView, t theme) []string {
	g := grid{}
	g.head(t, "RATE LIMIT", ">LEFT", "")
	for _, l := range limits {
		left := number(fmt.Sprintf("%d of %d", l.Left, l.Limit))
		note := cell{}
		switch {
		case l.ClosedSeconds > 0:
			note = cell{text: fmt.Sprintf("CLOSED by the service for %d s", l.ClosedSeconds), paint: t.bad}
		case l.Left*100 < l.Limit*leftWarnPct:
			left.paint = t.warn
		}
		g.add(cell{text: l.Name}, left, note)
	}
	return g.lines()
}

// age is a duration to the second.
func age(d time.Duration) string { return max(0, d.Truncate(time.Second)).String() }

// cell is a text in a grid.
type cell struct {
	text  string
	right bool
	paint func(...string) string
}

// grid aligns cells, whose colours take no room.
type grid struct{ rows [][]cell }

func (g *grid) add(cells ...cell) { g.rows = append(g.rows, cells) }

// head adds the titles; one that begins with > is aligned to the right.
func (g *grid) head(t theme, titles ...string) {
	cells := make([]cell, len(titles))
	for i, title := range titles {
		text, right := strings.CutPrefix(title, ">")
		cells[i] = cell{text, right, t.dim}
	}
	g.add(cells...)
}

func (g *grid) lines() []string {
	var widths []int
	for _, row := range g.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], lipgloss.Width(c.text))
		}
	}
	lines := make([]string, len(g.rows))
	for i, row := range g.rows {
		var b strings.Builder
		for j, c := range row {
			b.WriteString("  " + c.draw(widths[j], j == len(row)-1))
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

func (c cell) draw(width int, last bool) string {
	text, pad := c.text, strings.Repeat(" ", width-lipgloss.Width(c.text))
	if c.paint != nil && text != "" {
		text = c.paint(text)
	}
	switch {
	case c.right:
		return pad + text
	case last:
		return text
	default:
		return text + pad
	}
}
