package trading

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/books"
	"github.com/tradingapi/trading-go/internal/ledger/reliance"
	"github.com/tradingapi/trading-go/internal/resolve"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/internal/transport/address"
	"github.com/tradingapi/trading-go/internal/wire"
	"github.com/tradingapi/trading-go/journal"
	"github.com/tradingapi/trading-go/ratelimit"
)

// Client is the service as seen with one or two API keys. It is safe for
// concurrent use, and one is enough for a program.
type Client struct {
	// Sandbox is the paper account, and the market data for live bots too. It is
	// never nil: without a sandbox key its calls are refused locally.
	Sandbox *Sandbox
	// Live is the way to the real accounts. It is never nil either.
	Live *Live

	caller
}

// New returns a client for the versioned root of the API, which ends in /v1. It
// opens nothing and sends nothing. https is required except for this machine
// itself; a key of the other environment is an error here.
func New(baseURL string, opts ...Option) (*Client, error) {
	cfg := config{defaults: defaultCallOptions()}
	for _, opt := range opts {
		if opt == nil {
			return nil, errNilOption()
		}
		if err := opt.applyClient(&cfg); err != nil {
			return nil, err
		}
	}
	scrubber := cfg.scrubber()
	if holdsKey(scrubber, baseURL) {
		return nil, invalid("baseURL", "it must not hold an API key: keys are options of their own")
	}
	base, err := address.Parse(baseURL, cfg.plaintextHTTP)
	if err != nil {
		return nil, invalid("baseURL", "%v", err)
	}
	if address.IsPlain(base) {
		cfg.liveKeys.simulatorOnly = true
		if _, err := cfg.liveKeys.allowed(cfg.liveKeys.given); err != nil {
			return nil, invalidFor("WithPlaintextHTTP", err)
		}
	}
	if holdsKey(scrubber, cfg.application) {
		return nil, invalid("WithApplication", "the name and the version must not hold an API key: they are sent and logged")
	}

	log := logger{cfg.logger}
	c := &core{
		exchanger: exchanger{
			transport: transport.New(cfg.transport),
			userAgent: []string{userAgent(cfg.application)},
			scrubber:  scrubber,
		},
		log:         log,
		urls:        endpointURLs(base),
		sandboxKeys: cfg.sandboxKeys,
		liveKeys:    cfg.liveKeys,
		maxSlippage: cfg.maxSlippagePct,
		hooks:       cfg.hooks,
		limits:      newLimiter(cfg.rateLimits, log),
	}
	c.permit.baseURL, c.process = journal.Service(base), uuid.NewString()
	c.exclusive, c.exclusiveAll = cfg.exclusive, cfg.exclusiveAll
	c.permit.Leaser, _ = cfg.journal.(journal.Leaser)
	c.relies = reliance.For(cfg.recovery.Profile, c.permit.baseURL, cfg.recovery.ReadLag, c.profileIgnored)
	c.life = resolve.NewLife()
	c.driver = resolve.New(resolve.Config{
		Host: host{c}, Journal: cfg.journal, BaseURL: c.permit.baseURL, Life: c.life, Baselines: cfg.rateLimits.baselines(),
		Background: !cfg.recovery.WithoutBackground, WithoutProbe: cfg.defaults.withoutProbe, WithoutBaseline: cfg.recovery.WithoutBaseline,
		Without:     c.relies.Now,
		IsExclusive: c.isExclusive,
		Others:      c.notExclusive,
		NewJournal:  log.newJournal, Unwritten: log.notJournaled,
	})
	c.heardDate, c.books = c.driver.HeardDate, c.driver.Books
	c.gate = &healthGate{
		HealthGate: cfg.gate, life: c.life, ask: c.askGate, ageOf: ageBy(c.driver.Clocks), without: c.relies.Now,
	}
	c.guards = append([]Guard{
		guardHalt(c.permit.halted), guardAccount(c.books), guardPending(c.driver.DoubtedIn), c.gate.guard,
	}, cfg.guards...)
	begin := caller{core: c, defaults: &cfg.defaults}
	return &Client{Sandbox: &Sandbox{MarketData: &MarketData{caller: begin}}, Live: &Live{caller: begin}, caller: begin}, nil
}

// FromEnv is [New] with TRADING_BASE_URL, TRADING_SANDBOX_KEY and
// TRADING_LIVE_KEY. Options win over the environment. A key that is not set is no error
// here: the first call that needs it is refused, with [CodeMissingAPIKey].
func FromEnv(opts ...Option) (*Client, error) {
	baseURL := os.Getenv("TRADING_BASE_URL")
	if baseURL == "" {
		return nil, invalid("TRADING_BASE_URL", "it is not set; it is the versioned root of the API, which ends in /v1")
	}
	var all []Option
	if key := os.Getenv("TRADING_SANDBOX_KEY"); key != "" {
		all = append(all, WithSandboxKey(key))
	}
	if key := os.Getenv("TRADING_LIVE_KEY"); key != "" {
		all = append(all, WithLiveKey(key))
	}
	return New(baseURL, append(all, opts...)...)
}

