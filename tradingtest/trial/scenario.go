package trial

import (
	"time"

	"github.com/tradingapi/trading-go/tradingsim"
)

// Quiet is the scenario without a fault, which comes first.
const Quiet = "quiet"

// scenarios are all, in their order, with what plays them.
var scenarios = []struct {
	name string
	play func(*play)
}{
	{Quiet, func(p *play) { p.hold(max(p.Manifest.periods(12), 6*time.Second), true) }},
	{"lost reply", loses(tradingsim.DropResponse(), 4)},
	{"lost request", loses(tradingsim.DropRequest(), 4)},
	{"cut reply", loses(tradingsim.TruncateResponse(), 4)},
	{"page of a gateway", loses(tradingsim.GatewayErrorAfter(502), 4)},
	{"failure after the work", loses(tradingsim.FailAfter(500, "internal_error"), 1)},
	{"service dies", loses(tradingsim.CrashAfter(), 1)},
	{"late answer", answersLate},
	{"limit of orders", limits(isEntry)},
	{"limit of the key", limits(func(operation string) bool { return operation != "GET /health" && operation != "GET /openapi.json" })},
	{"unhealthy", disturbs(makeUnhealthy)},
	{"locked", disturbs(lock)},
	{"no price", disturbs(takePrice)},
	{"killed while open", func(p *play) {
		if p.reaches(func() bool { return p.entered() && p.holds() }) {
			p.hold(p.draw(p.Manifest.periods(1)), false)
			p.kill()
		}
	}},
	{"killed in a reply", kills(func(*play) tradingsim.Fault { return tradingsim.DelayResponse(time.Hour) }, 1)},
	{"killed in an order", kills(func(p *play) tradingsim.Fault { return tradingsim.Delay(p.Manifest.periods(1) / 2) }, 1)},
	{"killed on the way", kills(func(*play) tradingsim.Fault { return tradingsim.DropRequest() }, 1<<30)}, // the next life places it
	{"killed behind a failure", killsBehindFailure},
	{"lost stop", func(p *play) {
		if n := int64(min(p.Quiet.Levels, 3)); n > 0 {
			p.plan(tradingsim.DropRequest(), isLevels, 1+p.random.Int64N(n), 1+p.random.Int64N(4))
			if p.reaches(p.hit) {
				p.settle()
			}
		}
	}},
}

// Scenarios are the names of all, in their order; [Quiet] is the first.
func Scenarios() (names []string) {
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return names
}

// loses loses what becomes of the n-th entry, and of up to most-1 that follow at once: transports
// send again by themselves.
func loses(f tradingsim.Fault, most int64) func(*play) {
	return func(p *play) {
		p.plan(f, isEntry, p.nth, 1+p.random.Int64N(most))
		if p.reaches(p.hit) {
			p.settle()
			p.goOn()
		}
	}
}

// limits answers what is in a scope 429 from the n-th entry on, for as long as its answer says.
func limits(scope func(string) bool) func(*play) {
	return func(p *play) {
		wait := min(max(p.Manifest.periods(5), 5*time.Second), time.Minute).Round(time.Second)
		var end time.Time
		p.choose(func(operation string) tradingsim.Fault {
			now := p.sim.Now()
			if end.IsZero() && isEntry(operation) && p.entered() {
				end = now.Add(wait)
				p.hits.Add(1)
			}
			if scope(operation) && now.Before(end) {
				return tradingsim.RateLimit(end.Sub(now))
			}
			return nil
		})
		if p.reaches(p.hit) {
			p.hold(wait, true)
			p.goOn()
		}
	}
}

// answersLate carries out the n-th entry right before the bot's next look, so that its reads do not show it yet.
func answersLate(p *play) {
	if p.sandbox() { // its orders have no key to ask by
		return
	}
	lag := min(time.Duration(p.Manifest.lag()), p.Manifest.periods(1)/2)
	p.plan(tradingsim.Delay(p.Manifest.periods(1)-lag+p.draw(max(lag/2, 1))), isEntry, p.nth, 1)
	if p.reaches(p.hit) {
		p.hold(p.Manifest.periods(1), false)
		p.fill() // what rests twice shows when it is held
		p.settle()
		p.goOn()
	}
}

// kills kills the bot while its n-th entry, and what follows at once, is under way or its reply is.
func kills(f func(*play) tradingsim.Fault, times int64) func(*play) {
	return func(p *play) {
		p.plan(f(p), isEntry, p.nth, times)
		if p.reaches(p.hit) {
			p.kill()
		}
	}
}

// killsBehindFailure kills the bot after its n-th entry was executed and answered with a failure, and before it
// could read anything.
func killsBehindFailure(p *play) {
	fails := p.planned(tradingsim.FailAfter(500, "internal_error"), isEntry, p.nth, 1)
	p.choose(func(operation string) tradingsim.Fault {
		if p.hit() && !isEntry(operation) {
			return tradingsim.DropRequest()
		}
		return fails(operation)
	})
	if p.reaches(p.hit) {
		p.kill()
	}
}

// disturbs changes the world for a while after the bot's first entry, and then back: the bot is flat
// meanwhile, wants to enter, and enters again afterwards.
func disturbs(change func(*play) (long time.Duration, back func())) func(*play) {
	return func(p *play) {
		p.nth = 1
		if !p.reaches(p.entered) {
			return
		}
		p.flat = true
		long, back := change(p)
		p.hold(long, true)
		back()
		before := p.entries.Load()
		p.until(func() bool { return p.entries.Load() > before }, healthCache+max(p.Manifest.periods(5), 3*time.Second), true)
	}
}

// makeUnhealthy makes the service unhealthy.
func makeUnhealthy(p *play) (long time.Duration, back func()) {
	status := [][2]string{{"degraded", "stale"}, {"unavailable", "unknown"}}[p.random.IntN(2)]
	p.sim.SetHealth(status[0], status[1])
	return healthCache + time.Duration(p.Manifest.healthAge()) + max(p.Manifest.periods(2), 2*time.Second), func() { p.sim.SetHealth("healthy", "live") }
}

// lock makes the account refuse new exposure.
func lock(p *play) (long time.Duration, back func()) {
	long = max(p.Manifest.periods(8), 4*time.Second)
	if p.sandbox() {
		p.plan(tradingsim.Fail(403, "account_locked"), isEntry, 1, 1<<30)
		return long, func() { p.choose(noFault) }
	}
	p.clear()
	p.sim.SetStatus(Account, "PASSED")
	return long, func() { p.sim.SetStatus(Account, "ACTIVE") }
}

// takePrice takes all marks away.
func takePrice(p *play) (long time.Duration, back func()) {
	for range 5 { // it may enter in between
		p.clear()
		for _, symbol := range p.symbols {
			p.sim.SetMark(symbol, "")
		}
		if !p.holds() {
			break
		}
		p.wobble()
	}
	p.still = true
	return max(p.Manifest.periods(5), 2*time.Second), func() {
		p.still = false
		p.wobble()
	}
}
