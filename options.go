package trading

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/secret"
	"github.com/tradingapi/trading-go/internal/wire"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/profile"
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
	recovery       Recovery
	plaintextHTTP  bool
	defaults       callOptions
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
	withoutProbe   bool
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
		retry:          Retry{Attempts: 4, PriceAttempts: 3, MinWait: 200 * time.Millisecond, MaxWait: 5 * time.Second},
		attemptTimeout: defaultAttemptTimeout,
	}
}

// ttlOf returns how long after the call a write may still be sent.
func (o *callOptions) ttlOf(entry bool) time.Duration {
	return orDefault(o.ttl, entry, defaultEntryTTL, defaultExitTTL)
}

// bounds are those of sending again.
func (o *callOptions) bounds() ledger.Bounds {
	return ledger.Bounds{
		Attempts: o.retry.Attempts, PriceAttempts: o.retry.PriceAttempts,
		MinWait: o.retry.MinWait, MaxWait: o.retry.MaxWait, FailFast: o.failFast,
	}
}

// patience is how long a call waits for the outcome of a write that is in doubt.
func (o *callOptions) patience(entry bool) time.Duration {
	return orDefault(o.resolveTimeout, entry, defaultEntryPatience, defaultExitPatience)
}

func orDefault(set Opt[time.Duration], entry bool, ofEntry, ofExit time.Duration) time.Duration {
	switch d, ok := set.Get(); {
	case ok:
		return d
	case entry:
		return ofEntry
	default:
		return ofExit
	}
}

// option is a client's, unless something is wrong with it.
func option(wrong error, set func(*config)) Option {
	return clientOption(func(c *config) error {
		if wrong == nil {
			set(c)
		}
		return wrong
	})
}

// shared is a client's or a call's, unless something is wrong with it.
func shared(wrong error, set func(*callOptions)) sharedOption {
	return func(c *callOptions) error {
		if wrong == nil {
			set(c)
		}
		return wrong
	}
}

// refusedIf is what is wrong with an option if bad is true.
func refusedIf(bad bool, option, format string, args ...any) error {
	if !bad {
		return nil
	}
	return invalid(option, format, args...)
}

// WithSandboxKey sets the key for the sandbox and for market data; it begins
// with pk_test_. A key of the other environment is an error here, before a byte
// is sent.
func WithSandboxKey(key string) Option {
	return option(invalidFor("WithSandboxKey", checkKey(EnvSandbox, key)), func(c *config) { c.sandboxKeys = keyring{given: newAPIKey(key)} })
}

// WithLiveKey sets the key for the real accounts; it begins with pk_live_.
func WithLiveKey(key string) Option {
	return option(invalidFor("WithLiveKey", checkKey(EnvLive, key)), func(c *config) { c.liveKeys = keyring{given: newAPIKey(key)} })
}

// WithKeyFunc asks for the key of an environment at each attempt, so that it can be
// rotated while the program runs. fetch is called by many goroutines, often, and
// should not block; its error ends the call before anything is sent. Idempotency keys
// belong to the account holder: a resend under a rotated API key is still covered.
func WithKeyFunc(env Environment, fetch func(context.Context) (string, error)) Option {
	return option(cmp.Or(
		refusedIf(env != EnvSandbox && env != EnvLive, "WithKeyFunc", "environment is %q: it must be sandbox or live", env),
		refusedIf(fetch == nil, "WithKeyFunc", "the function is nil"),
	), func(c *config) {
		if env == EnvLive {
			c.liveKeys = keyring{fetch: fetch}
		} else {
			c.sandboxKeys = keyring{fetch: fetch}
		}
	})
}

// WithTransport sends through rt instead of the client's own connections. It
// must not retry and not follow redirects; a test's fake service is the usual one. Unless it is an
// [*http.Transport] without MaxConnsPerHost, the end of an attempt's time ends its request, and no exit
// asks twice.
//
// Where an attempt times out over an [*http.Transport], the next goes through a clone of it, since
// what swallows one connection swallows its neighbours. One that sets MaxConnsPerHost is not
// cloned, and of any other the idle connections are closed, where it has CloseIdleConnections.
func WithTransport(rt http.RoundTripper) Option {
	return option(refusedIf(rt == nil, "WithTransport", "the transport is nil"), func(c *config) { c.transport = rt })
}

