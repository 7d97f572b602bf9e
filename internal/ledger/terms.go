package ledger

import (
	"time"

	"github.com/tradingapi/trading-go/internal/servicetime"
)

// Source is where the write's key comes from.
type Source uint8

// The sources.
const (
	// Fresh keys are nobody's but this write's.
	Fresh Source = iota
	// Derived keys are made from a client order id: another run of the program, or
	// another program, may use them too. They move to the next try.
	Derived
	// Given keys are the caller's, and never replaced.
	Given
)

// Terms are what is fixed before the first send.
type Terms struct {
	// Keyed is a live write, which has an idempotency key. A paper write has none.
	Keyed bool `json:"keyed,omitempty"`
	// Entry adds exposure.
	Entry bool `json:"entry,omitempty"`
	// Resolves means that what became of it is found out after the sending. Of a
	// cancel it is not: the list of open orders says it.
	Resolves bool `json:"resolves,omitempty"`
	// Idempotent means that a second execution changes nothing that the first has not: of a
	// full close or a cancel. It is asked for again while it runs.
	Idempotent bool `json:"idempotent,omitempty"`
	// Lasting means that an execution leaves a trace that nobody can take away: not
	// so for resting limits and Pro orders, which can be cancelled.
	Lasting bool `json:"lasting,omitempty"`
	// Exclusive means that nobody else trades the account.
	Exclusive bool `json:"exclusive,omitempty"`
	// TTL is how long after the decision it may be sent; 0 sends once, within the time of
	// one attempt.
	TTL time.Duration `json:"ttl,omitempty"`
	// Attempt bounds one attempt.
	Attempt time.Duration `json:"attempt,omitempty"`
	// NoProbe: the original bytes are never sent to ask for the stored answer.
	NoProbe bool `json:"noProbe,omitempty"`
	// Without is what is not relied on.
	Without Without `json:"without,omitzero"`
	// SendsMissing: the journal of an earlier run may lack sends, so that none counts as
	// the only one.
	SendsMissing bool `json:"-"`
	// Source and FirstUseKnown are of the key: a paper write, which has none, is the first.
	Source        Source `json:"source,omitempty"`
	FirstUseKnown bool   `json:"firstUse,omitempty"`
	// NotBefore means that the caller named a time before which the key was not used, which says
	// nothing more where FirstUseKnown is true. Since is that time, if it is known by the service's clock.
	NotBefore bool             `json:"notBefore,omitempty"`
	Since     servicetime.Time `json:"since,omitzero"`
	// Decided is when.
	Decided Instant `json:"decided"`
	// Retry bounds the sending; it is of the call and not kept.
	Retry Bounds `json:"-"`
}

// Bounds are how often and how fast a write is sent.
type Bounds struct {
	Attempts, PriceAttempts int
	MinWait, MaxWait        time.Duration
	FailFast                bool // no waiting for a rate limit
}

// The times of the protocol.
const (
	// Gap is how far apart two answers 422 must be before a probe.
	Gap = 3 * time.Second
	// Lag is how far behind a read of the account may be, unless [Without] says more.
	Lag = 5 * time.Second
	// quietFor is how long nothing of the write was sent before a probe.
	quietFor = 5 * time.Second
	// probeWithin is how old the last 422 may be when the probe goes.
	probeWithin = time.Second
	// Window is how young a write must be for a probe.
	Window = 10 * time.Minute
	// Gone is how long after its last byte a write has run or never will.
	Gone = 30 * time.Minute
	// Forgotten is how old a write is whose key the service may have forgotten.
	Forgotten = 24 * time.Hour
	// clockLoses: over a restart the service's clock may lose this part of what passes.
	clockLoses = 100
	// ClocksAgree is how far wall and monotonic clock may differ.
	ClocksAgree = 2 * time.Second
	// pollFor is how long after its decision a write that runs is asked for again.
	pollFor = 20 * time.Second
	// paperHeld is how long after its last byte a paper write is taken to have run or
	// never to run.
	paperHeld = 30 * time.Second
	// fenceWait and maxFenceWait bound the wait after a fence that proved nothing.
	fenceWait    = time.Second
	maxFenceWait = time.Minute
	// maxLookWait bounds the wait between looks that leave the outcome open.
	maxLookWait = 5 * time.Minute
)
