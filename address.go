package trading

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/oapi-codegen/runtime"
)

// endpointOpenAPI is the endpoint of the description itself.
var endpointOpenAPI = endpoint{op: OpOpenAPI, keyless: true, maxBody: largeAnswer,
	refusals: [][]refusal{refusalsOfAll, {{CodeUnavailable, 503}}}}

// fixedEndpoints are those whose path has no variable part.
var fixedEndpoints = slices.DeleteFunc(append([]*endpoint{&endpointOpenAPI}, describedEndpoints[:]...),
	func(e *endpoint) bool { return strings.Contains(string(e.op), "{") })

// endpointOf returns the fixed endpoint of an operation; nil if there is none.
func endpointOf(op Operation) *endpoint {
	for _, e := range fixedEndpoints {
		if e.op == op {
			return e
		}
	}
	return nil
}

// endpointURLs joins the versioned root with the paths that have no variable
// part, once for the life of the client. They are shared by all requests, which
// only read them.
func endpointURLs(base *url.URL) map[*endpoint]*url.URL {
	urls := make(map[*endpoint]*url.URL, len(fixedEndpoints))
	for _, e := range fixedEndpoints {
		u := *base
		u.Path += e.op.path()
		urls[e] = &u
	}
	return urls
}

// address is what a URL with a variable part follows from.
type address struct {
	base  *url.URL
	query string // the name of the query parameter; empty where the value is an account's, in the path
	value string
	rest  string // of the path, behind the account
}

func (a address) url() (*url.URL, error) {
	if a.query != "" {
		return withQuery(a.base, a.query, a.value)
	}
	return belowAccount(a.base, AccountID(a.value), a.rest)
}

// addresses are the URLs that a client has asked for: most programs ask for the same few
// again and again. Requests share them, and only read them.
type addresses struct {
	mu    sync.Mutex
	known map[address]*url.URL
}

// mostAddresses bounds what is kept.
const mostAddresses = 200

// of returns a URL with an error too.
func (k *addresses) of(a address) (*url.URL, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if u := k.known[a]; u != nil {
		return u, nil
	}
	u, err := a.url()
	if err != nil {
		return u, err
	}
	if k.known == nil || len(k.known) >= mostAddresses {
		k.known = make(map[address]*url.URL)
	}
	k.known[a] = u
	return u, nil
}

// withQuery returns the URL of a fixed endpoint with one query parameter. It returns
// one with an error too.
func withQuery(endpoint *url.URL, name, value string) (*url.URL, error) {
	text, err := runtime.StyleParamWithOptions("form", true, name, value, runtime.StyleParamOptions{
		ParamLocation: runtime.ParamLocationQuery,
		Type:          "string",
		Required:      true,
	})
	if err != nil {
		err = fmt.Errorf("trading: query parameter %s: %w", name, err)
	}
	u := *endpoint
	u.RawQuery = text
	return &u, err
}

// belowAccount returns a URL below that of an account. It returns one with an error
// too.
func belowAccount(accounts *url.URL, id AccountID, rest string) (*url.URL, error) {
	segment, err := runtime.StyleParamWithOptions("simple", false, "accountId", string(id), runtime.StyleParamOptions{
		ParamLocation: runtime.ParamLocationPath,
		Type:          "string",
		Required:      true,
	})
	if err != nil {
		err = fmt.Errorf("trading: account id: %w", err)
	}
	u := *accounts
	u.Path = accounts.Path + "/" + string(id) + rest
	u.RawPath = accounts.EscapedPath() + "/" + segment + rest
	return &u, err
}

// parseBaseURL returns the versioned root that every path is joined to. It
// refuses what would send a key in the clear, to a redirect, or to a path that
// is not the service's. plain allows http to another machine.
func parseBaseURL(text string, plain bool) (*url.URL, error) {
	if text == "" {
		return nil, invalid("baseURL", "the base URL is empty; it is the versioned root of the API, which ends in /v1")
	}
	base, err := url.Parse(text)
	if err != nil {
		// The parser's own error repeats the text, and with it a password.
		return nil, invalid("baseURL", "the base URL cannot be parsed")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	switch {
	case base.User != nil:
		return nil, invalid("baseURL", "the base URL must not hold a user or password; keys are options of their own")
	case base.Host == "" || base.Hostname() == "":
		return nil, invalid("baseURL", "the base URL has no host: it must begin with https:// and a host")
	case base.RawQuery != "" || base.Fragment != "" || base.ForceQuery:
		return nil, invalid("baseURL", "the base URL of %q must not have a query or fragment", base.Host)
	case base.Scheme != "https" && base.Scheme != "http":
		return nil, invalid("baseURL", "the base URL of %q must begin with https://, not %s://", base.Host, base.Scheme)
	case isPlain(base) && !plain:
		return nil, invalid("baseURL", "the base URL of %q would send the API key in the clear: https is required, except for this machine itself; for a simulator on another there is WithPlaintextHTTP", base.Host)
	case base.RawPath != "":
		return nil, invalid("baseURL", "the base URL of %q must not have an escaped path", base.Host)
	case strings.HasSuffix(base.Path, "/api/v1"):
		return nil, invalid("baseURL", "the base URL is the legacy path, which redirects and can lose the API key: use %s",
			base.Scheme+"://"+base.Host+strings.TrimSuffix(base.Path, "/api/v1")+"/v1")
	case !strings.HasSuffix(base.Path, "/v1"):
		return nil, invalid("baseURL", "the base URL %q must end in /v1", base)
	}
	return base, nil
}

// serviceOf names the service of a base URL, however that is spelled: a journal is of
// one service.
func serviceOf(base *url.URL) string {
	return base.Scheme + "://" + normalHost(base) + base.Path
}

// normalHost is the host in lower case, without the scheme's own port, and this machine
// by its address.
func normalHost(base *url.URL) string {
	host, port := strings.ToLower(base.Hostname()), base.Port()
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if port == "" || base.Scheme == "https" && port == "443" || base.Scheme == "http" && port == "80" {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, port)
}

// isPlain reports whether what is sent can be read on its way.
func isPlain(base *url.URL) bool { return base.Scheme == "http" && !isLoopback(base.Hostname()) }

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
