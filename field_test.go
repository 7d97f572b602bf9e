package trading_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

func TestWithField(t *testing.T) {
	r := newRig(t, nil)
	_, err := r.account().PlaceOrder(t.Context(), buy("0.01"), trading.WithField("note", trading.Text(`a "b"`)), trading.WithField("retries", trading.Number(dec("3"))))
	require.NoError(t, err)
	bodies := r.bodiesOf(trading.OpOrder)
	assert.True(t, strings.HasSuffix(bodies[0], `,"note":"a \"b\"","retries":3}`), bodies[0])
	assert.True(t, json.Valid([]byte(bodies[0])))

	_, err = r.account().PlaceOrder(t.Context(), buy("0.01"))
	require.NoError(t, err)
	assert.NotContains(t, r.bodiesOf(trading.OpOrder)[1], "note", "it is of one call")

	for name, do := range map[string]func(context.Context, ...trading.CallOption) error{
		"a read": func(ctx context.Context, o ...trading.CallOption) error {
			_, err := r.account().Positions(ctx, o...)
			return err
		},
		"a reset": func(ctx context.Context, o ...trading.CallOption) error {
			_, err := r.Sandbox.Reset(ctx, o...)
			return err
		},
	} {
		err := do(t.Context(), trading.WithField("note", trading.On))
		require.ErrorContains(t, err, "has no body", name)
	}
	for _, row := range []struct {
		name  string
		value trading.Setting
	}{
		{"", trading.On}, {"note", trading.Setting{}}, {"reduceOnly", trading.On}, {"accountId", trading.Text("acc_2")},
	} {
		sent := r.sent(trading.OpOrder)
		_, err := r.account().PlaceOrder(t.Context(), buy("0.01"), trading.WithField(row.name, row.value))
		require.Error(t, err)
		assert.Equal(t, trading.NotApplied, trading.OutcomeOf(err))
		assert.Equal(t, sent, r.sent(trading.OpOrder))
	}
	_, err = r.account().PlaceOrder(t.Context(), buy("0.01"), trading.WithField("note", trading.On), trading.WithField("note", trading.Off))
	require.ErrorContains(t, err, "twice")
}

// Every member that a request of the contract can have has a field of its own.
func TestWithFieldKnowsTheContract(t *testing.T) {
	raw, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	var contract struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage
				AllOf      []struct {
					Properties map[string]json.RawMessage
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(raw, &contract))
	members := map[string]bool{}
	for name, schema := range contract.Components.Schemas {
		if !strings.HasSuffix(name, "Request") {
			continue
		}
		for member := range schema.Properties {
			members[member] = true
		}
		for _, part := range schema.AllOf {
			for member := range part.Properties {
				members[member] = true
			}
		}
	}
	require.Greater(t, len(members), 20)
	for _, member := range slices.Sorted(maps.Keys(members)) {
		_, err := newRig(t, nil).account().PlaceOrder(t.Context(), buy("0.01"), trading.WithField(member, trading.On))
		assert.ErrorContains(t, err, "a field of its own", member)
	}
}
