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

// adviceOn is what the reference's codes ask of a bot, by hand.
func adviceOn(code string, status int) trading.Advice {
	if code == "no_price" && status == http.StatusServiceUnavailable {
		return trading.AdviseSameKey
	}
	for advice, codes := range map[trading.Advice]string{
		trading.AdviseNever: "missing_api_key invalid_api_key revoked_api_key unauthorized wrong_environment api_access_denied forbidden " +
			"account_not_found account_locked ACCOUNT_LOCKED DAILY_DRAWDOWN_BREACH GLOBAL_DRAWDOWN_BREACH",
		trading.AdviseSameKey: "PRICE_UNAVAILABLE equity_unavailable idempotency_unavailable concurrent_request",
		trading.AdviseNewKey:  "STALE_PRICE NO_PRICE no_price market_paused",
		trading.AdviseWait:    "rate_limited",
		trading.AdviseRead: "internal_error unavailable idempotency_in_flight idempotency_result_unknown idempotency_key_reused " +
			"order_not_found run_not_found",
	} {
		if slices.Contains(strings.Fields(codes), code) {
			return advice
		}
	}
	return trading.AdviseChange
}

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
