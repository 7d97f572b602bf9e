package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/spec"
	"github.com/tradingapi/trading-go/internal/testing/rig"
)

// An answer that looks like a result is read before it is judged. What was read of
// one that is none leaves nothing in the result of the next.
func TestAnswers_LeaveNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const fill = `"fill":{"price":64000,"size":0.01,"fee":0.288}`
		script := rig.NewScript(t,
			rig.Answered(200, `{"success":false,"action":"closed",`+fill+`,"position":`+rig.PositionBody+`,"newBalance":1,"note":"x"}`),
			rig.Answered(200, `{"success":true,"action":"opened",`+fill+`,"position":null,"newBalance":2}`),
		)
		client := rig.ScriptedClient(t, script)
		result, err := client.Live.Account("acc_1").PlaceOrder(context.Background(), rig.Buy("0.01"))
		require.NoError(t, err)
		script.Done()
		assert.Equal(t, "opened", result.Action)
		assert.Equal(t, "2", result.Balance.String())
		assert.True(t, result.Position.IsZero(), "it is the first answer's")
		assert.Empty(t, result.Extra)
	})
}

// D 51: whatever the headers say, the facts of an answer have a JSON.
func TestEdge51_MetaAlwaysHasAJSON(t *testing.T) {
	for _, reset := range []string{"253402300800", "99999999999999", "9223372036854775807", "-99999999999999", "0", "946684860"} {
		script := rig.NewScript(t, rig.Answered(200, `{"ok":true,"trades":[]}`, "X-RateLimit-Limit", "600", "X-RateLimit-Remaining", "599",
			"X-RateLimit-Reset", reset, "Retry-After", "99999999999999", "Date", "Fri, 31 Dec 9999 23:59:59 GMT"))
		var meta trading.Meta
		_, err := rig.ScriptedClient(t, script).Sandbox.Trades(context.Background(), trading.ResponseInto(&meta))
		require.NoError(t, err)
		_, err = json.Marshal(meta)
		require.NoError(t, err, reset)
	}
}

// A refusal has each member that the contract gives it, and what else there is beside them.
func TestWhatARefusalSays(t *testing.T) {
	_, err := rig.ScriptedClient(t, rig.NewScript(t, rig.Answered(400, `{"error":"SLIPPAGE_EXCEEDED","message":"No.","reason":"thin","symbol":"BTC","estSlippagePct":1.5,"maxSlippagePct":0.5,"depth":3}`))).
		Sandbox.Trades(context.Background(), rig.Once)
	refusal := rig.RefusalOf(t, err)
	assert.Equal(t, trading.Code("SLIPPAGE_EXCEEDED"), refusal.Code)
	assert.Equal(t, "No.", refusal.Message)
	assert.Equal(t, "thin", refusal.Reason)
	assert.Equal(t, "BTC", refusal.Symbol)
	rig.EqualOpt(t, "1.5", refusal.EstSlippagePct)
	rig.EqualOpt(t, "0.5", refusal.MaxSlippagePct)
	assert.Equal(t, trading.Extra{"depth": json.RawMessage("3")}, refusal.Extra)
}

// An answer of something in front says why it is none of the service's, and a read is sent again where that failed.
func TestAReadThatSomethingInFrontAnswers(t *testing.T) {
	for _, row := range []struct {
		status int
		body   string
		says   string
		again  bool
	}{
		{200, "<html>", "not JSON", false},
		{403, `{"detail":"x"}`, "an error without the service's shape", false},
		{499, "<html>", "not JSON", false},
		{500, "<html>", "not JSON", true},
		{502, `{"detail":"x"}`, "an error without the service's shape", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			script := rig.NewScript(t, slices.Repeat([]rig.Step{rig.Answered(row.status, row.body)}, 2)...)
			_, err := rig.ScriptedClient(t, script).Sandbox.Trades(t.Context(), trading.WithRetry(trading.Retry{Attempts: 2}))
			var edge *trading.GatewayError
			require.ErrorAs(t, err, &edge)
			assert.Equal(t, row.says, edge.Reason, "%d %s", row.status, row.body)
			assert.Equal(t, row.again, len(script.Received()) == 2, "%d %s", row.status, row.body)
		})
	}
}

