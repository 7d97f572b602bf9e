package reversion

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/tradingtest"
)

func dec(text string) decimal.Decimal { return trading.Dec(text) }

// small is a bot that has seen enough after four prices.
func small() *Bot {
	b := New("BTC")
	b.Window, b.Sample, b.Deviations, b.Pause = 4, b.Every, dec("1.5"), time.Minute
	return b
}

// world is a simulated market that moves every three seconds, between two looks.
type world struct {
	sim    *tradingsim.Sim
	client *trading.Client
	t      *testing.T
}

// play lets a bot trade on these marks; "" is none. During each of them events[i], if
// there is one, happens first.
func (w world) play(b *Bot, account trading.Trader, marks []string, events map[int]func()) error {
	w.t.Helper()
	length := time.Duration(len(marks))*b.Every + b.Every/2
	ctx, cancel := context.WithTimeout(w.t.Context(), length)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx, w.client.Sandbox.MarketData, account) }()
	time.Sleep(b.Every / 2)
	for i, mark := range marks {
		w.sim.SetMark("BTC", mark)
		if event := events[i]; event != nil {
			event()
		}
		time.Sleep(b.Every)
	}
	return <-done
}

// inWorld runs a test on virtual time.
func inWorld(t *testing.T, test func(w world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"))
		test(world{sim, tradingtest.Client(t, sim, trading.WithExclusiveAccounts()), t})
	})
}

// calm moves the price a little and then far.
func calm(last ...string) []string {
	return append([]string{"64000", "64010", "63990", "64000"}, last...)
}

func fills(sim *tradingsim.Sim) (list []tradingsim.Execution) {
	for _, e := range sim.Ledger() {
		if e.Filled {
			list = append(list, e)
		}
	}
	return list
}

func TestBuysBelowTheMeanAndSellsAtIt(t *testing.T) {
	inWorld(t, func(w world) {
		require.NoError(t, w.play(small(), w.client.Sandbox, calm("63000", "63500", "64100", "64000"), nil))
		a, ok := w.sim.Report().Account("")
		require.True(t, ok)
		require.Len(t, a.Trades, 1)
		require.Equal(t, "long", a.Trades[0].Side)
		require.Equal(t, "take_profit", a.Trades[0].Cause)
		require.Equal(t, "63000", a.Trades[0].EntryPrice.String())
		require.Equal(t, "64100", a.Trades[0].ExitPrice.String())
	})
}

// TestLosesItsStakeAtTheStop is what sizing is for: fees included, no more than the
// stake is lost where the stop fills at its level.
func TestLosesItsStakeAtTheStop(t *testing.T) {
	for _, c := range []struct{ name, mark, stop string }{
		{"long", "63000", "61740"},
		{"short", "65000", "66300"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w world) {
				require.NoError(t, w.play(small(), w.client.Sandbox, calm(c.mark, c.stop), nil))
				a, _ := w.sim.Report().Account("")
				require.Len(t, a.Trades, 1)
				require.Equal(t, "stop_loss", a.Trades[0].Cause)
				lost := a.Trades[0].NetPnL().Neg()
				require.True(t, lost.LessThanOrEqual(dec("250")), lost) // 0.25 percent of 100000
				require.True(t, lost.GreaterThan(dec("249")), lost)
			})
		})
	}
}

func TestLosesPatience(t *testing.T) {
	inWorld(t, func(w world) {
		b := small()
		b.Patience = 2 * b.Every
		require.NoError(t, w.play(b, w.client.Sandbox, calm("63000", "63000", "63000", "63000"), nil))
		a, _ := w.sim.Report().Account("")
		require.Len(t, a.Trades, 1)
		require.Equal(t, 2*b.Every, a.Trades[0].ClosedAt.Sub(a.Trades[0].OpenedAt))
	})
}

