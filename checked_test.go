package trading

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	account := func(c *Client) *Account { return c.Live.Account("acc_1") }
	price := func(c *Client) (any, error) { return opaque(c.Sandbox.Price(ctx, "BTC")) }
	state := func(c *Client) (any, error) { return opaque(account(c).State(ctx)) }
	runs := func(c *Client) (any, error) { return opaque(account(c).FinishedRuns(ctx)) }
	openAPI := func(c *Client) (any, error) { return opaque(c.OpenAPI(ctx)) }
	health := func(c *Client) (any, error) { return opaque(c.Health(ctx)) }
	for _, row := range []struct {
		name   string
		call   func(*Client) (any, error)
		status int
		answer string
		says   string
	}{
		{"the price of another symbol", price, 200, `{"symbol":"ETH","price":3000}`, `symbol is "ETH": it must be "BTC", which was asked for`},
		{"all prices for one", price, 200, `{"prices":{"BTC":64000}}`, "price"},
		{"the state of another account", state, 200, liveState, `id is "acc_2": it must be "acc_1", which was asked for`},
		{"the same without the envelope", state, 200, bareState, `id is "acc_2"`},
		{"a live account on the sandbox", func(c *Client) (any, error) { return opaque(c.Sandbox.State(ctx)) }, 200, livePaper, `it must be "sandbox", which was asked for`},
		{"the other environment's key", func(c *Client) (any, error) { return opaque(c.Me(ctx, EnvLive)) }, 200,
			`{"userId":"u","environment":"sandbox","keyId":"k"}`, `environment is "sandbox"`},
		{"runs without their envelope", runs, 200, `[]`, "JSON value of another type"},
		{"running runs for finished ones", runs, 200, `{"runs":[]}`, "history"},
		{"positions for trades", func(c *Client) (any, error) { return opaque(account(c).Trades(ctx)) }, 200, `{"positions":[]}`, "trades"},
		{"orders without their envelope", func(c *Client) (any, error) { return opaque(account(c).OpenOrders(ctx)) }, 200, `[]`, "another type"},
		{"accounts without their envelope", func(c *Client) (any, error) { return opaque(c.Live.Accounts(ctx)) }, 200, `[]`, "another type"},
		{"markets without their envelope", func(c *Client) (any, error) { return opaque(c.Sandbox.Markets(ctx)) }, 200, `[]`, "another type"},
		{"an empty description", openAPI, 200, `{}`, "openapi must be a string"},
		{"a description without paths", openAPI, 200, `{"openapi":"3.0.3"}`, "paths must be an object"},
		{"healthy with the status of unhealthy", health, 503, healthyBody, "status 503"},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := newScript(t, answered(row.status, row.answer))
			script.health = nil
			got, err := row.call(newTestClient(t, script))
			var decode *DecodeError
			require.ErrorAs(t, err, &decode)
			assert.ErrorContains(t, err, row.says)
			assert.Empty(t, got)
			assert.JSONEq(t, row.answer, string(decode.Meta.Body), "the answer stays reachable")
			script.done()
		})
	}
}

// An entry does not go out on an assessment that contradicts itself.
func TestAHealthAssessmentThatContradictsItselfHoldsEntriesBack(t *testing.T) {
	script := newScript(t) // an order fails the test
	script.health = answered(503, healthyBody)
	_, err := newTestClient(t, script).Sandbox.PlaceOrder(context.Background(), testOrder())
	require.ErrorIs(t, err, ErrUnhealthy)
}

// What the contract leaves open is still taken: a state without an id, with and
// without the envelope.
func TestAStateWithoutAnIDIsTaken(t *testing.T) {
	for _, body := range []string{
		`{"account":{"status":"ACTIVE","balance":1,"equity":1}}`,
		`{"status":"ACTIVE","balance":1,"equity":1}`,
	} {
		state, err := newTestClient(t, newScript(t, answered(200, body))).Live.Account("acc_1").State(context.Background())
		require.NoError(t, err)
		assert.Equal(t, AccountID("acc_1"), state.ID)
	}
}

// opaque lets one table hold calls of several result types.
func opaque[T any](v T, err error) (any, error) { return v, err }
