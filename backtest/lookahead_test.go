package backtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
)

// follower buys at the opening of each candle that ends higher than the last one did, and
// sells at its end. What it knows of a candle is what choose finds in the history.
func follower(choose func(candles []Candle, now time.Time) (rises bool)) Maker {
	return func(history *Data) Bot {
		candles := history.Candles("BTC")
		return func(ctx context.Context, client *trading.Client) error {
			for ctx.Err() == nil {
				if choose(candles, time.Now()) {
					if err := order(trading.Long, "0.1")(ctx, client.Sandbox); err != nil {
						return err
					}
					time.Sleep(30 * time.Second)
					if err := closing("100")(ctx, client.Sandbox); err != nil {
						return err
					}
				}
				time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
			}
			return nil
		}
	}
}

// at finds the candle that a time lies in, or the last one that had closed by then.
func at(candles []Candle, now time.Time, closed bool) (c Candle, ok bool) {
	for _, one := range candles {
		if closed && !one.To.After(now) || !closed && !one.From.After(now) && one.To.After(now) {
			c, ok = one, true
		}
	}
	return c, ok
}

func upAndDown(t *testing.T) *Data {
	t.Helper()
	var text strings.Builder
	for i := range 30 {
		open := 60000 + 10*(i%7)
		up := 5 - 10*(i/2%2)
		fmt.Fprintf(&text, "%d,%d,%d,%d,%d\n", 1767225600+60*i, open, open+20, open-20, open+up)
	}
	return minuteCandles(t, text.String())
}

func rises(c Candle, ok bool) bool { return ok && c.Close.GreaterThan(c.Open) }

func TestLookaheadCheck(t *testing.T) {
	config := Config{Data: upAndDown(t)}
	start := time.Unix(1767225600, 0)
	honest := follower(func(candles []Candle, now time.Time) bool { return rises(at(candles, now, true)) })
	LookaheadCheck(t, honest, config)
	LookaheadCheck(t, honest, config, start.Add(61*time.Second), start.Add(10*time.Minute))

	for name, c := range map[string]struct {
		bot  Maker
		want string
	}{
		"the close at the opening": {follower(func(candles []Candle, now time.Time) bool { return rises(at(candles, now, false)) }),
			`the bot looks ahead: with the history until 2026-01-01T00:05:45Z alone, request`},
		"how much is to come": {follower(func(candles []Candle, _ time.Time) bool { return len(candles) > 28 }), "the bot looks ahead"},
		"chance":              {follower(func([]Candle, time.Time) bool { return rand.IntN(2) == 0 }), "the bot does not do the same twice"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, lookahead(t, c.bot, config, nil), c.want)
		})
	}
	require.ErrorContains(t, lookahead(t, honest, config, []time.Time{start}), "is not inside the run")
	require.ErrorContains(t, lookahead(t, honest, Config{}, nil), "Config.Data is missing")
}
