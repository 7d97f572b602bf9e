package backtest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tradingapi/trading-go/tradingsim"
)

// wandering are a random walk, and a day of candles of which some are missing and of marks between
// the seconds that end at times.
func wandering(t *testing.T, dice *rand.Rand) *Data {
	t.Helper()
	synthetic, err := Walk(WalkOptions{Symbol: "BTC", Seed: dice.Uint64(), StepBps: 5})
	require.NoError(t, err)
	candles, marks, price := "time,open,high,low,close\n", "time,price\n", 3_200_000
	for minute := range 28 * 60 {
		from := price
		price += dice.IntN(4001) - 2000
		if at := walkOrigin.Add(time.Duration(minute) * time.Minute); dice.IntN(200) > 0 {
			candles += fmt.Sprintf("%d,%de-3,%de-3,%de-3,%de-3\n", at.Unix(), from, max(from, price)+dice.IntN(500), min(from, price)-dice.IntN(500), price)
		}
		mark := fmt.Sprintf("%d.5", price/10_000)
		if dice.IntN(200) == 0 {
			mark = ""
		}
		marks += fmt.Sprintf("%d,%s\n", walkOrigin.Add(time.Duration(minute)*time.Minute).UnixMilli()+int64(dice.IntN(60_000)), mark)
	}
	eth, err := ReadCSV(strings.NewReader(candles), CSV{Symbol: "ETH", Time: OpenTime})
	require.NoError(t, err)
	sol, err := ReadCSV(strings.NewReader(marks), CSV{Symbol: "SOL"})
	require.NoError(t, err)
	all, err := Join(synthetic, eth, sol)
	require.NoError(t, err)
	return all
}

// TestSkippedSecondsHaveNothingToNote holds a walk that skips against one that looks every
// second, since it is asked to go from second to second. Straight lines have their extremes where
// they turn.
func TestSkippedSecondsHaveNothingToNote(t *testing.T) {
	skipUnderRace(t)
	verdicts := map[Verdict]int{}
	for seed := range uint64(6) {
		dice := rand.New(rand.NewPCG(seed, 1))
		p, err := Config{
			Data: wandering(t, dice), From: walkOrigin.Add(21 * time.Hour),
			Account: Account{DailyLossFloor: strconv.Itoa(99_500 - 1000*int(seed%3)), ProfitTarget: strconv.Itoa(100_500 + 1000*int(seed%3)), DailyFloor: DailyFloor(seed % 3)},
		}.plan()
		require.NoError(t, err)
		p.in = inside{order: lowFirst}
		skips := newWalk(p, tradingsim.AccountReport{}, nil, p.To)
		looks := newWalk(p, tradingsim.AccountReport{}, nil, p.To)
		end := p.From.Add(5 * time.Hour)
		for at := p.From; at.Before(end); {
			symbol, size := []string{"BTC", "ETH", "SOL"}[dice.IntN(3)], decimal.New(int64(dice.IntN(3)-1)*dice.Int64N(8000), -4)
			for _, w := range []*walk{skips, looks} {
				h := w.book.markets[symbol]
				if price, ok := h.feed.At(at); ok {
					_, gross := h.fill(size, price)
					w.balance = w.balance.Add(gross).Sub(size.Abs().Mul(Terms{}.feeRate()))
				}
				w.look()
			}
			at = earlier(end, at.Add(time.Duration(dice.Int64N(int64(time.Hour)))))
			skips.walkTo(at)
			for next := looks.at; next.Before(at); {
				next = earlier(at, next.Truncate(time.Second).Add(time.Second))
				looks.walkTo(next)
			}
		}
		verdicts[skips.verdict]++
		require.NotZero(t, skips.under)
		for _, w := range []*walk{skips, looks} {
			for _, h := range w.book.markets {
				h.feed = nil
			}
			w.steps, w.under, w.worst.Longest = stepping{}, 0, 0 // which go by the looks
			for i := range w.curve {
				w.curve[i].Leverage = Figure{}
			}
		}
		require.Equal(t, looks, skips)
	}
	require.Len(t, verdicts, 3)
}

// A page has the marks that the walk has, whatever is asked for first.
func TestWalkPages(t *testing.T) {
	data, err := Walk(WalkOptions{Seed: 3, StepBps: 5})
	require.NoError(t, err)
	s := data.series[0]
	one, other := s.feed(inside{}, nil), data.mirrored().series[0].feed(inside{}, nil)
	dice := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		since := time.Duration(dice.Int64N(int64(20 * 24 * time.Hour)))
		want, _, _ := s.walk.Units(walkOrigin.Add(since))
		got, ok := one.units(s.from.Add(since).UnixNano())
		require.True(t, ok)
		require.Equal(t, want, got)
		turned, _ := other.units(s.from.Add(since).UnixNano())
		require.InEpsilon(t, 6_400_000.0*6_400_000, float64(got)*float64(turned), 1e-3)
	}
	_, ok := one.units(s.from.UnixNano() - 1)
	require.False(t, ok)
}

// TestWithin holds the quick bounds of the mark against the value of what is held, at each second.
func TestWithin(t *testing.T) {
	data, err := Walk(WalkOptions{Seed: 4, StepBps: 5, Length: time.Hour})
	require.NoError(t, err)
	s := data.series[0]
	dice := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		size := decimal.New(dice.Int64N(3_000_000)+1, -6)
		if dice.IntN(2) == 0 {
			size = size.Neg()
		}
		from := s.from.Add(time.Duration(dice.IntN(3000)) * time.Second)
		b := book{markets: map[string]*holding{"BTC": {size: size, cost: size.Mul(decimal.NewFromInt(64_000)), feed: s.feed(inside{}, nil)}}, order: []string{"BTC"}}
		here, _, _ := b.value(from)
		low, high := here.Sub(decimal.New(dice.Int64N(40_000), -2)), here.Add(decimal.New(dice.Int64N(40_000), -2))
		want := time.Duration(0)
		for at := from.Add(time.Second); !at.After(s.to); at = at.Add(time.Second) {
			value, _, _ := b.value(at)
			if !value.GreaterThan(low) || !value.LessThan(high) {
				break
			}
			want += time.Second
		}
		require.Equal(t, want, b.within(low, high, from, s.to))
	}
}
