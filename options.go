package trading

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/wire"
	"github.com/tradingapi/trading-go/journal"
)

// The options of a client.

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
// declares every account, the paper account too. Of the paper account, only positions and closed
// trades that the program itself has read before, five seconds after the start or later, prove that.
// Without the declaration somebody else may reset the paper account: a lost paper order is NotApplied only if a
// closed trade of before still shows.
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
