package trial

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/tradingsim"
)

// tidy rounds a duration that was measured to one that somebody would write, a twentieth away at the most
// unless it is less than a second.
func tidy(d time.Duration) Duration {
	step := 100 * time.Millisecond
	for _, wider := range []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute} {
		if 10*wider <= d {
			step = wider
		}
	}
	return Duration(max(d.Round(step), step))
}

// Propose makes a manifest of what a bot did in a quiet run under a manifest, and asks about
// what only its owner knows. What it held is a question and not a limit.
func Propose(under Manifest, events []tradingsim.Event) (m Manifest, questions []string, err error) {
	points, _ := timeline(events)
	w := newWorld(m, points)
	ask := func(format string, args ...any) { questions = append(questions, fmt.Sprintf(format, args...)) }
	m = Manifest{Environment: under.Environment, Markets: map[string]Market{}}
	largest := map[string]decimal.Decimal{}
	last, gaps := map[string]time.Time{}, []time.Duration{}
	var assessed time.Time
	var age time.Duration
	stops := false
	for _, p := range points {
		w.see(p)
		w.after(p)
		switch {
		case p.kind == tradingsim.EventRequest && p.r.write:
			stops = stops || isLevels(p.r.Operation) || p.r.numbers["stopLossPrice"].set
			if !p.r.entry {
				continue
			}
			m.Markets[p.r.body.Symbol] = Market{Price: under.Markets[p.r.body.Symbol].Price}
			m.Environment = "live"
			if strings.HasPrefix(p.r.Operation, "POST /sandbox/") {
				m.Environment = "sandbox"
			}
			if !assessed.IsZero() {
				age = max(age, p.at.Sub(assessed))
			}
		case p.kind == tradingsim.EventRequest:
			if before, known := last[p.r.Path]; known {
				gaps = append(gaps, p.at.Sub(before))
			}
			last[p.r.Path] = p.at
		case p.kind == tradingsim.EventAnswer && p.r.Operation == "GET /health":
			assessed = p.at
		case p.kind == tradingsim.EventExecution:
			for s, h := range w.held {
				largest[s.symbol] = decimal.Max(largest[s.symbol], h.size.Abs())
			}
		}
	}
	if w.entries == 0 || len(gaps) == 0 {
		return m, nil, errors.New("the bot sent no entry in the quiet run, or read nothing twice: there is nothing to propose from; a longer --period gives it longer")
	}
	slices.Sort(gaps)
	m.Period = tidy(gaps[len(gaps)/2])
	ask("period: it looked about every %s. Is that its period?", time.Duration(m.Period))
	for _, symbol := range slices.Sorted(maps.Keys(m.Markets)) {
		ask("markets.%s.most: it held %s at the most. How much may it hold?", symbol, largest[symbol])
	}
	if assessed.IsZero() {
		ask("healthAge: it did not read the health of the service. Should it not?")
	} else {
		ask("healthAge: it entered %s after it had read the health. Unless set, that may be %s old. Is that right?", age.Round(time.Millisecond), time.Duration(m.healthAge()))
	}
	if stops {
		m.StopWithin = max(Duration(10*time.Second), 2*m.Period)
		ask("stopWithin: it sets stops. How long may a position be open without one?")
	} else {
		ask("stopWithin: it sets no stop. Should it?")
	}
	ask("flatWithin: does it resume after a restart, or flatten first?")
	ask("timeout: what is its shortest time-out? It bounds --speed.")
	return m, questions, nil
}
