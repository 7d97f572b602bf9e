package trading

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/secret"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/ratelimit"
)

// Option configures a [Client].
type Option interface{ applyClient(*config) error }

// CallOption configures one call, or every call of a handle.
type CallOption interface{ applyCall(*callOptions) error }

// SharedOption is the client's default, or one call's own.
type SharedOption interface {
	Option
	CallOption
}

type clientOption func(*config) error

func (o clientOption) applyClient(c *config) error { return o(c) }

type callOption func(*callOptions) error

func (o callOption) applyCall(c *callOptions) error { return o(c) }

type sharedOption func(*callOptions) error

func (o sharedOption) applyClient(c *config) error    { return o(&c.defaults) }
func (o sharedOption) applyCall(c *callOptions) error { return o(c) }

// config is what the options of New come to.
type config struct {
	sandboxKeys    keyring
	liveKeys       keyring
	transport      http.RoundTripper
	logger         *slog.Logger
	application    string
	gate           HealthGate
	guards         []Guard
	maxSlippagePct Opt[decimal.Decimal]
	journal        journal.Store
	rateLimits     RateLimits
	hooks          hooks
	exclusive      []AccountID
	exclusiveAll   bool
	withoutProbe   bool
	sharedIDs      bool
	plaintextHTTP  bool
	// withoutBackground: nothing is found out unless somebody waits.
	withoutBackground bool
	defaults          callOptions
}

// scrubber returns one that knows the keys that were given.
func (c *config) scrubber() *secret.Scrubber {
	s := new(secret.Scrubber)
	s.Know(string(EnvSandbox), c.sandboxKeys.given)
	s.Know(string(EnvLive), c.liveKeys.given)
	return s
}

// callOptions is what one call goes by; the zero value is completed by defaults.
type callOptions struct {
	retry          Retry
	attemptTimeout time.Duration
	ttl            Opt[time.Duration]
	resolveTimeout Opt[time.Duration]
	failFast       bool
	recovering     bool // the client finds out what became of a write
	skipHealthGate bool
	allowPending   bool
	priority       Opt[Priority]
	tag            string
	meta           *Meta
	key            keySource
	restores       IntentID // the setting whose levels are set again
}

// Defaults of the options.
const (
	defaultAttemptTimeout = 5 * time.Second
	// An entry is decided at a price, which does not keep; an exit is wanted
	// at any price.
	defaultEntryTTL = 10 * time.Second
	defaultExitTTL  = 2 * time.Minute
	// The service lets a key be claimed again after 15 minutes: whatever is sent
	// later than that can run a second time.
	maxTTL = 12 * time.Minute
	// An entry may wait for its outcome; who wants out may want to try something else.
	defaultEntryPatience = 30 * time.Second
	defaultExitPatience  = 5 * time.Second
)

func defaultCallOptions() callOptions {
	return callOptions{
		retry: Retry{
			Attempts:      4,
			PriceAttempts: 3,
			MinWait:       200 * time.Millisecond,
			MaxWait:       5 * time.Second,
		},
		attemptTimeout: defaultAttemptTimeout,
	}
}

// ttlOf returns how long after the call a write may still be sent.
func (o *callOptions) ttlOf(entry bool) time.Duration {
	if ttl, set := o.ttl.Get(); set {
		return ttl
	}
	if entry {
		return defaultEntryTTL
	}
	return defaultExitTTL
}

// patience is how long a call waits for the outcome of a write that is in doubt.
func (o *callOptions) patience(entry bool) time.Duration {
	if patience, set := o.resolveTimeout.Get(); set {
		return patience
	}
	if entry {
		return defaultEntryPatience
	}
	return defaultExitPatience
}

// WithSandboxKey sets the key for the sandbox and for market data; it begins
// with pk_test_. A key of the other environment is an error here, before a byte
// is sent.
func WithSandboxKey(key string) Option {
	return clientOption(func(c *config) error {
		if err := checkKey(EnvSandbox, key); err != nil {
			return invalidFor("WithSandboxKey", err)
		}
		c.sandboxKeys = keyring{given: newAPIKey(key)}
		return nil
	})
}

// WithLiveKey sets the key for the real accounts; it begins with pk_live_.
func WithLiveKey(key string) Option {
	return clientOption(func(c *config) error {
		if err := checkKey(EnvLive, key); err != nil {
			return invalidFor("WithLiveKey", err)
		}
		c.liveKeys = keyring{given: newAPIKey(key)}
		return nil
	})
}

// WithSandboxKeyFunc asks for the sandbox key at each attempt, so that it can be
// rotated while the program runs. ask is called by many goroutines, often, and
// should not block; its error ends the call before anything is sent.
func WithSandboxKeyFunc(ask func(context.Context) (string, error)) Option {
	return clientOption(func(c *config) error {
		if ask == nil {
			return invalid("WithSandboxKeyFunc", "the function is nil")
		}
		c.sandboxKeys = keyring{ask: ask}
		return nil
	})
}

// WithLiveKeyFunc asks for the live key at each attempt, as [WithSandboxKeyFunc].
// Idempotency keys belong to the account holder: a resend under a rotated API key
// is still covered.
func WithLiveKeyFunc(ask func(context.Context) (string, error)) Option {
	return clientOption(func(c *config) error {
		if ask == nil {
			return invalid("WithLiveKeyFunc", "the function is nil")
		}
		c.liveKeys = keyring{ask: ask}
		return nil
	})
}

// WithTransport sends through rt instead of the client's own connections. It
// must not retry and not follow redirects; a test's fake service is the usual one.
func WithTransport(rt http.RoundTripper) Option {
	return clientOption(func(c *config) error {
		if rt == nil {
			return invalid("WithTransport", "the transport is nil")
		}
		c.transport = rt
		return nil
	})
}

// WithPlaintextHTTP allows a base URL that begins with http:// and is not of this
// machine itself, such as that of a simulator in another container. It takes sandbox
// keys and the live keys of the simulator; any other live key is refused.
//
// It gives up two things: whoever is on the way can read the sandbox key and trade the
// paper account with it, and can change every answer, such as a price that a bot
// decides by.
func WithPlaintextHTTP() Option {
	return clientOption(func(c *config) error {
		c.plaintextHTTP = true
		return nil
	})
}

// WithLogger logs what the client does: each call at debug level, refusals at
// info, writes of unknown outcome at warn. Without it nothing is logged. What is
// logged is a fixed list of facts; keys, headers and bodies are not among them.
func WithLogger(l *slog.Logger) Option {
	return clientOption(func(c *config) error {
		c.logger = l
		return nil
	})
}

