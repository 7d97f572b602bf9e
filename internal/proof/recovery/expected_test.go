package recovery

import (
	"slices"
	"strings"
	"time"

	"github.com/tradingapi/trading-go"
)

// expected reports whether a cell is decided, by the rules of the protocol.
func (c cell) expected() bool {
	stored := slices.Contains([]string{"reply lost", "refusal lost", "killed after the send", "in flight"}, c.fault.name)
	lasts := c.write.name != "resting limit" && c.write.name != "Pro order"
	switch {
	case c.write.shown: // the levels show it
		return true
	case stored && c.restart < 10*time.Minute && !c.first() && !c.accident.late(): // the service repeats its answer
		return true
	case c.withoutBaseline(): // then only that nothing is held which it can have opened, and nothing was closed
		holds := strings.Contains(c.state.name, "position") || c.state.name == "run trades"
		return !c.ran && (!holds || c.path == "/positions/close" && c.state.name != "run trades")
	case c.ran && c.exclusive: // what shows is the write's
		return !c.hidden() && !c.gap()
	case c.ran: // what shows may be somebody else's
		return false
	case c.beside && (c.path == "/orders" || c.path == "/orders/limit") && c.write.name != "reduce-only order":
		return false
	case !c.exclusive && !lasts && c.restart == time.Hour && (stored || c.fault.name == "part-way, before"):
		return false // the service has it still, and what it left may have been cancelled
	default:
		return true
	}
}

// withoutBaseline reports whether no reads make a baseline: of a position that an
// earlier run left, or that a run changes all the time, two that are equal are needed. On a
// declared account one look is enough, where nothing waits.
func (c cell) withoutBaseline() bool {
	opened := c.state.name != "flat" && c.state.name != "opposite position"
	if c.exclusive && strings.HasPrefix(c.state.name, "position") {
		opened = false
	}
	soon := c.soon && !(c.exclusive && c.write.name == "market order") // which waits for a look
	return c.inherited && (soon || opened) || c.state.name == "run trades" && !c.exclusive
}

// first reports whether the write was the first request of its process, which has ended before the
// first attempt had: nothing tells its age by the service's clock. An entry reads the account before
// it, and an exit has a list read beside it.
func (c cell) first() bool {
	return c.soon && c.write.name == "close" && c.restart != inProcess && (c.kill || c.after > 0)
}

// exit reports whether the write can add no exposure.
func (c cell) exit() bool {
	return c.path == "/positions/close" || c.path == "/positions/tpsl" || c.write.name == "reduce-only order"
}

// tooLate reports whether the disk takes the write's first record later than the write may be
// sent. An exit does not wait for it.
func (c cell) tooLate() bool {
	return !c.exit() && c.accident.from == fromWrite && c.accident.sync > max(c.accident.ttl, 10*time.Second)
}

// gap reports whether the process has ended after an exit that did not wait for its disk: what
// else the journal lacks is not known, so that a trace may be another exit's.
func (c cell) gap() bool {
	return c.exit() && c.restart != inProcess && c.accident.sync > 250*time.Millisecond && c.accident.from != fromSend
}

// late reports whether a question is noted too late to be asked: it goes within a second of
// what allows it.
func (a accident) late() bool { return a.sync > time.Second }

// hidden reports whether a safeguard costs the cell, although the write was executed
// and nobody else trades.
func (c cell) hidden() bool {
	return c.write.name == "resting limit" && c.state.name == "running run" || // it can rest orders of its own
		c.write.name == "market order" && c.state.name == "larger order rests" // it can have traded as much
}

// patience is how long a decision may take.
func (c cell) patience(by trading.Evidence) time.Duration {
	switch {
	case c.accident.late(): // then the looks wait for half an hour, behind one record
		return 31*time.Minute + c.accident.sync
	case by == trading.EvidenceReplay:
		return 6*time.Second + c.accident.slower()
	case c.first(): // it is never asked about, and is gone after half an hour
		return 31 * time.Minute
	case c.path == "/orders/limit": // that it is absent takes three looks
		return 21*time.Second + c.accident.slower()
	default: // 10 seconds by looks, 5 more where the probe comes first
		return 16*time.Second + c.accident.slower()
	}
}
