package contract_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/contract"
	"github.com/tradingapi/trading-go/tradingsim"
)

// The description bound in is the project's, and the one that the simulator
// serves.
func TestDescription(t *testing.T) {
	file, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	assert.True(t, string(file) == string(contract.Description()), "run go generate ./contract")

	sim := tradingsim.New()
	client, err := trading.New(sim.URL(), trading.WithTransport(sim.Transport()))
	require.NoError(t, err)
	defer func() { assert.NoError(t, client.Close()) }()
	served, err := client.OpenAPI(context.Background())
	require.NoError(t, err)
	changes, err := contract.Compare(served)
	require.NoError(t, err)
	assert.Empty(t, changes)
	assert.True(t, string(file) == string(served), "run go generate ./tradingsim")
}

// Nobody changes the description for others.
func TestDescriptionIsACopy(t *testing.T) {
	contract.Description()[0] = '!'
	assert.EqualValues(t, '{', contract.Description()[0])
}

func TestBreakingChangesComeFirst(t *testing.T) {
	served := edited(t,
		edit{"components schemas Market properties maxLeverage", nil},
		edit{"paths /orders post deprecated", true},
		edit{"paths /accounts get deprecated", true},
		edit{"paths /orders/twap", nil})
	changes, err := contract.Compare(served)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"breaking: Market.maxLeverage in answers: member removed (GET /sandbox/markets)",
		"breaking: POST /orders/twap: operation removed",
		"GET /accounts: deprecated",
		"POST /orders: deprecated",
	}, lines(changes))
	assert.True(t, contract.Breaking(changes))
	assert.False(t, contract.Breaking(changes[2:]))
	assert.False(t, contract.Breaking(nil))
}

// A change shows in all operations that have the schema, and in each direction for
// itself.
func TestOperationsOfAChange(t *testing.T) {
	changes, err := contract.Compare(edited(t, edit{"components schemas Side enum +", "both"}))
	require.NoError(t, err)
	require.Len(t, changes, 1)
	assert.Equal(t, "Side in requests", changes[0].Where)
	assert.Contains(t, changes[0].Operations, "POST /orders")
	assert.Contains(t, changes[0].Operations, "POST /sandbox/orders")
	assert.Equal(t, `value "both" added`, changes[0].What)

	circle := func(properties string) []byte {
		return []byte(`{"openapi": "3.0.3", "components": {"schemas": {"A": {"type": "object", "properties": ` + properties + `}}},
			"paths": {"/a": {"put": {
				"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}},
				"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}}}}}}`)
	}
	changes, err = contract.Between(circle(`{"b": {"type": "integer"}}`), circle(`{"b": {"type": "number"}}`))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"breaking: A.b in answers: type is number, was integer (PUT /a)",
		"A.b in requests: type is number, was integer (PUT /a)",
	}, lines(changes))
}
