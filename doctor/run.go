package doctor

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/tradingapi/trading-go"
)

// look is one run of the doctor.
type look struct {
	o      Options
	h      *host
	r      *Report
	meter  *meter
	client *trading.Client

	refused  map[trading.Environment]bool // keys that the service refused
	holders  map[trading.Environment]string
	health   *trading.Health
	healthAt []healthSeen
	reads    int // requests for the service so far

	unreachable bool // no address of the service answers
}

// Run looks at everything once. It takes about two seconds, and longer where the service is
// slow or does not answer: ctx bounds it. What could not be looked at is in the report.
func Run(ctx context.Context, o Options) *Report {
	if o.AttemptTimeout <= 0 {
		o.AttemptTimeout = defaultAttemptTimeout
	}
	l := &look{
		o: o, h: o.host, r: &Report{At: time.Now()},
		refused: map[trading.Environment]bool{}, holders: map[trading.Environment]string{},
	}
	if l.h == nil {
		l.h = thisHost()
	}
	for _, key := range []string{o.SandboxKey.Value, o.LiveKey.Value} {
		if key != "" {
			l.r.hide = append(l.r.hide, key)
		}
	}
	usable := l.configuration(ctx)
	switch {
	case !usable:
		l.r.of("service").skip("health", "the configuration leads to no service")
	case l.unreachable:
		l.r.of("service").skip("health", "nothing was asked: no address of the service answers")
	default:
		l.connect(ctx)
	}
	l.journal()
	for _, more := range o.More {
		for _, line := range more(ctx) {
			l.r.of(line.Subject).add(line.Check, line.Status, line.Do, "%s", line.Saw)
		}
	}
	l.machine()
	slices.SortStableFunc(l.r.Lines, func(a, b Line) int { return rank(a) - rank(b) })
	return l.r
}

// rank is the order of the subjects in a report.
func rank(l Line) int {
	const accounts = 2
	if i, ok := map[string]int{"configuration": 0, "service": 1, "journal": 3, "fleet": 4, "redis": 5, "machine": 6}[l.Subject]; ok {
		return i
	}
	return accounts
}

// connect looks at the service and the accounts.
func (l *look) connect(ctx context.Context) {
	s := l.r.of("service")
	m, client, err := newMeter(l.o)
	if err != nil {
		s.fail("health", "Mend the configuration.", "no client: %v", err)
		return
	}
	l.meter, l.client = m, client
	l.service(ctx)
	l.accounts(ctx)
	l.clock()
	l.answerTime()
	if err := client.Close(); err != nil {
		s.warn("health", "", "the client did not close: %v", err)
	}
	if t, ok := m.next.(*http.Transport); ok && l.o.Transport == nil {
		t.CloseIdleConnections()
	}
	l.r.Requests = m.count()
	l.r.Refused = l.refused[trading.EnvLive] || l.refused[trading.EnvSandbox]
}

// pace is the time between two requests for the service. Its fraction of a second spreads
// the answers over the second of their Date, so that ten of them show the clock to a tenth.
const pace = 130 * time.Millisecond

// turn waits for the next request for the service. It is false when there is none left.
func (l *look) turn(ctx context.Context) bool {
	if l.reads >= maxService {
		return false
	}
	if l.reads++; l.reads == 1 {
		return true
	}
	t := time.NewTimer(pace)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
