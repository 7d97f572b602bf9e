// Package secret holds API keys: in a form that never prints, out of the text that
// comes from outside, and back from use after they were refused. It knows nothing of
// the client.
package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
)

// Redacted stands wherever a key would have been printed.
const Redacted = "[redacted]"

// APIKey is a key that no printing reaches: every way to format, marshal or log it
// gives its public prefix alone. The text itself hangs on a pointer, so that even a
// printer that walks unexported fields finds an address.
type APIKey struct{ text *letters }

type letters struct {
	header [1]string // the whole key, as the value of a header
	public int       // how many bytes of it may be printed
	secret string    // the others
	id     string

	// least is a text that is in every text that has the secret part as it is. Of signs one is in every text that
	// has the key, or the beginning of it, as it is.
	least string
	signs [2]string
}

// New returns a key of a group, of which the first public bytes may be printed.
func New(group, key string, public int) APIKey {
	digest := sha256.Sum256([]byte(key))
	public = min(max(public, 0), len(key))
	l := &letters{
		header: [1]string{key}, public: public, secret: key[public:], least: key,
		id: group + "/" + hex.EncodeToString(digest[:4]),
	}
	if len(l.secret) >= leastAlone {
		l.least = l.secret
	}
	sign := l.least[:min(leastAlone, len(l.least))]
	l.signs = [2]string{sign, sign}
	if public > 0 {
		l.signs[0] = key[:public]
	}
	return APIKey{l}
}

// IsZero reports whether there is no key.
func (k APIKey) IsZero() bool { return k.text == nil }

// Reveal returns the key itself, as the values of a header. Nothing else is given it.
func (k APIKey) Reveal() []string { return k.text.header[:] }

// ID names the key where the key itself must not be kept, by its group and a part of its
// digest.
func (k APIKey) ID() string { return k.text.id }

// String returns the public prefix.
func (k APIKey) String() string {
	if k.text == nil {
		return "(no key)"
	}
	return k.text.header[0][:k.text.public] + Redacted
}

// GoString covers %#v where a key is part of another value.
func (k APIKey) GoString() string { return k.String() }

// Format covers every verb.
func (k APIKey) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// MarshalText covers JSON and everything else that encodes text.
func (k APIKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue covers slog.
func (k APIKey) LogValue() slog.Value { return slog.StringValue(k.String()) }
