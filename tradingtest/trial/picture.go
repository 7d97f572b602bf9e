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

// picture shows some requests, what they did, and what happened around them until a judgement failed: the bot,
// the service and the position beside each other.
func picture(points []point, byID map[int64]*request, shown []int64, failed time.Time) string {
	from, to := points[0].at, failed.Add(50*time.Millisecond) // with the answer to what failed
	if len(shown) > 0 {
		from = byID[slices.Min(shown)].At.Add(-time.Second)
	}
	var lines []string
	held := map[slot]decimal.Decimal{}
	line := func(at time.Time, bot, service, position string) {
		text := fmt.Sprintf("%9.3fs  %-58.58s | %-44.44s | %s", at.Sub(points[0].at).Seconds(), bot, service, position)
		lines = append(lines, strings.TrimRight(text, " |"))
	}
	for _, p := range points {
		if p.e != nil && p.e.Filled && plain(p.e.Size) {
			s := slot{p.e.Account, p.e.Symbol}
			held[s] = held[s].Add(signed(p.e.Side, p.e.Size))
		}
		if p.at.After(to) || p.at.Before(from) && p.c == nil { // what changed long before lasts
			continue
		}
		if len(shown) > 0 && !p.at.Before(failed) && p.request() > slices.Max(shown) {
			continue // it came after what failed, at the same moment
		}
		is := p.r != nil && (slices.Contains(shown, p.r.ID) || p.r.entry || isLevels(p.r.Operation))
		fault := ""
		if p.r != nil && p.r.Fault != "" {
			fault = "fault: " + p.r.Fault
		}
		switch {
		case p.kind == tradingsim.EventRequest && is:
			line(p.at, p.r.text()+"  -->", "", "")
			if p.r.AnsweredAt.IsZero() {
				line(p.at, fmt.Sprintf("#%d  x--  no answer", p.r.ID), fault, "")
			}
		case p.kind == tradingsim.EventAnswer && is:
			answer := fmt.Sprintf("#%d  <--  %d %s", p.r.ID, p.r.Status, p.r.Code)
			if p.r.RetryAfter > 0 {
				answer += fmt.Sprintf(", Retry-After %d", p.r.RetryAfter)
			}
			if p.r.MarkMissing {
				answer = strings.TrimRight(answer, " ") + ", without a mark"
			}
			if !p.r.Delivered {
				answer = fmt.Sprintf("#%d  x--  a part of the answer, or nobody waited", p.r.ID)
			}
			line(p.at, answer, fault, "")
		case p.e != nil && p.e.Filled:
			who := fmt.Sprintf("#%d filled", p.e.Request)
			switch {
			case p.e.Actor == "terminal":
				who = "the trial closes:"
			case p.e.Request == 0:
				who = p.e.Actor + " filled"
			}
			line(p.at, "", fmt.Sprintf("%s %s %s at %s", who, p.e.Side, p.e.Size, p.e.Price), fmt.Sprintf("%s %s", held[slot{p.e.Account, p.e.Symbol}], p.e.Symbol))
		case p.kind == tradingsim.EventStart || p.kind == tradingsim.EventKill:
			line(p.at, "the bot: "+p.c.Value, "", "")
		case p.c != nil && p.kind != tradingsim.EventPrice:
			line(p.at, "", fmt.Sprintf("%s: %s", p.kind, p.c.Value), "")
		}
	}
	lines = append(lines, fmt.Sprintf("%9.3fs  ^ here it fails", failed.Sub(points[0].at).Seconds()))
	if left := len(lines) - maxLines; left > 0 {
		lines = slices.Concat(lines[:fromStart], []string{fmt.Sprintf("%10s  … %d lines left out …", "", left)}, lines[len(lines)-maxLines+fromStart:])
	}
	return strings.Join(lines, "\n") + "\n"
}

// request is the number of the request that a point is of, or by which it was filled; 0 for none.
func (p *point) request() int64 {
	switch {
	case p.r != nil:
		return p.r.ID
	case p.e != nil:
		return p.e.Request
	default:
		return 0
	}
}
