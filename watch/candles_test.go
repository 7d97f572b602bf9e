package watch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
	"github.com/tradingapi/trading-go/watch"
)

// short is a candle or a hole as a line; what is missing is about right, since attempts vary.
func short(ev watch.Event) string {
	clock := func(t time.Time) string { return t.Format("15:04:05") }
	switch ev := ev.(type) {
	case watch.CandleClosed:
		c := ev.Candle
		text := fmt.Sprintf("%s %s %s %s %s %s", c.Symbol, clock(c.Start), c.Open, c.High, c.Low, c.Close)
		if !c.Whole() {
			text += " missing " + c.Missing.Round(15*time.Second).String()
		}
		return text
	case watch.CandlesMissing:
		return fmt.Sprintf("%s none from %s to %s: %s", ev.Symbol, clock(ev.From), clock(ev.To), ev.Reason)
	case watch.Gap:
		return "gap"
	}
	return fmt.Sprintf("%T", ev)
}

// candles runs a loop beside act, from a whole minute on, and returns what it delivered.
func candles(t *testing.T, act func(), w watch.Watch) (lines []string) {
	t.Helper()
	time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)))
	got, leave := listen(t, w)
	act()
	leave()
	for _, ev := range got.events {
		lines = append(lines, short(ev))
	}
	return lines
}

// at sets a mark at a time after the beginning.
func (r rig) at(after time.Duration, mark string) {
	time.AfterFunc(after, func() { r.sim.SetMark("BTC", mark) })
}

func TestCandles(t *testing.T) {
	for name, row := range map[string]struct {
		act  func(r rig)
		runs time.Duration
		want []string
	}{
		"open, high, low and close": {
			act: func(r rig) {
				r.at(10*time.Second, "65000")
				r.at(20*time.Second, "63000")
				r.at(50*time.Second, "64500")
			},
			runs: 130 * time.Second,
			want: []string{"BTC 00:01:00 64000 65000 63000 64500", "BTC 00:02:00 64500 64500 64500 64500"},
		},
		"a mark that is lost for a while": {
			act: func(r rig) {
				r.at(29*time.Second, "")
				r.at(41*time.Second, "60000")
			},
			runs: 70 * time.Second,
			want: []string{"BTC 00:01:00 64000 64000 60000 60000 missing 15s"},
		},
		"a mark that is lost over periods": {
			act: func(r rig) {
				r.at(29*time.Second, "")
				r.at(190*time.Second, "60000")
			},
			runs: 250 * time.Second,
			want: []string{"BTC 00:01:00 64000 64000 64000 64000 missing 30s", "BTC none from 00:02:00 to 00:03:00: no look found a price",
				"BTC none from 00:03:00 to 00:04:00: no look found a price", "BTC 00:04:00 60000 60000 60000 60000 missing 15s"},
		},
		"never a price": {
			act:  func(r rig) { r.sim.SetMark("BTC", "") },
			runs: 130 * time.Second,
		},
		"looks that fail": {
			act: func(r rig) {
				time.AfterFunc(90*time.Second, func() {
					for range 200 {
						r.sim.Fault("GET /sandbox/prices", tradingsim.GatewayError(502))
					}
				})
				time.AfterFunc(290*time.Second, func() { r.sim.ClearFaults() })
			},
			runs: 400 * time.Second,
			want: []string{"BTC 00:01:00 64000 64000 64000 64000", "gap", "BTC 00:02:00 64000 64000 64000 64000 missing 30s",
				"BTC none from 00:03:00 to 00:06:00: no look found a price", "BTC 00:06:00 64000 64000 64000 64000 missing 15s"},
		},
		"one look that fails": {
			act: func(r rig) {
				time.AfterFunc(15*time.Second, func() { r.sim.Fault("GET /sandbox/prices", tradingsim.Fail(400, "bad_request")) })
			},
			runs: 70 * time.Second,
			want: []string{"gap", "BTC 00:01:00 64000 64000 64000 64000"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r rig) {
				got := candles(t, func() {
					row.act(r)
					time.Sleep(row.runs)
				}, watch.Candles(r.Sandbox.MarketData, time.Minute, "BTC").Seed(1))
				assert.Equal(t, row.want, got)
			}, tradingsim.WithMark("BTC", "64000"))
		})
	}
}

