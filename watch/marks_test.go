package watch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

func TestMarks(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		got := during(t, func() {
			r.sim.SetMark("BTC", "65000")
			r.sim.SetMark("ETH", "3300") // not asked for
			time.Sleep(4 * time.Second)
			r.sim.SetMark("NEW", "1.5")
		}, watch.Marks(r.Sandbox.MarketData, "BTC", "NEW", "BTC").WithSnapshot())
		require.Empty(t, got.errs)
		changed := of[watch.MarkChanged](got)
		require.Len(t, got.events, 3)
		require.Len(t, changed, 3)
		for i, want := range []struct{ symbol, was, is string }{{"BTC", "unpriced", "64000"}, {"BTC", "64000", "65000"}, {"NEW", "unpriced", "1.5"}} {
			assert.Equal(t, want.symbol, changed[i].Symbol)
			assert.Equal(t, want.was, changed[i].Old.String())
			assert.Equal(t, want.is, changed[i].New.String())
		}
		assert.Equal(t, 1, r.sent(trading.OpSandboxState)+r.sent(trading.OpSandboxPositions)+1, "the account is not touched")
	}, tradingsim.WithMark("BTC", "64000"), tradingsim.WithMark("ETH", "3200"), tradingsim.WithMark("NEW", ""))
}

// T106: one market that loses its price is that market's own affair.
func TestAMarkThatIsLostIsLostAlone(t *testing.T) {
	for name, symbols := range map[string][]string{"all": nil, "named": {"ETH", "BTC"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r rig) {
				var view watch.View
				got := during(t, func() {
					r.sim.SetMark("BTC", "")
					time.Sleep(4 * time.Second)
					r.sim.SetMark("ETH", "3210")
					time.Sleep(4 * time.Second)
					r.sim.SetMark("BTC", "64100")
				}, watch.Marks(r.Sandbox.MarketData, symbols...))
				require.Empty(t, got.errs)
				assert.Equal(t, []string{"MarkLost", "MarkChanged", "MarkChanged"}, got.names())
				lost := of[watch.MarkLost](got)[0]
				assert.Equal(t, "BTC", lost.Symbol)
				assert.Equal(t, "64000", lost.Last.String())
				back := of[watch.MarkChanged](got)[1]
				assert.Equal(t, "BTC", back.Symbol)
				_, priced := back.Old.Price()
				assert.False(t, priced)
				view.Apply(watch.MarkChanged{Symbol: "BTC", New: lost.Last})
				view.Apply(lost)
				assert.Empty(t, view.Marks)
			})
		})
	}
}

func TestHealth(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		got := during(t, func() {
			time.Sleep(20 * time.Second)
			r.sim.SetHealth("degraded", "stale")
			time.Sleep(20 * time.Second)
			r.sim.SetHealth("healthy", "live")
			time.Sleep(20 * time.Second)
		}, watch.Health(r.Client).WithSnapshot())
		require.Empty(t, got.errs, "degraded is an answer")
		changed := of[watch.HealthChanged](got)
		require.Len(t, changed, 3)
		assert.Nil(t, changed[0].Old)
		assert.True(t, changed[0].New.Safe())
		assert.False(t, changed[1].New.Safe())
		assert.True(t, changed[1].Old.Safe())
		assert.True(t, changed[2].New.Safe())
	})
}

func TestTicks(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		began := time.Now()
		n := 0
		for ev, err := range watch.Events(t.Context(), watch.Ticks(10*time.Second)) {
			require.NoError(t, err)
			n++
			assert.Equal(t, began.Add(time.Duration(n)*10*time.Second), ev.(watch.Tick).At)
			if n == 5 {
				time.Sleep(35 * time.Second) // three ticks are one
				n += 2
			}
			if n == 10 {
				break
			}
		}
		assert.Empty(t, r.sim.Requests())
	})
}
