package exchange_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/exchange"
	"github.com/tradingapi/trading-go/internal/testing/rig"
	"github.com/tradingapi/trading-go/internal/transport"
	"github.com/tradingapi/trading-go/journal"
)

// replay makes the call of a case against the recorded answer.
func replay(t *testing.T, f *exchange.File, c *testCase) (any, error) {
	t.Helper()
	w := replayed(t, f)
	return w.call(c, w.base)
}

// Every exchange, through the client's public method and over a
// connection: the request is the recorded one, and the answer becomes the result
// or the error that it says.
func TestReplay(t *testing.T) {
	all := cases(t)
	for _, f := range exchanges(t) {
		path := filepath.ToSlash(f.Path())
		t.Run(path, func(t *testing.T) {
			c := all[path]
			value, err := replay(t, f, &c)
			if f.Expect.Error != nil {
				assert.Nil(t, f.Expect.Result)
				checkError(t, f, err)
				return
			}
			require.NotNil(t, f.Expect.Result, "the file expects nothing")
			require.NoError(t, err)
			assert.Equal(t, string(f.Expect.Result), string(printed(t, value)))
			checkNothingLost(t, f)
			checkMeta(t, f, value)
		})
	}
}

// checkError compares an error with what the file says of it, and what it knows
// of the answer with the answer.
func checkError(t *testing.T, f *exchange.File, err error) {
	t.Helper()
	want := f.Expect.Error
	var refusal *trading.Error
	require.True(t, errors.As(err, &refusal), "no refusal: %v", err)
	assert.Equal(t, want.Code, string(refusal.Code))
	require.ErrorIs(t, err, trading.Code(want.Code))
	assert.Equal(t, f.Response.Status, refusal.Status)
	assert.False(t, refusal.Local)
	for _, kind := range []trading.Kind{
		trading.ErrNoPrice, trading.ErrNotMarketable, trading.ErrSlippage, trading.ErrRiskCap, trading.ErrAccountLocked,
		trading.ErrLossLimit, trading.ErrKeyRefused, trading.ErrUnhealthy, trading.ErrHalted, trading.ErrExpired, trading.ErrGuard,
	} {
		assert.Equal(t, want.Kind == string(kind), errors.Is(err, kind), "%s: kindOf in refusals_test.go, and the kind of its rule in openapi.json", kind)
	}
	var write *trading.WriteError
	assert.Equal(t, want.Outcome != "", errors.As(err, &write), "every failed write says what became of it, and no read")
	if want.Outcome != "" {
		assert.Equal(t, want.Outcome, trading.OutcomeOf(err).String())
	}

	var body struct {
		Message, Reason, Symbol        string
		EstSlippagePct, MaxSlippagePct *json.Number
	}
	require.NoError(t, json.Unmarshal(f.Response.Bytes(), &body))
	assert.Equal(t, body.Message, refusal.Message)
	assert.Equal(t, body.Reason, refusal.Reason)
	assert.Equal(t, body.Symbol, refusal.Symbol)
	equalNumber(t, body.EstSlippagePct, refusal.EstSlippagePct)
	equalNumber(t, body.MaxSlippagePct, refusal.MaxSlippagePct)

	wait, told := f.Response.Header["Retry-After"]
	got, asked := refusal.RetryAfter.Get()
	assert.Equal(t, told, asked)
	if told {
		assert.Equal(t, wait, strconv.Itoa(int(got/time.Second)))
	}
	checkAnswer(t, f, refusal.Meta)
}

func equalNumber(t *testing.T, want *json.Number, got trading.Opt[decimal.Decimal]) {
	t.Helper()
	if want == nil {
		assert.Equal(t, "none", got.String())
		return
	}
	n, ok := got.Get()
	assert.True(t, ok && n.Equal(dec(want.String())), "want %s, got %s", want, got)
}

// checkAnswer compares the facts of an answer.
func checkAnswer(t *testing.T, f *exchange.File, meta trading.Meta) {
	t.Helper()
	assert.Equal(t, f.Response.Status, meta.Status)
	assert.Equal(t, string(f.Response.Bytes()), string(meta.Body))
	assert.Equal(t, 1, meta.Attempts)
	assert.Equal(t, f.Response.Header["Idempotent-Replayed"] == "true", meta.Replayed)
	limit, ends, told := transport.RateLimitOf(meta.Header)
	_, want := f.Response.Header["X-RateLimit-Limit"]
	require.Equal(t, want, told)
	if told {
		assert.Equal(t, f.Response.Header["X-RateLimit-Limit"], strconv.Itoa(limit))
		assert.Equal(t, f.Response.Header["X-RateLimit-Reset"], strconv.FormatInt(ends.Unix(), 10))
	}
}

