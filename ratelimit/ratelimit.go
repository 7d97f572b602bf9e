// Package ratelimit counts a service's rate limits, and defines the store in which
// several programs can count them together.
//
// A limit is counted as a sliding window: a slot is held from the moment it is taken
// until one window after the answer. So the service sees no more requests than it
// allows in any window, wherever it begins its own.
//
// [NewMemoryStore] counts within one process; contrib/redis counts across processes.
// Package ratelimittest checks any other implementation of [Store].
package ratelimit

import (
	"context"
	"time"
)

// Bucket is one rate limit: of an API key, or of a user for one class of writes.
type Bucket struct {
	// Name identifies the bucket, such as "key/live/1f0c9a3e" or
	// "user/desk-1/market-orders". It never holds the API key, only eight digits of
	// its digest.
	Name string
	// Limit is the number of requests in a window.
	Limit int
	// Window is the length of the window.
	Window time.Duration
}

// Need is the request for one slot of a bucket.
type Need struct {
	// Bucket is the bucket.
	Bucket Bucket
	// Reserve is how many slots must stay free after this one is taken, for requests
	// of a higher priority.
	Reserve int
}

// Grant is the answer of a [Store] to a list of needs: one slot in each bucket, or
// none in any.
type Grant struct {
	// Slot names the slots for Return. Its form is the store's own.
	Slot string
	// Wait is the time during which no slot can become free. It is greater than 0 if
	// and only if no slot was taken.
	Wait time.Duration
	// Bucket names the bucket that Wait is about.
	Bucket string

	// By the rest a client goes on while the store is away; without it, it takes a quarter of each
	// limit.

	// Left is of each need, in their order, how many slots are left, the reserve included; nil
	// where the store does not say.
	Left []int
	// Sharers is how many clients have asked for slots in the last window, this one included; 0
	// where that is not known.
	Sharers int
	// Since is from when on the store knows what was taken; the zero time where that is not
	// known. Another one than before means that it has forgotten what came before.
	Since time.Time
}

// Usage is the state of a rate limit.
type Usage struct {
	// Bucket is the limit as it is enforced now.
	Bucket Bucket
	// Used is the number of slots that the clients of the store hold: requests under
	// way, and those answered less than a window ago.
	Used int
	// Elsewhere is the number of slots that others held (the terminal, other
	// programs, the user's other keys) when the service last refused a request. It is
	// 0 when the bucket is open.
	Elsewhere int
	// Left is the number of slots that can be taken now, the reserve included.
	Left int
	// Closed is how long the service refuses every request of the bucket.
	Closed time.Duration
}

// Store counts the slots of rate limits. It is safe for concurrent use. The client
// asks it for one grant at a time, and abandons a call that takes longer than a
// second: such a call should end when its context does.
type Store interface {
	// Take takes one slot for each need, or none at all. client is who asks, by a name that
	// no other client has: several of one process may share a store. hold is the longest time
	// that the request can be under way: a store that outlives its processes frees
	// the slots of a process that died one window after that.
	Take(ctx context.Context, client string, needs []Need, hold time.Duration) (Grant, error)
	// Return ends what Take began, for the same needs. The slots of a request that
	// was sent are held for one window from now; the others are free at once.
	Return(ctx context.Context, slot string, needs []Need, sent bool) error
	// Block closes a bucket for d from now, because the service said that it is full.
	// A shorter block does not end a longer one.
	Block(ctx context.Context, b Bucket, d time.Duration) error
	// Usage returns the state of the buckets, in their order.
	Usage(ctx context.Context, buckets []Bucket) ([]Usage, error)
}
