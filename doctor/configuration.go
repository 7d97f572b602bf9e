package doctor

import (
	"context"
	"net"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/loopback"
)

// What API keys begin with.
const (
	sandboxPrefix = "pk_test_"
	livePrefix    = "pk_live_"
)

// sendable reports whether a key can be sent: it has its prefix, and nothing around it.
func sendable(key, prefix string) bool {
	return strings.HasPrefix(key, prefix) && len(key) > len(prefix) && strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// configuration looks at what the bot was given. It reports whether the service can be asked.
func (l *look) configuration(ctx context.Context) bool {
	s := l.r.of("configuration")
	l.process(s)
	l.variables(s)
	base := l.baseURL(s)
	keys := l.keys(s)
	l.keyFile(s)
	if base == nil {
		return false
	}
	l.way(ctx, s, base)
	return keys
}

// process looks at the bot that runs.
func (l *look) process(s subject) {
	p := l.o.Process
	if p == nil {
		return
	}
	const few = 256
	switch {
	case p.UID == 0:
		s.warn("process", "Run the bot as a user of its own.", "process %d runs as root", p.PID)
	case p.OpenFiles > 0 && p.OpenFiles < few:
		s.warn("process", "Raise it, with LimitNOFILE= or ulimit -n.", "process %d may open %d files", p.PID, p.OpenFiles)
	default:
		s.ok("process", "process %d of user %d may open %d files", p.PID, p.UID, p.OpenFiles)
	}
}

// variables looks for what is set and empty: an unset variable of the shell, most likely.
func (l *look) variables(s subject) {
	var empty, set []string
	for _, pair := range l.o.Environ {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case !strings.HasPrefix(name, "TRADING_"):
		case strings.TrimSpace(value) == "":
			empty = append(empty, name)
		default:
			set = append(set, name)
		}
	}
	switch {
	case len(empty) > 0:
		s.fail("variables", "Give it a value, or unset it.", "%s is set and empty", strings.Join(empty, ", "))
	case len(set) > 0:
		s.ok("variables", "%s", strings.Join(set, ", "))
	default:
		s.skip("variables", "no variable begins with TRADING_")
	}
}

// baseURL looks at the root of the API.
func (l *look) baseURL(s subject) *url.URL {
	const want = "Set TRADING_BASE_URL to the root of the API, such as https://api.example.com/v1."
	text, from := l.o.BaseURL.Value, l.o.BaseURL.From
	u, err := url.Parse(text)
	switch {
	case text == "":
		s.fail("base-url", want, "there is none")
	case err != nil || u.Host == "":
		s.fail("base-url", want, "%s has no address that can be read", from)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		s.fail("base-url", want, "%s has more than an address in it: a user, a query or a fragment", from)
	case path.Base(strings.TrimSuffix(u.Path, "/")) != "v1":
		s.fail("base-url", want, "%s, from %s, does not end in /v1", text, from)
	case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/api/v1"):
		s.fail("base-url", want, "%s, from %s, is the legacy path, which answers by a redirect", text, from)
	case u.Scheme != "https" && !loopback.Is(loopback.Name(u.Hostname())) && l.o.Transport == nil:
		s.fail("base-url", want, "%s, from %s, is not https: whoever is on the way reads the keys", text, from)
	default:
		s.ok("base-url", "%s, from %s", text, from)
		return u
	}
	return nil
}

// keys looks at both keys. It reports whether one can be sent.
func (l *look) keys(s subject) bool {
	sandbox := l.key(s, "sandbox-key", l.o.SandboxKey, sandboxPrefix, livePrefix)
	live := l.key(s, "live-key", l.o.LiveKey, livePrefix, sandboxPrefix)
	if l.o.SandboxKey.Value == "" && l.o.LiveKey.Value == "" {
		s.fail("keys", "Set TRADING_SANDBOX_KEY, TRADING_LIVE_KEY, or both.", "there is no API key at all")
	}
	return sandbox || live
}

func (l *look) key(s subject, check string, key Setting, prefix, other string) bool {
	v := key.Value
	switch {
	case v == "":
		s.skip(check, "there is none")
	case strings.TrimSpace(v) != v:
		s.fail(check, "Take out the spaces and line ends around it.", "the key from %s has white space around it", key.From)
	case strings.HasPrefix(v, other):
		s.fail(check, "Give each environment its own key.", "the key from %s begins with %s: it is of the other environment", key.From, other)
	case !sendable(v, prefix):
		s.fail(check, "Copy it anew: it is shown once, when it is made.", "the key from %s does not begin with %s, or has characters that no key has", key.From, prefix)
	default:
		s.ok(check, "begins with %s, from %s", prefix, key.From)
		return true
	}
	return false
}