// A first candle is not whole, unless looks begin with it.
func TestTheFirstCandleLacksWhatWasBefore(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		got := candles(t, func() { time.Sleep(time.Hour + time.Minute) }, watch.Candles(r.Sandbox.MarketData, time.Hour, "BTC"))
		assert.Equal(t, []string{"BTC 00:00:00 64000 64000 64000 64000 missing 1m0s"}, got)
	}, tradingsim.WithMark("BTC", "64000"))
}

func TestCandlesOfAllMarkets(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		seen := map[string]int{}
		for _, line := range candles(t, func() { time.Sleep(3*time.Minute + 10*time.Second) }, watch.Candles(r.Sandbox.MarketData, time.Minute)) {
			seen[line[:strings.IndexByte(line, ' ')]]++
		}
		assert.Greater(t, len(seen), 1)
		for symbol, n := range seen {
			assert.Equal(t, 3, n, symbol)
		}
	})
}

func TestCandlesAfterRecordedOnes(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		recorded, err := watch.ReadCandles(strings.NewReader(`time,open,high,low,close,volume
1999-12-31T23:56:00Z,1,4,1,3,0
946684680,3,3,2,2,0
946684740000,2,2,2,2,0
`), "BTC", time.Minute)
		require.NoError(t, err)
		recorded = append(recorded[:1:1], recorded[2:]...) // a hole in the record
		got := candles(t, func() { time.Sleep(70 * time.Second) }, watch.CandlesAfter(r.Sandbox.MarketData, recorded, time.Minute, "BTC"))
		assert.Equal(t, []string{
			"BTC 23:56:00 1 4 1 3", "BTC none from 23:57:00 to 23:59:00: they were not recorded", "BTC 23:59:00 2 2 2 2",
			"BTC none from 00:00:00 to 00:01:00: no look found a price", "BTC 00:01:00 64000 64000 64000 64000",
		}, got)
	}, tradingsim.WithMark("BTC", "64000"))
}

// A record that reaches beyond now is not built again.
func TestNoCandleComesTwice(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		now := time.Now().Truncate(time.Minute).Add(time.Minute)
		recorded := []watch.Candle{{Symbol: "BTC", Start: now, Length: time.Minute, Open: dec("1"), High: dec("1"), Low: dec("1"), Close: dec("1")}}
		got := candles(t, func() { time.Sleep(130 * time.Second) }, watch.CandlesAfter(r.Sandbox.MarketData, recorded, time.Minute, "BTC"))
		assert.Equal(t, []string{"BTC 00:01:00 1 1 1 1", "BTC 00:02:00 64000 64000 64000 64000"}, got)
	}, tradingsim.WithMark("BTC", "64000"))
}

// A loop that is slow gets each candle, and a gap where that is more than is kept.
func TestASlowLoopGetsEachCandle(t *testing.T) {
	for name, row := range map[string]struct {
		sleeps time.Duration
		gap    bool
	}{"behind": {time.Hour, false}, "far behind": {3 * time.Hour, true}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, r rig) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				n, gaps := 0, 0
				var last time.Time
				for ev, err := range watch.Events(ctx, watch.Candles(r.Sandbox.MarketData, time.Second, "BTC").WithInterval(time.Second)) {
					require.NoError(t, err)
					switch ev := ev.(type) {
					case watch.Gap:
						gaps++
					case watch.CandleClosed:
						if n == 0 {
							time.Sleep(row.sleeps)
						} else if gaps == 0 && n < 3000 {
							require.False(t, ev.Candle.Start.Before(last), "in order")
						}
						n, last = n+1, ev.Candle.End()
					}
					if n > 2000 {
						cancel()
					}
				}
				assert.Equal(t, row.gap, gaps > 0)
			}, tradingsim.WithMark("BTC", "64000"))
		})
	}
}

