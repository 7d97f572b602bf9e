package client

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
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
