package reversion

import (
	"io"
	"log/slog"
	"testing"

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
