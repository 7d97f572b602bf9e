package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
	"github.com/tradingapi/trading-go/internal/spec"
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

// D 49: an error has neither ok nor success, so what has both is nobody's refusal.
func TestAnswers_RefusalInsideAResult(t *testing.T) {
	const refusal = `"error":"internal_error","message":"no"`
	script := rig.NewScript(t, rig.Answered(200, `{"ok":true,"trades":[],`+refusal+`}`))
	client := rig.ScriptedClient(t, script)
	_, err := client.Sandbox.Trades(context.Background(), trading.WithRetry(trading.Retry{Attempts: 1}))
	require.NotErrorIs(t, err, trading.CodeInternalError)
	var edge *trading.GatewayError
	require.ErrorAs(t, err, &edge)
}

// A refusal tells what its header asks for, whatever its code.
func TestRefusals_RetryAfter(t *testing.T) {
	script := rig.NewScript(t, rig.Answered(400, `{"error":"MIN_NOTIONAL","message":"no"}`, "Retry-After", "7"))
	_, err := rig.ScriptedClient(t, script).Live.Account("acc_1").PlaceOrder(context.Background(), rig.Buy("0.01"))
	var refusal *trading.Error
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, 7*time.Second, refusal.RetryAfter)
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
