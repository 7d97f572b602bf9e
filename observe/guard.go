package observe

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// What may leave on a live account that is not a trial: these bodies, byte for byte. The first
// of each is the fence of package trading, to the byte. The targets cannot exist.
var (
	orderBodies = []string{
		`{"accountId":"@account","orderId":"@id"}`,
		`{"accountId": "@account", "orderId": "@id"}`,
		`{"orderId":"@id"}`,
	}
	runBodies = []string{
		`{"accountId":"@account","runId":"@id"}`,
		`{"accountId": "@account", "runId": "@id"}`,
		`{"runId":"@id"}`,
	}
)

// The places of a template's forms.
const (
	plainBody = iota
	spacedBody
	bareBody
)

const (
	cancelOrder = "/orders/cancel"
	cancelRun   = "/runs/cancel"
)

// bodiesOf are the templates of a route; none for a route that nothing may leave for.
func bodiesOf(path string) []string {
	switch path {
	case cancelOrder:
		return orderBodies
	case cancelRun:
		return runBodies
	default:
		return nil
	}
}

// impossible is the id of what cannot exist, in the form of the client's own fences.
func impossible(key string) string {
	digest := sha256.Sum256([]byte(key))
	return "fence-" + base64.RawURLEncoding.EncodeToString(digest[:18])
}

// another is a second id of what cannot exist, of the same key.
func another(key string) string { return impossible("another " + key) }

// nobody is the id of an account that nobody has.
func nobody(key string) string {
	digest := sha256.Sum256([]byte("account " + key))
	return "nobody-" + base64.RawURLEncoding.EncodeToString(digest[:18])
}

// fill puts an account and an id into a template.
func fill(template, account, id string) string {
	return strings.NewReplacer("@account", account, "@id", id).Replace(template)
}

// asID reports whether an account's id can stand in a body as it is.
func asID(id string) bool {
	const longest = 64
	return id != "" && len(id) <= longest && strings.IndexFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) < 0
}

// guard is the last before the network. It compares what is about to leave with what may, and
// sends the very bytes that it has compared.
type guard struct {
	next http.RoundTripper
	root string // of the API, as a URL without a slash at its end
	// accounts are the own accounts that a cancel may name.
	accounts map[string]bool
	// exact are requests of paper and trial: method, path and body.
	exact map[string]bool
	// reads are the paths, with their queries, that may be read; before is the URL of the
	// legacy path.
	reads  map[string]bool
	legacy string
}

// refusedError means that a request was not sent.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return "observe: not sent: " + e.why }

// longestBody is more than any body that may leave.
const longestBody = 1024

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(io.LimitReader(r.Body, longestBody+1))
		if err := errors.Join(err, r.Body.Close()); err != nil {
			return nil, err
		}
	}
	if err := g.check(r, body); err != nil {
		return nil, err
	}
	sent := r.Clone(r.Context())
	sent.Body, sent.ContentLength, sent.GetBody = http.NoBody, 0, nil
	if len(body) > 0 {
		// Without GetBody no transport sends it a second time by itself.
		sent.Body, sent.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return g.next.RoundTrip(sent)
}

// mayCarry are the headers that a request may have.
var mayCarry = []string{"Accept", "Authorization", "Content-Type", "Idempotency-Key", "User-Agent", "X-Api-Key"}

func (g *guard) check(r *http.Request, body []byte) error {
	for name, values := range r.Header {
		if !slices.Contains(mayCarry, name) || len(values) != 1 && name != "Idempotency-Key" {
			return &refusedError{"the header " + name}
		}
	}
	if r.Host != "" && r.Host != r.URL.Host || len(r.TransferEncoding) > 0 || r.Trailer != nil {
		return &refusedError{"another host, or another form"}
	}
	url := r.URL.String()
	path, ok := strings.CutPrefix(url, g.root)
	switch {
	case r.Method == http.MethodGet && len(body) == 0 && (ok && g.reads[path] || url == g.legacy):
		return nil
	case !ok || r.Method != http.MethodPost || len(body) > longestBody:
		return &refusedError{fmt.Sprintf("%s %s", r.Method, r.URL.Path)}
	case g.exact["POST "+path+"\n"+string(body)]:
		return nil
	default:
		return g.checkCancel(path, r.Header["Idempotency-Key"], body)
	}
}

// checkCancel compares a live write with the templates.
func (g *guard) checkCancel(path string, keys []string, body []byte) error {
	const longestKey = 64
	for _, key := range keys {
		if !asID(key) || len(key) > longestKey {
			return &refusedError{"a key that is not ours"}
		}
	}
	if len(keys) == 0 || len(keys) > 2 {
		return &refusedError{"a write without its key"}
	}
	for _, template := range bodiesOf(path) {
		for _, id := range []string{impossible(keys[0]), another(keys[0])} {
			if string(body) == fill(template, nobody(keys[0]), id) {
				return nil
			}
			for account := range g.accounts {
				if asID(account) && string(body) == fill(template, account, id) {
					return nil
				}
			}
		}
	}
	return &refusedError{fmt.Sprintf("POST %s with a body that is no template", path)}
}
