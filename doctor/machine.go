package doctor

import (
	"time"
)

// closeTakes is how long Close of a client can take: an attempt or a question for a stored
// answer that is in flight, and the journal.
func (o *Options) closeTakes() time.Duration { return o.AttemptTimeout + 5*time.Second }

// machine looks at what the bot runs on.
func (l *look) machine() {
	s := l.r.of("machine")
	l.synchronised(s)
	l.steps(s)
	l.stopGrace(s)
	l.alert(s)
	age(s, "module", l.o.Built, 180, "Look for a newer version.", "built", "when the program was built is not known")
	age(s, "profile", l.o.Profiled, 30, "trading observe measures it anew.", "measured", "none is given (--profile): what the service does where its contract is silent is not known; trading observe asks")
}

func (l *look) synchronised(s subject) {
	synced, err := l.h.synchronised()
	switch {
	case err != nil:
		s.skip("time-sync", "%v", err)
	case !synced:
		s.warn("time-sync", "Run chrony, ntpd or systemd-timesyncd.", "the system does not keep its clock synchronised")
	default:
		s.ok("time-sync", "the system keeps its clock synchronised")
	}
}

// steps compares the two clocks since the start: a suspend stops one, a step moves the other.
func (l *look) steps(s subject) {
	if l.o.Started.IsZero() {
		s.skip("clock-steps", "nothing to compare with: this is the first look")
		return
	}
	const most = 2 * time.Second
	wall, mono := l.h.since(l.o.Started)
	switch off := wall - mono; {
	case off.Abs() > most:
		s.fail("clock-steps", "Keep the machine from suspending, and let its clock be slewed, not set. Restart the bot.", "the wall clock moved %s in %s: the clock was set, or the machine suspended", short(wall), short(mono))
	default:
		s.ok("clock-steps", "both clocks agree since the start, %s ago", mono.Truncate(time.Second))
	}
}

// stopGrace compares how long whoever stops the bot waits with how long it needs.
func (l *look) stopGrace(s subject) {
	grace, from := l.o.StopGrace, "declared"
	if grace <= 0 && l.o.Process != nil {
		grace, from = l.h.stopGrace(l.o.Process)
	}
	needs := l.o.closeTakes()
	switch {
	case grace <= 0:
		s.skip("stop-grace", "not known: --stop-grace declares it, and the bot needs %s", needs)
	case grace < needs:
		s.fail("stop-grace", "Raise TimeoutStopSec=, stop_grace_period or terminationGracePeriodSeconds.", "the bot is killed after %s (%s), and Close can take %s", grace, from, needs)
	default:
		s.ok("stop-grace", "%s (%s), and Close can take %s", grace, from, needs)
	}
}

func (l *look) alert(s subject) {
	if l.o.Alert == nil {
		s.skip("alert", "no way to send one is given (--alert)")
		return
	}
	if err := l.o.Alert("trading doctor: this is a test"); err != nil {
		s.fail("alert", "Nobody would hear of trouble.", "the test alert did not arrive: %s", oneLine(err))
		return
	}
	s.ok("alert", "the test alert was accepted: see that it arrived")
}

// age judges how old something is.
func age(s subject, check string, at time.Time, days int, do, what, unknown string) {
	if at.IsZero() {
		s.skip(check, "%s", unknown)
		return
	}
	const day = 24 * time.Hour
	old := int(s.r.At.Sub(at) / day)
	if old > days {
		s.warn(check, do, "%s %d days ago", what, old)
		return
	}
	s.ok(check, "%s %d days ago", what, max(old, 0))
}