// A long list is read, and a long error is not.
func TestErrorAnswersToListReadsAreBounded(t *testing.T) {
	for _, sized := range []bool{true, false} {
		long := &endless{left: 40 << 20}
		script := rig.NewScript(t, func(*http.Request) (*http.Response, error) {
			resp := &http.Response{StatusCode: 403, Header: http.Header{}, Body: io.NopCloser(long), ContentLength: -1}
			if sized {
				resp.ContentLength = 40 << 20
			}
			return resp, nil
		})
		_, err := rig.ScriptedClient(t, script).Sandbox.Trades(context.Background())
		var edge *trading.GatewayError
		require.ErrorAs(t, err, &edge)
		assert.Equal(t, "a body above 1048576 bytes", edge.Reason)
		assert.LessOrEqual(t, len(edge.Meta.Body), spec.SmallAnswer)
		assert.Less(t, 40<<20-long.left, 2*spec.SmallAnswer, "the rest is not read")
	}
	list := `{"trades":[` + strings.TrimSuffix(strings.Repeat(`{"symbol":"BTC","realizedPnL":1,"fee":1,"exitPrice":1,"orderType":"market"},`, 50_000), ",") + `]}`
	require.Greater(t, len(list), 2*spec.SmallAnswer)
	trades, err := rig.ScriptedClient(t, rig.NewScript(t, rig.Answered(200, list))).Sandbox.Trades(context.Background())
	require.NoError(t, err)
	assert.Len(t, trades, 50_000)
}

type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), e.left)
	e.left -= n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// However a missing mark comes, and however a number that is no price comes, it is
// an unpriced mark.
func TestTrap_T49_T50_WhatIsNoPriceIsUnpriced(t *testing.T) {
	for name, answer := range map[string]rig.Step{
		"404 no_price": rig.Answered(404, rig.RefusalBody(trading.CodeNoPrice)),
		"503 no_price": rig.Answered(503, rig.RefusalBody(trading.CodeNoPrice)),
		"null":         rig.Answered(200, `{"symbol":"BTC","price":null}`),
		"zero":         rig.Answered(200, `{"symbol":"BTC","price":0}`),
		"negative":     rig.Answered(200, `{"symbol":"BTC","price":-64000}`),
	} {
		t.Run(name, func(t *testing.T) {
			script := rig.NewScript(t, answer) // a second request fails the test
			var meta trading.Meta
			mark, err := rig.ScriptedClient(t, script).Sandbox.Price(context.Background(), "BTC", trading.ResponseInto(&meta))
			require.NoError(t, err)
			assert.Contains(t, string(meta.Body), "price")
			_, ok := mark.Price()
			assert.False(t, ok)
			script.Done()
		})
	}
}