func TestCandlesThatCannotBe(t *testing.T) {
	bubble(t, func(t *testing.T, r rig) {
		m := r.Sandbox.MarketData
		one := watch.Candle{Symbol: "BTC", Start: time.Unix(60, 0), Length: time.Minute}
		odd := one
		odd.Start = time.Unix(61, 0)
		for text, w := range map[string]watch.Watch{
			"Candles needs market data":             watch.Candles(nil, time.Minute),
			"is 7m0s: it must divide a day":         watch.Candles(m, 7*time.Minute),
			"is 48h0m0s":                            watch.Candles(m, 48*time.Hour),
			"is 0s":                                 watch.Candles(m, 0),
			"not behind the one before":             watch.CandlesAfter(m, []watch.Candle{one, one}, time.Minute),
			"BTC at 1970-01-01T00:01:00Z is not of": watch.CandlesAfter(m, []watch.Candle{one}, time.Hour),
			"BTC at 1970-01-01T00:01:01Z is not of": watch.CandlesAfter(m, []watch.Candle{odd}, time.Minute),
			`"NOPE": bad_symbol`:                    watch.Candles(m, time.Minute, "NOPE"),
		} {
			var failed error
			for _, err := range watch.Events(t.Context(), w) {
				failed = err
			}
			require.ErrorContains(t, failed, text)
		}
	})
}

func TestReadCandlesRefuses(t *testing.T) {
	const names = "time,open,high,low,close\n"
	for in, text := range map[string]string{
		"":                                                 "the file is empty",
		"time,open,high,low\n":                             `names no column "close"`,
		names + "x,1,1,1,1\n":                              `line 2, column time: "x" is no time`,
		names + "60,1,1,1,1\n":                             `column time: 1970-01-01T00:00:00.06Z is no multiple of 1m0s`,
		names + "1767225601,1,1,1,1\n":                     "line 2, column time: 2026-01-01T00:00:01Z is no multiple of 1m0s",
		names + "1767225600,1,1,1\n":                       "wrong number of fields",
		names + "1767225600,1,1,1,0\n":                     `column close: 0 is not greater than 0`,
		names + "1767225600,1,1,1,1e999\n":                 `column close: "1e999" is not a number`,
		names + "1767225600,1,1,1,NaN\n":                   `column close: "NaN" is not a number`,
		names + "1767225600,1,1,1,\n":                      `column close: "" is not a number`,
		names + "1767225600,1,1,1,2\n":                     "open 1 and close 2 are not between low 1 and high 1",
		names + "1767225600,1,1,1,1\n1767225600,1,1,1,1\n": "line 3, column time: 2026-01-01T00:00:00Z is not behind the line before",
	} {
		_, err := watch.ReadCandles(strings.NewReader(in), "BTC", time.Minute)
		require.ErrorContains(t, err, text, in)
	}
	_, err := watch.ReadCandles(strings.NewReader(names), "BTC", 0)
	require.ErrorContains(t, err, "must be greater than 0")
}

// A file of any length takes bounded memory: the newest are kept.
func TestReadCandlesKeepsTheNewest(t *testing.T) {
	var b strings.Builder
	b.WriteString("close,LOW,high,Open,time\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "1,1,2,1,%d\n", 1767225600+60*i)
	}
	got, err := watch.ReadCandles(strings.NewReader(b.String()), "BTC", time.Minute)
	require.NoError(t, err)
	require.Len(t, got, 4096)
	assert.Equal(t, time.Unix(1767225600+60*9_999, 0).UTC(), got[4095].Start)
	assert.Equal(t, "2", got[0].High.String())
}

func FuzzReadCandles(f *testing.F) {
	f.Add("time,open,high,low,close\n1767225600,1,2,1,1\n")
	f.Add("\ufefftime,open,high,low,close\r\n2026-01-01T00:00:00Z,1,2,1,1\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := watch.ReadCandles(strings.NewReader(text), "BTC", time.Minute)
		if err != nil {
			require.Empty(t, list)
			return
		}
		for i, c := range list {
			require.True(t, c.Low.IsPositive() && !c.Low.GreaterThan(c.Open) && !c.High.LessThan(c.Close))
			require.True(t, i == 0 || !c.Start.Before(list[i-1].End()))
		}
	})
}

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
