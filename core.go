package trading

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger"
	"github.com/tradingapi/trading-go/internal/limiter"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/secret"
	"github.com/tradingapi/trading-go/internal/spec"
)

// core is what every handle of one client shares.
type core struct {
	exchanger
	decisions
	books       *books.Books
	log         logger
	urls        map[*spec.Endpoint]*url.URL
	sandboxKeys keyring
	liveKeys    keyring
	gate        *healthGate
	guards      []Guard
	listeners   listeners
	usual       usual
	limits      *limiter.Limiter
	hooks       hooks
	breaker     secret.Breaker
	maxSlippage Opt[decimal.Decimal]

	sandboxWriter turn // the sandbox takes one write at a time

	life *resolve.Life
}

// notExclusive reports that somebody else trades an account that is declared to be this
// program's alone.
func (c *core) notExclusive(account AccountID, sign string) {
	c.log.warn("account is not exclusive", slog.String("account", string(account)), slog.String("sign", sign))
	for i := range c.hooks {
		if hear := c.hooks[i].NotExclusive; hear != nil {
			hear(account, sign)
		}
	}
}

// profileIgnored reports that the profile of the service does not count.
func (c *core) profileIgnored(why error) {
	c.log.warn("profile not relied on", slog.String("err", why.Error()))
	for i := range c.hooks {
		if hear := c.hooks[i].ProfileIgnored; hear != nil {
			hear(why)
		}
	}
}

func (c *core) keys(env Environment) keyring {
	if env == EnvLive {
		return c.liveKeys
	}
	return c.sandboxKeys
}

// keyless returns the refusal of a request without a key; nil if there is one.
func (c *core) keyless(env Environment) error {
	if c.keys(env).isZero() {
		option, variable := "WithSandboxKey", "TRADING_SANDBOX_KEY"
		if env == EnvLive {
			option, variable = "WithLiveKey", "TRADING_LIVE_KEY"
		}
		return refuse(env, CodeMissingAPIKey, "no %s API key configured: use %s, or set %s for FromEnv", env, option, variable)
	}
	return nil
}

// errMayBeOthers is why the outcome of an order that did not leave is not known.
var errMayBeOthers = fmt.Errorf("%w: who has held the lease of the journal meanwhile may have placed it", ErrUndetermined)

// resolveError is [Client.Resolve].
func (c *core) resolveError(ctx context.Context, err error) (*Resolution, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	write := (*WriteError)(nil)
	switch {
	case err == nil:
		return &Resolution{Outcome: Applied, Evidence: EvidenceAnswer}, nil
	case !errors.As(err, &write):
		return nil, fmt.Errorf("trading: Resolve: not the error of a write: %w", err)
	case write.Outcome != Unknown:
		return decidedAs(write, write.Outcome, EvidenceAnswer), nil
	case errors.Is(err, errMayBeOthers) && c.permit.Leaser != nil:
		if c.permit.Kept(ctx) {
			return decidedAs(write, NotApplied, EvidenceUnsent), nil
		}
		return nil, err
	case write.Intent == "":
		if !errors.Is(err, ErrUndetermined) {
			err = fmt.Errorf("%w: %w", ErrUndetermined, err)
		}
		return nil, fmt.Errorf("it is not tracked, so read the account: %w", err)
	}
	return c.resolveID(ctx, write.Intent)
}

// pendingOn lists the writes of an account whose outcome is not known, those that are
// being sent too.
func (c *core) pendingOn(ctx context.Context, env Environment, id AccountID) ([]PendingWrite, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	return c.driver.PendingOn(ctx, env, id)
}

func (c *core) resolveID(ctx context.Context, id IntentID) (*Resolution, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	found, known, err := c.driver.Resolve(ctx, id)
	if err != nil {
		return nil, err
	}
	r := resolutionOf(&found)
	if !known {
		return &r, r.Err
	}
	return &r, nil
}

// decidedAs is what became of a write that nothing has to be asked about. Its error is the service's refusal, if
// there is one, without its wrapping.
func decidedAs(w *WriteError, outcome Outcome, by Evidence) *Resolution {
	r := &Resolution{
		Intent:  Intent{ID: w.Intent, Operation: w.Operation, Account: w.Account, Symbol: w.Symbol},
		Outcome: outcome, Evidence: by, Err: w,
	}
	if refusal := (*Error)(nil); errors.As(w, &refusal) {
		r.Err = refusal
	}
	return r
}

// usual is how long the service usually takes for a write: a mean in which the newest count most.
type usual struct {
	mu   sync.Mutex
	mean time.Duration
}

func (u *usual) get() time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.mean
}

// heard notes an answer, if that took the service its work.
func (u *usual) heard(h *heard) {
	if h.class != ledger.Success || h.replayed() {
		return
	}
	d := h.Received.Sub(h.Sent)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mean == 0 {
		u.mean = d
	}
	u.mean += (d - u.mean) / 8
}
