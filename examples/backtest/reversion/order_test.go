package reversion

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
)

func testLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func meanOf(prices ...string) *mean {
	m := newMean(len(prices))
	for _, p := range prices {
		m.add(dec(p))
	}
	return m
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name, mean, price, equity string
		change                    func(*Bot)
		size, stop                string // no order if empty
	}{
		{"long", "64000", "63000", "100000", nil, "0.1899", "61740"},
		{"short", "64000", "65000", "100000", nil, "0.1839", "66300"},
		{"the largest position", "64000", "63000", "100000", func(b *Bot) { b.RiskPct = dec("5") }, "1.5873", "61740"},
		{"nearer than the fees", "64000", "63950", "100000", nil, "", ""},
		{"too small to trade", "64000", "63000", "10", nil, "", ""},
		{"an account without equity", "64000", "63000", "-5", nil, "", ""},
		{"a price of four places", "1.1", "1.05", "100000", nil, "11397.0244", "1.029"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := New("BTC")
			if c.change != nil {
				c.change(b)
			}
			r := run{Bot: b, mean: meanOf(c.mean, c.mean)}
			o, ok := r.order(dec(c.price), dec(c.equity))
			require.Equal(t, c.size != "", ok)
			if !ok {
				return
			}
			require.Equal(t, dec(c.size).String(), o.Size.String())
			stop, _ := o.StopLoss.Value()
			require.Equal(t, dec(c.stop).String(), stop.String())
		})
	}
}

// TestMeanIsThatOfTheWindow compares sums that are carried on with ones made anew.
func TestMeanIsThatOfTheWindow(t *testing.T) {
	const window = 7
	dice := rand.New(rand.NewPCG(1, 1))
	m := newMean(window)
	var all []decimal.Decimal
	for i := range 200 {
		p := decimal.New(int64(100_000+dice.IntN(2_000)), -2)
		m.add(p)
		all = append(all, p)
		require.Equal(t, i+1 >= window, m.full)
		if !m.full {
			require.False(t, m.isFarFrom(dec("1"), dec("1")))
			continue
		}
		fresh := newMean(window)
		for _, p := range all[len(all)-window:] {
			fresh.add(p)
		}
		require.True(t, fresh.value().Equal(m.value()))
		require.True(t, fresh.squares.Equal(m.squares))
	}
}

func TestFarFromTheMean(t *testing.T) {
	m := meanOf("8", "12", "8", "12") // 10, and a deviation of 2
	require.Equal(t, "10", m.value().String())
	for price, far := range map[string]bool{"10": false, "12.9": false, "13": true, "7.1": false, "7": true, "100": true} {
		require.Equal(t, far, m.isFarFrom(dec(price), dec("1.5")), price)
	}
	still := meanOf("5", "5")
	require.False(t, still.isFarFrom(dec("9"), dec("1")), "a price that never moves deviates from nothing")
}
