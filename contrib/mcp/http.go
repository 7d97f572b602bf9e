package mcp

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tradingapi/trading-go/internal/disk"
)

// HTTP serves the protocol, stateless: tickets and states need no session. Whoever reaches it is let
// in; see [Guarded].
func (e *Engine) HTTP() http.Handler {
	s := e.server()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: mostBytes, DisableLocalhostProtection: true, // Guarded compares the host
	})
}

// Guarded lets through requests of one of the hosts, exactly, from no other origin, and with the
// bearer token of a file, unless that is empty. It reads bodies strictly, 64 KiB at the most.
func Guarded(next http.Handler, hosts []string, tokenFile string) (http.Handler, error) {
	token := ""
	if tokenFile != "" {
		data, _, err := disk.Read(tokenFile, 1<<10, disk.NoAccess)
		if err != nil {
			return nil, err
		}
		if token = strings.TrimSpace(string(data)); len(token) < 32 {
			return nil, errors.New(tokenFile + ": the token must have 32 characters or more")
		}
	}
	return http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case !slices.Contains(hosts, r.Host):
			http.Error(w, "refused", http.StatusForbidden)
			return
		case token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is required", http.StatusUnauthorized)
			return
		case r.URL.Path != "/mcp":
			http.NotFound(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBytes))
		if err != nil {
			http.Error(w, "64 KiB at the most", http.StatusRequestEntityTooLarge)
			return
		}
		if r.Method == http.MethodPost && strict(body) != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, parseError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})), nil
}

// Sockets of an engine, in its folder.
func frontSocket(dir string) string { return filepath.Join(dir, "front.sock") }
func webSocket(dir string) string   { return filepath.Join(dir, "web.sock") }

// Forward is a front over HTTP: it passes requests on to the engine of a folder.
func Forward(dir string) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(&url.URL{Scheme: "http", Host: "engine"}) },
		Transport: Dial(dir),
	}
}

// Dial reaches the web socket of the engine of a folder.
func Dial(dir string) http.RoundTripper {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", webSocket(dir))
	}}
}