// WithPlaintextHTTP allows a base URL that begins with http:// and is not of this
// machine itself, such as that of a simulator in another container. It takes sandbox
// keys and the live keys of the simulator; any other live key is refused. Whoever is on the
// way can read the sandbox key and trade the paper account with it, and can change every
// answer, such as a price that a bot decides by.
func WithPlaintextHTTP() Option { return option(nil, func(c *config) { c.plaintextHTTP = true }) }

// WithLogger logs what the client does: each call at debug level, refusals at
// info, writes of unknown outcome at warn. Without it nothing is logged. What is
// logged is a fixed list of facts; keys, headers and bodies are not among them.
func WithLogger(l *slog.Logger) Option { return option(nil, func(c *config) { c.logger = l }) }

var productToken = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~-]{1,64}$`)

// WithApplication adds the program's name and version to the User-Agent header.
func WithApplication(name, version string) Option {
	// Neither is printed: what is in the wrong place may be a key.
	bad := !productToken.MatchString(name) || !productToken.MatchString(version)
	return option(refusedIf(bad, "WithApplication", "the name and the version must have 1 to 64 letters, digits, dots and dashes each"),
		func(c *config) { c.application = name + "/" + version })
}

// WithHealthGate configures the health gate, which is on by default.
func WithHealthGate(g HealthGate) Option { return option(nil, func(c *config) { c.gate = g }) }

// WithGuard adds guards of the program's own, asked in order before every send of a write
// by its call.
func WithGuard(guards ...Guard) Option {
	missing := slices.ContainsFunc(guards, func(g Guard) bool { return g == nil })
	return option(refusedIf(missing, "WithGuard", "the guard is nil"), func(c *config) { c.guards = append(c.guards, guards...) })
}

// WithHooks adds hooks; those of several options are called in their order.
func WithHooks(h Hooks) Option { return option(nil, func(c *config) { c.hooks = append(c.hooks, h) }) }

// WithJournal keeps writes where they survive the end of the process, so that the
// next run knows what this one may have sent. The program opens it ([journal.Open])
// and closes it, after the client. While it cannot be written, entries are refused
// and exits go out without it.
//
// With a journal an entry on a live account first reads the account, for a second at the
// most, if its state is not known from reads of the last ten minutes. What the account
// showed before the entry is what later reads are compared with. Beside an exit that is the
// first write of a run one list is read, for the service's time, and the exit does not wait for it.
func WithJournal(j journal.Store) Option {
	return option(refusedIf(j == nil, "WithJournal", "the journal is nil"), func(c *config) { c.journal = j })
}

// WithExclusiveAccounts declares that nobody and nothing but this program trades the
// accounts: no person in the terminal, no other program. Where several clients of this
// program do, they have one journal handle and one base URL. It is a declaration, not a lock,
// and ends with the first sign of the contrary: see [Hooks.NotExclusive]. With it, what an
// account shows can also prove that a write whose answer is lost was executed. Without ids it
// declares every account, the paper account too.
func WithExclusiveAccounts(ids ...AccountID) Option {
	var wrong error
	for i, id := range ids {
		if f := check.ID("account", string(id)); f != nil && wrong == nil {
			wrong = invalid("WithExclusiveAccounts", "account id %d of %d: %s", i+1, len(ids), f.Text)
		}
	}
	return option(wrong, func(c *config) {
		c.exclusive = append(c.exclusive, ids...)
		c.exclusiveAll = c.exclusiveAll || len(ids) == 0
	})
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

type recoveryOption Recovery

// WithRecovery configures how the client finds out what became of a write; fields left zero stay
// as they were. For one call, or those of a handle, only WithoutProbe can be set.
func WithRecovery(r Recovery) SharedOption { return recoveryOption(r) }

func (o recoveryOption) wrong() error {
	if o.Profile != nil {
		if err := o.Profile.Validate(); err != nil {
			return invalidFor("WithRecovery", err)
		}
	}
	return refusedIf(o.ReadLag != 0 && (o.ReadLag < ledger.Lag || o.ReadLag > ledger.Window), "WithRecovery",
		"ReadLag is %s: it must be between %s and %s", o.ReadLag, ledger.Lag, ledger.Window)
}

func (o recoveryOption) applyClient(c *config) error {
	if err := o.wrong(); err != nil {
		return err
	}
	r := &c.recovery
	r.Profile, r.ReadLag = cmp.Or(o.Profile, r.Profile), cmp.Or(o.ReadLag, r.ReadLag)
	r.WithoutBackground, r.WithoutBaseline = r.WithoutBackground || o.WithoutBackground, r.WithoutBaseline || o.WithoutBaseline
	c.defaults.withoutProbe = c.defaults.withoutProbe || o.WithoutProbe
	return nil
}

func (o recoveryOption) applyCall(c *callOptions) error {
	if err := o.wrong(); err != nil {
		return err
	}
	if o != (recoveryOption{WithoutProbe: o.WithoutProbe}) {
		return invalid("WithRecovery", "a call has more than WithoutProbe: the rest must be set by New")
	}
	c.withoutProbe = c.withoutProbe || o.WithoutProbe
	return nil
}

// WithMaxSlippagePct is sent with every market order that names none of its own:
// percent, 0.1 to 30, one decimal place. The service's own default, 8, is wide.
func WithMaxSlippagePct(pct decimal.Decimal) Option {
	return option(invalidFor("WithMaxSlippagePct", local("", check.MaxSlippage(wire.Some(pct)))), func(c *config) { c.maxSlippagePct = Some(pct) })
}

// Retry bounds how often and how fast a call is sent again. Whether it may be
// sent again at all is not a setting: that is decided by [Rules].
type Retry struct {
	Attempts      int // how often a call is sent at the most, the first time included; 4
	PriceAttempts int // how often a write is sent at the most for want of a fresh price; 3
	// MinWait and MaxWait bound the wait between attempts, which doubles and is
	// spread at random; 200ms and 5s. A Retry-After is waited for in full, or not at all.
	MinWait, MaxWait time.Duration
}

// WithRetry replaces the bounds of sending again; fields left zero keep their default.
func WithRetry(r Retry) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if r.Attempts < 0 || r.PriceAttempts < 0 || r.MinWait < 0 || r.MaxWait < 0 {
			return invalid("WithRetry", "it is %+v: no bound must be negative", r)
		}
		c.retry = Retry{
			Attempts: cmp.Or(r.Attempts, c.retry.Attempts), PriceAttempts: cmp.Or(r.PriceAttempts, c.retry.PriceAttempts),
			MinWait: cmp.Or(r.MinWait, c.retry.MinWait), MaxWait: cmp.Or(r.MaxWait, c.retry.MaxWait),
		}
		return refusedIf(c.retry.MinWait > c.retry.MaxWait, "WithRetry",
			"MinWait is %s: it must not be above MaxWait, which is %s", c.retry.MinWait, c.retry.MaxWait)
	})
}

// WithAttemptTimeout bounds the waiting for one attempt, from connecting to the last byte of the
// answer; 5 seconds unless set. A write's answer that comes later counts all the same. The context
// bounds the whole call.
func WithAttemptTimeout(d time.Duration) SharedOption {
	return shared(refusedIf(d <= 0, "WithAttemptTimeout", "it is %s: it must be greater than 0", d), func(c *callOptions) { c.attemptTimeout = d })
}

// WithSendTTL bounds how long after the call began a write may still be sent, waits
// included: a decision taken at one price must not go out at another. 10 seconds for
// entries and 2 minutes for exits unless set; 0 sends once, within the time of one
// attempt, and implies [Recovery.WithoutProbe]; 12 minutes is the most. It is judged once the
// connection is there, by the wall clock too: a suspended machine sends nothing old.
func WithSendTTL(d time.Duration) SharedOption {
	return shared(refusedIf(d < 0 || d > maxTTL, "WithSendTTL", "it is %s: it must be between 0 and %s", d, maxTTL),
		func(c *callOptions) { c.ttl = Some(d) })
}

// WithResolveTimeout bounds how long a write waits, after its last send, for an outcome
// that is in doubt: 30 seconds for entries and 5 for exits unless set; 0 returns
// [Unknown] at once. The client then resolves the write in the background.
func WithResolveTimeout(d time.Duration) SharedOption {
	return shared(refusedIf(d < 0, "WithResolveTimeout", "it is %s: it must not be negative", d), func(c *callOptions) { c.resolveTimeout = Some(d) })
}

// WithTag names the decision behind a call in logs and guards. It is never sent.
func WithTag(tag string) SharedOption { return shared(nil, func(c *callOptions) { c.tag = tag }) }

// FailFast refuses with [CodeRateLimited] where the call would otherwise wait
// for a rate limit.
func FailFast() SharedOption { return shared(nil, func(c *callOptions) { c.failFast = true }) }

// WithPriority raises the call's priority in the rate limits, for the reads that an
// exit depends on. It does not raise an entry's: the reserve is for exits.
func WithPriority(p Priority) CallOption {
	return callOption(shared(refusedIf(p > PriorityClose, "WithPriority", "it is %s: it must be one of the five priorities", p),
		func(c *callOptions) { c.priority = Some(p) }))
}

// SkipHealthGate sends this write whatever the health gate says.
func SkipHealthGate() CallOption {
	return callOption(shared(nil, func(c *callOptions) { c.skipHealthGate = true }))
}

// AllowPending sends this entry although the outcome of an earlier write in its
// market is not known. If that one was executed, this one comes on top of it.
func AllowPending() CallOption {
	return callOption(shared(nil, func(c *callOptions) { c.allowPending = true }))
}

// ResponseInto writes the facts of the answer, raw body included, into m, also
// when the call fails.
func ResponseInto(m *Meta) CallOption {
	return callOption(shared(refusedIf(m == nil, "ResponseInto", "the Meta is nil"), func(c *callOptions) { c.meta = m }))
}

// WithClientOrderID names what was decided, such as "breakout 2026-11-20T10:15". A
// program that decides the same again, after a crash or in another process, sends
// the same idempotency keys. A program with one journal places nothing twice until
// [Client.ForgetClientOrderID]. Of two takes at once the second waits for the first. An id
// names one decision, and
// not the day or the strategy alone: a second order under the same id is taken for
// the first, whose answer comes back. Where its request differs, the levels included, it
// is refused with [CodeIdempotencyKeyReused]: the decision was made before, and a new id
// would execute it again. Account, operation and the number of the try are added by the
// client.
//
// Use it with a journal ([WithJournal]). Without one an earlier run may have sent the
// order, so a refusal does not say that it was not executed: it is [Unknown]. And an id
// runs again, without a journal or from another one, where the service knows nothing of
// the key any more: at once after a 5xx, which it does not store, 15 minutes after a worker of
// it died, and 24 hours after its answer.
//
// A resting limit or a Pro order that somebody cancelled before the client could look reads
// [NotApplied] if its answer is lost; the next take places it again.
//
// The paper account executes a repeated order again, so an id is refused there.
func WithClientOrderID(id string, more ...UseOption) CallOption {
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
// never replaces it, not even where a refusal is stored under it. The key is of this
// operation, account and request: any other one under it is refused. The sandbox has
// no idempotency, and is not sent any.
func WithIdempotencyKey(k Key, more ...UseOption) CallOption {
	return callOption(func(c *callOptions) error {
		wrong := invalidFor("WithIdempotencyKey", local(EnvLive, check.IdempotencyKey(string(k))))
		if wrong == nil && c.key.id != "" {
			wrong = invalid("WithIdempotencyKey", "the call has WithClientOrderID too: it must have a key or an id")
		}
		c.key = keySource{given: k}
		for _, option := range more {
			option(&c.key)
		}
		if wrong == nil && !c.key.since.IsZero() {
			wrong = invalid("WithIdempotencyKey", "it has Since, which must be of a client order id")
		}
		return wrong
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

// WithRateLimits configures how the client keeps within the rate limits.
func WithRateLimits(r RateLimits) Option {
	negative := r.PerKey < 0 || r.PerClass < 0 || r.PerPro < 0
	return option(cmp.Or(
		refusedIf(r.ReservePct > 90, "WithRateLimits", "ReservePct is %d: it must be at most 90", r.ReservePct),
		refusedIf(r.Store != nil && r.Owner == "", "WithRateLimits", "Owner is empty: with a Store it must name the user whose limits are counted"),
		refusedIf(negative, "WithRateLimits", "PerKey is %d, PerClass %d, PerPro %d: none must be negative", r.PerKey, r.PerClass, r.PerPro),
		refusedIf(r.Store != nil && r.Off, "WithRateLimits", "Off is true: with a Store it must be false"),
	), func(c *config) { c.rateLimits = r })
}

// recoveryOptions are those of the requests by which the client finds out.
func recoveryOptions() callOptions {
	opts := defaultCallOptions()
	opts.recovering, opts.failFast, opts.retry.Attempts = true, true, 1
	return opts
}
