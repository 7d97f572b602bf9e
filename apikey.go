package trading

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
)

// redacted stands wherever a key would have been printed.
const redacted = "[redacted]"

// apiKey holds a key so that no printing reaches it: every way to format,
// marshal or log it gives the prefix alone, and the text itself hangs on a
// pointer, so that even a printer that walks unexported fields finds an address.
type apiKey struct{ text *keyText }

type keyText struct {
	header [1]string // as the value of a header
	digest string    // names the key where the key itself must not be kept
	bucket string    // names its rate limit, by a part of the digest
}

func newAPIKey(text string) apiKey {
	digest := sha256.Sum256([]byte(text))
	return apiKey{text: &keyText{
		header: [1]string{text},
		digest: string(digest[:]),
		bucket: bucketOf(text, digest[:4]),
	}}
}

// bucketOf names a key's rate limit so that people can tell sandbox from live.
func bucketOf(text string, digest []byte) string {
	env := EnvSandbox
	if strings.HasPrefix(text, prefixLive) {
		env = EnvLive
	}
	return "key/" + string(env) + "/" + hex.EncodeToString(digest)
}

func (k apiKey) isZero() bool { return k.text == nil }

// reveal returns the key itself, as the value of a header. Nothing else is given
// it.
func (k apiKey) reveal() []string { return k.text.header[:] }

// bucket names the key's rate limit.
func (k apiKey) bucket() string { return k.text.bucket }

// String returns the key's prefix, which tells the environment.
func (k apiKey) String() string {
	switch {
	case k.text == nil:
		return "(no key)"
	case strings.HasPrefix(k.text.header[0], prefixSandbox):
		return prefixSandbox + redacted
	case strings.HasPrefix(k.text.header[0], prefixLive):
		return prefixLive + redacted
	default:
		return redacted
	}
}

// Format covers every verb, %#v and %x included.
func (k apiKey) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// MarshalText covers JSON and everything else that encodes text.
func (k apiKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue covers slog.
func (k apiKey) LogValue() slog.Value { return slog.StringValue(k.String()) }

// scrub takes the key out of text that came from outside: a debugging proxy may
// print the request, and with it the header, into its error page.
func (k apiKey) scrub(text []byte) []byte {
	if k.text == nil || k.text.header[0] == "" || !bytes.Contains(text, []byte(k.text.header[0])) {
		return text
	}
	return bytes.ReplaceAll(text, []byte(k.text.header[0]), []byte(redacted))
}

func (k apiKey) scrubText(text string) string {
	if k.text == nil || k.text.header[0] == "" || !strings.Contains(text, k.text.header[0]) {
		return text
	}
	return strings.ReplaceAll(text, k.text.header[0], redacted)
}

// Every key begins with the prefix of its environment.
const (
	prefixOfKeys  = "pk_"
	prefixSandbox = prefixOfKeys + "test_"
	prefixLive    = prefixOfKeys + "live_"
)

// checkKey refuses a key that the service would refuse on this environment's
// routes, before a byte of it is sent.
func checkKey(env Environment, text string) error {
	want, other := prefixSandbox, prefixLive
	if env == EnvLive {
		want, other = prefixLive, prefixSandbox
	}
	switch {
	case text == "":
		return refuse(env, CodeMissingAPIKey, "the %s key is empty", env)
	case strings.HasPrefix(text, other):
		return refuse(env, CodeWrongEnvironment, "the %s key must begin with %s, and this one begins with %s", env, want, other)
	case !strings.HasPrefix(text, want) || len(text) == len(want):
		return refuse(env, CodeInvalidAPIKey, "the %s key must begin with %s, followed by its secret part", env, want)
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return refuse(env, CodeInvalidAPIKey, "the %s key has a character that no header can carry, at position %d", env, i)
		}
	}
	return nil
}

// keyring is where the key of an environment comes from: it is given once, or
// asked for at each attempt.
type keyring struct {
	given apiKey
	ask   func(context.Context) (string, error)
}

func (r keyring) isZero() bool { return r.given.isZero() && r.ask == nil }

// current returns the key to use now.
func (r keyring) current(ctx context.Context, env Environment) (apiKey, error) {
	if r.ask == nil {
		return r.given, nil
	}
	text, err := r.ask(ctx)
	if err != nil {
		return apiKey{}, fmt.Errorf("trading: the %s key cannot be had: %w", env, err)
	}
	if err := checkKey(env, text); err != nil {
		return apiKey{}, err
	}
	return newAPIKey(text), nil
}

// takeKey gets the key for the next attempt. One that has been rotated since the
// last is another key: what was held against the old one does not hold.
func (c *call) takeKey() error {
	if c.endpoint.keyless {
		return nil
	}
	key, err := c.core.keys(c.env).current(c.Context, c.env)
	c.apiKey = key
	return err
}

// scrub takes the keys out of what came from outside, as soon as it is in. So
// nothing behind the transport, errors and results alike, can hold one.
func (c *call) scrub(text []byte) []byte {
	if !bytes.Contains(text, []byte(prefixOfKeys)) {
		return text
	}
	for _, key := range c.knownKeys() {
		text = key.scrub(text)
	}
	return text
}

func (c *call) scrubHeader(header http.Header) http.Header {
	clean := header
	for name, values := range header {
		for i, value := range values {
			if scrubbed := c.scrubText(value); scrubbed != value {
				clean = clean.Clone() // the transport's own is not ours to change
				clean[name][i] = scrubbed
			}
		}
	}
	return clean
}

func (c *call) scrubError(err error) error {
	text := err.Error()
	if clean := c.scrubText(text); clean != text {
		return errors.New(clean)
	}
	return err
}

func (c *call) scrubText(text string) string {
	if !strings.Contains(text, prefixOfKeys) {
		return text
	}
	for _, key := range c.knownKeys() {
		text = key.scrubText(text)
	}
	return text
}

// knownKeys are the keys that an answer to this call could repeat.
func (c *call) knownKeys() [3]apiKey {
	return [...]apiKey{c.apiKey, c.core.sandboxKeys.given, c.core.liveKeys.given}
}
