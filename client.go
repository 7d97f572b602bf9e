package trading

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/tradingapi/trading-go/internal/api"
	"github.com/tradingapi/trading-go/internal/secret"
	"github.com/tradingapi/trading-go/internal/wire"
)

// Client is the service as seen with one or two API keys. It is safe for
// concurrent use, and one is enough for a program.
type Client struct {
	// Sandbox is the paper account, and the market data for live bots too. It is
	// never nil: without a sandbox key its calls are refused locally.
	Sandbox *Sandbox
	// Live is the way to the real accounts. It is never nil either.
	Live *Live

	core     *core
	defaults callOptions
}

// core is what every handle of one client shares.
type core struct {
	baseURL     string
	urls        map[*endpoint]*url.URL
	sandboxKeys keyring
	liveKeys    keyring
	userAgent   []string
	http        *retryablehttp.Client
	pool        *http.Transport // the client's own connections; nil where the program gave a transport
	log         logger
	gate        *healthGate
	guards      []Guard
	halt        halt
	budgets     *budgets
	hooks       []Hooks
	scrubber    *secret.Scrubber
	breaker     secret.Breaker
	maxSlippage Level
	accounts    accountViews
	soleActor   []AccountID
	journal     Journal
	durable     bool          // the journal is the program's, and outlives the process
	process     string        // names this client in the journal
	intents     atomic.Uint64 // counts them
	unsettled   unsettled
	begins      sync.RWMutex // held to write while an intent is written for another's sake

	sandboxWriter chan struct{} // holds one token: the sandbox takes one write at a time

	closing   context.Context // ends when Close begins
	close     context.CancelFunc
	flightsMu sync.Mutex     // orders enter and Close
	flights   sync.WaitGroup // what can run on without a caller
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
	base, err := parseBaseURL(baseURL, cfg.plaintextHTTP)
	if err != nil {
		return nil, err
	}
	if isPlain(base) {
		cfg.liveKeys.simulatorOnly = true
		if _, err := cfg.liveKeys.allowed(cfg.liveKeys.given); err != nil {
			return nil, invalidFor("WithPlaintextHTTP", err)
		}
	}
	if holdsKey(scrubber, cfg.application) {
		return nil, invalid("WithApplication", "the name and the version must not hold an API key: they are sent and logged")
	}

	transport, pool := cfg.transport, (*http.Transport)(nil)
	if transport == nil {
		pool = newConnectionPool()
		transport = pool
	}
	c := &core{
		baseURL:       base.String(),
		urls:          endpointURLs(base),
		sandboxKeys:   cfg.sandboxKeys,
		liveKeys:      cfg.liveKeys,
		userAgent:     []string{userAgent(cfg.application)},
		http:          newRetryClient(transport),
		pool:          pool,
		log:           logger{cfg.logger},
		maxSlippage:   cfg.maxSlippagePct,
		soleActor:     cfg.soleActor,
		journal:       cfg.journal,
		hooks:         cfg.hooks,
		scrubber:      scrubber,
		budgets:       newBudgets(cfg.budget, logger{cfg.logger}),
		durable:       cfg.journal != nil,
		process:       uuid.NewString(),
		sandboxWriter: make(chan struct{}, 1),
	}
	if c.journal == nil {
		c.journal = newMemoryJournal()
	}
	c.budgets.enter, c.budgets.leave = c.enter, c.leave
	c.closing, c.close = context.WithCancel(context.Background())
	c.gate = newHealthGate(c, cfg.gate)
	c.guards = guardsOf(c, cfg.guards)
	return newClient(c, cfg.defaults), nil
}

func newClient(c *core, defaults callOptions) *Client {
	client := &Client{core: c, defaults: defaults}
	client.Sandbox = &Sandbox{MarketData: &MarketData{caller: caller{c, defaults}}}
	client.Live = &Live{caller: caller{c, defaults}}
	return client
}

// FromEnv is [New] with TRADING_BASE_URL, TRADING_SANDBOX_KEY and
// TRADING_LIVE_KEY. A key that is not set is not an error; options win over the
// environment.
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

// With returns a client whose every call has opts. It shares connections, keys,
// limits and guards with c; closing either closes both.
func (c *Client) With(opts ...CallOption) (*Client, error) {
	defaults := c.defaults
	for _, opt := range opts {
		if opt == nil {
			return nil, errNilOption()
		}
		if err := opt.applyCall(&defaults); err != nil {
			return nil, err
		}
	}
	return newClient(c.core, defaults), nil
}

// Close refuses further calls, ends every wait, and waits for the writes that are
// in flight: an attempt ends by its answer or its time-out. After it, nothing of
// the client runs. It may be called more than once.
func (c *Client) Close() error {
	c.core.flightsMu.Lock()
	c.core.close()
	c.core.flightsMu.Unlock()
	c.core.flights.Wait()
	if c.core.pool != nil {
		// What is idle ends now, and what is busy with a read once it no longer is.
		c.core.pool.CloseIdleConnections()
	}
	return nil
}

// ErrClosed is the error of calls after [Client.Close].
var ErrClosed = errors.New("trading: the client is closed")

// Halt refuses entries from this process until [Client.Unhalt]; exits pass.
func (c *Client) Halt(reason string) { c.core.halt.set(reason) }

// Unhalt lets entries pass again.
func (c *Client) Unhalt() { c.core.halt.clear() }

// Halted returns whether entries are refused, and the reason that Halt was given.
func (c *Client) Halted() (reason string, halted bool) { return c.core.halt.get() }

// Health reads whether it is safe to trade. Degraded and unavailable, which the
// service answers with 503, are answers and no errors: ask [Health.Safe].
func (c *Client) Health(ctx context.Context, opts ...CallOption) (*Health, error) {
	call := c.caller().begin(ctx, &endpointHealth, opts)
	var answer api.Health
	if err := call.do(call.healthAnswer(&answer)); err != nil {
		return nil, err
	}
	return healthOf(&answer), nil
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
		return nil, refuse(env, CodeBadRequest, "Me: environment %q is neither sandbox nor live", env)
	}
	call := c.caller().begin(ctx, &endpointMe, opts)
	call.env = env
	var answer api.Identity
	same := func() error { return sameName("environment", answer.Environment, string(env)) }
	if err := call.do(checked{&answer, same}); err != nil {
		return nil, err
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
	call := c.caller().begin(ctx, &endpointOpenAPI, opts)
	var members wire.Members
	if err := call.do(checked{&members, func() error { return checkDescription(members) }}); err != nil {
		return nil, err
	}
	return json.RawMessage(call.last.body), nil
}

func (c *Client) caller() caller { return caller{c.core, c.defaults} }

// keys returns where the key of an environment comes from.
func (c *core) keys(env Environment) keyring {
	if env == EnvLive {
		return c.liveKeys
	}
	return c.sandboxKeys
}
