package trading_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// Check says what the method would refuse before it sends anything, and sends
// nothing itself.
func TestCheckIsWhatTheMethodsRefuse(t *testing.T) {
	limit := func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, at("60000") }
	for _, row := range []struct {
		name  string
		order trading.Order
		check func(o trading.Order) error
		place func(ctx context.Context, r rig, o trading.Order) error
		code  trading.Code // empty if nothing is wrong
	}{
		{"an order", buy("0.01"), checkLive, placeLive, ""},
		{"without a side", trading.Order{Symbol: "BTC", Size: dec("1"), Leverage: dec("2")}, checkLive, placeLive, trading.CodeBadSide},
		{"without leverage", buy("0.01", func(o *trading.Order) { o.Leverage = dec("0") }), checkLive, placeLive, trading.CodeMissingFields},
		{"on paper", buy("0.01", func(o *trading.Order) { o.Leverage = dec("0") }), checkPaper, placePaper, ""},
		{"reduce-only on paper", buy("0.01", func(o *trading.Order) { o.ReduceOnly = true }), checkPaper, placePaper, trading.CodeBadRequest},
		{
			"a trigger of 0", buy("0.01"), trading.Conditional{}.Check,
			func(ctx context.Context, r rig, o trading.Order) error {
				_, err := r.account().PlaceConditional(ctx, o, trading.Conditional{})
				return err
			},
			trading.CodeBadTrigger,
		},
		{
			"a stop-limit, whatever type the order has", buy("0.01", func(o *trading.Order) { o.LimitPrice = at("60000") }),
			trading.Conditional{Trigger: dec("61000"), Exec: trading.StopLimit}.Check,
			func(ctx context.Context, r rig, o trading.Order) error {
				_, err := r.account().PlaceConditional(ctx, o, trading.Conditional{Trigger: dec("61000"), Exec: trading.StopLimit})
				return err
			},
			"",
		},
		{
			"a ladder of rungs that are too small", buy("0.0001", limit), trading.Ladder{From: dec("60000"), To: dec("61000"), Rungs: 3}.Check,
			func(ctx context.Context, r rig, o trading.Order) error {
				_, err := r.account().PlaceLadder(ctx, o, trading.Ladder{From: dec("60000"), To: dec("61000"), Rungs: 3})
				return err
			},
			trading.CodeMinNotional,
		},
		{
			"a TWAP in no time", buy("0.01"), trading.TWAP{}.Check,
			func(ctx context.Context, r rig, o trading.Order) error {
				_, err := r.account().PlaceTWAP(ctx, o, trading.TWAP{})
				return err
			},
			trading.CodeBadDuration,
		},
		{
			"a chase to nothing", buy("0.01"), trading.Chase{To: trading.Clear}.Check,
			func(ctx context.Context, r rig, o trading.Order) error {
				_, err := r.account().PlaceChase(ctx, o, trading.Chase{To: trading.Clear})
				return err
			},
			trading.CodeBadPrice,
		},
		{
			"a chase over time", buy("0.01", func(o *trading.Order) { o.Size = dec("0") }), trading.ChaseTWAP{Duration: time.Hour}.Check,
			func(ctx context.Context, r rig, o trading.Order) error {
				_, err := r.account().PlaceChaseTWAP(ctx, o, trading.ChaseTWAP{Duration: time.Hour})
				return err
			},
			trading.CodeBadSize,
		},
		{
			"a swarm of none", buy("0.01"), trading.Swarm{}.Check,
			func(ctx context.Context, r rig, o trading.Order) error {
				_, err := r.account().PlaceSwarm(ctx, o, trading.Swarm{})
				return err
			},
			trading.CodeBadOrderCount,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, nil)
			checked, placed := row.check(row.order), row.place(t.Context(), r, row.order)
			if row.code == "" {
				require.NoError(t, checked)
				require.NotEmpty(t, r.sim.Requests())
				return
			}
			require.ErrorIs(t, checked, row.code)
			assert.Equal(t, refusalOf(t, checked), refusalOf(t, placed))
			assert.True(t, refusalOf(t, checked).Local)
			assert.Empty(t, r.sim.Requests())
		})
	}
}

func checkLive(o trading.Order) error  { return o.Check(trading.EnvLive) }
func checkPaper(o trading.Order) error { return o.Check(trading.EnvSandbox) }

func placeLive(ctx context.Context, r rig, o trading.Order) error {
	_, err := r.account().PlaceOrder(ctx, o)
	return err
}

func placePaper(ctx context.Context, r rig, o trading.Order) error {
	_, err := r.Sandbox.PlaceOrder(ctx, o)
	return err
}
