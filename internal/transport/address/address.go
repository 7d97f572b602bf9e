// Package address checks the base URL of the service and builds the URLs below it.
package address

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/oapi-codegen/runtime"

	"github.com/tradingapi/trading-go/internal/loopback"
)

// Parse returns the versioned root that every path is joined to. It
// refuses what would send a key in the clear, to a redirect, or to a path that
// is not the service's. plain allows http to another machine.
func Parse(text string, plain bool) (*url.URL, error) {
	if text == "" {
		return nil, errors.New("the base URL is empty; it is the versioned root of the API, which ends in /v1")
	}
	if !strings.Contains(text, "://") && !strings.Contains(text, "@") {
		return nil, fmt.Errorf("the base URL %q has no scheme: write https://%s", text, strings.TrimLeft(text, "/"))
	}
	base, err := url.Parse(text)
	if err != nil {
		// The parser's own error repeats the text, and with it a password.
		return nil, errors.New("the base URL cannot be parsed")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	if name := loopback.Name(base.Hostname()); loopback.Is(name) {
		base.Host = strings.Replace(base.Host, base.Hostname(), name, 1)
	}
	meant := strings.TrimRight(path.Clean("/"+base.Path), "/") // what requests would go to
	if head, legacy := cutSuffixFold(meant, "/api/v1"); legacy {
		meant = head + "/v1"
	}
	switch {
	case base.User != nil:
		return nil, errors.New("the base URL must not hold a user or password; keys are options of their own")
	case base.Host == "" || base.Hostname() == "":
		return nil, errors.New("the base URL has no host: it must begin with https:// and a host")
	case base.RawQuery != "" || base.Fragment != "" || base.ForceQuery:
		return nil, fmt.Errorf("the base URL of %q must not have a query or fragment", base.Host)
	case base.Scheme != "https" && base.Scheme != "http":
		return nil, fmt.Errorf("the base URL of %q must begin with https://, not %s://", base.Host, base.Scheme)
	case IsPlain(base) && !plain:
		return nil, fmt.Errorf("the base URL of %q would send the API key in the clear: https is required, except for this machine itself; a program can allow http for a simulator's keys, by WithPlaintextHTTP", base.Host)
	case base.RawPath != "":
		return nil, fmt.Errorf("the base URL of %q must not have an escaped path", base.Host)
	case !portIsValid(base.Port()):
		return nil, fmt.Errorf("the base URL of %q has a port that is not between 1 and 65535", base.Host)
	case !strings.HasSuffix(meant, "/v1"):
		return nil, fmt.Errorf("the base URL %q must end in /v1", base)
	case meant != base.Path:
		return nil, fmt.Errorf("the base URL %q is the legacy path, which redirects and can lose the API key, or has a part that is empty, . or ..: use %s",
			base, base.Scheme+"://"+base.Host+meant)
	}
	return base, nil
}

func cutSuffixFold(text, suffix string) (before string, found bool) {
	at := len(text) - len(suffix)
	if at < 0 || !strings.EqualFold(text[at:], suffix) {
		return text, false
	}
	return text[:at], true
}

func portIsValid(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// IsPlain reports whether what is sent can be read on its way.
func IsPlain(base *url.URL) bool { return base.Scheme == "http" && !loopback.Is(base.Hostname()) }

// WithQuery returns a URL with one query parameter. It returns
// one with an error too.
func WithQuery(endpoint *url.URL, name, value string) (*url.URL, error) {
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

// BelowAccount returns a URL below that of an account. It returns one with an error
// too.
func BelowAccount(accounts *url.URL, id, rest string) (*url.URL, error) {
	segment, err := runtime.StyleParamWithOptions("simple", false, "accountId", id, runtime.StyleParamOptions{
		ParamLocation: runtime.ParamLocationPath,
		Type:          "string",
		Required:      true,
	})
	if err != nil {
		err = fmt.Errorf("trading: account id: %w", err)
	}
	u := *accounts
	u.Path = accounts.Path + "/" + id + rest
	u.RawPath = accounts.EscapedPath() + "/" + segment + rest
	return &u, err
}
