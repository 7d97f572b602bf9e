package tradingsim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// A setting that makes no sense is a mistake in the test, and says which it is.
func TestSettingsThatMakeNoSense(t *testing.T) {
	for name, option := range map[string]func() tradingsim.Option{
		"WithLag":        func() tradingsim.Option { return tradingsim.WithLag(-time.Second) },
		"WithKeyLimit":   func() tradingsim.Option { return tradingsim.WithKeyLimit(-1) },
		"WithAuthLimit":  func() tradingsim.Option { return tradingsim.WithAuthLimit(-1) },
		"WithUserLimits": func() tradingsim.Option { return tradingsim.WithUserLimits(1, -1) },
		"WithTradeRows":  func() tradingsim.Option { return tradingsim.WithTradeRows(-1) },
		"WithRequestLog": func() tradingsim.Option { return tradingsim.WithRequestLog(-1) },
		"balance":        func() tradingsim.Option { return tradingsim.WithBalance("-1") },
		"profit split":   func() tradingsim.Option { return tradingsim.WithSandbox(tradingsim.Sandbox{ProfitSplit: "-0.1"}) },
		"MinNotional":    func() tradingsim.Option { return tradingsim.WithCaps(tradingsim.Caps{MinNotional: "-1"}) },
		"NotionalCap": func() tradingsim.Option {
			return tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", NotionalCap: "-1"})
		},
		"MaxLeverage": func() tradingsim.Option {
			return tradingsim.WithMarket(tradingsim.Market{Symbol: "BTC", MaxLeverage: "0"})
		},
		"there is no other interpretation": func() tradingsim.Option { return tradingsim.WithInterpretation(29) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { require.Contains(t, recover(), name) }()
			tradingsim.New(option())
		})
	}
	sim := tradingsim.New()
	require.Panics(t, func() { sim.SetLag("*", -time.Second) })
}
