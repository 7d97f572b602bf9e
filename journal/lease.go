package journal

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"
)

// Leaser is a [Store] that several machines reach, and that one process at a time holds, under a
// lease: a client on it sends a write only while the lease lasts, exits too. It is asked right
// before the first byte of each write, and again with its last one, so it answers from memory.
type Leaser interface {
	// Deadline is until when a byte may leave. It moves on while the lease is renewed. One that
	// has passed, or the zero time, means that another process has the lease, or may have it
	// before the byte is there.
	Deadline() time.Time
	// Kept reports whether no other process has held it since this one took it. While that is not
	// known it waits, for as long as the context lasts, and then reports false.
	Kept(ctx context.Context) bool
	// Covers reports whether the lease is for a live account of the service at a base URL, as
	// [Service] spells it.
	Covers(baseURL, account string) bool
	// Halted reports whether somebody has halted the entries of whoever holds it, and why.
	Halted() (reason string, halted bool)
	// CompleteFrom is from when on all is there that was acknowledged, by this machine's clock as it
	// runs now; the zero time if nothing was ever lost. A database that has failed over may lack the
	// last of what was acknowledged before: for a day it is complete from the taking on, and a client
	// order id that it does not know may have been used before that.
	CompleteFrom() time.Time
}

// Errors of a [Leaser], to be compared with [errors.Is]. Neither is a journal that failed,
// beside which an exit would go out: nothing leaves.
var (
	// ErrFenced means that another process has taken the journal over, or may have.
	ErrFenced = errors.New("journal: another process has it, or may have")
	// ErrLostHistory means that something is missing from the journal that it had acknowledged:
	// it is an older copy.
	ErrLostHistory = errors.New("journal: something is missing that it had acknowledged")
)

// IsFencing reports whether an error says that nothing may leave any more, rather than that the
// journal failed.
func IsFencing(err error) bool { return errors.Is(err, ErrFenced) || errors.Is(err, ErrLostHistory) }

// Service names the service of a base URL, however that is spelled: a journal is of one service.
func Service(base *url.URL) string {
	return strings.ToLower(base.Scheme) + "://" + normalHost(base) + strings.TrimRight(base.Path, "/")
}

// normalHost is the host in lower case, without the scheme's own port, an address in its
// short form, and this machine by its address.
func normalHost(base *url.URL) string {
	host := strings.ToLower(strings.TrimSuffix(base.Hostname(), "."))
	port := strings.TrimLeft(base.Port(), "0")
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip != nil {
		host = ip.String()
	}
	usual := map[string]string{"https": "443", "http": "80"}[strings.ToLower(base.Scheme)]
	switch {
	case port != "" && port != usual:
		return net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		return "[" + host + "]"
	default:
		return host
	}
}
