package trading

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/secret"
	"github.com/tradingapi/trading-go/journal"
)

// What options are, and what they come to.

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

type sharedOption func(*callOptions) error

func (o sharedOption) applyClient(c *config) error    { return o(&c.defaults) }
func (o sharedOption) applyCall(c *callOptions) error { return o(c) }

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

func (c *config) scrubber() *secret.Scrubber {
	s := new(secret.Scrubber)
	s.Know(string(EnvSandbox), c.sandboxKeys.given)
	s.Know(string(EnvLive), c.liveKeys.given)
	return s
}

// callOptions is what one call goes by; the zero value is completed by defaults.
type callOptions struct {
	retry          ledger.Bounds // and whether it waits for a rate limit
	attemptTimeout time.Duration
	ttl            durations // how long after the call a write may still be sent
	patience       durations // how long a call waits for the outcome of a write that is in doubt
	recovering     bool      // the client finds out what became of a write
	skipHealthGate bool
	allowPending   bool
	withoutProbe   bool
	forExit        bool
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
		retry:          ledger.Bounds{Attempts: 4, PriceAttempts: 3, MinWait: 200 * time.Millisecond, MaxWait: 5 * time.Second},
		attemptTimeout: defaultAttemptTimeout,
		ttl:            durations{defaultEntryTTL, defaultExitTTL}, patience: durations{defaultEntryPatience, defaultExitPatience},
	}
}

// recoveryOptions are those of the requests by which the client finds out.
func recoveryOptions() callOptions {
	opts := defaultCallOptions()
	opts.recovering, opts.retry.FailFast, opts.retry.Attempts = true, true, 1
	return opts
}

// durations are one of entries, and one of exits.
type durations struct{ entry, exit time.Duration }

func (d durations) of(entry bool) time.Duration {
	if entry {
		return d.entry
	}
	return d.exit
}
