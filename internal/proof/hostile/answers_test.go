package hostile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/testing/faultproxy"
	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// hostile is a server on loopback that reads requests as it should, and answers
// them with whatever a test wants written to the connection.
type hostile struct {
	*faultproxy.Proxy
	url string
}

const healthy = `{"ok":true,"status":"healthy","feed":"live","service":"trading","version":"v1","asOf":1795000000000,"cacheSeconds":5}`

// newHostile answers each request by answer. Health alone is answered well.
func newHostile(t *testing.T, answer faultproxy.Fault) *hostile {
	t.Helper()
	proxy := faultproxy.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, healthy)
	}))
	proxy.Rest(answer)
	proxy.Always("GET /v1/health", faultproxy.Pass)
	return &hostile{Proxy: proxy, url: proxy.URL() + "/v1"}
}

// seen counts the requests of a method, those for health apart.
func (h *hostile) seen(method string) (n int) {
	for _, req := range h.Requests() {
		if strings.HasPrefix(req.Operation, method+" ") && req.Operation != "GET /v1/health" {
			n++
		}
	}
	return n
}

// client returns a client of the server, on connections of its own and with
// waits too short to notice, which leaves in doubt what is in doubt.
func (h *hostile) client(t *testing.T, opts ...trading.Option) *trading.Client {
	t.Helper()
	client, err := trading.New(h.url, append([]trading.Option{
		trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}),
		trading.WithSandboxKey("pk_test_x"),
		trading.WithRetry(trading.Retry{MinWait: time.Nanosecond, MaxWait: time.Nanosecond}),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { rig.CloseClient(t, client) })
	return client
}

// plainAnswer is a well-formed answer; headers are whole lines.
func plainAnswer(status int, body string, headers ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", status, http.StatusText(status), len(body))
	for _, line := range headers {
		b.WriteString(line + "\r\n")
	}
	return b.String() + "\r\n" + body
}

// says answers with bytes and closes.
func says(text string) faultproxy.Fault {
	return func(x *faultproxy.Exchange) {
		_, _ = io.WriteString(x, text)
		_ = x.Close()
	}
}

// zipped is an answer whose body is compressed; of the body, cut bytes are missing.
func zipped(body string, cut int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, body)
	_ = w.Close()
	b.Truncate(b.Len() - cut)
	return plainAnswer(200, b.String(), "Content-Encoding: gzip", "Connection: close")
}

// flood writes size bytes of zeros behind a header.
func flood(header string, size int) faultproxy.Fault {
	return func(x *faultproxy.Exchange) {
		defer x.Close()
		_, _ = io.WriteString(x, header)
		chunk := make([]byte, 64<<10)
		for left := size; left > 0; left -= len(chunk) {
			if _, err := x.Write(chunk); err != nil {
				return
			}
		}
	}
}

