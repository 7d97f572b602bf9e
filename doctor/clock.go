package doctor

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/tradingapi/trading-go"
)

// mostClock is how far apart the client lets the clocks be.
const mostClock = 2 * time.Second

// interval is where the service's clock can be, less this machine's.
type interval struct{ least, most time.Duration }

// interval is what one answer says: its Date is the second in which the service wrote it,
// at some moment between the request and the end of the answer.
func (a answered) interval() interval {
	return interval{a.date.Sub(a.received), a.date.Add(time.Second).Sub(a.sent)}
}

// dateOf is the Date of an answer that nothing on the way has kept.
func dateOf(m trading.Meta) (time.Time, bool) {
	if m.Header.Get("Age") != "" {
		return time.Time{}, false
	}
	date, err := http.ParseTime(m.Header.Get("Date"))
	return date, err == nil
}

// clock compares the clocks over all answers. What one answer leaves open another narrows.
func (l *look) clock() {
	s := l.r.of("service")
	for ctx := context.Background(); l.meter.count() < maxService && l.answersUsable() && l.turn(ctx); {
		_, _ = l.client.Health(ctx) // its Date alone matters
	}
	var all interval
	n, cached := 0, 0
	for _, a := range l.meter.answers() {
		switch {
		case a.cached:
			cached++
			continue
		case a.status == 0 || a.date.IsZero():
			continue
		}
		one := a.interval()
		if n++; n == 1 {
			all = one
			continue
		}
		all = interval{max(all.least, one.least), min(all.most, one.most)}
	}
	if n == 0 && !l.answersUsable() {
		s.skip("clock", "no answer came")
		return
	}
	if n == 0 {
		s.skip("clock", "no answer had a Date of its own (%d came from a cache): the client asks for no stored answer then", cached)
		return
	}
	m := &l.r.Measured
	m.Clocks, m.ClockAtLeast, m.ClockAtMost = n, all.least, all.most
	text := fmt.Sprintf("the service's clock is between %s and %s ahead, by %d answers", short(all.least), short(all.most), n)
	switch {
	case all.least > all.most:
		s.warn("clock", "Look again. If it stays, several instances answer with clocks of their own, or this machine's clock was set.", "no one time fits all %d answers: they disagree by %s", n, short(all.least-all.most))
	case all.least > mostClock || all.most < -mostClock:
		s.fail("clock", "Synchronise the clock of this machine. Until then the client resolves no write by its age.", "%s", text)
	case all.most > mostClock || all.least < -mostClock:
		s.warn("clock", "Look again: it may be more than 2 s.", "%s", text)
	default:
		s.ok("clock", "%s", text)
	}
}

// answersUsable reports whether it is worth to ask on: the last answer came.
func (l *look) answersUsable() bool {
	all := l.meter.answers()
	return len(all) > 0 && all[len(all)-1].status > 0
}
