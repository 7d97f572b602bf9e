package trading

import (
	"time"

	"github.com/tradingapi/trading-go/profile"
	"github.com/tradingapi/trading-go/ratelimit"
)

// Settings that an option replaces as a whole, or that it adds up.

// Retry bounds how often and how fast a call is sent again. Whether it may be
// sent again at all is not a setting: that is decided by [Rules].
type Retry struct {
	Attempts      int // how often a call is sent at the most, the first time included; 4
	PriceAttempts int // how often a write is sent at the most for want of a fresh price; 3
	// MinWait and MaxWait bound the wait between attempts, which doubles and is
	// spread at random; 200ms and 5s. A Retry-After is waited for in full, or not at all.
	MinWait, MaxWait time.Duration
}

// RateLimits is how a client keeps within the service's rate limits. Its zero value
// is the default: exact windows in this process, and a tenth of each limit reserved
// for exits and for finding out the outcome of a write.
//
// The limits are counted as sliding windows: a slot is held from the moment it is
// taken until a minute after the answer. So the service sees no more than it allows,
// wherever it begins its own minutes.
type RateLimits struct {
	Off bool // counts nothing; what a 429 closes stays closed all the same until its Retry-After

	// Store counts the slots; nil counts in this process, for this client alone.
	// Clients that share a key or a user share a store: [ratelimit.NewMemoryStore]
	// within a process, contrib/redis or the program's own across processes. A call of
	// a store that takes longer than a second is abandoned, and a store that fails is
	// left alone for five seconds, while the client counts by itself.
	Store ratelimit.Store
	// Owner names the user whose limits are counted in Store. It must be the same in
	// every client that shares them, and is required with a Store.
	Owner string
	// PerKey, PerClass and PerPro are the slots a minute of a key, of a class of live
	// writes and of a Pro order type; 0 is the contract's 600, 150 and 20. Programs
	// that share a key or a user without a Store take a part of them each.
	PerKey, PerClass, PerPro int
	// ReservePct is the share of each limit, in percent, that reads and entries leave
	// to higher priorities: 10 if 0, none if less than 0, 90 at the most.
	ReservePct int
}

// Recovery is how the client finds out what became of a write. Its zero value is the default.
type Recovery struct {
	// Profile has the client do without what the service was seen not to do, by package observe:
	// docs/service-reference.md says of each assumption what falls where it does not hold. A profile only takes
	// away: the question for a stored answer, fences, baselines by answers, accounting, a second send of an
	// entry, the use of a health of unknown age. It changes no request, and nothing that an exit may. One that is
	// older than 30 days, of another base URL, or of another holder than [Client.Me] says, does not count, which
	// the log and [Hooks.ProfileIgnored] say.
	Profile *profile.Profile
	// ReadLag says that a read may show what was up to so long before a write that was answered: 5 seconds
	// if 0, and at least, and 10 minutes at the most. Whoever is asked whether a lost write ran waits as
	// long between two looks.
	ReadLag time.Duration
	// WithoutProbe never sends a write again to get its stored answer. That repeat, the probe,
	// is the only request that the client sends by itself and that can place an order. It
	// takes two or three accidents, which docs/outcomes.md describes. Without the probe more
	// outcomes take half an hour, or stay unknown. The journal keeps what a call was given.
	WithoutProbe bool
	// WithoutBackground resolves writes of unknown outcome only while somebody waits: the
	// call itself, [Client.Resolve] or [Client.Recover]. Then Recover resolves one write
	// after another.
	WithoutBackground bool
	// WithoutBaseline sends the first entry on an account of [WithExclusiveAccounts] at once. It
	// else waits until 5 seconds after the client's start, or after the last of its own writes, for
	// a look at the account, unless its journal is new or has rested for 20 seconds, or it has less
	// time. The first read of the account, or [Client.Recover] where the account is named, begins with that
	// look in the background, unless WithoutBackground is set. What is lost before the first baseline
	// stays unknown.
	WithoutBaseline bool
}