func TestPausesAfterAPosition(t *testing.T) {
	inWorld(t, func(w world) {
		marks := calm("63000", "64100")
		for range 10 { // a chance every fifteen seconds
			marks = append(marks, calm("63000")...)
		}
		require.NoError(t, w.play(small(), w.client.Sandbox, marks, nil))
		list := fills(w.sim)
		require.Greater(t, len(list), 2)
		pause := list[2].At.Sub(list[1].At)
		require.GreaterOrEqual(t, pause, time.Minute)
		require.Less(t, pause, time.Minute+2*15*time.Second)
	})
}

// TestReadsThatLagAreNoReasonToBuyAgain: the position shows five seconds late.
func TestReadsThatLagAreNoReasonToBuyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New(tradingsim.WithMark("BTC", "64000"), tradingsim.WithLag(5*time.Second))
		w := world{sim, tradingtest.Client(t, sim), t}
		b := small()
		b.Pause = 0
		still := strings.Split(strings.Repeat("63000,", 8)+"63000", ",")
		require.NoError(t, w.play(b, w.client.Sandbox, append(calm("64000", "64000"), still...), nil))
		require.Len(t, fills(sim), 2, "in once, and left")
	})
}

func TestWaitsForAPrice(t *testing.T) {
	inWorld(t, func(w world) {
		marks := calm("", "", "64000")
		require.NoError(t, w.play(small(), w.client.Sandbox, marks, nil))
		require.Empty(t, fills(w.sim))
	})
}

func TestGoesOnAfterTrouble(t *testing.T) {
	inWorld(t, func(w world) {
		w.sim.Fault("GET /sandbox/prices", tradingsim.Fail(500, "internal_error"), tradingsim.Fail(500, "internal_error"),
			tradingsim.Fail(500, "internal_error"), tradingsim.Fail(500, "internal_error"), tradingsim.Fail(500, "internal_error"))
		var log strings.Builder
		b := small()
		b.Log = testLog(&log)
		marks := append(calm(), calm("63000", "64100")...)
		require.NoError(t, w.play(b, w.client.Sandbox, marks, nil))
		require.Contains(t, log.String(), "next time")
		require.Len(t, fills(w.sim), 2)
	})
}

// TestALostReplyIsNoSecondOrder: the order was executed and its answer lost.
func TestALostReplyIsNoSecondOrder(t *testing.T) {
	for name, of := range map[string]func(w world) (trading.Trader, string){
		"paper": func(w world) (trading.Trader, string) { return w.client.Sandbox, "POST /sandbox/orders" },
		"live":  func(w world) (trading.Trader, string) { return w.client.Live.Account("acc_1"), "POST /orders" },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w world) {
				account, operation := of(w)
				w.sim.Fault(operation, tradingsim.DropResponse())
				still := make([]string, 12)
				for i := range still {
					still[i] = "63000"
				}
				err := w.play(small(), account, append(calm(still...), "64100"), nil)
				require.NoError(t, err)
				require.Len(t, fills(w.sim), 2, "in once and out once")
			})
		})
	}
}

func TestStopsWhereAPersonHasToLook(t *testing.T) {
	for name, c := range map[string]struct {
		want  error
		event func(w world)
	}{
		"locked":  {trading.ErrAccountLocked, func(w world) { w.sim.SetStatus("acc_1", "PASSED") }},
		"refused": {trading.ErrKeyRefused, func(w world) { w.sim.RevokeKey(w.sim.SandboxKey()) }},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w world) {
				err := w.play(small(), w.client.Live.Account("acc_1"), calm("63000", "63000"),
					map[int]func(){4: func() { c.event(w) }})
				require.ErrorIs(t, err, c.want)
				require.Empty(t, fills(w.sim))
			})
		})
	}
}

func TestRefusesNonsense(t *testing.T) {
	for _, change := range []func(*Bot){
		func(b *Bot) { b.Every = 0 },
		func(b *Bot) { b.Sample = 0 },
		func(b *Bot) { b.Window = 1 },
		func(b *Bot) { b.StopPct = decimal.Zero },
	} {
		b := New("BTC")
		change(b)
		require.Error(t, b.Run(t.Context(), nil, nil))
	}
}
