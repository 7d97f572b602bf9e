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
	for _, p := range points {
		var bot, service, position string
		if p.kind == tradingsim.EventExecution && p.e.Filled && plain(p.e.Size) {
			s := slot{p.e.Account, p.e.Symbol}
			held[s] = held[s].Add(signed(p.e))
			service = fmt.Sprintf("%s %s %s at %s", by(p.e), p.e.Side, p.e.Size, p.e.Price)
			position = fmt.Sprintf("%s %s", held[s], s.symbol)
		}
		after := p.r != nil && len(shown) > 0 && !p.at.Before(failed) && p.r.ID > slices.Max(shown) // at the same moment
		if p.at.After(to) || p.at.Before(from) && p.c == nil || after {                             // what changed long before lasts
			continue
		}
		switch {
		case p.r != nil && (slices.Contains(shown, p.r.ID) || p.r.entry || isLevels(p.r.Operation)):
			bot = p.exchange()
			if p.r.Fault != "" && bot != "" && (p.kind == tradingsim.EventAnswer || p.r.AnsweredAt.IsZero()) { // once
				service = "fault: " + p.r.Fault
			}
		case p.kind == tradingsim.EventStart || p.kind == tradingsim.EventKill:
			bot = "the bot: " + p.c.Value
		case p.kind == tradingsim.EventHealth || p.kind == tradingsim.EventStatus:
			service = fmt.Sprintf("%s: %s", p.kind, p.c.Value)
		}
		if bot+service != "" {
			text := fmt.Sprintf("%9.3fs  %-58.58s | %-44.44s | %s", p.at.Sub(points[0].at).Seconds(), bot, service, position)
			lines = append(lines, strings.TrimRight(text, " |"))
		}
	}
	lines = append(lines, fmt.Sprintf("%9.3fs  ^ here it fails", failed.Sub(points[0].at).Seconds()))
	if left := len(lines) - maxLines; left > 0 {
		lines = slices.Concat(lines[:fromStart], []string{fmt.Sprintf("%10s  … %d lines left out …", "", left)}, lines[len(lines)-maxLines+fromStart:])
	}
	return strings.Join(lines, "\n") + "\n"
}

// exchange is what the bot sent, or heard.
func (p point) exchange() string {
	switch r := p.r; {
	case p.kind == tradingsim.EventRequest && r.AnsweredAt.IsZero():
		return r.text() + "  --x"
	case p.kind == tradingsim.EventRequest:
		return r.text() + "  -->"
	case p.kind != tradingsim.EventAnswer:
		return ""
	case !r.Delivered:
		return fmt.Sprintf("#%d  x--  a part of the answer, or nobody waited", r.ID)
	default:
		answer := fmt.Sprintf("#%d  <--  %d %s", r.ID, r.Status, r.Code)
		if r.RetryAfter > 0 {
			answer += fmt.Sprintf(", Retry-After %d", r.RetryAfter)
		}
		if r.MarkMissing {
			answer = strings.TrimRight(answer, " ") + ", without a mark"
		}
		return answer
	}
}

// by is who filled something.
func by(e *tradingsim.Execution) string {
	switch {
	case e.Actor == "terminal":
		return "the trial closes:"
	case e.Request == 0:
		return e.Actor + " filled"
	default:
		return fmt.Sprintf("#%d filled", e.Request)
	}
}
