package exchange_test

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/exchange"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/journal"
)

// sendsOn is how often the client sends a call that is refused by a code each time.
func sendsOn(o *operation, code string) int {
	switch {
	case kindOf(code) == trading.ErrNoPrice:
		return 3
	case slices.Contains(strings.Fields("PRICE_UNAVAILABLE equity_unavailable idempotency_unavailable idempotency_in_flight concurrent_request"), code),
		!o.write && slices.Contains(strings.Fields("internal_error unavailable rate_limited"), code):
		return 4
	case code == "rate_limited" && !opens(o) && o.id != "editRun":
		return 2 // what adds no exposure waits for its turn
	default:
		return 1
	}
}

// confirmed tells that a second question settles a refusal of the key or of the account: for a
// write that shows in a read by itself none is asked.
func confirmed(o *operation, advice trading.Advice) bool {
	return advice != trading.AdviseRead && !slices.Contains([]string{"cancelOrder", "cancelRun", "setSandboxTPSL", "resetSandbox"}, o.id)
}

// always answers each request by one recorded answer.
type always struct{ exchange.Response }

func (a always) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, value := range a.Header {
		header.Set(name, value)
	}
	return &http.Response{StatusCode: a.Status, Header: header, Request: req, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(a.Bytes()))}, nil
}

// Every recorded refusal, as the answer to whatever the client sends: how often it sends the call,
// what it advises then, and what became of a write. Among them T98: what refuses Pro
// orders and edits; T39: fill_rejected, order_rejected and cap_exceeded.
func TestARefusalThatPersists(t *testing.T) {
	files, err := exchange.Load(dir)
	require.NoError(t, err)
	all := cases(t)
	for _, f := range files {
		if f.Expect.Error == nil || f.Response.Header["Idempotent-Replayed"] != "" {
			continue
		}
		path := filepath.ToSlash(f.Path())
		c, code := all[path], f.Expect.Error.Code
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				advice, outcome, sends := adviceOn(code, f.Response.Status), trading.NotApplied, sendsOn(c.op, code)
				opts := []trading.Option{
					trading.WithSandboxKey(exchange.SandboxKey), trading.WithLiveKey(exchange.LiveKey),
					trading.WithTransport(always{f.Response}), trading.WithHealthGate(trading.HealthGate{Off: true}),
				}
				if advice == trading.AdviseRead {
					opts = append(opts, rig.SendingOnly...)
				}
				if c.op.write && outcomeOf(code, f.Response.Status) == trading.Unknown && !confirmed(c.op, advice) {
					advice, outcome = trading.AdviseRead, trading.Unknown
				}
				var ofCall []trading.CallOption
				if c.key != "" { // which is new to a journal
					opts, ofCall = append(opts, trading.WithJournal(journal.NewMemory())), append(ofCall, trading.WithIdempotencyKey(c.key))
				}
				client, err := trading.New("https://api.example.test/v1", opts...)
				require.NoError(t, err)
				defer rig.CloseClient(t, client)

				_, err = c.call(t.Context(), replayedNames(t), client, ofCall...)
				assert.Equal(t, code, string(rig.RefusalOf(t, err).Code))
				assert.Equal(t, advice, trading.AdviceOf(err))
				assert.Equal(t, outcome, trading.OutcomeOf(err))
				assert.Equal(t, sends, rig.RefusalOf(t, err).Meta.Attempts)
			})
		})
	}
}
