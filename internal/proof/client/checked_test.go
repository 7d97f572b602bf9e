package client

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

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
