package trading

import (
	"context"
	"strconv"
	"time"
)

// The service's limits: 600 requests a minute for a key over everything, and for
// a user 150 a minute of each class of live writes, 20 of each Pro order type.
const (
	limitWindow = time.Minute
	keyLimit    = 600
	classLimit  = 150
	proLimit    = 20
)

// Budget is how a client keeps within the service's rate limits. Its zero value
// is the default: exact windows in this process, and a tenth of each limit kept
// for exits and for what finds out what became of a write.
//
// The limits are counted as windows: a place is held from the moment it is taken
// until a minute after the answer. So however the service cuts its own minutes, it
// sees no more than it allows.
type Budget struct {
	// Off counts nothing. What the service closes by a 429 stays closed all the
	// same until its Retry-After has passed.
	Off bool
	// Store counts the places; nil counts in this process, for this client alone.
	// Clients that share a key or a user share a store: [NewBudgetStore] within a
	// process, contrib/redis or one of the program's own across processes. It is
	// asked for one place at a time, so an exit waits for no more than the question
	// that is under way; an answer that takes longer than a second is a failure. One
	// that fails is left alone for five seconds, while the client counts for itself.
	Store BudgetStore
	// Owner names the user whose limits are counted in Store. It must be the same
	// in every client that shares them, and is required with a Store.
	Owner string
	// PerKey, PerClass and PerPro are the places a minute of a key, of a class of live
	// writes and of a Pro order type; 0 is the contract's 600, 150 and 20. Programs
	// that share a key or a user without a Store take a part of them each. A PerKey of
	// the program's own stands whatever limit the service tells.
	PerKey, PerClass, PerPro int
	// ReservePct is the share of each limit, in percent, that entries and reads
	// leave to the other lanes: 10 if 0, none if below 0, 90 at the most.
	ReservePct int
}

// WithBudget configures how the client keeps within the rate limits.
func WithBudget(b Budget) Option {
	return clientOption(func(c *config) error {
		switch {
		case b.ReservePct > 90:
			return invalid("WithBudget", "ReservePct is %d, and at most 90", b.ReservePct)
		case b.Store != nil && b.Owner == "":
			return invalid("WithBudget", "a Store needs an Owner: the user whose limits it counts")
		case b.PerKey < 0 || b.PerClass < 0 || b.PerPro < 0:
			return invalid("WithBudget", "no limit can be negative")
		case b.Store != nil && b.Off:
			return invalid("WithBudget", "it has a Store and is Off")
		}
		c.budget = b
		return nil
	})
}

// Bucket is one rate limit: of a key, or of a user for one class of writes.
type Bucket struct {
	// Name tells buckets apart. It holds a digest of the API key, never the key.
	Name string
	// Limit is the number of places in a window.
	Limit int
	// Window is the length of the window.
	Window time.Duration
}

// Claim asks for one place of a bucket.
type Claim struct {
	// Bucket is where.
	Bucket Bucket
	// Keep is how many places must be left after it, for higher lanes.
	Keep int
}

// Taken is what a [BudgetStore] answers to claims: a place in every bucket, or
// none in any.
type Taken struct {
	// Wait is how long no place can become free, above 0 exactly if none was taken.
	Wait time.Duration
	// Lacks names the bucket that this is for.
	Lacks string
	// Place names the places for Return, as the store likes.
	Place string
}

// Usage is what a rate limit has left.
type Usage struct {
	// Bucket is the limit, as the service last told it.
	Bucket Bucket
	// Spent is how many places the store's clients hold: requests under way, and
	// those answered less than a window ago.
	Spent int
	// Elsewhere is how many others held when the service last told: the terminal,
	// other programs, the user's other keys. 0 once that is over.
	Elsewhere int
	// Left is how many places could be taken now, reserve included.
	Left int
	// Closed is how long the service still refuses everything.
	Closed time.Duration
}

// BudgetStore counts the places of rate limits. It is safe for concurrent use;
// package budgettest shows whether an implementation is right.
type BudgetStore interface {
	// Take takes a place for each claim, or none at all. hold is how long the
	// request can be under way at the most: a store that outlives a process gives
	// the places of one that has died back a window after that.
	Take(ctx context.Context, claims []Claim, hold time.Duration) (Taken, error)
	// Return ends what Take began, with the same claims. A request that was sent
	// holds its places for one window from now, one that was not gives them back.
	Return(ctx context.Context, place string, claims []Claim, sent bool) error
	// Block closes a bucket for d from now. A shorter block does not end a longer one.
	Block(ctx context.Context, b Bucket, d time.Duration) error
	// Learn notes the service's word, in the answer to a request that is not
	// returned yet, that left places of the bucket can still be taken within d. The
	// newest word counts; of the others under way it may not know.
	Learn(ctx context.Context, b Bucket, left int, d time.Duration) error
	// Usage returns what is left of the buckets, in their order.
	Usage(ctx context.Context, buckets []Bucket) ([]Usage, error)
}

// Usage returns what is left of the client's rate limits: of its keys, and with
// a live key of each class of live writes.
func (c *Client) Usage(ctx context.Context) ([]Usage, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	return c.core.budgets.usage(ctx, c.core)
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
	case c.opts.resolving:
		return LaneDoubt
	case c.entry:
		lane = LaneEntry
	case c.endpoint.write:
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