// Close refuses further calls, ends every wait, and waits for the writes that are
// in flight: an attempt ends by its answer or its time-out. After Close nothing of
// the client runs, but a call of a journal or of a rate limit store that hangs, until that returns. Close returns a [*PendingError] if the outcome of a write is not
// known: with a journal the next run resolves it. Close the journal after the client.
// Close may be called more than once.
func (c *Client) Close() error {
	c.core.life.End()
	c.core.limits.Close()
	c.core.life.Wait()
	c.core.transport.Close()
	if left := c.core.driver.Leave(); len(left) > 0 {
		return &PendingError{IDs: left}
	}
	return nil
}

// Halt refuses entries from this process until [Client.Resume]; exits pass. Nothing new
// is placed: an entry that has not left when Halt returns does not leave. A write in doubt is
// still resolved, but the question for its stored answer, which can place it, waits for Resume,
// or for package flatten, which closes what it finds.
func (c *Client) Halt(reason string) { c.core.permit.halt.Store(&reason) }

// Resume lets entries pass again.
func (c *Client) Resume() { c.core.permit.halt.Store(nil) }

// Halted returns whether entries are refused, and the reason that Halt was given, here or for all
// who hold the lease of a journal in turn.
func (c *Client) Halted() (reason string, halted bool) { return c.core.permit.halted() }

// Health reads whether it is safe to trade. Degraded and unavailable, which the
// service answers with 503, are results and not errors: ask [Health.Safe].
func (c *Client) Health(ctx context.Context, opts ...CallOption) (*Health, error) {
	return c.health(ctx, opts)
}

func (h caller) health(ctx context.Context, opts []CallOption) (*Health, error) {
	call := h.begin(ctx, OpHealth, opts)
	var answer api.Health
	if err := call.do(healthAnswer(&answer, &call.last.Status)); err != nil {
		return nil, err
	}
	health := healthOf(&answer)
	if date := transport.Dated(call.last.Header, time.Time{}); !date.IsZero() {
		health.Age = Some(date.Sub(health.AsOf))
	} else {
		health.Age = optional(h.core.gate.ageOf(health, call.last.Received))
	}
	return health, nil
}

// askGate reads health for the gate. Its question is not sent again: the next entry
// asks anew.
func (c *core) askGate(ctx context.Context) (*Health, error) {
	defaults := defaultCallOptions()
	defaults.retry.Attempts = 1
	return caller{core: c, defaults: &defaults}.health(ctx, nil)
}

// Identity is whose key it is.
type Identity struct {
	// UserID is the owner.
	UserID string
	// KeyID names the key; it is not the key.
	KeyID string
	// Environment is what the key trades.
	Environment Environment
	// Extra holds members that have no field here.
	Extra Extra
}

// Me resolves the key of an environment to its owner.
func (c *Client) Me(ctx context.Context, env Environment, opts ...CallOption) (*Identity, error) {
	if env != EnvSandbox && env != EnvLive {
		return nil, refuse(env, CodeBadRequest, "environment is %q: it must be sandbox or live", env)
	}
	call := c.begin(ctx, OpMe, opts)
	call.env = env
	var answer api.Identity
	same := func() error { return sameName("environment", answer.Environment, string(env)) }
	if err := call.do(checked{&answer, same}); err != nil {
		return nil, err
	}
	if env == EnvLive {
		c.core.relies.HolderIs(answer.UserID)
	}
	return &Identity{
		UserID:      answer.UserID,
		KeyID:       answer.KeyID,
		Environment: Environment(answer.Environment),
		Extra:       answer.Extra,
	}, nil
}

// OpenAPI returns the machine-readable description that the service serves. No
// key is sent.
func (c *Client) OpenAPI(ctx context.Context, opts ...CallOption) (json.RawMessage, error) {
	call := c.begin(ctx, OpOpenAPI, opts)
	var members wire.Members
	if err := call.do(checked{&members, func() error { return checkDescription(members) }}); err != nil {
		return nil, err
	}
	return json.RawMessage(call.last.Body), nil
}

// CheckSharing returns an error if the client must not trade the account of a write: it is one of
// [WithExclusiveAccounts], and the client has not the journal handle of the one that sends the write. A
// close of this client's could be taken for a lost write. A guard that trades by a client of its own asks it.
func (c *Client) CheckSharing(w Write) error {
	if w.books == nil || w.Environment != EnvLive || w.books == c.core.books {
		return nil
	}
	return fmt.Errorf("account %s is declared by WithExclusiveAccounts, and two clients trade it without knowing of each other: give both clients the same journal", w.Account)
}

// RateLimitUsage returns what is left of the client's rate limits: of its keys, and
// with a live key of each class of live writes.
func (c *Client) RateLimitUsage(ctx context.Context) ([]ratelimit.Usage, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	var keys, classes []string
	for _, env := range [...]Environment{EnvSandbox, EnvLive} {
		if c.core.keys(env).isZero() {
			continue
		}
		key, err := c.core.keys(env).current(ctx, env)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key.ID())
		for _, o := range spec.Endpoints() {
			if o.Env == env && o.Class != "" && !slices.Contains(classes, o.Class) {
				classes = append(classes, o.Class)
			}
		}
	}
	usages, err := c.core.limits.Usage(ctx, keys, classes)
	if err != nil {
		return nil, fmt.Errorf("trading: RateLimitUsage: %w", err)
	}
	return usages, nil
}

