package docs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tradingapi/trading-go/internal/loopback"
)

const (
	defaultTimeout = 8 * time.Second
	defaultMaxWait = 10 * time.Second
	maxArgument    = 1000
)

// Config says where the documentation is and how long a call may take.
type Config struct {
	// URL is the address of the published reference, {docs_url} of the contract: the
	// tool server is at URL/mcp. https is required, except for this machine itself.
	URL string
	// Timeout bounds each exchange with the server, and not the waits for its rate
	// limit: 8 seconds unless set.
	Timeout time.Duration
	// MaxWait is how long a call waits for the rate limit before it is a
	// [RateLimitError]: 10 seconds unless set, never if negative.
	MaxWait time.Duration
	// Transport sends the requests; nil is one of the client's own. It must not follow
	// redirects or add credentials.
	Transport http.RoundTripper
	// Clock is for tests; nil is the system's.
	Clock Clock
}

// Client searches and reads the documentation. It is safe for concurrent use; calls
// run one after the other.
type Client struct {
	endpoint  string
	timeout   time.Duration
	limit     *limit
	transport *transport
	idle      func()          // closes the connections that are the client's own
	closed    context.Context // done after Close
	close     context.CancelFunc

	turn chan struct{} // held by the present call, which alone uses what follows
	open *session
}

// New makes a client. It sends nothing.
func New(config Config) (*Client, error) {
	endpoint, err := endpointOf(config.URL)
	if err != nil {
		return nil, err
	}
	if config.Timeout < 0 {
		return nil, &ConfigError{Field: "Timeout", Problem: fmt.Sprintf("must not be negative: %s", config.Timeout)}
	}
	if config.Timeout == 0 {
		config.Timeout = defaultTimeout
	}
	if config.MaxWait == 0 {
		config.MaxWait = defaultMaxWait
	}
	if config.Clock == nil {
		config.Clock = systemClock{}
	}
	c := &Client{endpoint: endpoint, timeout: config.Timeout, idle: func() {}, turn: make(chan struct{}, 1)}
	if config.Transport == nil {
		own := newNetwork()
		config.Transport, c.idle = own, own.CloseIdleConnections
	}
	c.limit = &limit{clock: config.Clock, most: config.MaxWait}
	c.transport = &transport{base: config.Transport, limit: c.limit}
	c.closed, c.close = context.WithCancel(context.Background())
	return c, nil
}

// endpointOf is the address of the tool server. Its errors do not repeat an address
// that may hold a password.
func endpointOf(text string) (string, error) {
	refuse := func(problem string) (string, error) { return "", &ConfigError{Field: "URL", Problem: problem} }
	base, err := url.Parse(text)
	switch {
	case text == "":
		return refuse("is empty; it is the address of the published reference")
	case err != nil:
		return refuse("cannot be parsed")
	case base.User != nil:
		return refuse("must not hold a user or password")
	case base.Scheme != "https" && base.Scheme != "http":
		return refuse("must begin with https://")
	case base.Hostname() == "":
		return refuse("has no host")
	case base.RawQuery != "" || base.Fragment != "" || base.ForceQuery:
		return refuse("must not have a query or fragment")
	case base.Scheme == "http" && !loopback.Is(base.Hostname()):
		return refuse(fmt.Sprintf("https is required, except for this machine itself: the host is %q", base.Host))
	}
	return base.JoinPath("mcp").String(), nil
}

// Search returns what the documentation has on a query, best first, at most 20 hits.
// No hit is a normal result.
func (c *Client) Search(ctx context.Context, query string) ([]Hit, error) {
	res, err := c.call(ctx, toolSearch, "query", query)
	if err != nil {
		return nil, err
	}
	return parseHits(res)
}

// Page returns a page by its name, as [Hit.Page] has it.
func (c *Client) Page(ctx context.Context, page string) (Page, error) {
	res, err := c.call(ctx, toolPage, "page", page)
	if err != nil {
		return Page{}, err
	}
	return parsePage(res)
}

// Close ends the session with the server, and the calls that run. It takes a second at
// the most.
func (c *Client) Close() error {
	c.close()
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.transport.closing.Store(true)
	c.drop()
	c.idle()
	return nil
}

// call waits for its turn and for the rate limit, and calls a tool. A refusal by the
// rate limit is waited for once more.
func (c *Client) call(ctx context.Context, tool, argument, value string) (*mcp.CallToolResult, error) {
	if err := checkArgument(argument, value); err != nil {
		return nil, err
	}
	ctx, cancel := c.untilClosed(ctx)
	defer cancel()
	select {
	case <-ctx.Done():
		return nil, &callError{tool: tool, err: context.Cause(ctx)}
	case c.turn <- struct{}{}:
	}
	defer func() { <-c.turn }()
	if err := context.Cause(ctx); err != nil { // select takes either
		return nil, &callError{tool: tool, err: err}
	}
	res, err := c.try(ctx, tool, value)
	if limited := new(RateLimitError); errors.As(err, &limited) {
		res, err = c.try(ctx, tool, value)
	}
	return res, err
}

// untilClosed is a context that Close ends, too.
func (c *Client) untilClosed(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.closed, func() { cancel(ErrClosed) })
	if c.closed.Err() != nil {
		cancel(ErrClosed) // at once: AfterFunc takes a goroutine
	}
	return ctx, func() { stop(); cancel(nil) }
}

// try calls a tool as soon as the rate limit allows.
func (c *Client) try(ctx context.Context, tool, value string) (*mcp.CallToolResult, error) {
	if err := c.limit.wait(ctx); err != nil {
		if limited := new(RateLimitError); errors.As(err, &limited) {
			return nil, err
		}
		return nil, &callError{tool: tool, err: err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no answer within %s: %w", c.timeout, context.DeadlineExceeded))
	defer cancel()
	return c.ask(ctx, tool, value)
}

// keys are what an API key looks like.
var keys = regexp.MustCompile(`pk_(live|test)_[0-9A-Za-z_-]{12}`)

func checkArgument(name, value string) error {
	problem := ""
	switch {
	case strings.TrimSpace(value) == "":
		problem = "is empty"
	case len(value) > maxArgument:
		problem = fmt.Sprintf("is longer than %d bytes: %d", maxArgument, len(value))
	case !utf8.ValidString(value):
		problem = "is not valid UTF-8"
	case keys.MatchString(value):
		problem = "holds an API key, which the documentation server must not see"
	default:
		return nil
	}
	return &ArgumentError{Argument: name, Problem: problem}
}
