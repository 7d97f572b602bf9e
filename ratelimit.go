package trading

import (
	"strconv"
	"sync"
	"time"
)

// closures are the budgets that the service has closed: a 429 closes its budget
// for every caller of this client until its Retry-After has passed, since
// another try before can only be refused too.
type closures struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// block closes a budget for d.
func (b *closures) block(budget string, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until == nil {
		b.until = make(map[string]time.Time, 2)
	}
	if at := time.Now().Add(d); at.After(b.until[budget]) {
		b.until[budget] = at
	}
}

// wait returns how long the first of the budgets that is closed stays so.
func (b *closures) wait(budgets ...string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, budget := range budgets {
		at, ok := b.until[budget]
		if !ok {
			continue
		}
		if wait := time.Until(at); wait > 0 {
			return wait
		}
		delete(b.until, budget)
	}
	return 0
}

// keyBudget is the budget of the call's key, over everything.
func (c *call) keyBudget() string { return string(c.env) }

// classBudget is the budget of the user for writes of the call's class, which the
// terminal and the user's other keys draw on too.
func (c *call) classBudget() string { return c.endpoint.class }

// blockBudget closes the budget that a 429 speaks of. Only the key's own comes
// with the X-RateLimit headers.
func (c *call) blockBudget(d time.Duration) {
	_, ofKey := parseRateLimit(c.last.header).Get()
	if c.endpoint.class != "" && !ofKey {
		c.core.closures.block(c.classBudget(), d)
		return
	}
	c.core.closures.block(c.keyBudget(), d)
}

// waitForBudget waits until the call's budgets are open. A wait that the call
// would not survive is refused at once, with its length.
func (c *call) waitForBudget() error {
	if c.endpoint.keyless {
		return nil
	}
	for {
		wait := c.core.closures.wait(c.keyBudget(), c.classBudget())
		if wait == 0 {
			return nil
		}
		if c.opts.failFast || c.outlives(wait) {
			refusal := refuse(c.env, CodeRateLimited, "the service has closed this budget for another %s", wait.Round(time.Millisecond))
			refusal.RetryAfter = wait
			return refusal
		}
		if err := c.pause(wait); err != nil {
			return err
		}
	}
}

// Lane says what a call's place in the rate limits is for. Where places are
// short, a higher lane is served first; within a lane it is first come, first
// served.
type Lane uint8

// The lanes, from the one that is served last.
const (
	// LaneRead is for reads, polling above all.
	LaneRead Lane = iota
	// LaneEntry is for writes that can add exposure.
	LaneEntry
	// LaneDoubt is for what finds out what became of a write: resends, fences, and
	// the reads of a recovery. It may use the reserve.
	LaneDoubt
	// LaneExit is for closes, cancels, triggers and reduce-only orders, and for the
	// reads that getting out needs. It may use the reserve.
	LaneExit
)

// String returns the name of the lane.
func (l Lane) String() string {
	switch l {
	case LaneRead:
		return "read"
	case LaneEntry:
		return "entry"
	case LaneDoubt:
		return "doubt"
	case LaneExit:
		return "exit"
	default:
		return "Lane(" + strconv.Itoa(int(l)) + ")"
	}
}

// lane returns the lane that the next send takes its places in.
func (c *call) lane() Lane {
	lane := LaneRead
	switch {
	case !c.endpoint.write:
	case c.entry:
		lane = LaneEntry
	default:
		lane = LaneExit
	}
	if asked, ok := c.opts.lane.Get(); ok && !c.entry {
		lane = max(lane, asked)
	}
	if c.doubt {
		lane = max(lane, LaneDoubt)
	}
	return lane
}