// A well-formed answer to a question that was not asked is refused, and not returned.
func TestAnswersToAnotherQuestionAreRefused(t *testing.T) {
	const (
		liveState = `{"account":{"id":"acc_2","status":"ACTIVE","balance":1,"equity":1}}`
		bareState = `{"id":"acc_2","status":"ACTIVE","balance":1,"equity":1}`
		livePaper = `{"account":{"id":"sb_1","environment":"live","balance":1,"equity":1,"unrealizedPnL":0,` +
			`"profitTarget":2,"dailyLossFloor":0,"globalLossFloor":0,"profitSplit":0.8,"status":"active","isLocked":false}}`
	)
	ctx := context.Background()
	account := func(c *trading.Client) *trading.Account { return c.Live.Account("acc_1") }
	price := func(c *trading.Client) (any, error) { return opaque(c.Sandbox.Price(ctx, "BTC")) }
	state := func(c *trading.Client) (any, error) { return opaque(account(c).State(ctx)) }
	runs := func(c *trading.Client) (any, error) { return opaque(account(c).FinishedRuns(ctx)) }
	openAPI := func(c *trading.Client) (any, error) { return opaque(c.OpenAPI(ctx)) }
	health := func(c *trading.Client) (any, error) { return opaque(c.Health(ctx)) }
	for _, row := range []struct {
		name   string
		call   func(*trading.Client) (any, error)
		status int
		answer string
		says   string
	}{
		{"the price of another symbol", price, 200, `{"symbol":"ETH","price":3000}`, `symbol is "ETH": it must be "BTC", which was asked for`},
		{"all prices for one", price, 200, `{"prices":{"BTC":64000}}`, "price"},
		{"the state of another account", state, 200, liveState, `id is "acc_2": it must be "acc_1", which was asked for`},
		{"the same without the envelope", state, 200, bareState, `id is "acc_2"`},
		{"a live account on the sandbox", func(c *trading.Client) (any, error) { return opaque(c.Sandbox.State(ctx)) }, 200, livePaper, `it must be "sandbox", which was asked for`},
		{"the other environment's key", func(c *trading.Client) (any, error) { return opaque(c.Me(ctx, trading.EnvLive)) }, 200,
			`{"userId":"u","environment":"sandbox","keyId":"k"}`, `environment is "sandbox"`},
		{"runs without their envelope", runs, 200, `[]`, "JSON value of another type"},
		{"running runs for finished ones", runs, 200, `{"runs":[]}`, "history"},
		{"positions for trades", func(c *trading.Client) (any, error) { return opaque(account(c).Trades(ctx)) }, 200, `{"positions":[]}`, "trades"},
		{"orders without their envelope", func(c *trading.Client) (any, error) { return opaque(account(c).OpenOrders(ctx)) }, 200, `[]`, "another type"},
		{"accounts without their envelope", func(c *trading.Client) (any, error) { return opaque(c.Live.Accounts(ctx)) }, 200, `[]`, "another type"},
		{"markets without their envelope", func(c *trading.Client) (any, error) { return opaque(c.Sandbox.Markets(ctx)) }, 200, `[]`, "another type"},
		{"an empty description", openAPI, 200, `{}`, "openapi must be a string"},
		{"a description without paths", openAPI, 200, `{"openapi":"3.0.3"}`, "paths must be an object"},
		{"a description with a list of paths", openAPI, 200, `{"openapi":"3.0.3","paths":[]}`, "paths must be an object"},
		{"healthy with the status of unhealthy", health, 503, rig.HealthyBody, "status 503"},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := rig.NewScript(t, rig.Answered(row.status, row.answer))
			script.Health = nil
			got, err := row.call(rig.ScriptedClient(t, script))
			var decode *trading.DecodeError
			require.ErrorAs(t, err, &decode)
			assert.ErrorContains(t, err, row.says)
			assert.Empty(t, got)
			assert.JSONEq(t, row.answer, string(decode.Meta.Body), "the answer stays reachable")
			script.Done()
		})
	}
}

// An entry does not go out on an assessment that contradicts itself.
func TestAHealthAssessmentThatContradictsItselfHoldsEntriesBack(t *testing.T) {
	script := rig.NewScript(t) // an order fails the test
	script.Health = rig.Answered(503, rig.HealthyBody)
	_, err := rig.ScriptedClient(t, script).Sandbox.PlaceOrder(context.Background(), rig.Buy("0.01"))
	require.ErrorIs(t, err, trading.ErrUnhealthy)
}

// What the contract leaves open is still taken: a state without an id, with and
// without the envelope.
func TestAStateWithoutAnIDIsTaken(t *testing.T) {
	for _, body := range []string{
		`{"account":{"status":"ACTIVE","balance":1,"equity":1}}`,
		`{"status":"ACTIVE","balance":1,"equity":1}`,
	} {
		state, err := rig.ScriptedClient(t, rig.NewScript(t, rig.Answered(200, body))).Live.Account("acc_1").State(context.Background())
		require.NoError(t, err)
		assert.Equal(t, trading.AccountID("acc_1"), state.ID)
	}
}

// opaque lets one table hold calls of several result types.
func opaque[T any](v T, err error) (any, error) { return v, err }

// nasty is what a terminal, a log or its reader would take for something else: a
// sequence that clears the screen, another line, text that reads backwards.
const nasty = "\x1b[2J\x00\r\nERROR: all is well\u202e\x9b"

// mostShown is how many bytes of a body an error or a log has.
const mostShown = 512

// ofARead is the error of a read whose connection failed with cause.
func ofARead(t *testing.T, cause error) error {
	t.Helper()
	broken := func(*http.Request) (*http.Response, error) { return nil, cause }
	client := rig.ScriptedClient(t, rig.NewScript(t, broken), trading.WithRetry(trading.Retry{Attempts: 1}))
	_, err := client.Sandbox.State(t.Context())
	require.ErrorIs(t, err, cause)
	return err
}