// keyFile looks at who can read the keys.
func (l *look) keyFile(s subject) {
	file := l.o.KeyFile
	if file == "" {
		s.skip("key-file", "the keys come from the environment, which its user and root can read")
		return
	}
	const others = 0o077
	switch info, err := os.Lstat(file); {
	case err != nil:
		s.fail("key-file", "", "%v", err)
	case !info.Mode().IsRegular():
		s.fail("key-file", "Name a regular file.", "%s is no regular file", file)
	case info.Mode().Perm()&others != 0:
		s.fail("key-file", "chmod 600 it, and revoke the keys if others use this machine.", "%s can be read by others: its mode is %#o", file, info.Mode().Perm())
	default:
		s.ok("key-file", "%s, mode %#o", file, info.Mode().Perm())
	}
}

// way looks at the way to the service: its addresses, the certificate, proxies.
func (l *look) way(ctx context.Context, s subject, base *url.URL) {
	if via, err := url.Parse(l.o.proxy()); l.o.proxy() != "" {
		host := "an address that cannot be read"
		if err == nil && via.Host != "" {
			host = via.Host
		}
		s.warn("proxy", "A proxy that repeats or caches requests breaks the promise: make sure that it does neither.", "HTTPS_PROXY leads through %s", host)
	} else {
		s.ok("proxy", "none")
	}
	if l.o.Transport != nil || l.h.dial == nil {
		s.skip("addresses", "requests go through a transport of the program's own")
		s.skip("certificate", "requests go through a transport of the program's own")
		return
	}
	if base.Scheme == "https" && l.o.proxy() != "" && !loopback.Is(loopback.Name(base.Hostname())) {
		s.skip("addresses", "requests go through the proxy")
		s.skip("certificate", "requests go through the proxy")
		return
	}
	l.unreachable = !l.addresses(ctx, s, base)
}

// addresses connects to each address of the name. It reports whether one answers.
func (l *look) addresses(ctx context.Context, s subject, base *url.URL) bool {
	ctx, cancel := context.WithTimeout(ctx, l.o.AttemptTimeout)
	defer cancel()
	port := base.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[base.Scheme]
	}
	found, err := l.h.lookup(ctx, base.Hostname())
	if err != nil || len(found) == 0 {
		s.fail("addresses", "Check the name and the resolver.", "%s has no address: %v", base.Hostname(), err)
		s.skip("certificate", "there is no connection")
		return false
	}
	var good, bad []string
	var last reached
	for _, ip := range found {
		got, err := l.h.dial(ctx, base.Scheme == "https", base.Hostname(), net.JoinHostPort(ip, port))
		if err != nil {
			bad = append(bad, ip+" ("+err.Error()+")")
			continue
		}
		good, last = append(good, ip), got
	}
	switch {
	case len(good) == 0:
		s.fail("addresses", "Check the network, the firewall and the certificates of this machine.", "none answers: %s", strings.Join(bad, "; "))
		s.skip("certificate", "there is no connection")
		return false
	case len(bad) > 0:
		s.warn("addresses", "A connection that meets this address first is slow. Without IPv6 here, take its address out of the resolver's answers.", "%s answer; not %s", strings.Join(good, ", "), strings.Join(bad, "; "))
	default:
		s.ok("addresses", "%s", strings.Join(good, ", "))
	}
	certificate(s, last, l.r.At)
	return true
}

// reached is what a connection showed.
type reached struct {
	secure bool // by TLS
	issuer string
	ends   time.Time
}

func certificate(s subject, got reached, now time.Time) {
	const soon = 14 * 24 * time.Hour
	switch left := got.ends.Sub(now); {
	case !got.secure:
		s.skip("certificate", "the connection has no TLS")
	case left < soon:
		s.warn("certificate", "Ask the service: it is usually replaced earlier.", "issued by %s, ends in %d hours", got.issuer, int(left.Hours()))
	default:
		s.ok("certificate", "issued by %s, ends on %s", got.issuer, got.ends.UTC().Format(time.DateOnly))
	}
}
