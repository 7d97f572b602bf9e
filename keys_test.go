package trading

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tradingapi/trading-go/internal/check"
)

// However an API key is printed, its secret part is not.
func TestAnAPIKeyIsNeverPrinted(t *testing.T) {
	key := newAPIKey("pk_live_s3cretLivePart")
	for _, v := range []any{key, &key, struct{ Key apiKey }{key}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			printed := fmt.Sprintf(verb, v)
			assert.NotContains(t, printed, "s3cret", verb)
			assert.NotContains(t, printed, fmt.Sprintf("%x", "s3cret"), verb)
		}
	}
	assert.Contains(t, fmt.Sprint(key), "pk_live_[redacted]")
}

// FuzzKeys takes any API key, idempotency key and client order id: what is accepted can
// be a header, what is printed does not tell an API key, and no two orders share a
// name.
func FuzzKeys(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, account, id string, cut uint8) {
		for _, env := range []Environment{EnvSandbox, EnvLive} {
			if err := checkKey(env, text); err != nil {
				if len(err.Error()) > 200 {
					t.Fatalf("the error grows with the key: %v", err)
				}
				continue
			}
			if other := map[Environment]Environment{EnvSandbox: EnvLive, EnvLive: EnvSandbox}[env]; checkKey(other, text) == nil {
				t.Fatalf("%q is of both environments", text)
			}
			if !visible(text) {
				t.Fatalf("%q is accepted", text)
			}
			key := newAPIKey(text)
			if key.Reveal()[0] != text {
				t.Fatalf("%q is sent as %q", text, key.Reveal())
			}
		}
		if refused := check.IdempotencyKey(text) != nil; refused != (text == "" || len(text) > 255 || !visible(text)) {
			t.Fatalf("idempotency key %q: refused is %v", text, refused)
		}

		if id == "" {
			return
		}
		nameOf := func(account string, op Operation, id string) string {
			return (&keySource{id: id}).name(AccountID(account), op)
		}
		name := nameOf(account, OpOrder, id)
		if key := derived(name, int(cut)); check.IdempotencyKey(string(key)) != nil {
			t.Fatalf("client order id %q of account %q has the key %q", id, account, key)
		}
		joined := account + id
		n := min(int(cut), len(joined)-1)
		if other := nameOf(joined[:n], OpOrder, joined[n:]); (other == name) != (n == len(account)) {
			t.Fatalf("%q, cut at %d and at %d: the same name is %v", joined, len(account), n, other == name)
		}
		if nameOf(account, OpLimit, id) == name || (&keySource{given: Key(id)}).name(AccountID(account), OpOrder) == name {
			t.Fatalf("client order id %q of account %q shares its name", id, account)
		}
	})
}

// visible reports whether a text has visible ASCII characters only.
func visible(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}