// Pending lists the writes whose outcome is not known, oldest first: those of this
// client, of others that share its journal, and those that earlier runs left.
func (c *Client) Pending(ctx context.Context) ([]PendingWrite, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	return c.core.driver.Pending(ctx)
}

// Resolve waits for the outcome of the write that returned err. Where the client has
// stopped asking by itself, Resolve asks again. It waits until ctx ends, the outcome is
// known, or nothing more can be found out at the moment. The error is nil exactly if the
// outcome is known; the Resolution is not nil if the write is tracked. [Client.ResolveID]
// does the same by the id of a write, such as one of a [PendingError].
//
// Resolve never places the write anew. If asking for the stored answer placed it, the
// Resolution's Late is set.
func (c *Client) Resolve(ctx context.Context, err error) (*Resolution, error) {
	return c.core.resolveError(ctx, err)
}

// ResolveID is [Client.Resolve] by the id of a write.
func (c *Client) ResolveID(ctx context.Context, id IntentID) (*Resolution, error) {
	return c.core.resolveID(ctx, id)
}

// Recover waits for the outcomes of the writes that earlier runs of the program left in
// the journal, or clients on it that have closed. It takes some seconds where the service still has the answers, and up to
// half an hour where it does not. Trading in other markets may begin meanwhile, so run it
// in a goroutine. The error is nil exactly if all outcomes are known. A write whose
// outcome is not known keeps its market closed to entries until it is resolved or
// acknowledged, or until the account shows what there is all the same ([PendingWrite.MarketOpen]).
func (c *Client) Recover(ctx context.Context) ([]Resolution, error) {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return nil, ctxErr
	}
	for _, id := range c.core.exclusive {
		c.core.driver.Touch(books.AccountKey{Environment: EnvLive, ID: id})
	}
	found, err := c.core.driver.Recover(ctx)
	if found == nil {
		return nil, err
	}
	return convertAll(found, resolutionOf), err
}

// Acknowledge resolves a pending write by what a person has found: [Applied] or
// [NotApplied]. After that entries in its market are sent again. The write's key is not
// used again for a day, since a late copy of the request may still arrive. While the service
// is asked about the write, Acknowledge waits; if the answer decides, it returns an error. A word that
// the journal was given and did not answer for counts, and comes with the error: after a
// restart the write may be pending again.
func (c *Client) Acknowledge(ctx context.Context, id IntentID, found Outcome, note string) error {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return ctxErr
	}
	if found != Applied && found != NotApplied {
		return fmt.Errorf("trading: Acknowledge: the outcome must be Applied or NotApplied, not %s", found)
	}
	return c.core.driver.Acknowledge(ctx, id, found, note)
}

// DeclareExclusive declares anew that nobody else trades an account of [WithExclusiveAccounts], after
// [Hooks.NotExclusive] has said that somebody does. Until then no run of the program with the same journal
// takes the account for its own.
func (c *Client) DeclareExclusive(ctx context.Context, account AccountID) error {
	if ctxErr := checkContext(ctx); ctxErr != nil {
		return ctxErr
	}
	if err := c.core.driver.DeclareAnew(ctx, account); err != nil {
		return fmt.Errorf("trading: DeclareExclusive: %w", err)
	}
	return nil
}

// ClientOrder returns what the journal says of the write that has a client order id, pending ones
// too, and sends nothing. It is nil if the journal knows none: one that was never journaled, or whose
// id was forgotten. The paper account has no ids: there [Client.Pending] has the tag of each write
// whose outcome is not known.
func (c *Client) ClientOrder(ctx context.Context, account AccountID, op Operation, id string) (*JournaledWrite, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	source := keySource{id: id}
	found, err := c.core.driver.Named(ctx, source.name(account, op))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return DescribeHistory(found[len(found)-1])
}

// ForgetClientOrderID deletes what the journal keeps of a client order id, once its
// write is resolved. After that the same id is a new order.
func (c *Client) ForgetClientOrderID(ctx context.Context, account AccountID, op Operation, id string) error {
	source := keySource{id: id}
	return c.core.driver.Forget(ctx, source.name(account, op))
}

// ForgetKey is [Client.ForgetClientOrderID] for a key that was given by [WithIdempotencyKey]. The
// service knows a key for 24 hours: forget it later than that.
func (c *Client) ForgetKey(ctx context.Context, key Key) error {
	source := keySource{given: key}
	return c.core.driver.Forget(ctx, source.name("", ""))
}

// Exiting returns the context of a program that gets out of the market: whatever it finds
// executed, it closes. Under it [Client.Resolve] and its like also ask for the stored answer
// of an entry while [Client.Halt] is on, which else holds such requests back.
func Exiting(ctx context.Context) context.Context { return resolve.Exiting(ctx) }
