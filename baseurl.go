package trading

import (
	"net"
	"net/url"
	"strings"
)

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

// isPlain reports whether what is sent can be read on its way.
func isPlain(base *url.URL) bool { return base.Scheme == "http" && !isLoopback(base.Hostname()) }

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