// bomb is a gigabyte of zeros, compressed: a hundred times the same ten megabytes.
func bomb(x *faultproxy.Exchange) {
	defer x.Close()
	var member bytes.Buffer
	w, _ := gzip.NewWriterLevel(&member, gzip.BestSpeed)
	zeros := make([]byte, 1<<20)
	for range 10 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	_, _ = io.WriteString(x, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
	for range 100 {
		if _, err := x.Write(member.Bytes()); err != nil {
			return
		}
	}
}

// kindOf names the type of the error that says why a call failed.
func kindOf(err error) string {
	var (
		refusal   *trading.Error
		edge      *trading.GatewayError
		redirect  *trading.RedirectError
		decode    *trading.DecodeError
		transport *trading.TransportError
	)
	switch {
	case errors.As(err, &refusal):
		return "refusal"
	case errors.As(err, &edge):
		return "edge"
	case errors.As(err, &redirect):
		return "redirect"
	case errors.As(err, &decode):
		return "decode"
	case errors.As(err, &transport):
		return "transport"
	default:
		return fmt.Sprint(err)
	}
}

// What comes back when something is wrong: for a read and for a write the type
// of the error, how often it was sent, and what is known of the write. A write
// is never sent twice, since any of these may follow its execution.
func TestHostileAnswers(t *testing.T) {
	const (
		account = `{"id":"sb_1","environment":"sandbox","balance":1,"equity":1,"unrealizedPnL":0,"profitTarget":1,` +
			`"dailyLossFloor":1,"globalLossFloor":1,"profitSplit":0.8,"status":"active","isLocked":false}`
		good = `{"ok":true,"fill":{"price":64000,"repriced":false,"ageMs":1},"position":null,"account":` + account + `}`
	)
	with := func(old, new string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, new, 1)
	}
	ok := func(body string) faultproxy.Fault { return says(plainAnswer(200, body, "Connection: close")) }
	const once, retried = 1, 4
	for _, row := range []struct {
		name    string
		answer  faultproxy.Fault
		read    string
		reads   int
		write   string // "ok" where the answer is right
		outcome trading.Outcome
	}{
		{"the right answer", ok(good), "ok", once, "ok", trading.Applied},
		{"compressed", says(zipped(good, 0)), "ok", once, "ok", trading.Applied},
		{"after 100 Continue", says("HTTP/1.1 100 Continue\r\n\r\n" + plainAnswer(200, good)), "ok", once, "ok", trading.Applied},

		{"T24 HTML with 200", ok("<!DOCTYPE html><html></html>"), "edge", once, "edge", trading.Unknown},
		{"{}", ok("{}"), "decode", once, "edge", trading.Unknown},
		{"[]", ok("[]"), "decode", once, "edge", trading.Unknown},
		{"null", ok("null"), "decode", once, "edge", trading.Unknown},
		{"true", ok("true"), "decode", once, "edge", trading.Unknown},
		{"a string", ok(`"ok"`), "decode", once, "edge", trading.Unknown},
		{"nothing", ok(""), "edge", once, "edge", trading.Unknown},
		{"204", says("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), "edge", once, "edge", trading.Unknown},
		{"truncated JSON", ok(good[:len(good)/2]), "edge", once, "edge", trading.Unknown},
		{"two values", ok(good + good), "edge", once, "edge", trading.Unknown},
		{"NaN", ok(with(`"balance":1`, `"balance":NaN`)), "edge", once, "edge", trading.Unknown},
		{"Infinity", ok(with(`"balance":1`, `"balance":Infinity`)), "edge", once, "edge", trading.Unknown},
		{"deep nesting", ok(strings.Repeat("[", 100_000)), "edge", once, "edge", trading.Unknown},
		{"deep nesting in a member", ok(with(`{"ok"`, `{"x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`,"ok"`)), "edge", once, "edge", trading.Unknown},
		{"ok twice", ok(with(`"ok":true`, `"ok":false,"ok":true`)), "edge", once, "edge", trading.Unknown},
		{"OK in upper case", ok(with(`"ok"`, `"OK"`)), "ok", once, "edge", trading.Unknown},
		{"ok as text", ok(with(`"ok":true`, `"ok":"true"`)), "decode", once, "edge", trading.Unknown},

		// The service's own yes, and something about it that cannot be read: executed.
		{"a number of a megabyte", ok(with(`"balance":1`, `"balance":`+strings.Repeat("1", 1<<20-1<<10))), "decode", once, "decode", trading.Applied},
		{"1e999999999", ok(with(`"balance":1`, `"balance":1e999999999`)), "decode", once, "decode", trading.Applied},
		{"1e-999999999", ok(with(`"balance":1`, `"balance":1e-999999999`)), "decode", once, "decode", trading.Applied},
		{"a balance twice", ok(with(`"balance":1`, `"balance":1,"balance":2`)), "decode", once, "decode", trading.Applied},
		{"BALANCE in upper case", ok(with(`"balance"`, `"BALANCE"`)), "decode", once, "decode", trading.Applied},
		{"null for a balance", ok(with(`"balance":1`, `"balance":null`)), "decode", once, "decode", trading.Applied},
		{"an account that is a list", ok(with(account, "[]")), "decode", once, "decode", trading.Applied},
		{"not UTF-8", ok(with(`"sb_1"`, "\"\xff\xfe\"")), "ok", once, "ok", trading.Applied},

		// Refusals, and what only looks like them.
		{"a refusal", says(plainAnswer(400, `{"error":"bad_size","message":"no"}`)), "refusal", once, "refusal", trading.NotApplied},
		{"ERROR in upper case", says(plainAnswer(400, `{"ERROR":"bad_size","MESSAGE":"no"}`)), "edge", once, "edge", trading.Unknown},
		{"error twice", says(plainAnswer(400, `{"error":"bad_size","error":"bad_side","message":"no"}`)), "edge", once, "edge", trading.Unknown},
		{"an error that is a number", says(plainAnswer(400, `{"error":400,"message":"no"}`)), "edge", once, "edge", trading.Unknown},
		{"an error without a message", says(plainAnswer(400, `{"error":"bad_size"}`)), "edge", once, "edge", trading.Unknown},
		{"T24 HTML with 502", says(plainAnswer(502, "<html>")), "edge", retried, "edge", trading.Unknown},
		{"JSON of a gateway with 504", says(plainAnswer(504, `{"message":"Endpoint request timed out"}`)), "edge", retried, "edge", trading.Unknown},

		// Bodies that do not end well, beside those of TestBrokenConnections.
		{"compressed and truncated", says(zipped(good, 12)), "transport", retried, "transport", trading.Unknown},
		{"compressed, and not", says(plainAnswer(200, good, "Content-Encoding: gzip", "Connection: close")), "transport", retried, "transport", trading.Unknown},
		{"a broken chunk", says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "transport", retried, "transport", trading.Unknown},
		{"not HTTP", says("220 mail.example.test ESMTP\r\n"), "transport", retried, "transport", trading.Unknown},
		{"64 MiB with Content-Length", flood("HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n", 64<<20), "edge", once, "edge", trading.Unknown},
		{"64 MiB without", flood("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", 64<<20), "edge", once, "edge", trading.Unknown},
		{"a gigabyte, compressed", bomb, "edge", once, "edge", trading.Unknown},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := newHostile(t, row.answer)
			client := server.client(t)

			state, err := client.Sandbox.State(t.Context())
			if row.read == "ok" {
				require.NoError(t, err)
				rig.EqualDec(t, "1", state.Balance)
			} else {
				assert.Nil(t, state)
				assert.Equal(t, row.read, kindOf(err), "%v", err)
				assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
			}
			// net/http itself may ask a second time on a connection that was in use before.
			assert.GreaterOrEqual(t, server.seen("GET"), row.reads)
			assert.LessOrEqual(t, server.seen("GET"), 2*row.reads)

			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			result, err := client.Sandbox.PlaceOrder(t.Context(), rig.Buy("1"))
			runtime.ReadMemStats(&after)
			assert.Equal(t, 1, server.seen("POST"), "a write is sent once")
			assert.Equal(t, row.outcome, trading.OutcomeOf(err), "%v", err)
			if row.write == "ok" {
				require.NoError(t, err)
				assert.False(t, rig.Must(result.Account.Get()).Locked)
			} else {
				assert.Nil(t, result)
				assert.Equal(t, row.write, kindOf(err), "%v", err)
				assert.Less(t, len(err.Error()), 2000, "an error is not a dump")
			}
			// The server's own buffers, of the same process, are in this too.
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24<<20), "memory is bounded")
		})
	}
}
