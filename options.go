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
	maxSlippagePct Level
	journal        Journal
	budget         Budget
	hooks          []Hooks
	soleActor      []AccountID
	plaintextHTTP  bool
	defaults       callOptions
}

// callOptions is what one call goes by; the zero value is completed by defaults.
type callOptions struct {
	retry          Retry
	attemptTimeout time.Duration
	grace          time.Duration
	lifetime       time.Duration
	lifetimeSet    bool // lifetime is the caller's, and may be 0
	failFast       bool
	resolving      bool // the client finds out what became of a write
	skipHealthGate bool
	skipUnsettled  bool
	readBaseline   bool
	lane           Opt[Lane]
	resolveWithin  time.Duration
	fields         []bodyField
	tag            string
	meta           *Meta
	key            keySource
}

// Defaults of the options.
const (
	defaultAttemptTimeout = 5 * time.Second
	defaultGrace          = 5 * time.Second
	// An entry is decided at a price, which does not keep; an exit is wanted
	// at any price.
	defaultEntryLifetime = 10 * time.Second
	defaultExitLifetime  = 2 * time.Minute
	// The service lets a key be claimed again after 15 minutes: whatever is sent
	// later than that can run a second time.
	maxLifetime = 12 * time.Minute
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
		grace:          defaultGrace,
	}
}

// lifetimeOf returns how long after the call a write may still be sent.
func (o *callOptions) lifetimeOf(entry bool) time.Duration {
	switch {
	case o.lifetimeSet:
		return o.lifetime
	case entry:
		return defaultEntryLifetime
	default:
		return defaultExitLifetime
	}
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

// WithJournal keeps intents where they survive the end of the process, so that
// [Client.Recover] can settle them after a restart. The program opens it and
// closes it, after the client. While it cannot be written, entries are refused
// and exits go out without it.
func WithJournal(j Journal) Option {
	return clientOption(func(c *config) error {
		if j == nil {
			return invalid("WithJournal", "the journal is nil")
		}
		c.journal = j
		return nil
	})
}

// SoleActor declares that nobody and nothing but this client trades the accounts:
// no person in the terminal, no other program, no order left from before. Only
// then does a change of the account prove that a write of unknown outcome was the
// cause of it. Without it such a write stays [Unknown] until a person has looked.
func SoleActor(ids ...AccountID) Option {
	return clientOption(func(c *config) error {
		if err := checkAccountIDs("SoleActor", ids); err != nil {
			return err
		}
		c.soleActor = append(c.soleActor, ids...)
		return nil
	})
}

// WithMaxSlippagePct is sent with every market order that names none of its own:
// percent, 0.1 to 30, one decimal place. The service's own default, 8, is wide.
func WithMaxSlippagePct(pct decimal.Decimal) Option {
	return clientOption(func(c *config) error {
		if err := checkMaxSlippage("", At(pct)); err != nil {
			return invalidFor("WithMaxSlippagePct", err)
		}
		c.maxSlippagePct = At(pct)
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

// WithRetry replaces the bounds of sending again; fields left zero keep their default.
func WithRetry(r Retry) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if r.Attempts < 0 || r.PriceAttempts < 0 || r.MinWait < 0 || r.MaxWait < 0 {
			return invalid("WithRetry", "no bound can be negative: %+v", r)
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
			return invalid("WithRetry", "MinWait is %s, above MaxWait, which is %s", c.retry.MinWait, c.retry.MaxWait)
		}
		return nil
	})
}

// WithAttemptTimeout bounds one attempt, from connecting to the last byte of the
// answer; 5 seconds unless set. The context bounds the whole call.
func WithAttemptTimeout(d time.Duration) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if d <= 0 {
			return invalid("WithAttemptTimeout", "it is %s, and must be greater than 0", d)
		}
		c.attemptTimeout = d
		return nil
	})
}

// WithLifetime bounds how long after the call began a write may still be sent,
// waits included: a decision taken at one price must not go out at another. 10
// seconds for entries and 2 minutes for exits unless set; 0 sends once and never
// again; 12 minutes is the most.
func WithLifetime(d time.Duration) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if d < 0 || d > maxLifetime {
			return invalid("WithLifetime", "it is %s, and must be between 0 and %s", d, maxLifetime)
		}
		c.lifetime, c.lifetimeSet = d, true
		return nil
	})
}

// WithGrace bounds how long a write in flight runs on after its context has
// ended, and how long Close waits for it, so that its answer is not lost; 5
// seconds unless set. The call itself returns at once.
func WithGrace(d time.Duration) SharedOption {
	return sharedOption(func(c *callOptions) error {
		if d < 0 {
			return invalid("WithGrace", "it is %s, and must not be negative", d)
		}
		c.grace = d
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

// InLane asks for the call's place in the rate limits in a higher lane than its
// own, as the reads need that a way out depends on. An entry cannot take what is
// reserved for exits.
func InLane(l Lane) CallOption {
	return callOption(func(c *callOptions) error {
		if l > LaneExit {
			return invalid("InLane", "there is no %s", l)
		}
		c.lane = Some(l)
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

// SkipUnsettled sends this entry although an earlier write in its symbol is
// [Unknown]. If that one was executed, this one comes on top of it.
func SkipUnsettled() CallOption {
	return callOption(func(c *callOptions) error {
		c.skipUnsettled = true
		return nil
	})
}

// ReadBaseline reads positions, trades and open orders before each live write
// that can trade, unless they are known. A write whose reply is lost can only be
// told from one that never arrived by comparing with what was there before.
func ReadBaseline() SharedOption {
	return sharedOption(func(c *callOptions) error {
		c.readBaseline = true
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

// Write is what a guard is told about a write.
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
	skipHealth, skipUnsettled bool
}

// OnlyAccounts is a guard that refuses writes to any other account: one live key
// reaches every account of its owner.
func OnlyAccounts(ids ...AccountID) Guard {
	allowed := slices.Clone(ids)
	return func(_ context.Context, w Write) error {
		if w.Environment == EnvLive && !slices.Contains(allowed, w.Account) {
			return fmt.Errorf("account %q is not one of this program's", w.Account)
		}
		return nil
	}
}

// Guard is asked before every send of a write. An error holds the write back:
// nothing is sent, and the caller gets a [GuardError] that wraps it.
type Guard func(ctx context.Context, w Write) error
