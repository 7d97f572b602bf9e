package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// most lines of a picture, and of its beginning.
const (
	maxLines  = 12
	fromStart = 7
)

// picture shows some requests, what they did, and what happened around them: the bot, the service and the
// position beside each other.
func picture(points []point, byID map[int64]*request, shown []int64) string {
	if len(points) == 0 {
		return ""
	}
	from, to := points[0].at, points[len(points)-1].at
	if len(shown) > 0 {
		from, to = byID[slices.Min(shown)].At, byID[slices.Max(shown)].At
	}
	var lines []string
	held := map[slot]decimal.Decimal{}
	line := func(at time.Time, bot, service string, s slot) {
		text := fmt.Sprintf("%9.3fs  %-58.58s | %-44.44s", at.Sub(points[0].at).Seconds(), bot, service)
		if s.symbol != "" {
			text += fmt.Sprintf(" | %s %s", held[s], s.symbol)
		}
		lines = append(lines, strings.TrimRight(text, " "))
	}
	for _, p := range points {
		if p.e != nil && p.e.Filled && plain(p.e.Size) {
			s := slot{p.e.Account, p.e.Symbol}
			held[s] = held[s].Add(signed(p.e.Side, p.e.Size))
		}
		around := !p.at.Before(from.Add(-time.Second)) || p.c != nil // what changed long before lasts
		if !around || p.at.After(to.Add(time.Second)) {
			continue
		}
		is := p.r != nil && slices.Contains(shown, p.r.ID)
		switch {
		case p.kind == tradingsim.EventRequest && (is || p.r.entry):
			line(p.at, p.r.text()+"  -->", "", slot{})
			if p.r.AnsweredAt.IsZero() {
				line(p.at, fmt.Sprintf("#%d  x--  no answer", p.r.ID), p.r.Fault, slot{})
			}
		case p.kind == tradingsim.EventAnswer && (is || p.r.entry):
			answer := fmt.Sprintf("#%d  <--  %d %s", p.r.ID, p.r.Status, p.r.Code)
			if p.r.RetryAfter > 0 {
				answer += fmt.Sprintf(", Retry-After %d", p.r.RetryAfter)
			}
			if !p.r.Delivered {
				answer = fmt.Sprintf("#%d  x--  a part of the answer, or nobody waited", p.r.ID)
			}
			line(p.at, answer, p.r.Fault, slot{})
		case p.e != nil && p.e.Filled:
			who := fmt.Sprintf("#%d", p.e.Request)
			if p.e.Request == 0 {
				who = p.e.Actor
			}
			line(p.at, "", fmt.Sprintf("%s filled %s %s at %s", who, p.e.Side, p.e.Size, p.e.Price), slot{p.e.Account, p.e.Symbol})
		case p.c != nil && p.kind != tradingsim.EventPrice:
			line(p.at, "", fmt.Sprintf("%s: %s", p.kind, p.c.Value), slot{})
		}
	}
	if left := len(lines) - maxLines; left > 0 {
		lines = slices.Concat(lines[:fromStart], []string{fmt.Sprintf("%10s  … %d lines left out …", "", left)}, lines[len(lines)-maxLines+fromStart:])
	}
	return strings.Join(lines, "\n") + "\n"
}
