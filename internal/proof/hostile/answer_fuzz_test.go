package hostile

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/rig"
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
	calls := []func(*trading.Client) error{
		func(c *trading.Client) error { _, err := c.Sandbox.PlaceOrder(ctx, rig.Buy("0.01")); return err },
		func(c *trading.Client) error {
			return rig.Only(c.Live.Account("acc_1").PlaceOrder(ctx, rig.Buy("0.01")))
		},
		func(c *trading.Client) error {
			return rig.Only(c.Live.Account("acc_1").ClosePosition(ctx, "BTC", trading.All))
		},
		func(c *trading.Client) error { _, err := c.Live.Account("acc_1").CancelOrder(ctx, "ord_1"); return err },
		func(c *trading.Client) error { _, err := c.Sandbox.Positions(ctx); return err },
		func(c *trading.Client) error { _, err := c.Live.Accounts(ctx); return err },
		func(c *trading.Client) error { _, err := c.Health(ctx); return err },
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
		client, err := trading.New(rig.BaseURL, trading.WithTransport(rt), trading.WithSandboxKey(rig.SandboxKey), trading.WithLiveKey(rig.LiveKey),
			trading.WithRateLimits(trading.RateLimits{Off: true}), trading.WithHealthGate(trading.HealthGate{Off: true}), trading.WithSendTTL(0), trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}), trading.WithRetry(trading.Retry{Attempts: 1, PriceAttempts: 1}))
		require.NoError(t, err)
		err = calls[n](client)
		_ = client.Close()

		says := claimsOf(body)
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

// claims is what encoding/json finds in a body.
type claims struct{ valid, object, refused, yes bool }

func claimsOf(body []byte) (s claims) {
	var members map[string]json.RawMessage
	s.valid = json.Valid(body)
	s.object = s.valid && json.Unmarshal(body, &members) == nil && members != nil
	isText := func(name string) bool { raw := members[name]; return len(raw) > 0 && raw[0] == '"' }
	s.refused = isText("error") && isText("message")
	s.yes = string(members["ok"]) == "true" || string(members["success"]) == "true"
	return s
}

func checkFuzzedError(t *testing.T, err error, rt *sameAnswer, says claims, write bool) {
	t.Helper()
	var (
		refusal  *trading.Error
		edge     *trading.GatewayError
		decode   *trading.DecodeError
		redirect *trading.RedirectError
		outcome  = trading.OutcomeOf(err)
	)
	switch {
	case errors.As(err, &refusal):
		if !says.valid || refusal.Status != rt.status || refusal.Local {
			t.Fatalf("%d %q is a refusal: %v", rt.status, rt.body, err)
		}
		if wait, _ := refusal.RetryAfter.Get(); wait < 0 || wait > time.Hour {
			t.Fatalf("Retry-After %q is %s", rt.header["Retry-After"], wait)
		}
	case errors.As(err, &edge):
		if len(edge.Snippet) > 256 || utf8.Valid(rt.body) && !utf8.ValidString(edge.Snippet) {
			t.Fatalf("snippet %q", edge.Snippet)
		}
	case errors.As(err, &redirect):
		to, err := url.Parse(redirect.Location)
		if rt.status < 300 || rt.status >= 400 || err == nil && (to.User != nil || to.RawQuery != "" || to.Fragment != "") {
			t.Fatalf("%d is a redirect to %q", rt.status, redirect.Location)
		}
	case errors.As(err, &decode):
		require.True(t, says.valid, "%q is JSON", rt.body)
	default:
		t.Fatalf("%d %q: %T %[3]v", rt.status, rt.body, err)
	}
	switch {
	case !write:
		if outcome != trading.NotApplied {
			t.Fatalf("a read is %s: %v", outcome, err)
		}
	case outcome == trading.Applied:
		if !says.yes || rt.status >= 300 {
			t.Fatalf("%d %q is applied: %v", rt.status, rt.body, err)
		}
	case outcome == trading.NotApplied:
		if refusal == nil {
			t.Fatalf("%d %q is not applied: %v", rt.status, rt.body, err)
		}
	}
	if text := err.Error(); len(text) > len(rt.body)*6+2000+len(rt.header.Get("Location"))*3 {
		t.Fatalf("an error of %d bytes", len(text))
	}
}