var productToken = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]{1,64}$`)

// WithApplication adds the program's name and version to the User-Agent header.
func WithApplication(name, version string) Option {
	return clientOption(func(c *config) error {
		// Neither is printed: what is in the wrong place may be a key.
		if !productToken.MatchString(name) || !productToken.MatchString(version) {
			return invalid("WithApplication", "the name and the version must have 1 to 64 letters, digits, dots and dashes each")
		}
		c.application = name + "/" + version
		return nil
	})
}

// WithHealthGate configures the health gate, which is on by default.
func WithHealthGate(g HealthGate) Option {
	return clientOption(func(c *config) error {
		c.gate = g
		return nil
	})
}

// WithGuard adds guards of the program's own, asked in order before every send of a write.
func WithGuard(guards ...Guard) Option {
	return clientOption(func(c *config) error {
		for _, guard := range guards {
			if guard == nil {
				return invalid("WithGuard", "the guard is nil")
			}
		}
		c.guards = append(c.guards, guards...)
		return nil
	})
}

// WithHooks adds hooks; those of several options are called in their order.
func WithHooks(h Hooks) Option {
	return clientOption(func(c *config) error {
		c.hooks = append(c.hooks, h)
		return nil
	})
}

// WithJournal keeps writes where they survive the end of the process, so that the
// next run knows what this one may have sent. The program opens it ([journal.Open])
// and closes it, after the client. While it cannot be written, entries are refused
// and exits go out without it.
//
// With a journal an entry on a live account first reads the account, for a second at the
// most, if its state is not known from reads of the last ten minutes. What the account
// showed before the entry is what later reads are compared with.
func WithJournal(j journal.Store) Option {
	return clientOption(func(c *config) error {
		if j == nil {
			return invalid("WithJournal", "the journal is nil")
		}
		c.journal = j
		return nil
	})
}

// WithExclusiveAccounts declares that nobody and nothing but this program trades the
// accounts: no person in the terminal, no other program. It is a declaration, not a
// lock. With it, what an account shows can also prove that a write whose answer is lost
// was executed. Without ids it declares every account, the paper account too.
func WithExclusiveAccounts(ids ...AccountID) Option {
	return clientOption(func(c *config) error {
		if err := checkAccountIDs("WithExclusiveAccounts", ids); err != nil {
			return err
		}
		c.exclusive = append(c.exclusive, ids...)
		c.exclusiveAll = c.exclusiveAll || len(ids) == 0
		return nil
	})
}

// WithoutProbe never sends a write again to get its stored answer. That repeat, the probe,
// is the only request that the client sends by itself and that can place an order. It
// takes two or three accidents, which docs/outcomes.md describes. Without the probe more
// outcomes take half an hour, or stay unknown.
func WithoutProbe() Option {
	return clientOption(func(c *config) error {
		c.withoutProbe = true
		return nil
	})
}

// WithoutBackground resolves writes of unknown outcome only while somebody waits: the
// call itself, [Client.Resolve] or [Client.Recover]. Then Recover resolves one write
// after another.
func WithoutBackground() Option {
	return clientOption(func(c *config) error {
		c.withoutBackground = true
		return nil
	})
}

// WithSharedOrderIDs says that other programs, with journals of their own, place
// orders under the same client order ids. Then the journal does not prove that an id
// is new.
func WithSharedOrderIDs() Option {
	return clientOption(func(c *config) error {
		c.sharedIDs = true
		return nil
	})
}

// WithMaxSlippagePct is sent with every market order that names none of its own:
// percent, 0.1 to 30, one decimal place. The service's own default, 8, is wide.
func WithMaxSlippagePct(pct decimal.Decimal) Option {
	return clientOption(func(c *config) error {
		if err := checkMaxSlippage("", Some(pct)); err != nil {
			return invalidFor("WithMaxSlippagePct", err)
		}
		c.maxSlippagePct = Some(pct)
		return nil
	})
}

// Retry bounds how often and how fast a call is sent again. Whether it may be
// sent again at all is not a setting: that is decided by [Rules].
type Retry struct {
	// Attempts is how often a call is sent at the most, the first time included; 4.
	Attempts int
	// PriceAttempts is how often a write is sent at the most for want of a fresh price; 3.
	PriceAttempts int
	// MinWait and MaxWait bound the wait between attempts, which doubles and is
	// spread at random; 200ms and 5s. A Retry-After is waited for in full.
	MinWait, MaxWait time.Duration
}

// backoff is the most that is waited before the next send: it doubles.
func (r Retry) backoff(sends int) time.Duration {
	wait := r.MaxWait
	if shift := max(sends-1, 0); shift < 20 && r.MinWait<<shift < r.MaxWait {
		wait = r.MinWait << shift
	}
	return wait
}

// WithRetry replaces the bounds of sending again; fields left zero keep their default.
func WithRetry(r Retry) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if r.Attempts < 0 || r.PriceAttempts < 0 || r.MinWait < 0 || r.MaxWait < 0 {
			return invalid("WithRetry", "it is %+v: no bound must be negative", r)
		}
		if r.Attempts > 0 {
			c.retry.Attempts = r.Attempts
		}
		if r.PriceAttempts > 0 {
			c.retry.PriceAttempts = r.PriceAttempts
		}
		if r.MinWait > 0 {
			c.retry.MinWait = r.MinWait
		}
		if r.MaxWait > 0 {
			c.retry.MaxWait = r.MaxWait
		}
		if c.retry.MinWait > c.retry.MaxWait {
			return invalid("WithRetry", "MinWait is %s: it must not be above MaxWait, which is %s", c.retry.MinWait, c.retry.MaxWait)
		}
		return nil
	})
}

// WithAttemptTimeout bounds one attempt, from connecting to the last byte of the
// answer; 5 seconds unless set. The context bounds the whole call.
func WithAttemptTimeout(d time.Duration) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if d <= 0 {
			return invalid("WithAttemptTimeout", "it is %s: it must be greater than 0", d)
		}
		c.attemptTimeout = d
		return nil
	})
}

// WithSendTTL bounds how long after the call began a write may still be sent, waits
// included: a decision taken at one price must not go out at another. 10 seconds for
// entries and 2 minutes for exits unless set; 0 sends once and never again, and
// implies [WithoutProbe]; 12 minutes is the most.
func WithSendTTL(d time.Duration) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if d < 0 || d > maxTTL {
			return invalid("WithSendTTL", "it is %s: it must be between 0 and %s", d, maxTTL)
		}
		c.ttl = Some(d)
		return nil
	})
}

// WithResolveTimeout bounds how long a write waits, after its last send, for an outcome
// that is in doubt: 30 seconds for entries and 5 for exits unless set; 0 returns
// [Unknown] at once. The client then resolves the write in the background.
func WithResolveTimeout(d time.Duration) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if d < 0 {
			return invalid("WithResolveTimeout", "it is %s: it must not be negative", d)
		}
		c.resolveTimeout = Some(d)
		return nil
	})
}

// WithTag names the decision behind a call in logs and guards. It is never sent.
func WithTag(tag string) SharedOption {
	return sharedOption(func(c *callOptions) error {
		c.tag = tag
		return nil
	})
}

// FailFast refuses with [CodeRateLimited] where the call would otherwise wait
// for a rate limit.
func FailFast() SharedOption {
	return sharedOption(func(c *callOptions) error {
		c.failFast = true
		return nil
	})
}

// WithPriority raises the call's priority in the rate limits, for the reads that an
// exit depends on. It does not raise an entry's: the reserve is for exits.
func WithPriority(p Priority) CallOption {
	return callOption(func(c *callOptions) error {
		if p > PriorityExit {
			return invalid("WithPriority", "it is %s: it must be one of the four priorities", p)
		}
		c.priority = Some(p)
		return nil
	})
}

// SkipHealthGate sends this write whatever the health gate says.
func SkipHealthGate() CallOption {
	return callOption(func(c *callOptions) error {
		c.skipHealthGate = true
		return nil
	})
}

// AllowPending sends this entry although the outcome of an earlier write in its
// market is not known. If that one was executed, this one comes on top of it.
func AllowPending() CallOption {
	return callOption(func(c *callOptions) error {
		c.allowPending = true
		return nil
	})
}

// ResponseInto writes the facts of the answer, raw body included, into m, also
// when the call fails.
func ResponseInto(m *Meta) CallOption {
	return callOption(func(c *callOptions) error {
		if m == nil {
			return invalid("ResponseInto", "the Meta is nil")
		}
		c.meta = m
		return nil
	})
}

// Write describes a write to guards.
type Write struct {
	// Operation is the endpoint.
	Operation Operation
	// Environment is sandbox or live.
	Environment Environment
	// Account is the live account; empty on the sandbox.
	Account AccountID
	// Symbol is the market, empty where the write is for none.
	Symbol string
	// Entry means that the write can add exposure; an exit cannot.
	Entry bool
	// Order is the order; nil unless the write is one.
	Order *Order
	// Tag is the caller's name for the decision.
	Tag string

	// What the caller asked the client's own guards to let pass.
	skipHealth, allowPending bool
}

// OnlyAccounts is a guard that refuses writes to any other account: one live key
// reaches every account of its owner.
func OnlyAccounts(ids ...AccountID) Guard {
	allowed := slices.Clone(ids)
	return func(_ context.Context, w Write) error {
		if w.Environment == EnvLive && !slices.Contains(allowed, w.Account) {
			return fmt.Errorf("account is %q: it must be one of those of OnlyAccounts", w.Account)
		}
		return nil
	}
}

// Guard is asked before every send of a write. An error holds the write back:
// nothing is sent, and the caller gets a [GuardError] that wraps it.
type Guard func(ctx context.Context, w Write) error

// WithClientOrderID names what was decided, such as "breakout 2026-11-20T10:15". A
// program that decides the same again, after a crash or in another process, sends
// the same idempotency keys, and so places nothing twice: the service answers for 24
// hours, a journal until [Client.ForgetClientOrderID]. An id names one decision, and
// not the day or the strategy alone: a second order under the same id is taken for
// the first, whose answer comes back. Account, operation and the number of the try
// are added by the client.
//
// Use it with a journal ([WithJournal]). Without one an earlier run may have sent the
// order, so a refusal does not say that it was not executed: it is [Unknown].
func WithClientOrderID(id string, more ...ClientOrderIDOption) CallOption {
	return callOption(func(c *callOptions) error {
		if id == "" {
			return invalid("WithClientOrderID", "the id is empty: it must name one decision")
		}
		if c.key.given != "" {
			return invalid("WithClientOrderID", "the call has WithIdempotencyKey too: it must have a key or an id")
		}
		c.key = keySource{id: id}
		for _, option := range more {
			option(&c.key)
		}
		return nil
	})
}

// WithIdempotencyKey sends the write under this key and no other: the client
// never replaces it, not even where a refusal is stored under it. The sandbox has
// no idempotency, and is not sent any.
func WithIdempotencyKey(k Key) CallOption {
	return callOption(func(c *callOptions) error {
		if err := checkIdempotencyKey(k); err != nil {
			return invalidFor("WithIdempotencyKey", err)
		}
		if c.key.id != "" {
			return invalid("WithIdempotencyKey", "the call has WithClientOrderID too: it must have a key or an id")
		}
		c.key = keySource{given: k}
		return nil
	})
}

// RateLimits is how a client keeps within the service's rate limits. Its zero value
// is the default: exact windows in this process, and a tenth of each limit reserved
// for exits and for finding out the outcome of a write.
//
// The limits are counted as sliding windows: a slot is held from the moment it is
// taken until a minute after the answer. So the service sees no more than it allows,
// wherever it begins its own minutes.
type RateLimits struct {
	// Off counts nothing. What the service closes by a 429 stays closed all the same
	// until its Retry-After has passed.
	Off bool
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

// WithRateLimits configures how the client keeps within the rate limits.
func WithRateLimits(r RateLimits) Option {
	return clientOption(func(c *config) error {
		switch {
		case r.ReservePct > 90:
			return invalid("WithRateLimits", "ReservePct is %d: it must be at most 90", r.ReservePct)
		case r.Store != nil && r.Owner == "":
			return invalid("WithRateLimits", "Owner is empty: with a Store it must name the user whose limits are counted")
		case r.PerKey < 0 || r.PerClass < 0 || r.PerPro < 0:
			return invalid("WithRateLimits", "PerKey is %d, PerClass %d, PerPro %d: none must be negative", r.PerKey, r.PerClass, r.PerPro)
		case r.Store != nil && r.Off:
			return invalid("WithRateLimits", "Off is true: with a Store it must be false")
		}
		c.rateLimits = r
		return nil
	})
}

// recoveryOptions are those of the requests by which the client finds out.
func recoveryOptions() callOptions {
	opts := defaultCallOptions()
	opts.recovering, opts.retry.Attempts = true, 1
	return opts
}