// checkMeta compares the facts that a result of a write has.
func checkMeta(t *testing.T, f *exchange.File, value any) {
	t.Helper()
	var meta trading.Meta
	switch result := value.(type) {
	case *trading.OrderResult:
		meta = result.Meta
	case *trading.LimitResult:
		meta = result.Meta
	case *trading.CloseResult:
		meta = result.Meta
	case *trading.TPSLResult:
		meta = result.Meta
	case *trading.RunResult:
		meta = result.Meta
	case *trading.Ack:
		meta = result.Meta
	default:
		return
	}
	checkAnswer(t, f, meta)
}

// checkNothingLost holds the expected result against the answer, apart from the
// client: every number and every text of the answer is somewhere in the result
// unless the caller has named it, under its own name if the result has the name,
// and no null was read as zero.
func checkNothingLost(t *testing.T, f *exchange.File) {
	t.Helper()
	if f.Response.Status == http.StatusNotFound {
		return // the result is that there is no price
	}
	have, named, nulls := map[string]bool{}, map[string]bool{}, 0
	note := func(name, leaf string) {
		have[leaf] = true
		named[strings.ToLower(name)] = true
		named[strings.ToLower(name)+" "+leaf] = true
	}
	leaves(t, f.Expect.Result, "", func(name, leaf string) {
		note(name, leaf)
		if leaf == "null" {
			nulls++
		}
	})
	if symbol, ok := strings.CutPrefix(f.Request.Query, "symbol="); ok {
		note("symbol", symbol)
	}
	if f.Request.JSON != nil {
		leaves(t, f.Request.JSON, "", note)
	}
	leaves(t, f.Response.Bytes(), "", func(name, leaf string) {
		name = strings.ToLower(name)
		switch {
		case leaf == "null":
			nulls--
		case !have[leaf], named[name] && !named[name+" "+leaf]:
			t.Errorf("%s %s of the answer is not in the result: convert.go", name, leaf)
		}
	})
	assert.GreaterOrEqual(t, nulls, 0, "a null of the answer is a value in the result")
}

// leaves visits the numbers, texts and nulls of a JSON value in one form each:
// numbers without trailing zeros, quoted or not, and times in milliseconds.
func leaves(t *testing.T, raw []byte, name string, visit func(name, leaf string)) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree any
	require.NoError(t, d.Decode(&tree))
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for member, value := range v {
				walk(member, value)
			}
		case []any:
			for _, value := range v {
				walk(name, value)
			}
		case json.Number:
			n := dec(v.String())
			switch name { // what a time.Duration is made of
			case "cacheSeconds":
				n = n.Mul(decimal.NewFromInt(int64(time.Second)))
			case "ageMs":
				n = n.Mul(decimal.NewFromInt(int64(time.Millisecond)))
			}
			visit(name, n.String())
		case string:
			if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
				v = strconv.FormatInt(at.UnixMilli(), 10)
			} else if n, err := decimal.NewFromString(v); err == nil {
				v = n.String()
			}
			visit(name, v)
		case nil:
			visit(name, "null")
		}
	}
	walk(name, tree)
}

// sendsOn is how often the client sends a call that is refused by a code each time.
func sendsOn(o *operation, code string) int {
	switch {
	case kindOf(code) == trading.ErrNoPrice:
		return 3
	case code == "idempotency_in_flight" && slices.Contains(strings.Fields("cancelOrder cancelRun closePosition"), o.id):
		return 6 // for 20 s from the decision
	case slices.Contains(strings.Fields("PRICE_UNAVAILABLE equity_unavailable idempotency_unavailable idempotency_in_flight concurrent_request"), code),
		!o.write && slices.Contains(strings.Fields("internal_error unavailable rate_limited"), code):
		return 4
	case code == "rate_limited" && !opens(o) && o.id != "editRun":
		return 2 // what adds no exposure waits for its turn
	default:
		return 1
	}
}

// tracked tells that a write whose outcome is not known is asked about.
func tracked(o *operation) bool {
	return !slices.Contains([]string{"cancelOrder", "cancelRun", "setSandboxTPSL", "resetSandbox"}, o.id)
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

// Every refusal, as the answer to whatever the client sends: how often it sends the call,
// what it advises then, and what became of a write. Among them T98: what refuses Pro
// orders and edits; T39: fill_rejected, order_rejected and cap_exceeded.
func TestARefusalThatPersists(t *testing.T) {
	all := cases(t)
	for _, f := range exchanges(t) {
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
				unclear := advice == trading.AdviseResolve || advice == trading.AdviseRead || code == "idempotency_key_reused"
				if unclear {
					opts = append(opts, rig.SendingOnly...)
				}
				switch doubted := c.op.write && outcomeOf(code, f.Response.Status) == trading.Unknown && unclear; {
				case doubted && tracked(c.op):
					advice, outcome = trading.AdviseResolve, trading.Unknown
				case doubted:
					advice, outcome = trading.AdviseRead, trading.Unknown // only the account says it
				case advice == trading.AdviseResolve:
					advice = trading.AdviseNewKey // of a read: it passes
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