// Every error of the client prints as one line of bounded length, whatever came over
// the network.
func TestErrorsPrintOnOneLine(t *testing.T) {
	cause := errors.New("dial: " + nasty)
	long := strings.Repeat("€", 1<<20)
	for name, err := range map[string]error{
		"Error, code":     &trading.Error{Code: trading.Code(nasty), Message: "no", Status: 400},
		"Error, message":  &trading.Error{Code: trading.CodeBadSize, Message: nasty, Status: 400},
		"Error, local":    &trading.Error{Code: trading.CodeBadSize, Message: nasty, Local: true},
		"Error, long":     &trading.Error{Code: trading.Code(long), Message: long, Status: 400},
		"WriteError":      &trading.WriteError{Operation: trading.OpOrder, Symbol: nasty, Err: cause},
		"WriteError, two": &trading.WriteError{Operation: trading.OpOrder, Err: errors.Join(cause, context.Canceled)},
		"GuardError":      &trading.GuardError{Kind: trading.ErrGuard, Reason: nasty, Err: cause},
		"GatewayError":    &trading.GatewayError{Reason: "not JSON", Snippet: nasty + long},
		"RedirectError":   &trading.RedirectError{Location: nasty + long},
		"DecodeError":     &trading.DecodeError{Err: cause},
		"TransportError":  &trading.TransportError{Err: cause, Written: true},
		"not sent":        &trading.TransportError{Err: errors.New(long)},
		"a read's":        ofARead(t, cause),
	} {
		t.Run(name, func(t *testing.T) {
			text := err.Error()
			assert.NotEmpty(t, text)
			assert.Less(t, len(text), 6<<10)
			assert.True(t, utf8.ValidString(text))
			for _, c := range []string{"\x1b", "\x00", "\r", "\n", "\u202e"} {
				assert.NotContains(t, text, c)
			}
		})
	}
	plain := &trading.Error{Code: trading.CodeBadSize, Message: `the size "€" is no number`, Status: 400}
	assert.Equal(t, `bad_size: the size "€" is no number (400)`, plain.Error(), "what prints is not quoted")
	assert.Equal(t, `bad_size: "a\nb" (400)`, (&trading.Error{Code: trading.CodeBadSize, Message: "a\nb", Status: 400}).Error())
}

// What the service put into a refusal reaches the caller as it came, and a log as
// text.
func TestExtraAndBodyPrintAsText(t *testing.T) {
	script := rig.NewScript(t, rig.Answered(400, `{"error":"bad_size","message":"no","symbol":7}`))
	_, odd := rig.ScriptedClient(t, script).Sandbox.State(context.Background())
	assert.Equal(t, `{"symbol":7}`, rig.RefusalOf(t, odd).Extra.String(), "a member of another type than documented")

	const body = `{"error":"bad_size","message":"no","hint":"\u001b[2J","limit":{"min":1}}`
	_, err := rig.ScriptedClient(t, rig.NewScript(t, rig.Answered(400, body))).Sandbox.State(context.Background())
	var refusal *trading.Error
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, `{"hint":"\u001b[2J","limit":{"min":1}}`, refusal.Extra.String())
	assert.Equal(t, body, refusal.Meta.Body.String())

	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "extra", refusal.Extra, "body", refusal.Meta.Body)
	var line map[string]any
	require.NoError(t, json.Unmarshal(log.Bytes(), &line))
	assert.Equal(t, refusal.Extra.String(), line["extra"])
	assert.Equal(t, body, line["body"])
	assert.Contains(t, fmt.Sprintf("%v", refusal.Meta), body, "as part of what prints")
	assert.Contains(t, fmt.Sprintf("%+v", trading.Position{Extra: trading.Extra{"a": json.RawMessage("1")}}), `{"a":1}`)

	for name, text := range map[string]string{
		"a page":    "<html>\n" + nasty,
		"a long":    strings.Repeat("€", 1<<20),
		"nearly":    strings.Repeat("x", mostShown) + "€",
		"not UTF-8": "\xff\xfe",
	} {
		for _, printed := range []string{trading.Body(text).String(), trading.Extra{text: json.RawMessage(text)}.String()} {
			assert.Less(t, len(printed), 4*mostShown+64, name)
			assert.True(t, utf8.ValidString(printed), name)
			assert.NotContains(t, printed, "\n", name)
			assert.NotContains(t, printed, "\x1b", name)
		}
	}
	assert.Equal(t, strings.Repeat("x", mostShown)+"… (515 bytes)", trading.Body(strings.Repeat("x", mostShown)+"€").String())
	assert.Equal(t, "", trading.Body(nil).String())
	assert.Equal(t, "{}", trading.Extra(nil).String())
}
