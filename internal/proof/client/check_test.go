package client

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/proof/rig"
)

// Check says what the method would refuse before it sends anything, and sends
// nothing itself.
func TestCheckIsWhatTheMethodsRefuse(t *testing.T) {
	limit := func(o *trading.Order) { o.Type, o.LimitPrice = trading.LimitOrder, rig.At("60000") }
	for _, row := range []struct {
		name  string
		order trading.Order
		check func(o trading.Order) error
		place func(ctx context.Context, r rig.Rig, o trading.Order) error
		code  trading.Code // empty if nothing is wrong
	}{
		{"an order", rig.Buy("0.01"), checkLive, placeLive, ""},
		{"without a side", trading.Order{Symbol: "BTC", Size: rig.Dec("1"), Leverage: rig.Dec("2")}, checkLive, placeLive, trading.CodeBadSide},
		{"without leverage", rig.Buy("0.01", func(o *trading.Order) { o.Leverage = rig.Dec("0") }), checkLive, placeLive, trading.CodeMissingFields},
		{"on paper", rig.Buy("0.01", func(o *trading.Order) { o.Leverage = rig.Dec("0") }), checkPaper, placePaper, ""},
		{"reduce-only on paper", rig.Buy("0.01", func(o *trading.Order) { o.ReduceOnly = true }), checkPaper, placePaper, trading.CodeBadRequest},
		{
			"a trigger of 0", rig.Buy("0.01"), trading.Conditional{}.Check,
			func(ctx context.Context, r rig.Rig, o trading.Order) error {
				_, err := r.Account().PlaceConditional(ctx, o, trading.Conditional{})
				return err
			},
			trading.CodeBadTrigger,
		},
		{
			"a stop-limit, whatever type the order has", rig.Buy("0.01", func(o *trading.Order) { o.LimitPrice = rig.At("60000") }),
			trading.Conditional{Trigger: rig.Dec("61000"), Exec: trading.StopLimit}.Check,
			func(ctx context.Context, r rig.Rig, o trading.Order) error {
				_, err := r.Account().PlaceConditional(ctx, o, trading.Conditional{Trigger: rig.Dec("61000"), Exec: trading.StopLimit})
				return err
			},
			"",
		},
		{
			"a ladder of rungs that are too small", rig.Buy("0.0001", limit), trading.Ladder{From: rig.Dec("60000"), To: rig.Dec("61000"), Rungs: 3}.Check,
			func(ctx context.Context, r rig.Rig, o trading.Order) error {
				_, err := r.Account().PlaceLadder(ctx, o, trading.Ladder{From: rig.Dec("60000"), To: rig.Dec("61000"), Rungs: 3})
				return err
			},
			trading.CodeMinNotional,
		},
		{
			"a TWAP in no time", rig.Buy("0.01"), trading.TWAP{}.Check,
			func(ctx context.Context, r rig.Rig, o trading.Order) error {
				_, err := r.Account().PlaceTWAP(ctx, o, trading.TWAP{})
				return err
			},
			trading.CodeBadDuration,
		},
		{
			"a chase to nothing", rig.Buy("0.01"), trading.Chase{To: trading.Clear}.Check,
			func(ctx context.Context, r rig.Rig, o trading.Order) error {
				_, err := r.Account().PlaceChase(ctx, o, trading.Chase{To: trading.Clear})
				return err
			},
			trading.CodeBadPrice,
		},
		{
			"a chase over time", rig.Buy("0.01", func(o *trading.Order) { o.Size = rig.Dec("0") }), trading.ChaseTWAP{Duration: time.Hour}.Check,
			func(ctx context.Context, r rig.Rig, o trading.Order) error {
				_, err := r.Account().PlaceChaseTWAP(ctx, o, trading.ChaseTWAP{Duration: time.Hour})
				return err
			},
			trading.CodeBadSize,
		},
		{
			"a swarm of none", rig.Buy("0.01"), trading.Swarm{}.Check,
			func(ctx context.Context, r rig.Rig, o trading.Order) error {
				_, err := r.Account().PlaceSwarm(ctx, o, trading.Swarm{})
				return err
			},
			trading.CodeBadOrderCount,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := rig.New(t, nil)
			checked, placed := row.check(row.order), row.place(t.Context(), r, row.order)
			if row.code == "" {
				require.NoError(t, checked)
				require.NotEmpty(t, r.Sim.Requests())
				return
			}
			require.ErrorIs(t, checked, row.code)
			assert.Equal(t, rig.RefusalOf(t, checked), rig.RefusalOf(t, placed))
			assert.True(t, rig.RefusalOf(t, checked).Local)
			assert.Empty(t, r.Sim.Requests())
		})
	}
}

func checkLive(o trading.Order) error  { return o.Check(trading.EnvLive) }
func checkPaper(o trading.Order) error { return o.Check(trading.EnvSandbox) }

func placeLive(ctx context.Context, r rig.Rig, o trading.Order) error {
	_, err := r.Account().PlaceOrder(ctx, o)
	return err
}

func placePaper(ctx context.Context, r rig.Rig, o trading.Order) error {
	_, err := r.Sandbox.PlaceOrder(ctx, o)
	return err
}

// An order names all that it lacks at once.
func TestAnOrderNamesAllThatItLacks(t *testing.T) {
	for _, row := range []struct {
		name  string
		order trading.Order
		env   trading.Environment
		code  trading.Code
		lacks string
	}{
		{"nothing at all, live", trading.Order{}, trading.EnvLive, trading.CodeMissingFields, "symbol, side, size, leverage"},
		{"nothing at all, sandbox", trading.Order{}, trading.EnvSandbox, trading.CodeBadSymbol, "symbol, side, size"},
		{"a limit", trading.Order{Type: trading.LimitOrder, Symbol: "BTC"}, trading.EnvLive, trading.CodeMissingFields, "side, size, leverage, limitPrice"},
		{"two of them", rig.Buy("0", func(o *trading.Order) { o.Side = "" }), trading.EnvLive, trading.CodeBadSide, "side, size"},
		{"one", rig.Buy("0"), trading.EnvLive, trading.CodeBadSize, "size"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := row.order.Check(row.env)
			require.ErrorIs(t, err, row.code)
			assert.Equal(t, "required and missing: "+row.lacks, rig.RefusalOf(t, err).Message)
		})
	}
}
