// Package loopback says what this machine itself is called: the one host to which a key may go
// over plain http, and to which nothing goes through a proxy.
package loopback

import (
	"net"
	"strings"
)

// Is reports whether a host, as a URL or the address of a listener has it, without its port, is this
// machine itself, for net/http too, which sends nothing there through a proxy. LOCALHOST and
// localhost with a dot behind it are that by [Name] alone.
func Is(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// Name is a host as [Is] takes it: without what makes no difference to a resolver.
func Name(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }
