package trading

import (
	"bytes"
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
type apiKey struct{ text *[1]string }

func newAPIKey(text string) apiKey { return apiKey{text: &[1]string{text}} }

func (k apiKey) isZero() bool { return k.text == nil }

// reveal returns the key itself, as the value of a header. Nothing else is given
// it.
func (k apiKey) reveal() []string { return k.text[:] }

// String returns the key's prefix, which tells the environment.
func (k apiKey) String() string {
	switch {
	case k.text == nil:
		return "(no key)"
	case strings.HasPrefix(k.text[0], prefixSandbox):
		return prefixSandbox + redacted
	case strings.HasPrefix(k.text[0], prefixLive):
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
	if k.text == nil || k.text[0] == "" || !bytes.Contains(text, []byte(k.text[0])) {
		return text
	}
	return bytes.ReplaceAll(text, []byte(k.text[0]), []byte(redacted))
}

func (k apiKey) scrubText(text string) string {
	if k.text == nil || k.text[0] == "" || !strings.Contains(text, k.text[0]) {
		return text
	}
	return strings.ReplaceAll(text, k.text[0], redacted)
}

const (
	prefixSandbox = "pk_test_"
	prefixLive    = "pk_live_"
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

// scrub takes both keys out of what came from outside, as soon as it is in. So
// nothing behind the transport, errors and results alike, can hold one.
func (c *core) scrub(text []byte) []byte {
	return c.liveKey.scrub(c.sandboxKey.scrub(text))
}

func (c *core) scrubHeader(header http.Header) http.Header {
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

func (c *core) scrubError(err error) error {
	text := err.Error()
	if clean := c.scrubText(text); clean != text {
		return errors.New(clean)
	}
	return err
}

func (c *core) scrubText(text string) string {
	return c.liveKey.scrubText(c.sandboxKey.scrubText(text))
}
