package trading

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go/internal/check"
)

// sameAnswer gives every request the same answer.
type sameAnswer struct {
	status int
	header http.Header
	body   []byte
}

func (a *sameAnswer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return &http.Response{
		StatusCode: a.status, Header: a.header.Clone(), ContentLength: int64(len(a.body)),
		Body: io.NopCloser(strings.NewReader(string(a.body))),
	}, nil
}

// FuzzAnswer gives a call any answer: the error is typed, only a service's own yes
// is applied, only its own no is not, and nothing of the answer is larger than it
// may be.
func FuzzAnswer(f *testing.F) {
	ctx := f.Context()
	calls := []func(*Client) error{
		func(c *Client) error { _, err := c.Sandbox.PlaceOrder(ctx, benchOrder()); return err },
		func(c *Client) error { _, err := c.Live.Account("acc_1").PlaceOrder(ctx, benchOrder()); return err },
		func(c *Client) error { _, err := c.Live.Account("acc_1").ClosePosition(ctx, "BTC", All); return err },
		func(c *Client) error { _, err := c.Live.Account("acc_1").CancelOrder(ctx, "ord_1"); return err },
		func(c *Client) error { _, err := c.Sandbox.Positions(ctx); return err },
		func(c *Client) error { _, err := c.Live.Accounts(ctx); return err },
		func(c *Client) error { _, err := c.Health(ctx); return err },
	}
	const reads = 4 // from this one on
	f.Fuzz(func(t *testing.T, which byte, status uint16, retryAfter, location string, body []byte) {
		n := int(which) % len(calls)
		rt := &sameAnswer{status: 200 + int(status)%400, header: http.Header{"Content-Type": {"application/json"}}, body: body}
		if retryAfter != "" {
			rt.header["Retry-After"] = []string{retryAfter}
		}
		if location != "" {
			rt.header["Location"] = []string{location}
		}
		client, err := New(testBaseURL, WithTransport(rt), WithSandboxKey(testSandboxKey), WithLiveKey(testLiveKey),
			WithRateLimits(RateLimits{Off: true}), WithHealthGate(HealthGate{Off: true}), WithSendTTL(0), WithResolveTimeout(0), WithoutBackground(), WithRetry(Retry{Attempts: 1, PriceAttempts: 1}))
		if err != nil {
			t.Fatal(err)
		}
		err = calls[n](client)
		_ = client.Close()

		says := saysOf(body)
		ok := rt.status < 300
		if err == nil {
			if !ok && (n != len(calls)-1 || rt.status != 503) || !says.object && n < reads {
				t.Fatalf("call %d: %d %q is a success", n, rt.status, body)
			}
			if n < reads && !says.yes {
				t.Fatalf("call %d: %d %q does not say so and is a success", n, rt.status, body)
			}
			return
		}
		checkFuzzedError(t, err, rt, says, n < reads)
	})
}

// says is what encoding/json finds in a body.
type says struct{ valid, object, refused, yes bool }

func saysOf(body []byte) (s says) {
	var members map[string]json.RawMessage
	s.valid = json.Valid(body)
	s.object = s.valid && json.Unmarshal(body, &members) == nil && members != nil
	isText := func(name string) bool { raw := members[name]; return len(raw) > 0 && raw[0] == '"' }
	s.refused = isText("error") && isText("message")
	s.yes = string(members["ok"]) == "true" || string(members["success"]) == "true"
	return s
}

func checkFuzzedError(t *testing.T, err error, rt *sameAnswer, says says, write bool) {
	t.Helper()
	var (
		refusal  *Error
		edge     *GatewayError
		decode   *DecodeError
		redirect *RedirectError
		outcome  = OutcomeOf(err)
	)
	switch {
	case errors.As(err, &refusal):
		if !says.valid || refusal.Status != rt.status || refusal.Local {
			t.Fatalf("%d %q is a refusal: %v", rt.status, rt.body, err)
		}
		if wait := refusal.RetryAfter; wait < 0 || wait > time.Hour {
			t.Fatalf("Retry-After %q is %s", rt.header["Retry-After"], wait)
		}
	case errors.As(err, &edge):
		if len(edge.Snippet) > snippetSize || utf8.Valid(rt.body) && !utf8.ValidString(edge.Snippet) {
			t.Fatalf("snippet %q", edge.Snippet)
		}
	case errors.As(err, &redirect):
		to, err := url.Parse(redirect.Location)
		if rt.status < 300 || rt.status >= 400 || err == nil && (to.User != nil || to.RawQuery != "" || to.Fragment != "") {
			t.Fatalf("%d is a redirect to %q", rt.status, redirect.Location)
		}
	case errors.As(err, &decode):
		if !says.valid {
			t.Fatalf("%q is JSON", rt.body)
		}
	default:
		t.Fatalf("%d %q: %T %[3]v", rt.status, rt.body, err)
	}
	switch {
	case !write:
		if outcome != NotApplied {
			t.Fatalf("a read is %s: %v", outcome, err)
		}
	case outcome == Applied:
		if !says.yes || rt.status >= 300 {
			t.Fatalf("%d %q is applied: %v", rt.status, rt.body, err)
		}
	case outcome == NotApplied:
		if refusal == nil {
			t.Fatalf("%d %q is not applied: %v", rt.status, rt.body, err)
		}
	}
	if text := err.Error(); len(text) > len(rt.body)*6+2000+len(rt.header.Get("Location"))*3 {
		t.Fatalf("an error of %d bytes", len(text))
	}
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

// FuzzValueJSON reads parts, optional numbers, sides of orders and ways to
// carry them out: what is read can be written, and read again as the same.
func FuzzValueJSON(f *testing.F) {
	type value interface {
		json.Unmarshaler
		json.Marshaler
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, pair := range map[string][2]value{
			"part":   {new(Part), new(Part)},
			"number": {new(Opt[decimal.Decimal]), new(Opt[decimal.Decimal])},
			"text":   {new(Opt[string]), new(Opt[string])},
		} {
			v, again := pair[0], pair[1]
			zero := fmt.Sprint(v)
			_ = v.UnmarshalJSON([]byte("7")) // what was there before must not show
			if v.UnmarshalJSON(data) != nil {
				if fmt.Sprint(v) != zero {
					t.Fatalf("%s: refused %q and kept %v", name, data, v)
				}
				continue
			}
			if !json.Valid(data) {
				t.Fatalf("%s: %q was read as %v", name, data, v)
			}
			text, err := v.MarshalJSON()
			if err != nil {
				t.Fatalf("%s: %q was read but cannot be written: %v", name, data, err)
			}
			if err := again.UnmarshalJSON(text); err != nil || fmt.Sprint(again) != fmt.Sprint(v) {
				t.Fatalf("%s: %q became %q, and that %v (%v)", name, data, text, again, err)
			}
			if !json.Valid(text) || len(text) > 6*len(data)+64 {
				t.Fatalf("%s: %q became %q", name, data, text)
			}
		}
		var kind OrderType
		if known := kind.UnmarshalText(data) == nil; known != (string(data) == "market" || string(data) == "limit") {
			t.Fatalf("order type %q: known is %v", data, known)
		}
	})
}
